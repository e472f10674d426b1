// 1-bit SGD (Seide, Fu, Droppo, Li, Yu, Interspeech 2014): the sign of every element of u = g + e,
// and what a receiver makes of it: the mean of those that are not negative, and the mean of the
// others. CNTK keeps one such pair per column of a matrix; a flat bucket has no columns, so here it
// is one pair per tensor.
#include "kernels/cpu/feedback.h"
#include "kernels/cpu/signs.h"

namespace syncline {
namespace {

const SignFormat format{"onebit", 2, two_scales};

void encode_plainly(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
                    Message& message) {
  encode_signs_plainly(format, gradient, with_feedback(settings), state, message);
}

void encode(const Settings& settings, const Gradient& gradient, const Draw&, State& state,
            Message& message) {
  encode_signs(format, gradient, with_feedback(settings), state, message);
}

void decode_plainly(const Settings&, std::span<const std::byte> message, Precision, const Draw&,
                    std::span<float> sum) {
  decode_signs_plainly(format, message, sum);
}

void decode(const Settings&, std::span<const std::byte> message, Precision, const Draw&,
            std::span<float> sum) {
  decode_signs(format, message, sum);
}

WireSize bytes(const Settings&, std::size_t elements, Precision) {
  return {static_cast<double>(sign_bytes(format, elements)), true};
}

const Registered<Compressor> entry{{
    .name = "onebit",
    .sentence = "signs and the mean of either side, one bit per element, with error feedback",
    .parameters = {feedback_parameter("on")},
    .feedback = true,
    .wire_bytes = bytes,
    .reference = {encode_plainly, decode_plainly},
    .cpu = {encode, decode},
    .traffic = {.encode_bytes_per_element = 12.13,
                .encode_kernels = 1,
                .published_bytes_per_element = 50,
                .published_kernels = 9,
                .published_syncs = 0,
                .decode_sum_bytes_per_element = 8},
}};

}  // namespace
}  // namespace syncline
