#include "records/record_maker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numbers>

#include "base/convert_floats.hpp"
#include "base/float_range.hpp"
#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "dsp/condition.hpp"
#include "dsp/int16_sample.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "formats/sound_columns.hpp"
#include "records/columns.hpp"
#include "records/value_rules.hpp"

namespace xtts::records {
namespace {

using formats::Reason;
using formats::Rule;
using formats::SoundColumn;

// Makes room for the frames of each wanted column.
formats::BySoundColumn<std::vector<float>> make_rows(const formats::FeatureConfig& features) {
  formats::BySoundColumn<std::vector<float>> rows;
  for (const SoundColumn column : formats::sound_columns_of(features)) {
    const formats::SoundColumnInfo& info = formats::info_of(column);
    if (info.counts_samples) continue;
    std::size_t values = 1;
    for (const std::size_t size : info.shape(features)) values *= size;
    rows[column].resize(values);
  }
  return rows;
}

ValueVerdict store_frames(std::string_view column, std::span<const float> frames, float fill,
                          DType dtype, std::vector<std::byte>& rows) {
  ValueVerdict verdict = check_values(column, {&fill, 1}, dtype);
  if (!verdict.refusal) verdict = check_values(column, frames, dtype);
  if (verdict.refusal) return verdict;
  rows.resize(frames.size() * size_bytes(dtype));
  narrow_floats(frames, dtype, rows);
  return verdict;
}

// Lasts half a second or two windows, whichever is longer: enough for each padding and for a
// loudness block.
std::vector<float> full_scale_tone(const formats::FeatureConfig& features) {
  std::vector<float> samples(
      std::max<std::size_t>(features.sample_rate_hz / 2, 2 * std::size_t{features.stft.n_fft}));
  // The tone has an eighth of the rate: the middle of a bin in every transform whose size is a
  // multiple of eight.
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = static_cast<float>(std::sin(0.25 * std::numbers::pi * static_cast<double>(i % 8)));
  }
  return samples;
}

}  // namespace

RecordMaker::RecordMaker(const formats::Recipe& recipe, dsp::FeatureExtractor extractor)
    : recipe_(recipe),
      columns_(sound_column_forms(recipe)),
      extractor_(std::move(extractor)),
      rows_(make_rows(*recipe.features)) {
  for (const formats::SoundColumnInfo& info : formats::all_sound_columns())
    frames_[info.column] = rows_[info.column];
}

std::uint64_t RecordMaker::frame_count(std::uint64_t sample_count) const {
  return extractor_.frame_count(sample_count);
}

std::uint64_t RecordMaker::samples_wanted() const {
  const auto& features = *recipe_.features;
  const std::uint64_t of_frames = extractor_.samples_of(features.max_frames);
  if (features.columns.wave == formats::WaveColumn::kNone) return of_frames;
  return std::max(of_frames, features.padded_samples());
}

Result<std::optional<Reason>> RecordMaker::make(std::span<const float> samples,
                                                ClipOutcome& outcome) {
  const auto& features = *recipe_.features;
  const auto extraction = extractor_.extract(samples, frames_);
  // The peak shows the cause of bad features: a file of another scale.
  const auto peak = [&] { return static_cast<double>(range_of(samples).largest); };
  if (extraction.status().code() == StatusCode::kBadInput) {
    return std::optional(Reason{
        .rule = Rule::kNoFeatures, .numbers = {peak()}, .detail = extraction.status().message()});
  }
  XTTS_ASSIGN(const dsp::Extracted extracted, extraction);
  outcome.frame_count = std::min<std::uint32_t>(extracted.frame_count, features.max_frames);
  outcome.records.resize(columns_.size());
  const auto put = [&](std::size_t column, std::span<const float> frames, float fill) {
    const std::size_t width = frames.size() / features.max_frames;
    RecordRows& record = outcome.records[column];
    record.length = outcome.frame_count;
    record.fill_bits = std::bit_cast<std::uint32_t>(fill);
    return store_frames(columns_[column].name, frames.first(outcome.frame_count * width), fill,
                        columns_[column].dtype, record.rows);
  };
  const auto wanted = formats::sound_columns_of(features);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const formats::SoundColumnInfo& info = formats::info_of(wanted[i]);
    RecordRows& record = outcome.records[i];
    ValueVerdict verdict;
    if (info.counts_samples) {
      record.fill_bits = 0;
      record.length = static_cast<std::uint32_t>(
          formats::wave_samples(features, samples.size(), outcome.frame_count));
      verdict = make_wave(samples, record);
    } else {
      verdict = put(i, frames_[info.column], extracted.fills[info.column]);
    }
    if (info.is_feature && !verdict.refusal)
      dsp::sum_channels(record.rows, columns_[i].dtype, features.channel_count(), outcome.sums);
    if (verdict.refusal && verdict.refusal->rule == Rule::kValuesNotFinite)
      verdict.refusal->numbers.front() = peak();
    if (verdict.refusal) return std::move(verdict.refusal);
    if (verdict.warning) outcome.facts.warnings.push_back(std::move(*verdict.warning));
  }
  return std::optional<Reason>();
}

// Stores the samples as the frames see them, with the zeros around them, if there are any.
ValueVerdict RecordMaker::make_wave(std::span<const float> samples, RecordRows& record) const {
  const std::size_t front =
      std::min<std::size_t>(recipe_.features->zeros.front_samples, record.length);
  samples = samples.first(std::min<std::size_t>(samples.size(), record.length - front));
  if (recipe_.features->columns.wave == formats::WaveColumn::kFloat32) {
    const ValueVerdict verdict = check_values("wave", samples, DType::kFloat32);
    if (verdict.refusal) return verdict;
    record.rows.assign(record.length * sizeof(float), std::byte{0});
    std::ranges::copy(std::as_bytes(samples), record.rows.data() + front * sizeof(float));
    return verdict;
  }
  const ValueVerdict verdict = check_int16_wave(samples);
  if (verdict.refusal) return verdict;
  record.rows.assign(record.length * sizeof(std::int16_t), std::byte{0});
  std::ranges::transform(samples, reinterpret_cast<std::int16_t*>(record.rows.data()) + front,
                         dsp::to_int16);
  return verdict;
}

Result<std::optional<Reason>> refusal_of_full_scale(const formats::Recipe& recipe, dsp::Isa isa) {
  if (recipe.storage.dtype == DType::kFloat32) return std::optional<Reason>();
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(*recipe.features));
  XTTS_ASSIGN(auto extractor, dsp::FeatureExtractor::create(*recipe.features, isa));
  std::vector<float> tone = full_scale_tone(*recipe.features);
  XTTS_TRY(conditioner.apply(tone).status());
  ClipOutcome outcome;
  XTTS_ASSIGN(auto refusal, RecordMaker(recipe, std::move(extractor)).make(tone, outcome));
  const bool is_beyond =
      refusal && (refusal->rule == Rule::kBeyondFloat16 || refusal->rule == Rule::kBeyondBfloat16 ||
                  refusal->rule == Rule::kBeyondInt16);
  return is_beyond ? std::move(refusal) : std::nullopt;
}

}  // namespace xtts::records
