#include "records/clip_sound.hpp"

#include <algorithm>

#include "base/try.hpp"

namespace xtts::records {
namespace {

constexpr std::size_t kWindowSamples = 4 * dsp::SampleReader::kPieceSamplesMax;

}  // namespace

ClipSound::ClipSound(Env& env, std::string folder, std::size_t samples_in_memory_max)
    : env_(env), folder_(std::move(folder)), samples_in_memory_max_(samples_in_memory_max) {}

void ClipSound::begin() {
  file_.reset();
  samples_.clear();
  window_.clear();
  size_ = 0;
}

Status ClipSound::append(std::span<const float> samples) {
  size_ += samples.size();
  while (!samples.empty()) {
    if (samples_.size() == samples_in_memory_max_) XTTS_TRY(spill());
    const auto part =
        samples.first(std::min(samples.size(), samples_in_memory_max_ - samples_.size()));
    samples_.insert(samples_.end(), part.begin(), part.end());
    samples = samples.subspan(part.size());
  }
  return {};
}

Status ClipSound::spill() {
  if (file_ == nullptr) {
    XTTS_ASSIGN(file_, open_scratch(env_, folder_));
  }
  XTTS_TRY(file_->append(std::as_bytes(std::span(samples_))).with_context("keeping a long clip"));
  samples_.clear();
  return {};
}

Status ClipSound::end() {
  return file_ == nullptr ? Status() : spill();
}

Status ClipSound::read(std::uint64_t first, std::span<float> out) const {
  const auto bytes = std::as_writable_bytes(out);
  XTTS_ASSIGN(const std::size_t got, file_->read_at(first * sizeof(float), bytes));
  if (got != bytes.size()) return {StatusCode::kResource, "a scratch file became shorter"};
  return {};
}

Result<std::span<const float>> ClipSound::piece(std::uint64_t first, std::size_t count) {
  if (file_ == nullptr)
    return std::span<const float>(samples_).subspan(static_cast<std::size_t>(first), count);
  const bool inside = first >= window_first_ && first + count <= window_first_ + window_.size();
  if (!inside) {
    window_.resize(static_cast<std::size_t>(
        std::min<std::uint64_t>(std::max(kWindowSamples, count), size_ - first)));
    window_first_ = first;
    XTTS_TRY(read(first, window_));
  }
  return std::span<const float>(window_).subspan(static_cast<std::size_t>(first - window_first_),
                                                 count);
}

Result<std::span<float>> ClipSound::load(std::uint64_t first, std::uint64_t count) {
  if (file_ == nullptr) {
    return std::span<float>(samples_).subspan(static_cast<std::size_t>(first),
                                              static_cast<std::size_t>(count));
  }
  samples_.resize(static_cast<std::size_t>(count));
  XTTS_TRY(read(first, samples_));
  return std::span<float>(samples_);
}

}  // namespace xtts::records
