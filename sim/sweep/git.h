// What git has of a folder: the commit that it is at, and files of other commits. Git is called so
// that it runs nothing, fetches nothing and writes nothing, whatever a commit has brought.
#pragma once

#include <optional>
#include <string>

namespace syncline {

// The full name of the commit that `ref` means in the repository that this folder is in. Throws
// std::runtime_error, one line: no git, no repository, or no such commit.
std::string commit_named(const std::string& ref, const std::string& folder);

// The text of `file` of this folder at a commit; none where it had no such file. Throws as above.
std::optional<std::string> text_at(const std::string& commit, const std::string& folder,
                                   const std::string& file);

// The commit that is checked out, in twelve digits; "-dirty" behind it where files differ.
std::string commit_of(const std::string& folder);

}  // namespace syncline
