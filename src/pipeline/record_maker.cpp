#include "pipeline/record_maker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "base/try.hpp"
#include "pipeline/channel_sums.hpp"
#include "pipeline/columns.hpp"

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

void store_frames(std::span<const float> frames, DType dtype, std::vector<std::byte>& rows) {
  rows.resize(frames.size() * size_bytes(dtype));
  if (dtype == DType::kFloat32) {
    std::memcpy(rows.data(), frames.data(), rows.size());
    return;
  }
  const std::span halves(reinterpret_cast<std::uint16_t*>(rows.data()), frames.size());
  if (dtype == DType::kFloat16) {
    to_float16(frames, halves);
  } else {
    to_bfloat16(frames, halves);
  }
}

// Full scale is 32,768, as for whoever reads 16-bit files: their samples come out as they were.
std::int16_t to_int16(float sample) {
  return static_cast<std::int16_t>(std::lrint(std::clamp(sample * 32768.0F, -32768.0F, 32767.0F)));
}

}  // namespace

RecordMaker::RecordMaker(const formats::Recipe& recipe, dsp::FeatureExtractor extractor)
    : recipe_(recipe),
      columns_(sound_columns(recipe, {})),
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
  const auto& features = recipe_.features;
  XTTS_ASSIGN(const dsp::Extracted extracted,
              extractor_.extract(samples, dsp::FrameRows{mel_, linear_, energy_}));
  outcome.frame_count = std::min(extracted.frame_count, features.max_frames);
  outcome.records.resize(columns_.size());
  const auto put = [&](MadeRecord& record, std::size_t column, std::span<const float> frames,
                       float fill) {
    const std::size_t width = frames.size() / features.max_frames;
    record.length = outcome.frame_count;
    record.fill_bits = std::bit_cast<std::uint32_t>(fill);
    store_frames(frames.first(outcome.frame_count * width), columns_[column].dtype, record.rows);
  };
  const auto wanted = features.sound_columns();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    MadeRecord& record = outcome.records[i];
    switch (wanted[i]) {
      case SoundColumn::kMel:
        put(record, i, mel_, extracted.fill);
        sum_channels(record.rows, columns_[i].dtype, features.channel_count(), outcome.sums);
        break;
      case SoundColumn::kLinear:
        put(record, i, linear_, extracted.linear_fill);
        break;
      case SoundColumn::kWave:
        record.length =
            static_cast<std::uint32_t>(features.wave_samples(samples.size(), outcome.frame_count));
        make_wave(samples, record);
        break;
      case SoundColumn::kEnergy:
        put(record, i, energy_, extracted.energy_fill);
        break;
    }
  }
  return {};
}

// The samples as the frames have them: with the zeros around them, if there are.
void RecordMaker::make_wave(std::span<const float> samples, MadeRecord& record) const {
  const std::size_t front =
      std::min<std::size_t>(recipe_.features.zeros.front_samples, record.length);
  samples = samples.first(std::min<std::size_t>(samples.size(), record.length - front));
  if (recipe_.features.columns.wave == formats::WaveColumn::kFloat32) {
    record.rows.assign(record.length * sizeof(float), std::byte{0});
    std::ranges::copy(std::as_bytes(samples), record.rows.data() + front * sizeof(float));
    return;
  }
  record.rows.assign(record.length * sizeof(std::int16_t), std::byte{0});
  std::ranges::transform(samples, reinterpret_cast<std::int16_t*>(record.rows.data()) + front,
                         to_int16);
}

}  // namespace xtts::pipeline
