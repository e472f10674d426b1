// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014): the sign of every element of u = g + e,
// and two values for the receiver: the mean of the non-negative elements and the mean of the
// others. CNTK keeps one such pair per column of a matrix; a flat bucket has no columns, so here it
// is one pair per tensor.
#include "kernels/cpu/signs.h"

namespace syncline {
namespace {

const Registered<Compressor> entry{sign_method(
    {"onebit", 2, two_scales},
    "signs and the mean of each side, one bit per element, with error feedback",
    {.more = "A message is about a thirty-second of fp32, and training converges thanks to "
             "error feedback.",
     .paper = "Seide et al., Interspeech 2014"},
    {50, 9})};

}  // namespace
}  // namespace syncline
