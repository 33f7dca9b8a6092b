#include "dsp/extract.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <utility>

#include "base/try.hpp"
#include "dsp/aligned_buffer.hpp"
#include "dsp/clip_values.hpp"
#include "dsp/frame_grid.hpp"
#include "dsp/kernels.hpp"
#include "dsp/mel_filters.hpp"
#include "dsp/spectrum.hpp"

namespace xtts::dsp {
namespace {

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

Status check(const formats::FeatureConfig& config) {
  const std::vector<std::string> problems = config.validate();
  if (!problems.empty()) return {StatusCode::kInvalidArgument, problems.front()};
  // The logarithm takes normal numbers only, so the floor must keep everything else from it.
  if (config.log.base != formats::LogBase::kNone &&
      !(config.log.floor >= static_cast<double>(std::numeric_limits<float>::min()))) {
    return {StatusCode::kInvalidArgument,
            "log.floor must be at least 1.2e-38 where there is a logarithm, not " +
                std::to_string(config.log.floor)};
  }
  return {};
}

// The filters as arrays that the kernels take, with the bins that any of them looks at.
class PackedFilters {
 public:
  explicit PackedFilters(const formats::FeatureConfig& config) {
    if (config.mel.scale == formats::MelScale::kNone) return;
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

// The work of a block of kBlockFrames frames: about 60 KB of buffers at 1,024 points and 80 bands,
// of which the per-frame steps touch 28.
struct FeatureExtractor::Impl {
  Impl(const formats::FeatureConfig& config, std::unique_ptr<SpectrumStage> stage, Isa isa)
      : grid(config),
        n_fft(config.stft.n_fft),
        padded_samples(config.pad == formats::PadWhat::kSamples ? config.padded_samples() : 0),
        max_frames(config.max_frames),
        pad_value(static_cast<float>(config.pad_value)),
        is_linear(config.mel.scale == formats::MelScale::kNone),
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
        transposed(is_linear ? 0 : kBlockFrames * row_stride),
        bands(is_linear ? 0 : kBlockFrames * padded_channel_count),
        frames(is_linear ? 0 : kBlockFrames * padded_channel_count) {}

  // Lanes without a frame keep the rows of an earlier block; lanes do not mix, and nobody reads
  // their result.
  void run_block(std::span<const float> samples, std::uint64_t first_frame, std::size_t count,
                 float* out) {
    for (std::size_t i = 0; i < count; ++i) {
      const float* frame = grid.frame(samples, first_frame + i, edge_frame.span());
      spectrum->run(frame, rows.data() + i * row_stride);
    }
    const float* const made = is_linear ? compress_rows() : filter_rows();
    const std::size_t stride = is_linear ? row_stride : padded_channel_count;
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(out + i * channel_count, made + i * stride, channel_count * sizeof(float));
    }
  }

  // The bins are the channels.
  const float* compress_rows() {
    kernels.compress(compression, rows.data(), rows.size());
    return rows.data();
  }

  const float* filter_rows() {
    kernels.mel(rows.data(), row_stride, filters.spans(), transposed.data(), bands.data());
    // Rows beyond the last band fill up vectors. Left alone they would be compressed again and
    // again.
    const std::span<float> unused = bands.span().subspan(channel_count * kBlockFrames);
    std::fill(unused.begin(), unused.end(), 0.0F);
    kernels.compress(compression, bands.data(), bands.size());
    kernels.to_frames(bands.data(), padded_channel_count, frames.data());
    return frames.data();
  }

  // What a frame of zeros comes to before the steps of the whole clip. kInvalidArgument where its
  // channels differ, for a record has one number for its padding.
  Status measure_padding() {
    const std::vector<float> zeros(n_fft);
    std::vector<float> frame(channel_count);
    spectrum->run(zeros.data(), rows.data());
    const float* const made = is_linear ? compress_rows() : filter_rows();
    padding = made[0];
    for (std::size_t i = 0; i < channel_count; ++i) {
      if (made[i] != padding) {
        return {StatusCode::kInvalidArgument,
                "pad, spectrum_floor: frames of padding would differ by channel; pad: frames"};
      }
    }
    return {};
  }

  FrameGrid grid;
  std::size_t n_fft;
  std::uint64_t padded_samples;  // 0: clips stay as long as they are
  std::uint64_t max_frames;
  float pad_value;
  bool is_linear;
  std::size_t channel_count;
  std::size_t padded_channel_count;
  std::size_t row_stride;
  std::unique_ptr<SpectrumStage> spectrum;
  const BlockKernels& kernels;
  PackedFilters filters;
  Compression compression;
  ClipValues values;
  float padding = 0.0F;  // see measure_padding
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

Result<Extracted> FeatureExtractor::extract(std::span<const float> samples, std::span<float> out) {
  const std::uint64_t frame_count = this->frame_count(samples.size());
  if (frame_count == 0 || !impl_->grid.can_pad(samples.size())) {
    return Status(StatusCode::kBadInput, "a clip of " + std::to_string(samples.size()) +
                                             " samples is too short for a frame of " +
                                             std::to_string(impl_->n_fft) + " with its padding");
  }
  const std::uint64_t room = out.size() / impl_->channel_count;
  const std::uint64_t wanted =
      std::min({frame_count, room, std::uint64_t{std::numeric_limits<std::uint32_t>::max()}});
  for (std::uint64_t first = 0; first < wanted; first += kBlockFrames) {
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(kBlockFrames, wanted - first));
    impl_->run_block(samples, first, count, out.data() + first * impl_->channel_count);
  }
  Extracted extracted{static_cast<std::uint32_t>(wanted), impl_->pad_value};
  const bool is_padded = samples.size() <= impl_->padded_samples;
  if (is_padded) extracted.fill = impl_->padding;
  if (impl_->values.is_needed()) {
    const bool has_padding = is_padded && wanted < impl_->max_frames;
    impl_->values.apply(out.first(static_cast<std::size_t>(wanted) * impl_->channel_count),
                        has_padding ? &extracted.fill : nullptr);
  }
  return extracted;
}

}  // namespace xtts::dsp
