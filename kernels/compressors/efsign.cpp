// EF-signSGD (Karimireddy, Rebjock, Stich, Jaggi, ICML 2019): the sign of every element of u = g +
// e and one scale, the mean of |u|, so that error feedback contracts. Zero counts as positive.
#include "kernels/cpu/feedback.h"
#include "kernels/cpu/signs.h"

namespace syncline {
namespace {

const SignFormat format{"efsign", 1, one_scale};

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
    .name = "efsign",
    .sentence = "signs and the mean magnitude, one bit per element, with error feedback",
    .parameters = {feedback_parameter("on")},
    .feedback = true,
    .wire_bytes = bytes,
    .reference = {encode_plainly, decode_plainly},
    .cpu = {encode, decode},
    .traffic = {.encode_bytes_per_element = 12.13,
                .encode_kernels = 1,
                .published_bytes_per_element = 60,
                .published_kernels = 10,
                .published_syncs = 0,
                .decode_sum_bytes_per_element = 8},
}};

}  // namespace
}  // namespace syncline
