// Reads recorded Chakra execution traces (.et): protobuf messages one after another, each after its
// length as a varint: GlobalMetadata, then the nodes of one rank (mlcommons/chakra:
// schema/protobuf/et_def.proto, src/third_party/utils/protolib.py;
// protobuf.dev/programming-guides/encoding describes the encoding). Each message is rewritten as
// the JSON that chakra_jsonizer makes of it, so that everything else about a trace is decided in
// one place.
#include <cstdint>
#include <fmt/format.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernels/io/text.h"
#include "sim/import/imported_model.h"

namespace syncline {
namespace {

using Json = nlohmann::json;

enum class WireType { varint = 0, eight_bytes = 1, length = 2, four_bytes = 5 };

struct WireField {
  std::uint64_t number = 0;
  WireType type = WireType::varint;
  std::uint64_t value = 0;  // for WireType::varint
  std::string_view bytes;   // for WireType::length
};

// Reads protobuf's data from the front of some bytes; returns nothing if the bytes are invalid.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }

  std::optional<std::uint64_t> varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && !bytes_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_.front());
      bytes_.remove_prefix(1);
      value |= static_cast<std::uint64_t>(byte & 0x7fu) << shift;
      if (byte < 0x80)
        return value;
    }
    return std::nullopt;
  }

  std::optional<std::string_view> taken(std::uint64_t count) {
    if (count > bytes_.size())
      return std::nullopt;
    const std::string_view front = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return front;
  }

  std::optional<std::string_view> message() {
    const std::optional<std::uint64_t> length = varint();
    return length ? taken(*length) : std::nullopt;
  }

  std::optional<WireField> field() {
    const std::optional<std::uint64_t> tag = varint();
    if (!tag || *tag >> 3 == 0)
      return std::nullopt;
    WireField field{.number = *tag >> 3, .type = static_cast<WireType>(*tag & 7)};
    std::optional<std::string_view> bytes = std::string_view();
    switch (field.type) {
      case WireType::varint:
        if (const std::optional<std::uint64_t> value = varint()) {
          field.value = *value;
          return field;
        }
        return std::nullopt;
      case WireType::eight_bytes:
        bytes = taken(8);
        break;
      case WireType::length:
        bytes = message();
        break;
      case WireType::four_bytes:
        bytes = taken(4);
        break;
      default:
        return std::nullopt;
    }
    if (!bytes)
      return std::nullopt;
    field.bytes = *bytes;
    return field;
  }

 private:
  std::string_view bytes_;
};

// Appends the numbers of a repeated field, which are single or packed.
bool add_numbers(const WireField& field, Json& list) {
  if (field.type == WireType::varint) {
    list.push_back(field.value);
    return true;
  }
  for (WireReader packed(field.bytes); !packed.at_end();)
    if (const std::optional<std::uint64_t> value = packed.varint())
      list.push_back(*value);
    else
      return false;
  return field.type == WireType::length;
}

// Reads an attribute's name, and its value if that is a whole number or a truth value. Other values
// are not used here.
bool read_attribute(std::string_view bytes, Json& attributes) {
  constexpr std::uint64_t name = 1, int32 = 7, int64 = 9, uint32 = 11, uint64 = 13, truth = 27;
  Json attribute = Json::object();
  for (WireReader reader(bytes); !reader.at_end();) {
    const std::optional<WireField> field = reader.field();
    if (!field)
      return false;
    if (field->number == name)
      attribute["name"] = std::string(field->bytes);
    else if (field->type == WireType::varint && field->number == truth)
      attribute["boolVal"] = field->value != 0;
    else if (field->type == WireType::varint &&
             (field->number == uint32 || field->number == uint64))
      attribute["uint64Val"] = field->value;
    else if (field->type == WireType::varint && (field->number == int32 || field->number == int64))
      attribute["int64Val"] = std::to_string(static_cast<std::int64_t>(field->value));
  }
  attributes.push_back(std::move(attribute));
  return true;
}

std::optional<Json> node_of(std::string_view bytes) {
  constexpr std::uint64_t id = 1, name = 2, type = 3, control = 4, data = 5, duration = 7,
                          attr = 10;
  Json node = {{"type", 0U}};
  for (WireReader reader(bytes); !reader.at_end();) {
    const std::optional<WireField> field = reader.field();
    if (!field)
      return std::nullopt;
    bool good = true;
    if (field->number == id)
      node["id"] = field->value;
    else if (field->number == name)
      node["name"] = std::string(field->bytes);
    else if (field->number == type)
      node["type"] = field->value;
    else if (field->number == control)
      good = add_numbers(*field, node["ctrlDeps"]);
    else if (field->number == data)
      good = add_numbers(*field, node["dataDeps"]);
    else if (field->number == duration)
      node["durationMicros"] = field->value;
    else if (field->number == attr)
      good = read_attribute(field->bytes, node["attr"]);
    if (!good)
      return std::nullopt;
  }
  return node;
}

}  // namespace

// True if the bytes begin with GlobalMetadata: a version, or attributes. No text begins like this,
// with a valid length after a valid length.
bool is_recorded_chakra(std::string_view bytes) {
  constexpr std::uint64_t version = 1, attr = 2;
  const std::optional<std::string_view> metadata = WireReader(bytes).message();
  if (!metadata || metadata->empty())
    return false;
  for (WireReader reader(*metadata); !reader.at_end();) {
    const std::optional<WireField> field = reader.field();
    if (!field || field->type != WireType::length ||
        (field->number != version && field->number != attr))
      return false;
  }
  return true;
}

void for_each_recorded_object(const std::string& path, std::string_view bytes,
                              const std::function<void(int number, std::string_view json)>& read) {
  constexpr std::size_t most_bytes = 2'000'000;  // of a node; its JSON may take fifty times as many
  WireReader reader(bytes);
  for (int number = 1; !reader.at_end(); ++number) {
    const std::optional<std::string_view> message = reader.message();
    if (!message)
      refuse_at(path, number, "the message with this number does not end");
    if (message->size() > most_bytes)
      refuse_at(path, number,
                fmt::format("the message with this number has {} bytes: allowed are up to {}",
                            message->size(), most_bytes));
    const std::optional<Json> node = number == 1 ? Json::object() : node_of(*message);
    if (!node)
      refuse_at(path, number, "the message with this number is no node of a Chakra trace");
    read(number, node->dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

}  // namespace syncline
