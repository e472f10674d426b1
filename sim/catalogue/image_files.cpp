// Image files: MNIST's IDX (LeCun, Cortes, Burges), and the binary version of CIFAR-10
// (Krizhevsky).
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>

#include "kernels/io/text.h"
#include "sim/catalogue/data.h"
#include "sim/catalogue/gzip.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr int classes = 10;
constexpr std::size_t most_image_bytes = 1'000'000'000;  // twenty times MNIST's largest file
constexpr std::uint32_t most_side = 4096;
constexpr double squared_length = 15;  // of an image, on average: as in data = digits

void append_pixels(std::vector<float>& values, std::string_view bytes) {
  for (const char byte : bytes)
    values.push_back(static_cast<float>(static_cast<unsigned char>(byte)) / 255);
}

int label_of(const std::string& path, char byte, std::size_t sample) {
  const int label = static_cast<unsigned char>(byte);
  if (label >= classes)
    refuse_file(path, "label {} of sample {} (counted from 0): allowed are 0 to {}", label, sample,
                classes - 1);
  return label;
}

// The path of a file, or of the same file packed by gzip; empty: neither exists.
std::string whole_or_packed(const fs::path& path) {
  std::error_code error;
  for (const char* ending : {"", ".gz"})
    if (fs::exists(path.string() + ending, error))
      return path.string() + ending;
  return {};
}

std::string bytes_of(const std::string& path) {
  std::string bytes = text_of_file(path, most_image_bytes);
  return path.ends_with(".gz") ? unpacked(path, bytes, most_image_bytes) : bytes;
}

// The names of MNIST's files differ in one character.
std::string idx_file(const fs::path& folder, const std::string& name, const std::string& ending) {
  for (const char* between : {"-", "."}) {
    const std::string path = whole_or_packed(folder / (name + between + ending));
    if (!path.empty())
      return path;
  }
  refuse_file(folder.string(), "no {}-{}, which belongs to MNIST's files", name, ending);
}

// An IDX file of bytes: a magic number, the sizes with the most significant byte first, and the
// values.
struct Idx {
  std::string path;
  std::string bytes;
  std::vector<std::uint32_t> sizes;

  std::string_view values() const { return std::string_view(bytes).substr(4 + 4 * sizes.size()); }
};

std::uint32_t word_at(const std::string& bytes, std::size_t place) {
  std::uint32_t word = 0;
  for (std::size_t i = place; i < place + 4; ++i)
    word = word << 8 | static_cast<unsigned char>(bytes[i]);
  return word;
}

Idx read_idx(const std::string& path, std::size_t dimensions) {
  Idx idx{.path = path, .bytes = bytes_of(path)};
  const std::size_t header = 4 + 4 * dimensions;
  const std::uint32_t magic = 0x800 + static_cast<std::uint32_t>(dimensions);
  if (idx.bytes.size() < header)
    refuse_file(path, "{} bytes: an IDX file has at least {}", idx.bytes.size(), header);
  if (word_at(idx.bytes, 0) != magic)
    refuse_file(path,
                "begins with {}: an IDX file of bytes in {} dimension{} begins with {} (packed by "
                "gzip, its "
                "name ends with .gz)",
                word_at(idx.bytes, 0), dimensions, dimensions > 1 ? "s" : "", magic);
  std::uint64_t values = 1;
  for (std::size_t d = 0; d < dimensions; ++d) {
    idx.sizes.push_back(word_at(idx.bytes, 4 + 4 * d));
    if (d == 0 && idx.sizes[d] == 0)
      refuse_file(path, "no samples: allowed is at least one");
    if (d > 0 && (idx.sizes[d] == 0 || idx.sizes[d] > most_side))
      refuse_file(path, "images of {} pixels on a side: allowed are 1 to {}", idx.sizes[d],
                  most_side);
    values *= idx.sizes[d];  // below 2^32 * 2^12 * 2^12
  }
  if (values != idx.values().size())
    refuse_file(path, "{} bytes after the header, which promises {}", idx.values().size(), values);
  return idx;
}

