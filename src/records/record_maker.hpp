// RecordMaker: turns the conditioned samples of a clip into its record in each sound column, in the
// column's dtype. One thread at a time. It keeps its buffers: one record of each column in float32.
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
  // `recipe` must outlive the maker.
  RecordMaker(const formats::Recipe& recipe, dsp::FeatureExtractor extractor);

  // The frames of a clip with `sample_count` samples, before any cut to max_frames.
  [[nodiscard]] std::uint64_t frame_count(std::uint64_t sample_count) const;
  // The number of first samples that decide a record, however long the clip is.
  [[nodiscard]] std::uint64_t samples_wanted() const;

  // Fills frame_count, records, sums and warnings of `outcome`, and reuses its buffers. Returns a
  // reason if the clip has no record: no features, or values that its columns cannot hold.
  [[nodiscard]] Result<std::optional<formats::Reason>> make(std::span<const float> samples,
                                                            ClipOutcome& outcome);

 private:
  [[nodiscard]] ValueVerdict make_wave(std::span<const float> samples, RecordRows& record) const;

  const formats::Recipe& recipe_;
  const std::vector<formats::ColumnSpec> columns_;
  dsp::FeatureExtractor extractor_;
  formats::BySoundColumn<std::vector<float>> rows_;
  dsp::FrameRows frames_;  // views into rows_
};

// Refuses a recipe before any work if the storage's dtype cannot hold what the recipe makes of a
// tone at full scale, such as a power spectrum in float16. Quieter clips may still fit. Once the
// recipe has passed, each clip's own values decide.
[[nodiscard]] Result<std::optional<formats::Reason>> refusal_of_full_scale(
    const formats::Recipe& recipe, dsp::Isa isa);

}  // namespace xtts::records
