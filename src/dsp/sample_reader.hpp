// SampleReader: gives a clip's samples piece by piece, from memory or a file. All measuring code
// reads through it, so that a long clip in a file and a short one in memory get the same result,
// bit for bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "xtts/status.hpp"

namespace xtts::dsp {

class SampleReader {
 public:
  static constexpr std::size_t kPieceSamplesMax = std::size_t{1} << 16U;

  virtual ~SampleReader() = default;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
  // Returns [first, first + count), which must lie inside the clip and have at most
  // kPieceSamplesMax samples; valid until the next call.
  [[nodiscard]] virtual Result<std::span<const float>> piece(std::uint64_t first,
                                                             std::size_t count) = 0;
};

class MemoryReader final : public SampleReader {
 public:
  explicit MemoryReader(std::span<const float> samples) : samples_(samples) {}
  [[nodiscard]] std::uint64_t size() const override { return samples_.size(); }
  [[nodiscard]] Result<std::span<const float>> piece(std::uint64_t first,
                                                     std::size_t count) override {
    return samples_.subspan(static_cast<std::size_t>(first), count);
  }

 private:
  std::span<const float> samples_;
};

}  // namespace xtts::dsp
