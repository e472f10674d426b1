// QSGD's two entropy codes (arXiv 1610.02132, section 3.2 and appendix; algorithms.md 3.2).
#include "kernels/qsgd.h"

namespace syncline {

Qsgd qsgd_of(const Settings& settings) {
  Qsgd qsgd;
  qsgd.bits = static_cast<unsigned>(settings.number("bits"));
  qsgd.levels = (1 << (qsgd.bits - 1)) - 1;
  qsgd.bucket = static_cast<std::size_t>(std::stoul(settings.word("quant-bucket")));
  qsgd.max_norm = settings.word("norm") == "max";
  const std::string& coding = settings.word("coding");
  qsgd.coding = coding == "fixed"    ? Coding::fixed
                : coding == "sparse" ? Coding::sparse
                                     : Coding::dense;
  return qsgd;
}

void put_bucket(const Qsgd& qsgd, float scale, const std::uint8_t* codes, std::size_t count,
                BitWriter& out) {
  out.put(std::bit_cast<std::uint32_t>(scale), 32);
  const auto put_sign = [&](std::uint8_t code) { out.put((code & qsgd.sign_bit()) != 0, 1); };
  std::size_t last = 0;  // positions count from one
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned level = codes[i] & (qsgd.sign_bit() - 1);
    if (qsgd.coding == Coding::dense) {
      put_sign(codes[i]);
      put_elias(level + 1, out);
    } else if (level != 0) {
      put_elias(i + 1 - last, out);
      put_sign(codes[i]);
      put_elias(level, out);
      last = i + 1;
    }
  }
  if (qsgd.coding == Coding::sparse)
    put_elias(count + 1 - last, out);
  out.align();
}

float get_bucket(const Qsgd& qsgd, std::size_t count, BitReader& in, std::uint8_t* codes) {
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(in.get(32)));
  if (scale < 0)
    throw CorruptMessage("corrupt qsgd message: a scale below zero");
  std::fill(codes, codes + count, std::uint8_t{0});
  std::size_t next = 0;
  const auto put_code = [&](std::size_t i, bool negative, std::uint64_t level) {
    if (level > static_cast<std::uint64_t>(qsgd.levels))
      throw CorruptMessage("corrupt qsgd message: level " + std::to_string(level) +
                           ", allowed are up to " + std::to_string(qsgd.levels));
    codes[i] = static_cast<std::uint8_t>(level | (negative ? qsgd.sign_bit() : 0u));
  };
  while (qsgd.coding == Coding::dense && next < count) {
    const bool negative = in.get(1) != 0;
    put_code(next++, negative, get_elias(in) - 1);
  }
  while (qsgd.coding == Coding::sparse) {
    const std::uint64_t distance = get_elias(in);
    if (distance > count + 1 - next)
      throw CorruptMessage("corrupt qsgd message: a position beyond the end of its bucket");
    next += distance;
    if (next == count + 1)
      break;
    const bool negative = in.get(1) != 0;
    put_code(next - 1, negative, get_elias(in));
  }
  in.align();
  return scale;
}

}  // namespace syncline
