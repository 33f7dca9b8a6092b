#include "dsp/extract.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/float_range.hpp"
#include "base/try.hpp"
#include "dsp/aligned_buffer.hpp"
#include "dsp/clip_values.hpp"
#include "dsp/frame_grid.hpp"
#include "dsp/kernels.hpp"
#include "dsp/mel_filters.hpp"
#include "dsp/spectrum.hpp"

namespace xtts::dsp {
namespace {

using formats::SoundColumn;

constexpr std::size_t kVectorFloats = 8;

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

Compression make_compression(const formats::FeatureConfig& config) {
  const bool affine = has_affine_at_once(config);
  return {
      .has_log = config.log.base != formats::LogBase::kNone,
      .floor_mode = config.log.mode == formats::LogFloor::kAdd ? Compression::Floor::kAdd
                                                               : Compression::Floor::kClamp,
      .floor = static_cast<float>(config.log.floor),
      .log_scale = config.log.base == formats::LogBase::kTen
                       ? static_cast<float>(1.0 / std::log(10.0))
                       : 1.0F,
      .has_affine = affine,
      .offset = affine ? static_cast<float>(config.normalize.offset) : 0.0F,
      .scale = affine ? static_cast<float>(config.normalize.scale) : 1.0F,
  };
}

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

// The filters as arrays for the kernels, with the number of bins that the filters use.
class PackedFilters {
 public:
  explicit PackedFilters(const formats::FeatureConfig& config) {
    if (!config.columns.mel || config.mel.scale == formats::MelScale::kNone) return;
    const MelFilterBank bank =
        pack(make_mel_filters(config.mel, config.sample_rate_hz, config.stft.n_fft));
    for (const MelFilterBank::Span& span : bank.spans) {
      first_bins_.push_back(span.first_bin);
      bin_counts_.push_back(span.bin_count);
      bin_end_ = std::max<std::size_t>(bin_end_, span.first_bin + span.bin_count);
    }
    weights_ = bank.weights;
  }
  [[nodiscard]] MelSpans spans() const {
    return {first_bins_.data(), bin_counts_.data(), weights_.data(), first_bins_.size(),
            round_up(bin_end_, kVectorFloats)};
  }

 private:
  std::vector<std::uint32_t> first_bins_;
  std::vector<std::uint32_t> bin_counts_;
  std::vector<float> weights_;
  std::size_t bin_end_ = 0;
};

}  // namespace

// The work on a block of kBlockFrames frames. Its buffers are about 60 KB at 1,024 points and 80
// bands; the per-frame steps touch 28 KB of them.
struct FeatureExtractor::Impl {
  Impl(const formats::FeatureConfig& config, std::unique_ptr<SpectrumStage> stage, Isa isa)
      : grid(config),
        n_fft(config.stft.n_fft),
        bin_count(config.bin_count()),
        spectrum_kind(config.spectrum),
        padded_samples(config.pad == formats::PadWhat::kSamples ? config.padded_samples() : 0),
        max_frames(config.max_frames),
        widths(widths_of(config)),
        pad_value(static_cast<float>(config.pad_value)),
        makes_mels(config.columns.mel),
        is_unfiltered(config.mel.scale == formats::MelScale::kNone),
        channel_count(config.channel_count()),
        padded_channel_count(round_up(channel_count, kVectorFloats)),
        row_stride(round_up(n_fft / 2 + 1, kVectorFloats)),
        spectrum(std::move(stage)),
        kernels(find_kernels(isa)->block),
        filters(config),
        compression(make_compression(config)),
        values(config),
        edge_frame(n_fft),
        rows(kBlockFrames * row_stride),
        transposed(is_unfiltered ? 0 : kBlockFrames * row_stride),
        bands(is_unfiltered ? 0 : kBlockFrames * padded_channel_count),
        frames(is_unfiltered ? 0 : kBlockFrames * padded_channel_count) {}

  // Returns false if a mel is not finite before the logarithm. Lanes without a frame keep the rows
  // of an earlier block: lanes do not mix, and nobody reads the result of these.
  [[nodiscard]] bool run_block(std::span<const float> samples, std::uint64_t first_frame,
                               std::size_t count, const FrameRows& out) {
    for (std::size_t i = 0; i < count; ++i) {
      const float* frame = grid.frame(samples, first_frame + i, edge_frame.span());
      float* const row = rows.data() + i * row_stride;
      spectrum->run(frame, row);
      if (const std::span<float> linear = out[SoundColumn::kLinear]; !linear.empty())
        std::copy_n(row, bin_count, linear.data() + (first_frame + i) * bin_count);
      if (const std::span<float> energy = out[SoundColumn::kEnergy]; !energy.empty())
        energy[first_frame + i] = energy_of(row);
    }
    const std::span<float> mel = out[SoundColumn::kMel];
    if (mel.empty()) return true;
    if (!is_unfiltered) run_filters();
    if (!is_finite(count)) return false;
    const float* const made = is_unfiltered ? compress_rows() : compress_bands();
    const std::size_t stride = is_unfiltered ? row_stride : padded_channel_count;
    for (std::size_t i = 0; i < count; ++i) {
      std::copy_n(made + i * stride, channel_count, mel.data() + (first_frame + i) * channel_count);
    }
    return true;
  }

