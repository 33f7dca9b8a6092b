// FrameEngine: does the steps from framing to the logarithm, on the CPU or elsewhere.
// FeatureExtractor keeps the rest: the counts of frames, the padding's values, the steps of the
// whole clip, and the errors in words.
//
// An engine is used by one thread at a time. FrameEngines makes one for each thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "dsp/isa.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/sound_columns.hpp"
#include "xtts/status.hpp"

namespace xtts::dsp {

// Where each column's frames are written, row-major; an empty span: not wanted.
//   mel     [frames, channels]
//   linear  [frames, n_fft / 2 + 1]: the spectrum, before the filters
//   energy  [frames]: the L2 norm of the magnitudes
using FrameRows = formats::BySoundColumn<std::span<float>>;

class FrameEngine {
 public:
  virtual ~FrameEngine() = default;
  // Writes the clip's first `frame_count` frames to the front of each column that is wanted. The
  // clip has that many frames. kBadInput: a mel before the logarithm is not finite.
  [[nodiscard]] virtual Status run(std::span<const float> samples, std::uint64_t frame_count,
                                   const FrameRows& rows) = 0;
};

// kInvalidArgument: the processor lacks `isa`. kResource: FFTW makes no plan.
[[nodiscard]] Result<std::unique_ptr<FrameEngine>> make_cpu_engine(
    const formats::FeatureConfig& config, Isa isa);

// The failure that every engine gives for a mel that is not finite.
[[nodiscard]] Status mels_are_not_finite();

// Makes the engines of one device. Any number of threads.
class FrameEngines {
 public:
  virtual ~FrameEngines() = default;
  [[nodiscard]] virtual Result<std::unique_ptr<FrameEngine>> make(
      const formats::FeatureConfig& config) const = 0;
  // Names all that decides the engine's numbers, for `numerics.device`.
  [[nodiscard]] virtual std::string device() const = 0;
};

}  // namespace xtts::dsp
