// What a compressor is, without seconds and without devices: it turns one gradient into the bytes
// of one message, and adds messages into a sum of gradients. The simulator and the kernels share
// this contract. A new compressor is one new file (kernels/README.md).
//
// Every compressor has two versions: `reference` defines its meaning and is written to be obviously
// right; `cpu` is the fast one, over tiles and threads. Tests require both to make the same bits:
// message and residual. A CUDA version lives in <name>.cu (kernels/gpu/device.h).
//
// NaN and infinity are never hidden. Methods that select by magnitude rank NaN above infinity and
// infinity above every number, so both are sent first, as torch.topk does. In methods with a scale
// or a fitted threshold, that scale or threshold becomes non-finite: quantisers then decode to NaN
// wherever the scale applies; threshold methods select nothing and keep the value in the residual.
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

// Messages whose gradients are added to one sum, one after the other: from several workers, or one.
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
// With `shared_draw` all workers must use the same Draw; otherwise their seeds should differ.
struct Draw {
  std::uint64_t seed = 1;
  std::uint32_t step = 0;
  std::uint32_t tensor = 0;
};

// Memory aligned to a cache line: vectors that straddle two lines make a pass a tenth slower. Large
// blocks ask for large pages (cpu/memory.cpp).
std::byte* line_aligned(std::size_t bytes);
void free_line_aligned(std::byte* memory);

// Words that a pass over tiles may write, kept between calls to save the allocation. The contents
// mean nothing between calls, and a copy starts empty.
class Scratch {
 public:
  Scratch() = default;
  Scratch(const Scratch&) {}
  Scratch(Scratch&&) = default;
  Scratch& operator=(const Scratch&) { return *this; }
  Scratch& operator=(Scratch&&) = default;
  ~Scratch() = default;

