#include "loader/losses.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

constexpr std::size_t kDamageTextsMax = 16;

std::string in_percent(double share) {
  std::array<char, 32> text{};
  const int length = std::snprintf(text.data(), text.size(), "%g %%", 100 * share);
  return {text.data(), static_cast<std::size_t>(std::max(length, 0))};
}

}  // namespace

void Losses::begin_epoch(std::uint64_t epoch, std::uint64_t sample_count) {
  epoch_ = epoch;
  epoch_sample_count_ = sample_count;
  first_text_.clear();
  failure_ = Status();
  const std::scoped_lock lock(mutex_);
  epoch_left_out_count_ = 0;
}

void Losses::note_damage(const std::string& text) {
  const std::scoped_lock lock(mutex_);
  ++damage_count_;
  if (first_damage_.size() < kDamageTextsMax) first_damage_.push_back(text);
}

void Losses::note_known_rejects(std::span<const std::uint64_t> positions) {
  const std::scoped_lock lock(mutex_);
  for (const std::uint64_t position : positions) {
    if (!is_left_out_.insert(position).second) continue;
    positions_.push_back(position);
    ++left_out_count_;
  }
}

Status Losses::count(const BatchSlot& slot) {
  if (slot.finished.left_out_count == 0) return {};
  {
    const std::scoped_lock lock(mutex_);
    left_out_count_ += slot.finished.left_out_count;
    epoch_left_out_count_ += slot.finished.left_out_count;
    for (const FoundDamage& damage : slot.found.damage) {
      if (is_left_out_.insert(damage.position).second) positions_.push_back(damage.position);
    }
  }
  XTTS_TRY(source_.check_rejects());
  if (first_text_.empty()) first_text_ = slot.found.damage.front().text;
  if (!max_damage_) return {};
  const auto lost = static_cast<double>(epoch_left_out_count_);
  if (lost <= *max_damage_ * static_cast<double>(epoch_sample_count_)) return {};
  failure_ = {StatusCode::kCorrupt,
              formatted("{}, more than max_damage allows ({}). The first: {}. {}", epoch_in_words(),
                        in_percent(*max_damage_), first_text_, source_.remedy())};
  return failure_;
}

std::string Losses::report() {
  if (first_text_.empty()) return {};
  first_text_.clear();
  const std::string remedy = source_.remedy();
  return epoch_in_words() + (remedy.empty() ? "" : ". " + remedy);
}

// Reads the count without the lock: only the calling thread changes it.
std::string Losses::epoch_in_words() const {
  return formatted("epoch {} has left out {} of {}", epoch_, epoch_left_out_count_,
                   counted(epoch_sample_count_, "clip", "clips"));
}

std::vector<std::uint64_t> Losses::positions() const {
  const std::scoped_lock lock(mutex_);
  return positions_;
}

void Losses::add_to(ReaderStats& stats) const {
  const std::scoped_lock lock(mutex_);
  stats.check_failures = damage_count_;
  stats.first_failures = first_damage_;
  stats.left_out_count = left_out_count_;
  stats.epoch_left_out_count = epoch_left_out_count_;
}

}  // namespace xtts::loader
