// The file of `syncline check --history`: writing what was read, and reading it again, gives the
// same.
#include "sim/gate/history.h"

#include <stdexcept>

#include "tests/fuzz/law.h"

namespace syncline {
namespace {

void read(Bytes bytes) {
  const std::string path = file_of(bytes, "history.csv");
  History history;
  if (!reads(bytes, [&] { history = read_history(path); }))
    return;
  const std::string text = history_text(history);
  const std::string again =
      file_of({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "history.csv");
  if (history_text(read_history(again)) != text)
    throw std::logic_error("what is written of a history is read as something else");
  require_plain_text(bytes, history_table(history));
}

const Registered<Reader> entry{{.name = "history", .read = read}};

}  // namespace
}  // namespace syncline
