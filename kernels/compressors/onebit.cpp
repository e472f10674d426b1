// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014): the sign of every element of u = g + e,
// and what a receiver makes of it: the mean of those that are not negative, and the mean of the
// others. CNTK keeps one such pair per column of a matrix; a flat bucket has no columns, so here it
// is one pair per tensor.
#include "kernels/arithmetic/feedback.h"
#include "kernels/cpu/signs.h"

namespace syncline {
namespace {

const SignFormat format{"onebit", 2, two_scales};

const Registered<Compressor> entry{{
    .name = "onebit",
    .sentence = "signs and the mean of either side, one bit per element, with error feedback",
    .help = {.more = "A message is about a thirty-second of fp32, and error feedback is what makes "
                     "that converge.",
             .paper = "Seide et al., Interspeech 2014"},
    .parameters = {feedback_parameter("on")},
    .feedback = with_feedback,
    .wire_bytes = sign_bytes<2>,
    .reference = signs_plainly(format),
    .cpu = signs(format),
    .traffic = {.encode_bytes_per_element = 12.13,
                .encode_kernels = 1,
                .published_bytes_per_element = 50,
                .published_kernels = 9,
                .published_syncs = 0,
                .decode_sum_bytes_per_element = 8},
}};

}  // namespace
}  // namespace syncline
