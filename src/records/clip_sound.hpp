// ClipSound: the samples of one clip at the recipe's rate, as they come from the decoder: in
// memory, or, from a bound on, in a scratch file, so that no clip is too long for the memory.
// Whatever reads them sees no difference. The buffer is kept from clip to clip. One thread at a
// time. Failures: kResource (the disk).
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

  // A new clip: the one before is forgotten.
  void begin();
  [[nodiscard]] Status append(std::span<const float> samples);
  // After the last append(); only then can the samples be read.
  [[nodiscard]] Status end();

  [[nodiscard]] std::uint64_t size() const override { return size_; }
  [[nodiscard]] Result<std::span<const float>> piece(std::uint64_t first,
                                                     std::size_t count) override;
  // [first, first + count) in memory, to be changed at will: the last thing asked of a clip. The
  // memory is as much as is asked for.
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
  std::vector<float> window_;  // of the file, from window_first_ on
  std::uint64_t window_first_ = 0;
};

}  // namespace xtts::records
