// SharedLabels stores names that many clips share, such as speakers, once. One thread at a time.
#pragma once

#include <string_view>
#include <unordered_map>

#include "base/shared_text.hpp"

namespace xtts::corpus {

class SharedLabels {
 public:
  [[nodiscard]] SharedText of(std::string_view label) {
    if (label.empty()) return {};
    if (const auto known = labels_.find(label); known != labels_.end()) return known->second;
    const SharedText shared = label;
    letter_count_ += label.size();
    labels_.emplace(shared.view(), shared);
    return shared;
  }
  // The memory of all of them, estimated.
  [[nodiscard]] std::uint64_t held_bytes() const { return 100 * labels_.size() + letter_count_; }

 private:
  std::unordered_map<std::string_view, SharedText> labels_;  // by the text itself
  std::uint64_t letter_count_ = 0;
};

}  // namespace xtts::corpus
