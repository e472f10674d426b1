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
  out.put({std::bit_cast<std::uint32_t>(scale), 32});
  std::size_t last = 0;  // positions count from one
  for (std::size_t i = 0; i < count; ++i)
    if (qsgd.coding == Coding::dense || (codes[i] & (qsgd.sign_bit() - 1)) != 0) {
      out.put(coded(qsgd, i + 1 - last, codes[i]));
      last = i + 1;
    }
  if (qsgd.coding == Coding::sparse)
    out.put(elias(static_cast<std::uint32_t>(count + 1 - last)));
  out.align();
}

float get_bucket(const Qsgd& qsgd, std::size_t count, BitReader& in, std::uint8_t* codes) {
  std::fill(codes, codes + count, std::uint8_t{0});
  const float scale = read_bucket(qsgd, count, in, [&](std::size_t i, std::uint32_t code) {
    codes[i] = static_cast<std::uint8_t>(code);
  });
  if (in.wrong() != nullptr)
    throw CorruptMessage(std::string("corrupt qsgd message: ") + in.wrong());
  return scale;
}

}  // namespace syncline
