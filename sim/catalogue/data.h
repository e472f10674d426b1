// The data that a problem learns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/problem.h"

namespace syncline {

// The settings of `data = generated`.
const std::vector<OwnOption>& generated_options();

// `word` is `digits`, which come with the program; `generated`, made by `generated` from the seed
// alone; `fashion-mnist`, in Debian's package dataset-fashion-mnist; or the path of a folder, or of
// a file in it, with MNIST's IDX files or CIFAR-10's binary files, plain or packed by gzip. Paths
// count from the working directory or from `relative_to`. Values of digits are 0 to 1. Other images
// are standardised: each channel has mean 0, and all channels have the standard deviation with
// which an image's mean squared length equals that of digits. Throws std::invalid_argument or
// std::runtime_error with one line, which begins with the path if there is one.
Data load_data(const std::string& word, const std::string& relative_to, const Settings& generated,
               std::uint64_t seed);

// Uses the last training samples as held-out data, as many as were held out before; the earlier
// held-out samples are no longer used. So a choice made with these samples has not seen the data of
// the reported results. Throws std::invalid_argument if there are not more training samples than
// that.
void hold_out_validation(Data& data);

// The files that load_data() may read, whether they exist or not.
std::vector<std::string> data_files(const std::string& word, const std::string& relative_to);

// Memory and time that loading needs on this machine, computed before loading.
struct DataNeed {
  double memory_bytes = 0;
  double seconds = 0;  // of one core
};

// Throws std::invalid_argument if such data cannot be made.
DataNeed need_of_data(const std::string& word, const std::string& relative_to,
                      const Settings& generated);
DataNeed need_of_generated(const Settings&);  // likewise

// Readers of the file formats.
Data read_digits(const std::string& path);   // our CSV: models/data/digits.csv
Data read_mnist(const std::string& folder);  // IDX: also Fashion-MNIST and similar data
Data read_cifar(const std::string& folder);  // CIFAR-10's binary version
Data generate_data(const Settings&, std::uint64_t seed);

}  // namespace syncline
