#include "sim/catalogue/gzip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <vector>

#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

constexpr unsigned longest_code = 15;

// Reports damaged bytes; unpacked() adds the file's name.
[[noreturn]] void fail_unpacking(const char* what) {
  throw std::invalid_argument(what);
}

// Bits from the front, the least significant bit of a byte first.
class PackedBits {
 public:
  explicit PackedBits(std::string_view bytes) : bytes_(bytes) {}

  // The next `count` bits, at most 16; bits behind the end are 0.
  std::uint32_t next(unsigned count) {
    while (held_ < count && at_ < bytes_.size()) {
      bits_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes_[at_++])) << held_;
      held_ += 8;
    }
    return static_cast<std::uint32_t>(bits_ & ((std::uint64_t{1} << count) - 1));
  }
  void skip(unsigned count) {
    if (count > held_)
      fail_unpacking("it ends too early");
    bits_ >>= count;
    held_ -= count;
  }
  std::uint32_t take(unsigned count) {
    const std::uint32_t bits = next(count);
    skip(count);
    return bits;
  }
  std::string_view take_bytes(std::size_t count) {
    skip(held_ % 8);
    at_ -= held_ / 8;
    bits_ = held_ = 0;
    if (count > bytes_.size() - at_)
      fail_unpacking("it ends too early");
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::string_view rest() {
    take_bytes(0);
    return bytes_.substr(at_);
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::uint64_t bits_ = 0;
  unsigned held_ = 0;
};

// Huffman codes, made from the lengths of their symbols' codes: a table for all values of the next
// 15 bits.
class Codes {
 public:
  explicit Codes(const std::vector<unsigned>& lengths) : table_(1u << longest_code) {
    std::array<unsigned, longest_code + 2> first{};  // code of each length
    for (const unsigned length : lengths)
      first[length + 1] += length > 0 ? 1 : 0;
    unsigned code = 0;
    for (unsigned length = 1; length <= longest_code; ++length) {
      code = (code + first[length]) << 1;
      first[length] = code;
      if (code + static_cast<unsigned>(std::ranges::count(lengths, length)) > 1u << length)
        fail_unpacking("its Huffman codes are invalid");
    }
    for (std::size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (const unsigned length = lengths[symbol]; length > 0)
        for (unsigned place = reversed(first[length]++, length); place < table_.size();
             place += 1u << length)
          table_[place] = static_cast<std::uint16_t>(symbol << 4 | length);
  }

  unsigned symbol(PackedBits& bits) const {
    const unsigned entry = table_[bits.next(longest_code)];
    if (entry == 0)
      fail_unpacking("it contains an invalid code");
    bits.skip(entry & 15);
    return entry >> 4;
  }

 private:
  static unsigned reversed(unsigned code, unsigned length) {
    unsigned other = 0;
    for (unsigned bit = 0; bit < length; ++bit)
      other |= (code >> bit & 1) << (length - 1 - bit);
    return other;
  }

  std::vector<std::uint16_t> table_;
};

struct BlockCodes {
  Codes literals, distances;
};

const BlockCodes& fixed_codes() {
  static const BlockCodes codes = [] {
    std::vector<unsigned> lengths(288, 8);
    std::fill(lengths.begin() + 144, lengths.begin() + 256, 9);
    std::fill(lengths.begin() + 256, lengths.begin() + 280, 7);
    return BlockCodes{Codes(lengths), Codes(std::vector<unsigned>(30, 5))};
  }();
  return codes;
}

BlockCodes own_codes(PackedBits& bits) {
  const unsigned literals = bits.take(5) + 257;
  const unsigned distances = bits.take(5) + 1;
  const unsigned of_lengths = bits.take(4) + 4;
  constexpr std::array<unsigned, 19> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                           11, 4,  12, 3, 13, 2, 14, 1, 15};
  std::vector<unsigned> lengths(order.size());
  for (unsigned i = 0; i < of_lengths; ++i)
    lengths[order[i]] = bits.take(3);
  const Codes codes(lengths);
  lengths.clear();
  while (lengths.size() < literals + distances) {
    const unsigned symbol = codes.symbol(bits);
    if (symbol == 16 && lengths.empty())
      fail_unpacking("it repeats a code length before the first one");
    const unsigned times = symbol == 16   ? 3 + bits.take(2)
                           : symbol == 17 ? 3 + bits.take(3)
                           : symbol == 18 ? 11 + bits.take(7)
                                          : 1;
    lengths.insert(lengths.end(), times, symbol < 16 ? symbol : symbol == 16 ? lengths.back() : 0);
  }
  if (lengths.size() > literals + distances)
    fail_unpacking("its Huffman codes are invalid");
  const auto middle = lengths.begin() + literals;
  return {Codes({lengths.begin(), middle}), Codes({middle, lengths.end()})};
}

void copy_back(PackedBits& bits, const BlockCodes& codes, unsigned symbol, std::string& text) {
  constexpr std::array<unsigned, 29> lengths{3,  4,  5,  6,   7,   8,   9,   10,  11, 13,
                                             15, 17, 19, 23,  27,  31,  35,  43,  51, 59,
                                             67, 83, 99, 115, 131, 163, 195, 227, 258};
  constexpr std::array<unsigned, 29> more_bits{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                               2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
  constexpr unsigned first = 257;
  if (symbol - first >= lengths.size())
    fail_unpacking("it contains an invalid code");
  const unsigned length = lengths[symbol - first] + bits.take(more_bits[symbol - first]);
  const unsigned far = codes.distances.symbol(bits);
  if (far >= 30)
    fail_unpacking("it contains an invalid code");
  const unsigned more = far < 2 ? 0 : far / 2 - 1;
  const std::size_t distance = far < 2 ? far + 1 : ((2 + far % 2) << more) + 1 + bits.take(more);
  if (distance > text.size())
    fail_unpacking("it refers to bytes before its beginning");
  for (unsigned i = 0; i < length; ++i)
    text += text[text.size() - distance];
}

// Appends the unpacked contents of all blocks.
void inflate(PackedBits& bits, std::size_t most_bytes, std::string& text) {
  const auto check_size = [&](std::size_t more) {
    if (text.size() + more > most_bytes)
      throw std::invalid_argument(
          fmt::format("it unpacks to more than {} bytes, which is the limit", most_bytes));
  };
  for (bool last = false; !last;) {
    last = bits.take(1) == 1;
    const unsigned kind = bits.take(2);
    if (kind == 3)
      fail_unpacking("it contains a block of an unknown kind");
    if (kind == 0) {
      const std::string_view sizes = bits.take_bytes(4);
      const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(sizes[i]); };
      const std::size_t size = byte(0) | byte(1) << 8;
      if ((size ^ (byte(2) | byte(3) << 8)) != 0xffff)
        fail_unpacking("it contains a block with an invalid size");
      check_size(size);
      text += bits.take_bytes(size);
      continue;
    }
    const BlockCodes codes = kind == 1 ? fixed_codes() : own_codes(bits);
    for (unsigned symbol = 0; symbol != 256;) {
      symbol = codes.literals.symbol(bits);
      if (symbol < 256) {
        check_size(1);
        text += static_cast<char>(symbol);
      } else if (symbol > 256) {
        copy_back(bits, codes, symbol, text);
        check_size(0);
      }
    }
  }
}

std::uint32_t check_sum(std::string_view text) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> sums{};
    for (std::uint32_t i = 0; i < sums.size(); ++i) {
      sums[i] = i;
      for (int bit = 0; bit < 8; ++bit)
        sums[i] = sums[i] >> 1 ^ (sums[i] % 2 == 1 ? 0xedb88320u : 0u);
    }
    return sums;
  }();
  return ~std::accumulate(text.begin(), text.end(), ~0u, [](std::uint32_t sum, char c) {
    return table[(sum ^ static_cast<unsigned char>(c)) & 0xff] ^ sum >> 8;
  });
}

