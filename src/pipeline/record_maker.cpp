#include "pipeline/record_maker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>

#include "base/convert_floats.hpp"
#include "base/float_range.hpp"
#include "base/try.hpp"
#include "dsp/condition.hpp"
#include "pipeline/channel_sums.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/value_rules.hpp"

namespace xtts::pipeline {
namespace {

using formats::SoundColumn;

std::size_t values_of(SoundColumn column, const formats::FeatureConfig& features) {
  const auto wanted = features.sound_columns();
  if (std::ranges::find(wanted, column) == wanted.end()) return 0;
  std::size_t values = 1;
  for (const std::size_t size : features.shape_of(column)) values *= size;
  return values;
}

Result<ValueWarning> store_frames(std::string_view column, std::span<const float> frames,
                                  float fill, DType dtype, std::vector<std::byte>& rows) {
  XTTS_TRY(check_values(column, {&fill, 1}, dtype).status());
  XTTS_ASSIGN(const ValueWarning warning, check_values(column, frames, dtype));
  rows.resize(frames.size() * size_bytes(dtype));
  if (dtype == DType::kFloat32) {
    std::memcpy(rows.data(), frames.data(), rows.size());
  } else {
    narrow_floats(frames, dtype, rows);
  }
  return warning;
}

// Why the features are what they are: whoever reads it finds the file at fault.
Status with_peak(const Status& failure, std::span<const float> samples) {
  const float peak = range_of(samples).largest;
  if (failure.code() != StatusCode::kBadInput || !(peak > kWavePeakMax)) return failure;
  char text[80];
  std::snprintf(text, sizeof text, "; its samples reach %.4g, where full scale is 1",
                static_cast<double>(peak));
  return {failure.code(), failure.message() + text};
}

// Full scale is 32,768, as for whoever reads 16-bit files: their samples come out as they were.
std::int16_t to_int16(float sample) {
  return static_cast<std::int16_t>(std::lrint(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
}

// Half a second, or two windows: every way of padding has enough of it, every loudness a block.
std::vector<float> full_scale_tone(const formats::FeatureConfig& features) {
  std::vector<float> samples(
      std::max<std::size_t>(features.sample_rate_hz / 2, 2 * std::size_t{features.stft.n_fft}));
  // An eighth of the rate: in the middle of a bin of every transform that is a multiple of eight.
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
      mel_(values_of(SoundColumn::kMel, recipe.features)),
      linear_(values_of(SoundColumn::kLinear, recipe.features)),
      energy_(values_of(SoundColumn::kEnergy, recipe.features)) {}

std::uint64_t RecordMaker::frame_count(std::uint64_t sample_count) const {
  return extractor_.frame_count(sample_count);
}

std::uint64_t RecordMaker::samples_wanted() const {
  const auto& features = recipe_.features;
  const std::uint64_t of_frames = extractor_.samples_of(features.max_frames);
  if (features.columns.wave == formats::WaveColumn::kNone) return of_frames;
  return std::max(of_frames, features.padded_samples());
}

Status RecordMaker::make(std::span<const float> samples, ClipOutcome& outcome) {
  const Status status = make_all(samples, outcome);
  return status.ok() ? status : with_peak(status, samples);
}

Status RecordMaker::make_all(std::span<const float> samples, ClipOutcome& outcome) {
  const auto& features = recipe_.features;
  XTTS_ASSIGN(const dsp::Extracted extracted,
              extractor_.extract(samples, dsp::FrameRows{mel_, linear_, energy_}));
  outcome.frame_count = std::min(extracted.frame_count, features.max_frames);
  outcome.records.resize(columns_.size());
  const auto put = [&](std::size_t column, std::span<const float> frames, float fill) {
    const std::size_t width = frames.size() / features.max_frames;
    MadeRecord& record = outcome.records[column];
    record.length = outcome.frame_count;
    record.fill_bits = std::bit_cast<std::uint32_t>(fill);
    return store_frames(columns_[column].name, frames.first(outcome.frame_count * width), fill,
                        columns_[column].dtype, record.rows);
  };
  const auto wanted = features.sound_columns();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Result<ValueWarning> warning = ValueWarning();
    switch (wanted[i]) {
      case SoundColumn::kMel:
        warning = put(i, mel_, extracted.fill);
        if (!warning) break;
        sum_channels(outcome.records[i].rows, columns_[i].dtype, features.channel_count(),
                     outcome.sums);
        break;
      case SoundColumn::kLinear:
        warning = put(i, linear_, extracted.linear_fill);
        break;
      case SoundColumn::kWave:
        outcome.records[i].length =
            static_cast<std::uint32_t>(features.wave_samples(samples.size(), outcome.frame_count));
        warning = make_wave(samples, outcome.records[i]);
        break;
      case SoundColumn::kEnergy:
        warning = put(i, energy_, extracted.energy_fill);
        break;
    }
    if (!warning) return warning.status();
    add_warning(*warning, outcome.facts);
  }
  return {};
}

// The samples as the frames have them: with the zeros around them, if there are.
Result<ValueWarning> RecordMaker::make_wave(std::span<const float> samples,
                                            MadeRecord& record) const {
  const std::size_t front =
      std::min<std::size_t>(recipe_.features.zeros.front_samples, record.length);
  samples = samples.first(std::min<std::size_t>(samples.size(), record.length - front));
  if (recipe_.features.columns.wave == formats::WaveColumn::kFloat32) {
    XTTS_ASSIGN(const ValueWarning warning, check_values("wave", samples, DType::kFloat32));
    record.rows.assign(record.length * sizeof(float), std::byte{0});
    std::ranges::copy(std::as_bytes(samples), record.rows.data() + front * sizeof(float));
    return warning;
  }
  XTTS_ASSIGN(const ValueWarning warning, check_int16_wave(samples));
  record.rows.assign(record.length * sizeof(std::int16_t), std::byte{0});
  std::ranges::transform(samples, reinterpret_cast<std::int16_t*>(record.rows.data()) + front,
                         to_int16);
  return warning;
}

Status check_dtype_holds_full_scale(const formats::Recipe& recipe, dsp::Isa isa) {
  if (recipe.storage.dtype == DType::kFloat32) return {};
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(recipe.features));
  XTTS_ASSIGN(auto extractor, dsp::FeatureExtractor::create(recipe.features, isa));
  std::vector<float> tone = full_scale_tone(recipe.features);
  XTTS_TRY(conditioner.apply(tone).status());
  ClipOutcome outcome;
  const Status status = RecordMaker(recipe, std::move(extractor)).make(tone, outcome);
  if (status.code() != StatusCode::kUnsupported) return {};
  return {StatusCode::kInvalidArgument,
          "storage.dtype: of a tone at full scale, " + status.message()};
}

}  // namespace xtts::pipeline
