// EF-signSGD (Karimireddy, Rebjock, Stich, Jaggi, ICML 2019): the sign of every element of u = g +
// e and one scale, the mean of |u|, for which error feedback contracts. Zero counts as positive.
#include "kernels/cpu/signs.h"

namespace syncline {
namespace {

const Registered<Compressor> entry{
    sign_method({"efsign", 1, one_scale},
                "signs and the mean magnitude, one bit per element, with error feedback",
                {.more = "A message is about a thirty-second of fp32, and its scale makes error "
                         "feedback contract.",
                 .paper = "Karimireddy et al., ICML 2019"},
                {60, 10})};

}  // namespace
}  // namespace syncline
