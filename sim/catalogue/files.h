// Finds models, platforms and cost tables: by path, or by name in the data folders that come with
// the program, from any working directory and after `cmake --install`.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace syncline {

// The folder that holds models/, platforms/ and kernels/profiles/.
// Throws std::runtime_error if the program cannot find its data.
std::string data_root();

// Returns a path as written. If it begins with experiments/ and does not exist, returns the path of
// the file that came with the program, so that the paths in help and README work from anywhere,
// also after installation.
std::string with_shipped(const std::string& path);

// `value` as a path, from the working directory or from `relative_to` (the folder of the
// configuration file that contains the value); or as the stem of a file in `folder` of data_root().
// Throws std::runtime_error that lists the existing names.
std::string find_file(const std::string& kind, const std::string& folder,
                      const std::string& extension, const std::string& value,
                      const std::string& relative_to);

// Like find_file(); none: there is no such file.
std::optional<std::string> existing_file(const std::string& folder, const std::string& extension,
                                         const std::string& value, const std::string& relative_to);

// Stems of the files with this extension in a folder of data_root(), sorted.
std::vector<std::string> names_in(const std::string& folder, const std::string& extension);

// The device of a cost table: "v100" for v100-published.csv, in any folder.
std::string device_of(const std::string& table);

}  // namespace syncline
