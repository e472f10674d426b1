// Values that several readers share. Whoever changes them while others read gets a copy.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace syncline {

using SharedValues = std::shared_ptr<const std::vector<float>>;

class CopiedOnWrite {
 public:
  CopiedOnWrite() = default;
  explicit CopiedOnWrite(std::vector<float> values)
      : values_(std::make_shared<std::vector<float>>(std::move(values))) {}

  const std::vector<float>& read() const { return *values_; }
  SharedValues share() const { return values_; }
  std::vector<float>& write() {
    if (values_.use_count() > 1)
      values_ = std::make_shared<std::vector<float>>(*values_);
    return *values_;
  }
  // All values are going to be overwritten; until then they are anything.
  std::vector<float>& overwrite(std::size_t count) {
    if (values_.use_count() != 1 || values_->size() != count)
      values_ = std::make_shared<std::vector<float>>(count);
    return *values_;
  }

 private:
  std::shared_ptr<std::vector<float>> values_;
};

}  // namespace syncline
