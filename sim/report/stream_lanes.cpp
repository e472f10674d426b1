#include "sim/report/stream_lanes.h"

#include <string_view>

namespace syncline {
namespace {

std::string_view word_of(Stream stream) {
  switch (stream) {
    case Stream::compute:
      return "compute";
    case Stream::communication:
      return "communication";
    case Stream::messages:
      return "messages";
    case Stream::compression:
      return "compression";
  }
  return "";
}

}  // namespace

std::string name_of(Stream stream, int stage) {
  const std::string name(word_of(stream));
  return stage == 0 ? name : name + "-" + std::to_string(stage + 1);
}

}  // namespace syncline
