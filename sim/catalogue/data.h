// The data that a problem learns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/problem.h"

namespace syncline {

// The settings by which `data = generated` is made.
const std::vector<OwnOption>& generated_options();

// `word` is `digits`, which come with the program; `generated`, by `generated` from the seed alone;
// `fashion-mnist`, those of Debian's package dataset-fashion-mnist; or the path of a folder, or of
// a file in it, with MNIST's IDX files or CIFAR-10's binary ones, as they are or packed by gzip,
// from the working directory or from `relative_to`. Values of digits are 0 to 1; those of other
// images are standardised: each channel has a mean of 0 and one deviation, with which an image's
// mean squared length is that of digits. Throws std::invalid_argument or std::runtime_error with
// one line, which begins with the path where there is one.
Data load_data(const std::string& word, const std::string& relative_to, const Settings& generated,
               std::uint64_t seed);

// Holds the last of the samples to train with out, as many as were held out, which nobody then
// sees: what is chosen by them has not seen what is reported. Throws std::invalid_argument where
// there are not more than that.
void hold_out_validation(Data& data);

// The files that it may read, whether they are there or not.
std::vector<std::string> data_files(const std::string& word, const std::string& relative_to);

// What loading takes of this machine, by arithmetic, before it is done.
struct DataNeed {
  double memory_bytes = 0;
  double seconds = 0;  // of one core
};

// Throws std::invalid_argument if such data cannot be made.
DataNeed need_of_data(const std::string& word, const std::string& relative_to,
                      const Settings& generated);
DataNeed need_of_generated(const Settings&);  // likewise

// Each of its file formats.
Data read_digits(const std::string& path);   // our CSV: models/data/digits.csv
Data read_mnist(const std::string& folder);  // IDX: also Fashion-MNIST and others like it
Data read_cifar(const std::string& folder);  // CIFAR-10's binary version
Data generate_data(const Settings&, std::uint64_t seed);

}  // namespace syncline
