// EF-signSGD (Karimireddy, Rebjock, Stich, Jaggi, ICML 2019): the sign of every element of u = g +
// e and one scale, the mean of |u|, so that error feedback contracts. Zero counts as positive.
#include "kernels/arithmetic/feedback.h"
#include "kernels/cpu/signs.h"

namespace syncline {
namespace {

const SignFormat format{"efsign", 1, one_scale};

const Registered<Compressor> entry{{
    .name = "efsign",
    .sentence = "signs and the mean magnitude, one bit per element, with error feedback",
    .help = {.more = "A message is about a thirty-second of fp32, and its scale makes error "
                     "feedback contract.",
             .paper = "Karimireddy et al., ICML 2019"},
    .parameters = {feedback_parameter("on")},
    .feedback = with_feedback,
    .wire_bytes = sign_bytes<1>,
    .reference = signs_plainly(format),
    .cpu = signs(format),
    .traffic = {.encode_bytes_per_element = 12.13,
                .encode_kernels = 1,
                .published_bytes_per_element = 60,
                .published_kernels = 10,
                .published_syncs = 0,
                .decode_sum_bytes_per_element = 8},
}};

}  // namespace
}  // namespace syncline