  std::uint32_t* words(std::size_t count) {
    if (words_ == nullptr || count > size_) {  // null after a move
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

// What a sign method sends for values >= 0, and for the others. The scales are known only after the
// pass that writes g + e, so they are subtracted later, which saves a pass of 8 bytes per element.
struct SignScales {
  float positive = 0;
  float negative = 0;

  constexpr float of(float value) const { return value >= 0 ? positive : negative; }
};

// What a worker remembers of one tensor from step to step. Empty at first; the first encode sizes
// it. A tensor must keep its number of elements.
struct State {
  Values residual;            // error feedback: what is not sent yet, once these two are subtracted
  SignScales sent;            // sent already, but still in the residual; see residual()
  std::size_t sent_rank = 0;  // of the product that is, too, whose factors begin `memory`
  std::vector<std::byte, LineAligned<std::byte>> memory;  // see memory_of
  Scratch scratch;
};

// State that a compressor keeps beside the residual, in a type of its own: zeros at first. Stored
// as plain bytes, so that a GPU can hold it too.
template <class T>
std::span<T> memory_of(State& state, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  state.memory.resize(count * sizeof(T));
  return {reinterpret_cast<T*>(state.memory.data()), count};
}

// The error-feedback memory as plain values, also where something is still to be subtracted.
Values residual(const State& state);
// Subtracts it, so that nothing is.
void settle(State& state);
// Compares bit by bit, with all NaNs equal; a residual not yet made counts as zeros.
bool same_residual(const State& a, const State& b);

// Errors: Encode throws std::invalid_argument (bad sizes or settings), Decode throws
// CorruptMessage.
using Encode =
    std::function<void(const Settings&, const Gradient&, const Draw&, State&, Message& message)>;
// Adds the decoded gradients into `sum`, one float per element of a gradient, with the same bits as
// adding one message after the other. `precision` is that of the encoded gradients. Where a
// compressor has a `shared_draw`, the draw is that of all messages; elsewhere it is ignored. Throws
// CorruptMessage for a message that no encode can make; neither that message nor any after it is
// then added.
using Decode = std::function<void(const Settings&, const Messages&, Precision, const Draw&,
                                  std::span<float> sum)>;

// Makes a Decode from a function that adds one message.
template <auto decode_one>
void one_by_one(const Settings& settings, const Messages& messages, Precision precision,
                const Draw& draw, std::span<float> sum) {
  for (const MessageBytes message : messages)
    decode_one(settings, message, precision, draw, sum);
}

class CorruptMessage : public std::runtime_error {  // the only error a receiver may want to catch
 public:
  using std::runtime_error::runtime_error;
};

struct Codec {
  Encode encode = {};
  Decode decode = {};
};

// Memory traffic, for the modelled cost tables (kernels/README.md).
struct MemoryTraffic {
  // The operations that the CUDA version enqueues, in order. Decoding adds into an existing sum, so
  // zeroing the sum is not included. Null: there is no CUDA version.
  std::function<StreamOperations(const Settings&, std::size_t elements)> encode = {};
  // For up to most_messages_at_once messages, decoded together.
  std::function<StreamOperations(const Settings&, std::size_t elements, std::size_t messages)>
      decode = {};
  // Fewest bytes per element that any implementation of encoding must move, at density 0.01 and the
  // defaults of the other settings.
  double floor = 0;
  // Encoding by the published code, with its framework's temporaries.
  struct Chain {
    double bytes_per_element = 0;
    int kernels = 0;
    int syncs = 0;  // host synchronisations
  };
  Chain published = {};
};

struct WireSize {
  double bytes = 0;
  bool exact = true;  // true: of every message; false: expected for Gaussian gradients
  // The smallest and the largest message while the selector stays in the band that its own rule
  // accepts; without such a band both equal `bytes`. Drawing uniformly below `bytes` with
  // probability (high - bytes) / (high - low), and uniformly above it otherwise, keeps `bytes` as
  // the mean.
  double low = 0, high = 0;

  WireSize() = default;
  WireSize(double size, bool is_exact) : bytes(size), exact(is_exact), low(size), high(size) {}
  WireSize(double size, double fewest, double most)
      : bytes(size), exact(false), low(fewest), high(most) {}
};

// Tensors of one shape, as matrices whose rows are the first dimension. Vectors have one column.
struct TensorShape {
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::uint64_t count = 1;
};

// For compressors whose messages depend on the shapes of the tensors in a bucket. Only simulations
// without learning ask: a codec gets values without shapes.
struct ByTensor {
  bool (*on)(const Settings&) = nullptr;  // under these settings; null: never
  WireSize (*wire_bytes)(const Settings&, const std::vector<TensorShape>&, Precision) = nullptr;
};

// For compressors that weigh what they send against the cost of sending. Their cost model is
// derived from the simulated network unless one of these options is given.
struct NetworkCost {
  std::vector<std::string> options = {};  // of the cost model, its name first; empty: it has none
  // Returns settings in which a message of b bytes costs as much as moving `start_bytes` + b bytes.
  Settings (*settings)(const Settings&, double start_bytes) = nullptr;
  // Returns settings for a vector each of whose values stands for 1 / `part` values that travel.
  Settings (*of_part)(const Settings&, double part) = nullptr;
};

// What a paper promises of a message; simulations measure against it. None: the paper promises
// nothing.
struct Promise {
  std::optional<double> values = {};  // how many values are to be sent
  // Upper bound, or mean, of |u - sent|^2 / |u|^2, where u is what is encoded. The second is the
  // claim of Shi et al. (arXiv 1911.08772) for the largest values of a bell-shaped u.
  std::optional<double> left_out = {};
  std::optional<double> left_out_of_a_bell = {};
  std::optional<double> bits = {};  // upper bound of the mean length
};

// Momentum of gradients that the compressor itself keeps. Null: none.
struct OwnMomentum {
  double (*of)(const Settings&) = nullptr;
  Settings (*with)(const Settings&, double momentum) = nullptr;
  // Turns its own clipping off, for gradients that workers have already clipped as a whole.
  Settings (*unclipped)(const Settings&) = nullptr;
};

struct Compressor {
  static constexpr const char* kind = "compressor";
  std::string name = {};
  std::string sentence = {};
  Help help = {};
  std::vector<OwnOption> options = {};

  // True if messages of different workers can be summed as they are, so that an all-reduce can
  // carry them. Otherwise they can only be gathered, and `add` is empty. A test compares `add` with
  // decoding each message.
  bool reducible = false;
  bool sparse = false;       // the message is (index, value) pairs
  bool shared_draw = false;  // all workers must encode with the same Draw
  bool unbiased = false;     // the expectation of the decoded gradient is the gradient

  // Whether values that are not sent join the next message (error feedback) under these settings.
  // Null: never.
  bool (*feedback)(const Settings&) = nullptr;
  bool keeps_residual(const Settings& settings) const {
    return feedback != nullptr && feedback(settings);
  }
  OwnMomentum momentum = {};
  bool asks_for_shapes(const Settings& settings) const {
    return by_tensor.on != nullptr && by_tensor.on(settings);
  }

  std::function<WireSize(const Settings&, std::size_t elements, Precision)> wire_bytes = {};

  ByTensor by_tensor = {};

  // For a message of `elements` > 0 values that has sent `sent` of them.
  Promise (*promise)(const Settings&, std::size_t elements, std::size_t sent) = nullptr;

  Codec reference = {};
  Codec cpu = {};

  // Reducible compressors only: sum += message, both made by encode.
  std::function<void(const Settings&, Precision, std::span<std::byte> sum,
                     std::span<const std::byte> message)>
      add = {};

  // PowerSGD's message is two vectors, P then Q, and Q is made from the sum of all workers' P. With
  // one worker, `encode` does everything. With more: each runs first_half, then an all-reduce; each
  // runs second_half on that sum, then an all-reduce. The two sums end to end are the message to
  // decode, and every worker remembers them (`remember`): its next step starts from them.
  Encode first_half = {};
  std::function<void(const Settings&, std::span<const std::byte> first_sum, State&,
                     Message& second)>
      second_half = {};
  std::function<void(const Settings&, std::span<const std::byte> whole_sum, State&)> remember = {};

  MemoryTraffic traffic = {};

  // Only simulations use the fields below.
  NetworkCost network_cost = {};
  // The compressor whose cost-table rows give the time to decode this one's messages, where that
  // depends on how many elements were sent: rows of a density with as many elements. Empty: its own
  // rows.
  std::string read_as = {};
  // Densities of the first epochs, in the warm-up of its authors.
  std::vector<double> warm_up_densities = {};
  // Its own option for the number of warm-up steps. Simulations do not follow it.
  std::string own_warm_up = {};
};

// For compressors whose answer does not depend on settings.
inline bool always(const Settings&) {
  return true;
}

// The option that all sparsifiers share: the share of values that is sent.
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
