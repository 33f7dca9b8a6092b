#include "dsp/extract.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "dsp/clip_values.hpp"
#include "dsp/frame_grid.hpp"
#include "formats/feature_config.hpp"

namespace xtts::dsp {
namespace {

using formats::SoundColumn;

// The number of values in a frame of each column.
formats::BySoundColumn<std::size_t> widths_of(const formats::FeatureConfig& config) {
  formats::BySoundColumn<std::size_t> widths;
  for (const formats::SoundColumnInfo& info : formats::all_sound_columns()) {
    const auto shape = info.shape(config);
    widths[info.column] = shape.size() > 1 ? shape[1] : 1;
  }
  return widths;
}

Status check(const formats::FeatureConfig& config) {
  const std::vector<std::string> problems = config.validate();
  if (!problems.empty()) return {StatusCode::kInvalidArgument, problems.front()};
  // The logarithm takes normal numbers only, so the floor must keep all other numbers away from it.
  if (config.columns.mel && config.log.base != formats::LogBase::kNone &&
      !(config.log.floor >= static_cast<double>(std::numeric_limits<float>::min()))) {
    return {StatusCode::kInvalidArgument,
            "log.floor must be at least 1.2e-38 where there is a logarithm, not " +
                std::to_string(config.log.floor)};
  }
  return {};
}

}  // namespace

struct FeatureExtractor::Impl {
  Impl(const formats::FeatureConfig& config, std::unique_ptr<FrameEngine> engine_in)
      : grid(config),
        n_fft(config.stft.n_fft),
        padded_samples(config.pad == formats::PadWhat::kSamples ? config.padded_samples() : 0),
        max_frames(config.max_frames),
        widths(widths_of(config)),
        pad_value(static_cast<float>(config.pad_value)),
        makes_mels(config.columns.mel),
        engine(std::move(engine_in)),
        values(config) {}

  // Computes the padding: a frame of zeros before the steps of the whole clip. kInvalidArgument if
  // its channels differ, for a record has one number for its padding.
  Status measure_padding() {
    formats::BySoundColumn<std::vector<float>> made;
    FrameRows rows;
    for (const formats::SoundColumnInfo& info : formats::all_sound_columns()) {
      if (info.counts_samples || (info.column == SoundColumn::kMel && !makes_mels)) continue;
      made[info.column].resize(widths[info.column]);
      rows[info.column] = made[info.column];
    }
    XTTS_TRY(engine->run(std::vector<float>(2 * n_fft), 1, rows));
    bool are_alike = true;
    for (const formats::SoundColumnInfo& info : formats::all_sound_columns()) {
      const std::span<const float> frame = rows[info.column];
      if (frame.empty()) continue;
      padding.fills[info.column] = frame.front();
      are_alike = are_alike && std::ranges::count(frame, frame.front()) == std::ssize(frame);
    }
    if (are_alike) return {};
    return {StatusCode::kInvalidArgument,
            "features.pad, features.spectrum_floor: frames of padding would differ by channel: set "
            "features.pad=frames"};
  }

  // The number of frames that `out` has room for.
  [[nodiscard]] std::uint64_t room_in(const FrameRows& out) const {
    std::uint64_t room = std::numeric_limits<std::uint32_t>::max();
    for (const formats::SoundColumnInfo& info : formats::all_sound_columns()) {
      const std::span<float> part = out[info.column];
      if (!part.empty()) room = std::min<std::uint64_t>(room, part.size() / widths[info.column]);
    }
    return room;
  }

  FrameGrid grid;
  std::size_t n_fft;
  std::uint64_t padded_samples;  // 0: clips stay as long as they are
  std::uint64_t max_frames;
  formats::BySoundColumn<std::size_t> widths;
  float pad_value;
  bool makes_mels;
  std::unique_ptr<FrameEngine> engine;
  ClipValues values;
  Extracted padding;  // from measure_padding()
};

Result<FeatureExtractor> FeatureExtractor::create(const formats::FeatureConfig& config, Isa isa) {
  XTTS_TRY(check(config));
  XTTS_ASSIGN(auto engine, make_cpu_engine(config, isa));
  return create_over(config, std::move(engine));
}

Result<FeatureExtractor> FeatureExtractor::create(const formats::FeatureConfig& config,
                                                  const FrameEngines& engines) {
  XTTS_TRY(check(config));
  XTTS_ASSIGN(auto engine, engines.make(config));
  return create_over(config, std::move(engine));
}

Result<FeatureExtractor> FeatureExtractor::create_over(const formats::FeatureConfig& config,
                                                       std::unique_ptr<FrameEngine> engine) {
  auto impl = std::make_unique<Impl>(config, std::move(engine));
  if (impl->padded_samples != 0) XTTS_TRY(impl->measure_padding());
  return FeatureExtractor(std::move(impl));
}

FeatureExtractor::FeatureExtractor(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FeatureExtractor::~FeatureExtractor() = default;
FeatureExtractor::FeatureExtractor(FeatureExtractor&&) noexcept = default;
FeatureExtractor& FeatureExtractor::operator=(FeatureExtractor&&) noexcept = default;

std::uint64_t FeatureExtractor::frame_count(std::uint64_t sample_count) const {
  const std::uint64_t frames = impl_->grid.touched_frame_count(sample_count);
  const bool is_padded = sample_count <= impl_->padded_samples;
  return is_padded ? std::min(frames, impl_->max_frames) : frames;
}

std::uint64_t FeatureExtractor::samples_of(std::uint64_t frame_count) const {
  if (impl_->padded_samples != 0 && frame_count == impl_->max_frames) return impl_->padded_samples;
  return impl_->grid.samples_of(frame_count);
}

Result<Extracted> FeatureExtractor::extract(std::span<const float> samples, const FrameRows& out) {
  const std::uint64_t frame_count = this->frame_count(samples.size());
  if (frame_count == 0 || !impl_->grid.can_pad(samples.size())) {
    return Status(StatusCode::kBadInput,
                  formatted("a clip of {} samples is too short for a frame of {} with its padding",
                            samples.size(), impl_->n_fft));
  }
  const std::uint64_t wanted = std::min(frame_count, impl_->room_in(out));
  const bool is_asked = std::ranges::any_of(
      formats::all_sound_columns(), [&](const auto& info) { return !out[info.column].empty(); });
  if (is_asked && wanted != 0) XTTS_TRY(impl_->engine->run(samples, wanted, out));
  const bool is_padded = samples.size() <= impl_->padded_samples;
  Extracted extracted;
  extracted.fills[SoundColumn::kMel] = impl_->pad_value;
  if (is_padded) extracted = impl_->padding;
  extracted.frame_count = static_cast<std::uint32_t>(wanted);
  const std::span<float> mel = out[SoundColumn::kMel];
  if (!mel.empty() && impl_->values.is_needed()) {
    const bool has_padding = is_padded && wanted < impl_->max_frames;
    impl_->values.apply(
        mel.first(static_cast<std::size_t>(wanted) * impl_->widths[SoundColumn::kMel]),
        has_padding ? &extracted.fills[SoundColumn::kMel] : nullptr);
  }
  return extracted;
}

}  // namespace xtts::dsp
