// Laws that hold for any bytes.
#pragma once

#include <functional>
#include <string>

#include "tests/fuzz/reader.h"

namespace syncline {

// Returns true if `read` returns, and false if it throws std::runtime_error or
// std::invalid_argument with a message in our words. Throws std::logic_error otherwise.
bool reads(Bytes bytes, const std::function<void()>& read);

// Throws std::logic_error unless this is one line of ours, of bounded length. It may repeat words
// of `bytes`.
void require_our_words(Bytes bytes, const std::string& message);

// Throws std::logic_error if the text contains `nan` or `inf`, or characters that must not reach a
// terminal.
void require_plain_text(Bytes bytes, const std::string& text);

}  // namespace syncline