void skip_header(PackedBits& bits) {
  const std::string_view head = bits.take_bytes(10);
  if (!head.starts_with("\x1f\x8b\x08"))
    fail_unpacking("it does not begin like a gzip file");
  const auto flags = static_cast<unsigned char>(head[3]);
  constexpr unsigned sum = 2, extra = 4, name = 8, comment = 16;
  if ((flags & extra) != 0) {
    const unsigned size = bits.take(16);
    bits.take_bytes(size);
  }
  for (const unsigned text : {name, comment})
    if ((flags & text) != 0)
      while (bits.take(8) != 0) {
      }
  if ((flags & sum) != 0)
    bits.take_bytes(2);
}

}  // namespace

std::string unpacked(const std::string& path, std::string_view packed, std::size_t most_bytes) {
  std::string text;
  try {
    for (PackedBits bits(packed); !bits.rest().empty();) {  // a file may have several members
      skip_header(bits);
      const std::size_t begin = text.size();
      inflate(bits, most_bytes, text);
      bits.take_bytes(0);
      const std::uint32_t low = bits.take(16);
      const std::uint32_t sum = bits.take(16) << 16 | low;
      bits.take_bytes(4);  // the size, which the sum covers
      if (check_sum(std::string_view(text).substr(begin)) != sum)
        fail_unpacking("its check sum is wrong");
    }
  } catch (const std::invalid_argument& error) {
    refuse_file(path, "not a complete gzip file: {}", error.what());
  }
  return text;
}

}  // namespace syncline