Samples idx_samples(const fs::path& folder, const std::string& name) {
  const Idx images = read_idx(idx_file(folder, name + "-images", "idx3-ubyte"), 3);
  const Idx labels = read_idx(idx_file(folder, name + "-labels", "idx1-ubyte"), 1);
  if (labels.sizes[0] != images.sizes[0])
    refuse_file(labels.path, "{} labels, but {} has {} images", labels.sizes[0],
                fs::path(images.path).filename().string(), images.sizes[0]);
  Samples samples{.count = images.sizes[0],
                  .features = std::size_t{images.sizes[1]} * images.sizes[2],
                  .height = static_cast<int>(images.sizes[1]),
                  .width = static_cast<int>(images.sizes[2]),
                  .channels = 1};
  samples.values.reserve(images.values().size());
  append_pixels(samples.values, images.values());
  for (std::size_t i = 0; i < samples.count; ++i)
    samples.labels.push_back(label_of(labels.path, labels.values()[i], i));
  return samples;
}

// Records of a label and the pixels, channel after channel.
void append_cifar(const std::string& path, Samples& samples) {
  const std::size_t record = 1 + samples.features;
  const std::string bytes = bytes_of(path);
  if (bytes.empty() || bytes.size() % record != 0)
    refuse_file(path, "{} bytes: CIFAR-10's binary files have {} for each image", bytes.size(),
                record);
  for (std::size_t begin = 0; begin < bytes.size(); begin += record) {
    samples.labels.push_back(label_of(path, bytes[begin], begin / record));
    append_pixels(samples.values, std::string_view(bytes).substr(begin + 1, samples.features));
    ++samples.count;
  }
}

// Applies `run` to all values of a channel.
template <typename Run>
void each_of_channel(Samples& samples, int channel, Run run) {
  const std::size_t pixels = samples.features / static_cast<std::size_t>(samples.channels);
  for (std::size_t i = 0; i < samples.count; ++i) {
    const auto begin = samples.values.begin() +
                       static_cast<std::ptrdiff_t>(i * samples.features +
                                                   static_cast<std::size_t>(channel) * pixels);
    std::for_each_n(begin, pixels, run);
  }
}

// Gives each channel a mean of 0 and the same standard deviation over the training images, as is
// usual. The deviation is chosen so that the default learning rates, found on digits, fit images of
// any size: the largest stable rate is proportional to one over the squared length (LeCun et al.
// 1998, "Efficient BackProp").
void standardise(Data& data) {
  for (int channel = 0; channel < data.train.channels; ++channel) {
    const double count = static_cast<double>(data.train.values.size()) / data.train.channels;
    double sum = 0, squares = 0;
    each_of_channel(data.train, channel, [&](float value) { sum += double{value}; });
    const double mean = sum / count;
    each_of_channel(data.train, channel, [&](float value) {
      squares += (double{value} - mean) * (double{value} - mean);
    });
    const double wanted = std::sqrt(squared_length / static_cast<double>(data.train.features));
    // Nothing can be learned from a channel that has one value everywhere.
    const double scale = squares > 0 ? wanted / std::sqrt(squares / count) : 0;
    for (Samples* samples : {&data.train, &data.held_out})
      each_of_channel(*samples, channel, [&](float& value) {
        value = static_cast<float>((double{value} - mean) * scale);
      });
  }
}

std::string source_of(const std::string& format, const std::string& folder, const Data& data) {
  return fmt::format("{} in {}: {} images, {} held out; standardised by channel", format,
                     printable(folder), data.train.count, data.held_out.count);
}

}  // namespace

Data read_mnist(const std::string& folder) {
  Data data{.classes = classes,
            .train = idx_samples(folder, "train"),
            .held_out = idx_samples(folder, "t10k")};
  if (data.train.height != data.held_out.height || data.train.width != data.held_out.width)
    refuse_file(
        folder,
        "training images of {}x{} pixels, but held-out images of {}x{}: allowed is one size",
        data.train.height, data.train.width, data.held_out.height, data.held_out.width);
  standardise(data);
  data.source = source_of("IDX files", folder, data);
  return data;
}

Data read_cifar(const std::string& folder) {
  const Samples none{
      .features = std::size_t{3} * 32 * 32, .height = 32, .width = 32, .channels = 3};
  Data data{.classes = classes, .train = none, .held_out = none};
  for (int batch = 1; batch <= 5; ++batch) {
    const std::string path =
        whole_or_packed(fs::path(folder) / fmt::format("data_batch_{}.bin", batch));
    if (!path.empty())
      append_cifar(path, data.train);
  }
  const fs::path test = fs::path(folder) / "test_batch.bin";
  const std::string path = whole_or_packed(test);
  append_cifar(path.empty() ? test.string() : path, data.held_out);
  standardise(data);
  data.source = source_of("CIFAR-10's files", folder, data);
  return data;
}

}  // namespace syncline
