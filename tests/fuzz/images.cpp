// Folders with MNIST's IDX files or CIFAR-10's binary ones, in which one file has arbitrary bytes:
// the first byte chooses it, and the other files are valid.
#include <array>
#include <cmath>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/catalogue/data.h"
#include "tests/fuzz/law.h"

namespace syncline {
namespace {

struct File {
  std::string name;
  std::string bytes;
};

std::string idx(const std::vector<int>& sizes, int values) {
  std::string bytes = {0, 0, 8, static_cast<char>(sizes.size())};
  for (const int size : sizes)
    bytes += {0, 0, 0, static_cast<char>(size)};
  return bytes + std::string(static_cast<std::size_t>(values), '\1');
}

const std::array<File, 4>& mnist() {
  static const std::array<File, 4> files = {{{"train-images-idx3-ubyte", idx({3, 2, 2}, 12)},
                                             {"train-labels-idx1-ubyte", idx({3}, 3)},
                                             {"t10k-images-idx3-ubyte", idx({1, 2, 2}, 4)},
                                             {"t10k-labels-idx1-ubyte", idx({1}, 1)}}};
  return files;
}

const std::array<File, 2>& cifar() {
  static const std::string record(1 + 3 * 32 * 32, '\1');
  static const std::array<File, 2> files = {
      {{"data_batch_2.bin", record + record}, {"test_batch.bin", record}}};
  return files;
}

void require_samples(const Samples& samples, int classes) {
  bool good = samples.count > 0 && samples.labels.size() == samples.count &&
              samples.values.size() == samples.count * samples.features &&
              samples.features == static_cast<std::size_t>(samples.height) *
                                      static_cast<std::size_t>(samples.width) *
                                      static_cast<std::size_t>(samples.channels);
  for (const float value : samples.values)
    good = good && std::isfinite(value);
  for (const int label : samples.labels)
    good = good && label >= 0 && label < classes;
  if (!good)
    throw std::logic_error("samples that are not what their files promise");
}

// Training images have the digits' squared length on average, or less if a channel has a single
// colour.
void require_standardised(const Samples& samples) {
  double squares = 0;
  for (const float value : samples.values)
    squares += double{value} * double{value};
  if (squares > 15.01 * static_cast<double>(samples.count))
    throw std::logic_error("images that are longer than digits");
}

void read(Bytes bytes) {
  if (bytes.empty())
    return;
  const std::size_t which = bytes[0] % (mnist().size() + cifar().size());
  std::string path;
  const auto write = [&](const auto& files, std::size_t fuzzed) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      const auto* good = reinterpret_cast<const std::uint8_t*>(files[i].bytes.data());
      path = file_of(i == fuzzed ? bytes.subspan(1) : Bytes(good, files[i].bytes.size()),
                     files[i].name);
    }
  };
  const bool is_mnist = which < mnist().size();
  if (is_mnist)
    write(mnist(), which);
  else
    write(cifar(), which - mnist().size());
  const std::string folder = std::filesystem::path(path).parent_path();
  reads(bytes, [&] {
    const Data data = is_mnist ? read_mnist(folder) : read_cifar(folder);
    require_plain_text(bytes, data.source);
    require_samples(data.train, data.classes);
    require_standardised(data.train);
    require_samples(data.held_out, data.classes);
  });
}

const Registered<Reader> entry{{.name = "images", .read = read}};

}  // namespace
}  // namespace syncline
