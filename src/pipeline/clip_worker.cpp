#include "pipeline/clip_worker.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "base/lap_timer.hpp"
#include "base/try.hpp"
#include "decode/audio_decoder.hpp"
#include "dsp/condition.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/source_file.hpp"
#include "pipeline/too_long.hpp"

namespace xtts::pipeline {
namespace {

using formats::RejectClass;

decode::DecodeRequest request_of(const formats::Recipe& recipe) {
  decode::DecodeRequest request;
  request.target_rate_hz = recipe.features.sample_rate_hz;
  request.mix = recipe.features.channels == formats::ChannelMix::kFirst ? decode::Mix::kFirst
                                                                        : decode::Mix::kMean;
  request.resampler = recipe.features.resampler;
  request.source_seconds_max = recipe.corpus.max_source_seconds;
  return request;
}

// Which failures cost the clip, and of what class. Nothing: the run must end.
std::optional<RejectClass> class_of(StatusCode code) {
  switch (code) {
    case StatusCode::kBadInput:
    case StatusCode::kUnsupported:
      return RejectClass::kInput;
    case StatusCode::kSourceIo:
      return RejectClass::kEnvironment;
    default:
      return std::nullopt;
  }
}

std::string joined_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) {
    if (!text.empty()) text += '\n';
    text += line;
  }
  return text;
}

// Per channel the sum and the sum of squares, frame by frame: the order is fixed, so the bits are.
void sum_channels(std::span<const float> frames, std::size_t mels, std::vector<double>& sums) {
  sums.assign(2 * mels, 0.0);
  double* const sum = sums.data();
  double* const squares = sums.data() + mels;
  for (std::size_t start = 0; start < frames.size(); start += mels) {
    for (std::size_t m = 0; m < mels; ++m) {
      const double value = static_cast<double>(frames[start + m]);
      sum[m] += value;
      squares[m] += value * value;
    }
  }
}

class Worker final : public ClipWorker {
 public:
  Worker(Env& env, const formats::Recipe& recipe, std::string data_folder,
         dsp::Conditioner conditioner, dsp::FeatureExtractor extractor)
      : env_(env),
        recipe_(recipe),
        request_(request_of(recipe)),
        data_folder_(std::move(data_folder)),
        decoder_(decode::make_libav_decoder()),
        conditioner_(std::move(conditioner)),
        extractor_(std::move(extractor)),
        mel_(std::size_t{recipe.features.max_frames} * recipe.features.mel.n_mels) {}

  [[nodiscard]] Result<ClipOutcome> process(const corpus::Clip& clip,
                                            std::vector<std::byte> rows) override {
    ClipOutcome outcome;
    outcome.rows = std::move(rows);
    outcome.source_bytes = clip.source_bytes;
    timer_ = LapTimer();
    const Status status = run(clip, outcome);
    end_stage();
    if (status.ok()) return outcome;
    const auto kind = class_of(status.code());
    if (!kind) return status.with_context("clip " + clip.id);
    if (!outcome.reject) reject(clip, *kind, status.message(), outcome);
    return outcome;
  }

  [[nodiscard]] StageTimes times() const override {
    StageTimes times = times_;
    times.resample_s = seconds_of(decoder_->resampling_time());
    times.decode_s -= times.resample_s;
    return times;
  }

 private:
  // The seconds since the last stage began go to it.
  void end_stage() {
    if (stage_seconds_ != nullptr) times_.*stage_seconds_ += seconds_of(timer_.lap());
    stage_seconds_ = nullptr;
  }
  void begin_stage(const char* name, double StageTimes::*seconds) {
    end_stage();
    stage_ = name;
    stage_seconds_ = seconds;
  }

  void reject(const corpus::Clip& clip, RejectClass kind, std::string reason,
              ClipOutcome& outcome) const {
    outcome.reject = formats::Reject{.kind = kind,
                                     .id = full_id(clip),
                                     .path = clip.source,
                                     .line = std::nullopt,
                                     .stage = stage_,
                                     .reason = std::move(reason)};
  }

  Status run(const corpus::Clip& clip, ClipOutcome& outcome) {
    begin_stage("read", &StageTimes::read_s);
    XTTS_ASSIGN(const auto source, source_.read(env_, join_path(data_folder_, clip.source)));
    outcome.facts.content_digest = source.content_digest;
    if (source.size_bytes == 0) return {StatusCode::kBadInput, "the file is empty"};

    begin_stage("decode", &StageTimes::decode_s);
    XTTS_ASSIGN(const auto decoded,
                decoder_->decode(*source.file, clip.source, request_, samples_));
    keep(decoded, outcome);
    outcome.source_seconds = static_cast<double>(decoded.frame_count) / decoded.sample_rate_hz;
    if (too_many_seconds(clip, outcome)) return {};

    begin_stage("condition", &StageTimes::condition_s);
    XTTS_ASSIGN(const auto conditioned, conditioner_.apply(samples_));
    keep(conditioned, outcome);

    begin_stage("features", &StageTimes::features_s);
    return extract(clip, outcome);
  }

