// ClipSound: the decoded samples of one clip at the recipe's rate. Short clips lie in memory, clips
// above a bound in a scratch file, so no clip is too long for the memory. A reader sees no
// difference. The buffer is reused for the next clip. One thread at a time. Failures: kResource
// (the disk).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "base/scratch_file.hpp"
#include "dsp/sample_reader.hpp"
#include "xtts/status.hpp"

namespace xtts::records {

class ClipSound final : public dsp::SampleReader {
 public:
  // `folder`: where the scratch file may lie.
  ClipSound(Env& env, std::string folder, std::size_t samples_in_memory_max);

  // Begins a new clip and forgets the one before.
  void begin();
  [[nodiscard]] Status append(std::span<const float> samples);
  // Call it after the last append(): only then can the samples be read.
  [[nodiscard]] Status end();

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] Result<std::span<const float>> piece(std::uint64_t first,
                                                     std::size_t count) override;
  // Loads [first, first + count) into memory, which the caller may change. It must be the last call
  // for a clip. The memory grows with `count`.
  [[nodiscard]] Result<std::span<float>> load(std::uint64_t first, std::uint64_t count);

 private:
  [[nodiscard]] Status spill();
  [[nodiscard]] Status read(std::uint64_t first, std::span<float> out) const;

  Env& env_;
  const std::string folder_;
  const std::size_t samples_in_memory_max_;
  std::vector<float> samples_;  // all of them, or those that are not in the file yet
  std::uint64_t size_ = 0;
  std::unique_ptr<ScratchFile> file_;
  std::vector<float> window_;  // a part of the file, from window_first_ on
  std::uint64_t window_first_ = 0;
};

}  // namespace xtts::records
