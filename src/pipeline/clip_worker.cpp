#include "pipeline/clip_worker.hpp"

#include <algorithm>

#include "base/lap_timer.hpp"
#include "base/try.hpp"
#include "decode/audio_decoder.hpp"
#include "decode/resample.hpp"
#include "dsp/condition.hpp"
#include "pipeline/clip_rules.hpp"
#include "pipeline/clip_sound.hpp"
#include "pipeline/decode_request.hpp"
#include "pipeline/make_decoder.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/record_maker.hpp"
#include "pipeline/segment.hpp"
#include "pipeline/source_file.hpp"
#include "pipeline/too_long.hpp"

namespace xtts::pipeline {
namespace {

using formats::RejectClass;

constexpr std::size_t kPartSamples = std::size_t{1} << 16U;

decode::DecodeRequest request_of(const formats::Recipe& recipe) {
  decode::DecodeRequest request = decode_request_of(recipe.features);
  request.source_seconds_max = recipe.corpus.max_source_seconds;
  return request;
}

// Which failures cost the clip, and of what class. Nothing: the run must end.
std::optional<RejectClass> class_of(StatusCode code) {
  switch (code) {
    case StatusCode::kBadInput:
    case StatusCode::kUnsupported:
      return RejectClass::kInput;
    case StatusCode::kCrashed:
      return RejectClass::kCrash;
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

class Worker final : public ClipWorker {
 public:
  Worker(Env& env, const formats::Recipe& recipe, const corpus::Corpus& corpus,
         const WorkerPlace& place, dsp::Conditioner conditioner, dsp::FeatureExtractor extractor)
      : env_(env),
        recipe_(recipe),
        request_(request_of(recipe)),
        corpus_(corpus),
        shared_sources_(place.shared_sources),
        source_(place.memory_bytes / 4),
        sound_(env, place.scratch_folder, place.memory_bytes / 2 / sizeof(float)),
        decoder_(make_decoder(place.decoder_command, place.cancelled)),
        conditioner_(std::move(conditioner)),
        maker_(recipe, std::move(extractor)) {}

  [[nodiscard]] Result<ClipOutcome> process(const corpus::Clip& clip,
                                            std::vector<MadeRecord> buffers) override {
    ClipOutcome outcome;
    outcome.records = std::move(buffers);
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
    // A segment is resampled in a stage of its own, a whole source while it is decoded.
    const double beside_decoding_s = seconds_of(decoder_->resampling_time());
    times.decode_s -= beside_decoding_s;
    times.resample_s += beside_decoding_s;
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
                                     .reason = std::move(reason),
                                     .split = std::string(corpus::to_string(clip.split))};
  }

  Status run(const corpus::Clip& clip, ClipOutcome& outcome) {
    sound_.begin();
    XTTS_TRY(clip.segment ? cut_out(clip, outcome) : decode_source(clip, outcome));
    XTTS_TRY(sound_.end());
    if (is_over_long_ && refused(clip, refusal_of_source(recipe_.corpus), outcome)) return {};
    if (refused(clip, refusal_of_length(outcome.source_seconds, recipe_.corpus), outcome))
      return {};

    begin_stage("condition", &StageTimes::condition_s);
    XTTS_ASSIGN(const auto conditioned, conditioner_.measure(sound_));
    keep(conditioned, outcome);
    if (refused(clip, refusal_of(outcome.facts, recipe_.corpus), outcome)) return {};

    begin_stage("features", &StageTimes::features_s);
    return extract(clip, conditioned, outcome);
  }

  Result<SourceFile::Opened> read_source(const corpus::Clip& clip, ClipOutcome& outcome) {
    begin_stage("read", &StageTimes::read_s);
    outcome.source_bytes = clip.source_bytes;
    XTTS_ASSIGN(const auto source, source_.read(env_, corpus_.place_of(clip)));
    if (source.size_bytes == 0) return Status(StatusCode::kBadInput, "the file is empty");
    begin_stage("decode", &StageTimes::decode_s);
    return source;
  }

  Status decode_source(const corpus::Clip& clip, ClipOutcome& outcome) {
    XTTS_ASSIGN(const auto source, read_source(clip, outcome));
    outcome.facts.content_digest = source.content_digest;
    request_.suffix = suffix_of(clip.source);
    XTTS_ASSIGN(const auto decoded, decoder_->decode(*source.file, request_, to_sound_));
    keep(decoded, outcome);
    return {};
  }

  // The part of a source that several clips share.
  Status cut_out(const corpus::Clip& clip, ClipOutcome& outcome) {
    if (shared_sources_ == nullptr)
      return {StatusCode::kInternal, "no place to decode segments to"};
    begin_stage("decode", &StageTimes::decode_s);
    XTTS_ASSIGN(const auto sound, shared_sources_->get(corpus_.place_of(clip).key(),
                                                       [&](const decode::TakeSamples& take) {
                                                         return decode_shared(clip, take, outcome);
                                                       }));
    const SourceSound& source = sound->source();
    is_over_long_ = source.facts.is_over_long;
    if (is_over_long_) return {};
    const std::uint32_t rate_hz = source.facts.sample_rate_hz;
    // Not the frames of the source: where its rate changes half way, they are not the samples here.
    XTTS_ASSIGN(const auto range,
                frames_of(*clip.segment, rate_hz, sound->size_bytes() / sizeof(float)));
    XTTS_ASSIGN(const Digest pcm_digest, resample(*sound, range));
    keep(part_facts(source.facts, range, pcm_digest), outcome);
    outcome.facts.content_digest = source.content_digest;
    outcome.facts.clipped_sample_count.reset();  // counted before mixing, over the whole source
    outcome.facts.segment_start_s = clip.segment->start_s;
    outcome.facts.segment_end_s = clip.segment->end_s;
    return {};
  }

  // Of the part at the source's rate.
  Result<Digest> resample(const SharedSound& source, const FrameRange& range) {
    begin_stage("resample", &StageTimes::resample_s);
    Hasher128 hasher;
    XTTS_TRY(resampler_.begin(source.source().facts.sample_rate_hz, request_.target_rate_hz,
                              request_.resampler));
    for (std::uint64_t first = range.first; first < range.end; first += part_.size()) {
      part_.resize(
          static_cast<std::size_t>(std::min<std::uint64_t>(kPartSamples, range.end - first)));
      XTTS_TRY(source.read(first, part_));
      hasher.update(std::as_bytes(std::span(part_)));
      XTTS_TRY(resampler_.push(part_, to_sound_));
    }
    XTTS_TRY(resampler_.finish(to_sound_));
    return hasher.finish();
  }

  Result<SourceSound> decode_shared(const corpus::Clip& clip, const decode::TakeSamples& take,
                                    ClipOutcome& outcome) {
    XTTS_ASSIGN(const auto source, read_source(clip, outcome));
    decode::DecodeRequest at_own_rate = request_;
    at_own_rate.target_rate_hz = 0;
    at_own_rate.suffix = suffix_of(clip.source);
    XTTS_ASSIGN(auto facts, decoder_->decode(*source.file, at_own_rate, take));
    return SourceSound{source.content_digest, std::move(facts)};
  }

  static decode::SourceFacts part_facts(decode::SourceFacts facts, const FrameRange& range,
                                        const Digest& pcm_digest) {
    facts.frame_count = range.count();
    facts.pcm_digest = pcm_digest;
    if (facts.nonfinite_sample_count > 0) {
      facts.warnings.push_back("its source has " + std::to_string(facts.nonfinite_sample_count) +
                               " samples that are NaN, infinite or beyond 1e30: taken as 0");
      facts.nonfinite_sample_count = 0;
    }
    if (!range.warning.empty()) facts.warnings.push_back(range.warning);
    return facts;
  }

  bool refused(const corpus::Clip& clip, std::optional<Refusal> refusal,
               ClipOutcome& outcome) const {
    if (refusal) reject(clip, RejectClass::kPolicy, std::move(refusal->reason), outcome);
    return refusal.has_value();
  }

  Status extract(const corpus::Clip& clip, const dsp::ConditionFacts& conditioned,
                 ClipOutcome& outcome) {
    const auto& features = recipe_.features;
    const std::uint64_t frames = maker_.frame_count(conditioned.kept_samples());
    outcome.frame_count_before_cut =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(frames, UINT32_MAX));
    outcome.facts.frame_count_before_cut = outcome.frame_count_before_cut;
    if (frames > features.max_frames &&
        rule_of(features, has_text(clip)) == formats::TooLong::kDrop) {
      reject(clip, RejectClass::kPolicy, too_long_reason(frames, features.max_frames), outcome);
      return {};
    }
    const std::uint64_t wanted = std::min(conditioned.kept_samples(), maker_.samples_wanted());
    XTTS_ASSIGN(const auto samples, sound_.load(conditioned.trim_start_samples, wanted));
    apply_scaling(conditioned.scaling, samples);
    return maker_.make(samples, outcome);
  }

  void keep(const decode::SourceFacts& source, ClipOutcome& outcome) {
    auto& facts = outcome.facts;
    is_over_long_ = source.is_over_long;
    outcome.source_seconds = static_cast<double>(source.frame_count) / source.sample_rate_hz;
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
    facts.gain = condition.scaling.gain();
    facts.peak = condition.peak;
    facts.rms = condition.rms;
    facts.silence_share = condition.silence_share;
    facts.bandwidth_hz = condition.bandwidth_hz;
  }

  Env& env_;
  const formats::Recipe& recipe_;
  decode::DecodeRequest request_;
  const corpus::Corpus& corpus_;
  SharedSources* const shared_sources_;
  SourceFile source_;
  ClipSound sound_;
  const decode::TakeSamples to_sound_ = [this](std::span<const float> samples) {
    return sound_.append(samples);
  };
  std::unique_ptr<decode::AudioDecoder> decoder_;
  dsp::Conditioner conditioner_;
  RecordMaker maker_;
  decode::SampleResampler resampler_;
  bool is_over_long_ = false;  // the source in hand
  std::vector<float> part_;    // of a shared source, at its rate
  const char* stage_ = "";
  double StageTimes::*stage_seconds_ = nullptr;
  LapTimer timer_;
  StageTimes times_;
};

}  // namespace

Result<std::unique_ptr<ClipWorker>> ClipWorker::create(Env& env, const formats::Recipe& recipe,
                                                       dsp::Isa isa, const corpus::Corpus& corpus,
                                                       const WorkerPlace& place) {
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(recipe.features));
  XTTS_ASSIGN(auto extractor, dsp::FeatureExtractor::create(recipe.features, isa));
  return std::unique_ptr<ClipWorker>(std::make_unique<Worker>(
      env, recipe, corpus, place, std::move(conditioner), std::move(extractor)));
}

formats::Numerics numerics_of(dsp::Isa isa) {
  return {.device = "cpu",
          .isa = std::string(dsp::to_string(isa == dsp::Isa::kBest ? dsp::best_isa() : isa)),
          .libraries = decode::decode_libraries() + ", " + dsp::feature_libraries(isa)};
}

}  // namespace xtts::pipeline
