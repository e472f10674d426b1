// The contract between the two halves of the program: what a compressor is, without seconds and
// without devices. A compressor turns one gradient into the bytes of one message, and adds a
// message into a sum of gradients. Adding one is adding one file (see kernels/README.md).
//
// Every compressor is there twice: `reference` is the meaning, written to be obviously right, and
// `cpu` is the same thing fast, over tiles and threads. The tests hold the second to the first to
// the bit: message and residual. A CUDA version lives in <name>.cu (kernels/gpu/device.h).
//
// Not-a-number and infinity are never hidden. Methods that select by magnitude rank NaN above
// infinity above every number, so both are sent first, as torch.topk does. Methods with a scale or
// a fitted threshold get a scale or a threshold that is not finite: quantisers then decode to NaN
// wherever that scale reaches, threshold methods select nothing and keep the value in the residual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/gradient.h"
#include "kernels/registry.h"
#include "kernels/traffic.h"

namespace syncline {

using Message = std::vector<std::byte>;
using MessageBytes = std::span<const std::byte>;

// Messages whose gradients are added to one sum, one after the other: of several workers, or one.
class Messages {
 public:
  Messages(const Message& one) : all_{one} {}
  Messages(MessageBytes one) : all_{one} {}
  explicit Messages(std::vector<MessageBytes> all) : all_(std::move(all)) {}

  std::size_t size() const { return all_.size(); }
  MessageBytes operator[](std::size_t i) const { return all_[i]; }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }

 private:
  std::vector<MessageBytes> all_;
};

// Names the random bits of one encoding: Philox with counter (element, step, tensor), key = seed.
// For compressors with `shared_draw` all workers must use the same Draw; others should differ in
// seed.
struct Draw {
  std::uint64_t seed = 1;
  std::uint32_t step = 0;
  std::uint32_t tensor = 0;
};

// Memory that begins at a cache line: vectors then do not straddle two, which costs a tenth of a
// pass. Where it is much, it asks for large pages (cpu/memory.cpp).
std::byte* line_aligned(std::size_t bytes);
void free_line_aligned(std::byte* memory);

// Words that a pass over tiles may write, kept to spare the allocation; contents mean nothing
// between calls, and copies start without any.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) {}
  Scratch(Scratch&&) = default;
  Scratch& operator=(const Scratch&) { return *this; }
  Scratch& operator=(Scratch&&) = default;
  ~Scratch() = default;

  std::uint32_t* words(std::size_t count) {
    if (words_ == nullptr || count > size_) {  // null where they were moved elsewhere
      words_.reset(reinterpret_cast<std::uint32_t*>(line_aligned(4 * count)));
      size_ = count;
    }
    return words_.get();
  }

 private:
  struct Free {
    void operator()(std::uint32_t* words) const {
      free_line_aligned(reinterpret_cast<std::byte*>(words));
    }
  };
  std::unique_ptr<std::uint32_t[], Free> words_;
  std::size_t size_ = 0;
};

template <class T>
struct LineAligned {
  using value_type = T;

  LineAligned() = default;
  template <class U>
  constexpr LineAligned(const LineAligned<U>&) {}

