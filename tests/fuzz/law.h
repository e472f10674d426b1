// What holds whatever the bytes are.
#pragma once

#include <functional>
#include <string>

#include "tests/fuzz/reader.h"

namespace syncline {

// Whether it reads them: it returns, or throws std::runtime_error or std::invalid_argument with a
// message in our words. Throws std::logic_error where it does neither.
bool reads(Bytes bytes, const std::function<void()>& read);

// Throws std::logic_error unless this is one line of ours, of bounded length. Words of `bytes` may
// be repeated in it.
void require_our_words(Bytes bytes, const std::string& message);

// Throws std::logic_error if there is an `nan` or `inf`, or what must not reach a terminal.
void require_plain_text(Bytes bytes, const std::string& text);

}  // namespace syncline
