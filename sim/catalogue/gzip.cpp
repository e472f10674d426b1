#include "sim/catalogue/gzip.h"

#include <algorithm>
#include <memory>
#include <new>
#include <zlib.h>

#include "sim/catalogue/refuse.h"

namespace syncline {
namespace {

[[noreturn]] void refuse_packed(const std::string& path, const std::string& why) {
  refuse_file(path, "not a complete gzip file: {}", why);
}

}  // namespace

std::string unpacked(const std::string& path, std::string_view packed, std::size_t most_bytes) {
  constexpr int gzip_of_any_window = 16 + MAX_WBITS;
  constexpr std::size_t least_bytes = 1 << 16, most_at_once = 1 << 30;
  z_stream stream{};
  if (inflateInit2(&stream, gzip_of_any_window) != Z_OK)
    throw std::bad_alloc();
  const std::unique_ptr<z_stream, decltype(&inflateEnd)> ends_with_scope(&stream, &inflateEnd);
  std::string text;
  std::size_t unpacked_bytes = 0;
  for (std::size_t taken = 0; taken < packed.size();) {  // a file may have several members
    inflateReset(&stream);
    for (int status = Z_OK; status != Z_STREAM_END;) {
      if (unpacked_bytes == text.size())
        text.resize(std::min(std::max(least_bytes, 2 * text.size()), most_bytes + 1));
      const std::size_t given = std::min(packed.size() - taken, most_at_once);
      const std::size_t room = std::min(text.size() - unpacked_bytes, most_at_once);
      // zlib reads here, though its type lets it write.
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + taken));
      stream.avail_in = static_cast<uInt>(given);
      stream.next_out = reinterpret_cast<Bytef*>(text.data() + unpacked_bytes);
      stream.avail_out = static_cast<uInt>(room);
      status = inflate(&stream, Z_NO_FLUSH);
      taken += given - stream.avail_in;
      unpacked_bytes += room - stream.avail_out;
      if (unpacked_bytes > most_bytes)
        refuse_packed(
            path, fmt::format("it unpacks to more than {} bytes, which is the limit", most_bytes));
      if (status == Z_MEM_ERROR)
        throw std::bad_alloc();
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR) {
        const std::string why = stream.msg == nullptr ? "it is damaged" : stream.msg;
        refuse_packed(path,
                      why == "incorrect header check" ? "it does not begin like a gzip file" : why);
      }
      if (status != Z_STREAM_END && taken == packed.size() && stream.avail_out > 0)
        refuse_packed(path, "it ends too early");
    }
  }
  text.resize(unpacked_bytes);
  return text;
}

}  // namespace syncline