  // Checks the mels, or bins, of the first `count` frames before the logarithm. The logarithm's
  // kernels are proved for finite numbers only, and a normalization by the whole clip spreads one
  // bad value over it. An infinite bin makes each band that contains it infinite or NaN.
  [[nodiscard]] bool is_finite(std::size_t count) const {
    if (is_unfiltered) {
      bool are_finite = true;
      for (std::size_t i = 0; i < count; ++i)
        are_finite &= range_of({rows.data() + i * row_stride, bin_count}).is_finite();
      return are_finite;
    }
    if (count == kBlockFrames)
      return range_of({bands.data(), channel_count * kBlockFrames}).is_finite();
    // The other lanes hold frames of another clip, which may be not finite.
    bool are_finite = true;
    for (std::size_t channel = 0; channel < channel_count; ++channel)
      are_finite &= range_of({bands.data() + channel * kBlockFrames, count}).is_finite();
    return are_finite;
  }

  [[nodiscard]] float energy_of(const float* row) const {
    const bool is_power = spectrum_kind == formats::SpectrumKind::kPower;
    double sum = 0.0;
    for (std::size_t bin = 0; bin < bin_count; ++bin) {
      const auto value = static_cast<double>(row[bin]);
      sum += is_power ? value : value * value;
    }
    return static_cast<float>(std::sqrt(sum));
  }

  const float* compress_rows() {
    kernels.compress(compression, rows.data(), rows.size());
    return rows.data();
  }

  void run_filters() {
    kernels.mel(rows.data(), row_stride, filters.spans(), transposed.data(), bands.data());
  }

  const float* compress_bands() {
    // The rows beyond the last band only fill up vectors. Without the zeros they would be
    // compressed again and again.
    const std::span<float> unused = bands.span().subspan(channel_count * kBlockFrames);
    std::fill(unused.begin(), unused.end(), 0.0F);
    kernels.compress(compression, bands.data(), bands.size());
    kernels.to_frames(bands.data(), padded_channel_count, frames.data());
    return frames.data();
  }

  // Computes the padding: a frame of zeros before the steps of the whole clip. kInvalidArgument if
  // its channels differ, for a record has one number for its padding.
  Status measure_padding() {
    const std::vector<float> zeros(n_fft);
    spectrum->run(zeros.data(), rows.data());
    padding.fills[SoundColumn::kLinear] = rows.data()[0];
    padding.fills[SoundColumn::kEnergy] = energy_of(rows.data());
    bool are_alike = is_constant(rows.data(), bin_count);
    if (makes_mels) {
      if (!is_unfiltered) run_filters();
      const float* const made = is_unfiltered ? compress_rows() : compress_bands();
      padding.fills[SoundColumn::kMel] = made[0];
      are_alike = are_alike && is_constant(made, channel_count);
    }
    if (are_alike) return {};
    return {StatusCode::kInvalidArgument,
            "features.pad, features.spectrum_floor: frames of padding would differ by channel: set "
            "features.pad=frames"};
  }

  static bool is_constant(const float* values, std::size_t count) {
    return std::all_of(values, values + count, [&](float value) { return value == values[0]; });
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
  std::size_t bin_count;
  formats::SpectrumKind spectrum_kind;
  std::uint64_t padded_samples;  // 0: clips stay as long as they are
  std::uint64_t max_frames;
  formats::BySoundColumn<std::size_t> widths;
  float pad_value;
  bool makes_mels;
  bool is_unfiltered;  // the bins are the channels
  std::size_t channel_count;
  std::size_t padded_channel_count;
  std::size_t row_stride;
  std::unique_ptr<SpectrumStage> spectrum;
  const BlockKernels& kernels;
  PackedFilters filters;
  Compression compression;
  ClipValues values;
  Extracted padding;  // from measure_padding()
  AlignedBuffer<float> edge_frame;
  AlignedBuffer<float> rows;        // [kBlockFrames][row_stride]
  AlignedBuffer<float> transposed;  // [row_stride][kBlockFrames]
  AlignedBuffer<float> bands;       // [padded_channel_count][kBlockFrames]
  AlignedBuffer<float> frames;      // [kBlockFrames][padded_channel_count]
};

Result<FeatureExtractor> FeatureExtractor::create(const formats::FeatureConfig& config, Isa isa) {
  XTTS_TRY(check(config));
  const Isa used = isa == Isa::kBest ? best_isa() : isa;
  XTTS_ASSIGN(std::unique_ptr<SpectrumStage> stage, SpectrumStage::create(config, used));
  auto impl = std::make_unique<Impl>(config, std::move(stage), used);
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
    return Status(StatusCode::kBadInput, "a clip of " + std::to_string(samples.size()) +
                                             " samples is too short for a frame of " +
                                             std::to_string(impl_->n_fft) + " with its padding");
  }
  const std::uint64_t wanted = std::min(frame_count, impl_->room_in(out));
  const bool is_asked = std::ranges::any_of(
      formats::all_sound_columns(), [&](const auto& info) { return !out[info.column].empty(); });
  for (std::uint64_t first = 0; is_asked && first < wanted; first += kBlockFrames) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(kBlockFrames, wanted - first));
    if (!impl_->run_block(samples, first, count, out))
      return Status(StatusCode::kBadInput, "its mels are beyond float32 or no numbers");
  }
  const bool is_padded = samples.size() <= impl_->padded_samples;
  Extracted extracted;
  extracted.fills[SoundColumn::kMel] = impl_->pad_value;
  if (is_padded) extracted = impl_->padding;
  extracted.frame_count = static_cast<std::uint32_t>(wanted);
  const std::span<float> mel = out[SoundColumn::kMel];
  if (!mel.empty() && impl_->values.is_needed()) {
    const bool has_padding = is_padded && wanted < impl_->max_frames;
    impl_->values.apply(mel.first(static_cast<std::size_t>(wanted) * impl_->channel_count),
                        has_padding ? &extracted.fills[SoundColumn::kMel] : nullptr);
  }
  return extracted;
}

}  // namespace xtts::dsp
