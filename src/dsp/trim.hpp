// Trimming of silence, equal to librosa.effects.trim (0.11) to the sample, and the levels that
// decide it. Pure functions; only reading the samples can fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dsp/sample_reader.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::dsp {

// Sum of x * x in float32, in NumPy's order of adding (pairwise over blocks of 128, eight running
// sums in a block). So the levels equal librosa's in every bit, and no frame falls on the other
// side of the threshold.
[[nodiscard]] float pairwise_energy(std::span<const float> samples);
// The same sum for [first, first + count) of a clip.
[[nodiscard]] Result<float> pairwise_energy(SampleReader& samples, std::uint64_t first,
                                            std::uint64_t count);

// Level of each frame in dB relative to the loudest one, float32. Frames are centred at 0, hop, 2
// hop, ..., with zeros beyond the ends. All powers under 1e-10 count as 1e-10 (librosa's amin).
// There are 1 + (n + 2 (frame / 2) - frame) / hop frames; none for an empty clip.
[[nodiscard]] Status frame_levels_db(SampleReader& samples, const formats::TrimConfig& config,
                                     std::vector<float>& levels_db);

struct SampleRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The range from the first to the last frame louder than -top_db: [first hop, (last + 1) hop), cut
// at the clip's end.
[[nodiscard]] SampleRange trim_range(std::span<const float> levels_db, std::uint64_t sample_count,
                                     const formats::TrimConfig& config);

// Share of frames more than 40 dB under the loudest.
[[nodiscard]] float silence_share(std::span<const float> levels_db);

}  // namespace xtts::dsp
