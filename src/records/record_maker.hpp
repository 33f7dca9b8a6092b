// RecordMaker: the conditioned samples of a clip -> its record in each column of sound, in the
// column's dtype. One thread at a time; keeps its buffers: one record of each column in float32.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dsp/extract.hpp"
#include "formats/recipe_fwd.hpp"
#include "records/clip_worker.hpp"
#include "records/value_rules.hpp"
#include "xtts/status.hpp"

namespace xtts::records {

class RecordMaker {
 public:
  // `recipe` must outlive it.
  RecordMaker(const formats::Recipe& recipe, dsp::FeatureExtractor extractor);

  // Of a clip of so many samples, before any cut to max_frames.
  [[nodiscard]] std::uint64_t frame_count(std::uint64_t sample_count) const;
  // So many first samples decide a record, however long the clip is.
  [[nodiscard]] std::uint64_t samples_wanted() const;

  // Into frame_count, records, sums and warnings of `outcome`, whose buffers are reused. Returned
  // is why the clip has no record: no features, or values that its columns cannot hold.
  [[nodiscard]] Result<std::optional<formats::Reason>> make(std::span<const float> samples,
                                                            ClipOutcome& outcome);

 private:
  [[nodiscard]] ValueVerdict make_wave(std::span<const float> samples, MadeRecord& record) const;

  const formats::Recipe& recipe_;
  const std::vector<formats::ColumnSpec> columns_;
  dsp::FeatureExtractor extractor_;
  formats::BySoundColumn<std::vector<float>> rows_;
  dsp::FrameRows frames_;  // into rows_
};

// Known before any work: set where the storage's dtype cannot hold what the recipe makes of a tone
// at full scale, as a power spectrum in float16. Quieter clips may fit, so that a clip's own values
// decide once the recipe has passed.
[[nodiscard]] Result<std::optional<formats::Reason>> refusal_of_full_scale(
    const formats::Recipe& recipe, dsp::Isa isa);

}  // namespace xtts::records