  T* allocate(std::size_t count) { return reinterpret_cast<T*>(line_aligned(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t) {
    free_line_aligned(reinterpret_cast<std::byte*>(memory));
  }
  bool operator==(const LineAligned&) const { return true; }
};

using Values = std::vector<float, LineAligned<float>>;  // one per element of a tensor

// A sign method sends these for values from zero on, and for the others. It learns them only after
// the pass that writes g + e, so they are taken off later: saves one pass of 8 bytes per element.
struct SignScales {
  float positive = 0;
  float negative = 0;

  constexpr float of(float value) const { return value >= 0 ? positive : negative; }
};

// A worker remembers this of one tensor from step to step. It starts empty; the first encode sizes
// it. A tensor must keep its number of elements.
struct State {
  Values residual;  // error feedback: what has not been sent yet, once `sent` is taken off
  SignScales sent;  // has been sent, and is still in the residual; see residual()
  std::vector<std::byte, LineAligned<std::byte>> memory;  // see memory_of
  Scratch scratch;
};

// A compressor remembers these beside the residual, in a type of its own: zeros at first. They are
// plain bytes, so that a GPU can have them too.
template <class T>
std::span<T> memory_of(State& state, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  state.memory.resize(count * sizeof(T));
  return {reinterpret_cast<T*>(state.memory.data()), count};
}

// The error-feedback memory in plain values, also where it is kept lazily.
Values residual(const State& state);
// To the bit, but with one NaN; a residual that was never made is one of zeros.
bool same_residual(const State& a, const State& b);

// Both may throw: Encode std::invalid_argument (bad sizes or settings), Decode CorruptMessage.
using Encode =
    std::function<void(const Settings&, const Gradient&, const Draw&, State&, Message& message)>;
// Adds the decoded gradients into `sum`, one float per element of a gradient. The bits are those of
// adding one message after the other. `precision` is that of the gradients that were encoded; the
// draw is that of all messages where a compressor has a `shared_draw`, and means nothing elsewhere.
// A message that no encode can have made is a CorruptMessage: then neither it nor a message behind
// it has been added.
using Decode = std::function<void(const Settings&, const Messages&, Precision, const Draw&,
                                  std::span<float> sum)>;

// A Decode made of a function that adds one message.
template <auto decode_one>
void one_by_one(const Settings& settings, const Messages& messages, Precision precision,
                const Draw& draw, std::span<float> sum) {
  for (const MessageBytes message : messages)
    decode_one(settings, message, precision, draw, sum);
}

class CorruptMessage : public std::runtime_error {  // the one thing a receiver may want to catch
 public:
  using std::runtime_error::runtime_error;
};

struct Codec {
  Encode encode = {};
  Decode decode = {};
};

// For the modelled cost tables (kernels/README.md).
struct MemoryTraffic {
  // What the CUDA version enqueues, in its order. Decoding adds into a sum that is there, so
  // zeroing it is no part of this. Null: there is no such version.
  std::function<StreamOperations(const Settings&, std::size_t elements)> encode = {};
  // Of up to most_messages_at_once messages, decoded together.
  std::function<StreamOperations(const Settings&, std::size_t elements, std::size_t messages)>
      decode = {};
  // Bytes per element that encoding moves at least, however it is written, at density 0.01 and the
  // other settings' defaults.
  double floor = 0;
  // Encoding by the published code, with its framework temporaries.
  struct Chain {
    double bytes_per_element = 0;
    int kernels = 0;
    int syncs = 0;  // host synchronisations
  };
  Chain published = {};
};

struct WireSize {
  double bytes = 0;
  bool exact = true;  // what every message has; or what to expect of Gaussian gradients
  // The fewest and most that a message has while the selector is inside the band that its own rule
  // accepts; where it has none, both are `bytes`. Draws that are uniform below `bytes` with
  // probability (high - bytes) / (high - low), else uniform above, keep `bytes` as their mean.
  double low = 0, high = 0;

  WireSize() = default;
  WireSize(double size, bool is_exact) : bytes(size), exact(is_exact), low(size), high(size) {}
  WireSize(double size, double fewest, double most)
      : bytes(size), exact(false), low(fewest), high(most) {}
};

// Some compressors weigh what they send against what sending costs. Their cost model is the
// simulated network's, unless one of these options is given.
struct NetworkCost {
  std::vector<std::string> options = {};  // that describe the model, its name first; empty: none
  // The settings where a message of b bytes costs what `start_bytes` + b bytes take to move.
  Settings (*settings)(const Settings&, double start_bytes) = nullptr;
  // The settings where each value of a message stands for 1 / `part` of them that travel.
  Settings (*of_part)(const Settings&, double part) = nullptr;
};

// Papers promise this of a message, to be measured against. None: they say nothing.
struct Promise {
  std::optional<double> values = {};  // that it is asked to send
  // |u - sent|^2 / |u|^2 is at most this, or has it as its mean; u is what is encoded. The second
  // is what Shi et al. (arXiv 1911.08772) claim of the largest values where u has the shape of a
  // bell.
  std::optional<double> left_out = {};
  std::optional<double> left_out_of_a_bell = {};
  std::optional<double> bits = {};  // the mean length is at most so much
};

// Momentum of gradients that a compressor keeps itself. Null: it has none.
struct OwnMomentum {
  double (*of)(const Settings&) = nullptr;
  Settings (*with)(const Settings&, double momentum) = nullptr;
  // For gradients that workers have clipped as a whole.
  Settings (*unclipped)(const Settings&) = nullptr;
};

struct Compressor {
  static constexpr const char* kind = "compressor";
  std::string name = {};
  std::string sentence = {};
  Help help = {};
  std::vector<OwnOption> options = {};

  // Messages of different workers can be summed as they are, so an all-reduce can carry them. When
  // false they can only be gathered, and `add` is empty. A test holds `add` to decoding each.
  bool reducible = false;
  bool sparse = false;       // the message is (index, value) pairs
  bool shared_draw = false;  // all workers must encode with the same Draw
  bool unbiased = false;     // the decoded gradient has the gradient as its expectation

  // Whether what is not sent joins the next message (error feedback), with these settings. Null:
  // never.
  bool (*feedback)(const Settings&) = nullptr;
  bool keeps_residual(const Settings& settings) const {
    return feedback != nullptr && feedback(settings);
  }
  OwnMomentum momentum = {};

  std::function<WireSize(const Settings&, std::size_t elements, Precision)> wire_bytes = {};

  // It is about a message for so many values, above 0, that has brought `sent` of them.
  Promise (*promise)(const Settings&, std::size_t elements, std::size_t sent) = nullptr;

  Codec reference = {};
  Codec cpu = {};

  // Reducible only: sum += message, both made by encode.
  std::function<void(const Settings&, Precision, std::span<std::byte> sum,
                     std::span<const std::byte> message)>
      add = {};

  // PowerSGD's message is two vectors, P then Q, and Q is made from the sum of all workers' P. With
  // one worker `encode` does it all. With more: first_half of each, all-reduce; second_half of
  // each, from that sum, all-reduce; the message to decode, and for every worker to remember (it
  // starts its next step), is the two sums end to end.
  Encode first_half = {};
  std::function<void(const Settings&, std::span<const std::byte> first_sum, State&,
                     Message& second)>
      second_half = {};
  std::function<void(const Settings&, std::span<const std::byte> whole_sum, State&)> remember = {};

  MemoryTraffic traffic = {};

  // A simulation has to know these of it beside the above.
  NetworkCost network_cost = {};
  // The rows of this compressor in a cost table say how long its messages take to read, where that
  // depends on how much was sent: those of a density with as many elements. Empty: its own rows.
  std::string read_as = {};
  // Densities of the first epochs, as its authors warm up.
  std::vector<double> warm_up_densities = {};
  // The option that counts the steps of a warm-up of its own, which no simulation follows.
  std::string own_warm_up = {};
};

// It is the answer where nothing depends on settings.
inline bool always(const Settings&) {
  return true;
}

// Sparsifiers have a option in common: the part of the values that is sent.
inline constexpr const char* density_name = "density";
inline bool has_density(const Compressor& compressor) {
  return declares(compressor.options, density_name);
}
inline double density_of(const Settings& settings) {
  return settings.number(density_name);
}
inline Settings with_density(const Settings& settings, double density) {
  return settings.with(density_name, density);
}

}  // namespace syncline
