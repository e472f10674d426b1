// Asks git about a folder: its commit, and its files at other commits. Git is called so that it
// runs, fetches and writes nothing, whatever a commit contains.
#pragma once

#include <optional>
#include <string>

namespace syncline {

// The full name of the commit `ref` in the repository of this folder. Throws std::runtime_error,
// one line, if there is no git, no repository, or no such commit.
std::string commit_named(const std::string& ref, const std::string& folder);

// The text of `file` of this folder at a commit; none if there was no such file. Throws as above.
std::optional<std::string> text_at(const std::string& commit, const std::string& folder,
                                   const std::string& file);

// The commit that is checked out, in twelve digits, with "-dirty" at the end if files differ from
// it.
std::string commit_of(const std::string& folder);

}  // namespace syncline