  bool too_many_seconds(const corpus::Clip& clip, ClipOutcome& outcome) const {
    const auto limit = recipe_.corpus.max_clip_seconds;
    if (!limit || outcome.source_seconds <= *limit) return false;
    char text[160];
    std::snprintf(text, sizeof text,
                  "%.2f s, at most %.2f s: corpus.max_clip_seconds=%.0f keeps it",
                  outcome.source_seconds, *limit, std::ceil(outcome.source_seconds));
    reject(clip, RejectClass::kPolicy, text, outcome);
    return true;
  }

  Status extract(const corpus::Clip& clip, ClipOutcome& outcome) {
    const auto& features = recipe_.features;
    const std::uint64_t frames = extractor_.frame_count(samples_.size());
    outcome.frame_count_before_cut =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(frames, UINT32_MAX));
    outcome.facts.frame_count_before_cut = outcome.frame_count_before_cut;
    const auto too_long = features.too_long.value_or(has_text(clip) ? formats::TooLong::kDrop
                                                                    : formats::TooLong::kTruncate);
    if (frames > features.max_frames && too_long == formats::TooLong::kDrop) {
      reject(clip, RejectClass::kPolicy, too_long_reason(frames, features.max_frames), outcome);
      return {};
    }
    XTTS_ASSIGN(outcome.frame_count, extractor_.extract(samples_, mel_));
    const auto true_frames =
        std::span<const float>(mel_).first(std::size_t{outcome.frame_count} * features.mel.n_mels);
    sum_channels(true_frames, features.mel.n_mels, outcome.sums);
    outcome.fill_bits = std::bit_cast<std::uint32_t>(static_cast<float>(features.pad_value));
    convert(true_frames, outcome.rows);
    return {};
  }

  void convert(std::span<const float> frames, std::vector<std::byte>& rows) const {
    const DType dtype = recipe_.storage.dtype;
    rows.resize(frames.size() * size_bytes(dtype));
    if (dtype == DType::kFloat32) {
      std::memcpy(rows.data(), frames.data(), rows.size());
      return;
    }
    const std::span<std::uint16_t> halves(reinterpret_cast<std::uint16_t*>(rows.data()),
                                          frames.size());
    if (dtype == DType::kFloat16) {
      to_float16(frames, halves);
    } else {
      to_bfloat16(frames, halves);
    }
  }

  static void keep(const decode::SourceFacts& source, ClipOutcome& outcome) {
    auto& facts = outcome.facts;
    facts.pcm_digest = source.pcm_digest;
    facts.container = source.container;
    facts.codec = source.codec;
    facts.source_rate_hz = source.sample_rate_hz;
    facts.source_channel_count = source.channel_count;
    facts.source_frame_count = source.frame_count;
    facts.clipped_sample_count = source.clipped_sample_count;
    if (source.nonfinite_sample_count > 0)
      facts.nonfinite_sample_count = source.nonfinite_sample_count;
    if (!source.warnings.empty()) facts.warnings = joined_lines(source.warnings);
  }

  static void keep(const dsp::ConditionFacts& condition, ClipOutcome& outcome) {
    auto& facts = outcome.facts;
    facts.trim_start_samples = condition.trim_start_samples;
    facts.trim_end_samples = condition.trim_end_samples;
    facts.gain = condition.gain;
    facts.peak = condition.peak;
    facts.rms = condition.rms;
    facts.silence_share = condition.silence_share;
    if (condition.peak == 0.0F) {
      facts.warnings = facts.warnings ? *facts.warnings + "\nsilent" : std::string("silent");
    }
  }

  Env& env_;
  const formats::Recipe& recipe_;
  decode::DecodeRequest request_;
  std::string data_folder_;
  SourceFile source_;
  std::unique_ptr<decode::AudioDecoder> decoder_;
  dsp::Conditioner conditioner_;
  dsp::FeatureExtractor extractor_;
  std::vector<float> samples_;
  std::vector<float> mel_;
  const char* stage_ = "";
  double StageTimes::*stage_seconds_ = nullptr;
  LapTimer timer_;
  StageTimes times_;
};

}  // namespace

Result<std::unique_ptr<ClipWorker>> ClipWorker::create(Env& env, const formats::Recipe& recipe,
                                                       dsp::Isa isa, std::string data_folder) {
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(recipe.features));
  XTTS_ASSIGN(auto extractor, dsp::FeatureExtractor::create(recipe.features, isa));
  return std::unique_ptr<ClipWorker>(std::make_unique<Worker>(
      env, recipe, std::move(data_folder), std::move(conditioner), std::move(extractor)));
}

formats::Numerics numerics_of(dsp::Isa isa) {
  return {.device = "cpu",
          .isa = std::string(dsp::to_string(isa == dsp::Isa::kBest ? dsp::best_isa() : isa)),
          .libraries = decode::decode_libraries() + ", " + dsp::feature_libraries(isa)};
}

}  // namespace xtts::pipeline
