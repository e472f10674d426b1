// Where models, platforms and cost tables are found: by path, or by name in the data folders that
// come with the program, from any working directory and after `cmake --install`.
#pragma once

#include <string>
#include <vector>

namespace syncline {

// The folder that holds models/, platforms/ and kernels/profiles/.
// Throws std::runtime_error when the program was moved away from its data.
std::string data_root();

// `value` as a path, from the working directory or from `relative_to` (the folder of the
// configuration file that says it); or as the stem of a file in `folder` of data_root(). Throws
// std::runtime_error that lists the names there are.
std::string find_file(const std::string& kind, const std::string& folder,
                      const std::string& extension, const std::string& value,
                      const std::string& relative_to);

// A hash (64-bit FNV-1a, in hexadecimal) of what these files hold, in this order.
std::string fingerprint(const std::vector<std::string>& paths);

// Stems of the files with this extension in a folder of data_root(), sorted.
std::vector<std::string> names_in(const std::string& folder, const std::string& extension);

// The device that a cost table is about: "v100" for v100-published.csv, wherever it lies.
std::string device_of(const std::string& table);

// Writes to a temporary name in the same folder and renames, so that a reader never sees half a
// file. Throws std::runtime_error naming the path.
void write_atomically(const std::string& path, const std::string& text);

// Without blanks at its ends; and its parts, each without.
std::string trimmed(const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace syncline
