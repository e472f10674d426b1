#include "sim/catalogue/data.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>

#include "kernels/io/text.h"
#include "sim/catalogue/csv.h"
#include "sim/catalogue/files.h"
#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t held_out_digits = 360;
// The folder of Debian's package dataset-fashion-mnist.
const std::string fashion = "fashion-mnist";
const fs::path fashion_folder = "/usr/share/datasets/fashion-mnist";

bool has_file(const fs::path& folder, std::initializer_list<const char*> names) {
  std::error_code error;
  return std::ranges::any_of(names, [&](const std::string& name) {
    return fs::is_regular_file(folder / name, error) ||
           fs::is_regular_file(folder / (name + ".gz"), error);
  });
}

std::string digits_file() {
  return (fs::path(data_root()) / "models/data/digits.csv").string();
}

// The folder that the user means: the path itself, or the path beside the configuration file, or
// Debian's folder of that name. For a file, the folder of the file.
std::optional<fs::path> folder_of(const std::string& word, const std::string& relative_to) {
  std::error_code error;
  for (const fs::path& candidate : {fs::path(word), fs::path(relative_to) / word}) {
    if (!word.empty() && fs::is_directory(candidate, error))
      return candidate;
    if (!word.empty() && fs::is_regular_file(candidate, error))
      return candidate.has_parent_path() ? candidate.parent_path() : fs::path(".");
  }
  if (word == fashion && fs::is_directory(fashion_folder, error))
    return fashion_folder;
  return std::nullopt;
}

int pixel(const Csv& csv, const Csv::Row& row, std::size_t column, int most) {
  const std::string& text = row.fields[column];
  const bool is_number = !text.empty() && text.size() <= 2 &&
                         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  const int value = is_number ? std::stoi(text) : -1;
  if (value < 0 || value > most)
    throw std::runtime_error(fmt::format("{}: {} = {}: allowed are whole numbers from 0 to {}",
                                         csv.where(row), csv.columns[column], brief(text), most));
  return value;
}

}  // namespace

Data read_digits(const std::string& path) {
  const Csv csv = read_csv(path);
  constexpr std::size_t side = 8;
  if (csv.columns.size() != side * side + 1 || csv.columns.back() != "label")
    refuse_file(path, "allowed are the columns pixel0 to pixel63 and label");
  if (csv.rows.size() <= held_out_digits)
    refuse_file(path, "{} rows: allowed are more than the {} that are held out", csv.rows.size(),
                held_out_digits);
  Data data{.classes = 10};
  data.source = fmt::format("digits: UCI's 8x8 images, the last {} of {} held out", held_out_digits,
                            csv.rows.size());
  for (std::size_t i = 0; i < csv.rows.size(); ++i) {
    Samples& samples = i + held_out_digits < csv.rows.size() ? data.train : data.held_out;
    for (std::size_t k = 0; k < side * side; ++k)
      samples.values.push_back(static_cast<float>(pixel(csv, csv.rows[i], k, 16)) / 16);
    samples.labels.push_back(pixel(csv, csv.rows[i], side * side, 9));
    ++samples.count;
  }
  for (Samples* samples : {&data.train, &data.held_out}) {
    samples->features = side * side;
    samples->height = samples->width = static_cast<int>(side);
    samples->channels = 1;
  }
  return data;
}

std::vector<std::string> data_files(const std::string& word, const std::string& relative_to) {
  if (word == "digits")
    return {digits_file()};
  const std::optional<fs::path> folder =
      word == "generated" ? std::nullopt : folder_of(word, relative_to);
  if (!folder)
    return {};
  std::vector<std::string> files;
  for (const std::string part : {"train", "t10k"})
    for (const std::string what : {"images", "labels"})
      for (const std::string between : {"-", "."})
        files.push_back((*folder / (part + "-" + what + between +
                                    (what == "images" ? "idx3-ubyte" : "idx1-ubyte")))
                            .string());
  for (const std::string number : {"1", "2", "3", "4", "5"})
    files.push_back((*folder / ("data_batch_" + number + ".bin")).string());
  files.push_back((*folder / "test_batch.bin").string());
  for (std::size_t i = 0, whole = files.size(); i < whole; ++i)
    files.push_back(files[i] + ".gz");
  return files;
}

DataNeed need_of_data(const std::string& word, const std::string& relative_to,
                      const Settings& generated) {
  if (word == "generated")
    return need_of_generated(generated);
  constexpr double seconds_per_byte = 3e-9;
  double bytes = 0;
  for (const std::string& file : data_files(word, relative_to)) {
    std::error_code error;
    constexpr double packed = 4;  // approximate compression ratio of gzip
    const bool is_packed = file.ends_with(".gz");
    if (is_packed && fs::exists(file.substr(0, file.size() - 3), error))
      continue;  // the unpacked file is read instead
    const auto size = fs::is_regular_file(file, error) ? fs::file_size(file, error) : 0;
    bytes += error ? 0 : (is_packed ? packed : 1) * static_cast<double>(size);
  }
  return {.memory_bytes = bytes * (1 + sizeof(float)), .seconds = bytes * seconds_per_byte};
}

Data load_data(const std::string& word, const std::string& relative_to, const Settings& generated,
               std::uint64_t seed) {
  if (word == "digits")
    return read_digits(digits_file());
  if (word == "generated")
    return generate_data(generated, seed);
  const std::optional<fs::path> found = folder_of(word, relative_to);
  if (!found)
    throw std::runtime_error(
        "no data '" + brief(word) +
        (word == fashion ? "' (Debian's package dataset-" + fashion + " is not installed)" : "'") +
        ": allowed are digits, generated, fashion-mnist, or a path of a folder with MNIST's or "
        "CIFAR-10's files");
  const fs::path& folder = *found;
  const bool is_mnist = has_file(folder, {"train-images-idx3-ubyte", "train-images.idx3-ubyte"});
  const bool is_cifar =
      has_file(folder, {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                        "data_batch_4.bin", "data_batch_5.bin"});
  if (is_mnist && is_cifar)
    refuse_file(folder.string(),
                "files of both MNIST and CIFAR-10: allowed are the files of one of them");
  if (is_mnist)
    return read_mnist(folder.string());
  if (is_cifar)
    return read_cifar(folder.string());
  refuse_file(folder.string(),
              "no data: allowed are folders with MNIST's files (train-images-idx3-ubyte, ...) or "
              "CIFAR-10's files (data_batch_1.bin, ...), also with .gz");
}

void hold_out_validation(Data& data) {
  Samples& train = data.train;
  Samples& held_out = data.held_out;
  if (train.count <= held_out.count)
    throw std::invalid_argument(
        fmt::format("held-out = validation: {} has {} samples to train with and {} held out; "
                    "allowed are data with more training samples than held-out ones",
                    data.source, train.count, held_out.count));
  train.count -= held_out.count;
  const auto values = static_cast<std::ptrdiff_t>(train.count * train.features);
  const auto labels = static_cast<std::ptrdiff_t>(train.count);
  held_out.values.assign(train.values.begin() + values, train.values.end());
  held_out.labels.assign(train.labels.begin() + labels, train.labels.end());
  train.values.resize(static_cast<std::size_t>(values));
  train.labels.resize(train.count);
  data.source += fmt::format(
      "; those are not seen, and the last {} of the others are held out instead", held_out.count);
}

}  // namespace syncline
