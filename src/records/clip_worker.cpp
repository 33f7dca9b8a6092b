#include "records/clip_worker.hpp"

#include <algorithm>
#include <array>

#include "audio/audio_decoder.hpp"
#include "audio/sample_resampler.hpp"
#include "base/formatted.hpp"
#include "base/lap_timer.hpp"
#include "base/try.hpp"
#include "dsp/condition.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "records/clip_rules.hpp"
#include "records/clip_sound.hpp"
#include "records/decode_request.hpp"
#include "records/record_maker.hpp"
#include "records/segment.hpp"
#include "records/source_file.hpp"
#include "records/too_long.hpp"

namespace xtts::records {
namespace {

using formats::Reason;
using formats::RejectClass;
using formats::Rule;

constexpr std::size_t kPartSamples = std::size_t{1} << 16U;

audio::DecodeRequest request_of(const formats::Recipe& recipe) {
  audio::DecodeRequest request = decode_request_of(*recipe.features);
  request.source_seconds_max = recipe.corpus.max_source_seconds;
  return request;
}

struct Fault {
  RejectClass kind = RejectClass::kInput;
  Rule rule = Rule::kDecodeFailed;
};

// Says which failures reject the clip, and by which rule. For the other failures it returns
// nothing: they end the run.
std::optional<Fault> fault_of(StatusCode code, Rule of_bad_input) {
  switch (code) {
    case StatusCode::kBadInput:
    case StatusCode::kUnsupported:
      return Fault{RejectClass::kInput, of_bad_input};
    case StatusCode::kCrashed:
      return Fault{RejectClass::kCrash, Rule::kDecoderCrashed};
    case StatusCode::kSourceIo:
      return Fault{RejectClass::kEnvironment, Rule::kSourceUnreadable};
    default:
      return std::nullopt;
  }
}

// The rule of each kind of warning, in the order of the kinds' values.
constexpr std::array kWarningRules = {Rule::kRateChanges,      Rule::kPacketsSkipped,
                                      Rule::kDecoderComplains, Rule::kReadingStopped,
                                      Rule::kEndsEarly,        Rule::kEndMissing};
static_assert(kWarningRules.size() ==
              static_cast<std::size_t>(audio::Warning::Kind::kEndMissing) + 1);

std::vector<Reason> reasons_of(std::span<const audio::Warning> warnings) {
  std::vector<Reason> reasons;
  for (const audio::Warning& one : warnings)
    reasons.push_back({.rule = kWarningRules.at(static_cast<std::size_t>(one.kind)),
                       .numbers = one.numbers,
                       .detail = one.text});
  return reasons;
}

// By the limits' values.
constexpr std::array kLimitRules = {Rule::kDecoderTooSlow, Rule::kDecoderTooLarge,
                                    Rule::kDecoderStoodStill};
static_assert(kLimitRules.size() ==
              static_cast<std::size_t>(audio::ExceededLimit::Kind::kIdleTime) + 1);

Reason reason_of(const audio::ExceededLimit& exceeded_limit) {
  return {.rule = kLimitRules.at(static_cast<std::size_t>(exceeded_limit.kind)),
          .numbers = exceeded_limit.numbers};
}

class Worker final : public ClipWorker {
 public:
  Worker(const WorkerJob& job, SharedSources* shared_sources, dsp::Conditioner conditioner,
         dsp::FeatureExtractor extractor)
      : env_(job.env),
        recipe_(job.recipe),
        request_(request_of(job.recipe)),
        corpus_(job.corpus),
        shared_sources_(shared_sources),
        source_(job.memory_bytes / 4),
        sound_(job.env, job.scratch_folder, job.memory_bytes / 2 / sizeof(float)),
        decoder_(job.make_decoder(job.cancelled)),
        conditioner_(std::move(conditioner)),
        maker_(job.recipe, std::move(extractor)) {}

  [[nodiscard]] Result<ClipOutcome> process(const corpus::Clip& clip,
                                            std::vector<RecordRows> buffers) override {
    ClipOutcome outcome;
    outcome.records = std::move(buffers);
    const Status status = run(clip, outcome);
    end_stage();
    if (!status.ok()) {
      const auto fault = fault_of(status.code(), rule_of_bad_input_);
      if (!fault) return status.with_context("clip " + clip.id);
      outcome.reject =
          reject_of(clip, fault->kind,
                    exceeded_limit_ ? reason_of(*exceeded_limit_)
                                    : Reason{.rule = fault->rule, .detail = status.message()});
    }
    if (outcome.reject) outcome.reject->content_digest = outcome.facts.content_digest;
    return outcome;
  }

  [[nodiscard]] Result<ConditionedClip> condition(const corpus::Clip& clip,
                                                  const corpus::SourcePlace& place) override {
    ClipOutcome outcome;
    const Status status = take_sound(clip, place, outcome);
    end_stage();
    if (!status.ok()) return status.with_context(place.path);
    if (outcome.reject) {
      return Status(StatusCode::kBadInput,
                    place.path + " does not have the clip's segment any more");
    }
    XTTS_ASSIGN(const auto conditioned, conditioner_.measure(sound_));
    XTTS_ASSIGN(const auto kept,
                sound_.load(conditioned.trim_start_samples, conditioned.kept_samples()));
    apply_scaling(conditioned.scaling, kept);
    return ConditionedClip{{kept.begin(), kept.end()}, std::move(outcome.facts)};
  }

  [[nodiscard]] StageTimes times() const override {
    StageTimes times = times_;
    // A segment is resampled in a stage of its own; a whole source is resampled while it is
    // decoded.
    const double beside_decoding_s = seconds_of(decoder_->resampling_time());
    times.decode_s -= beside_decoding_s;
    times.resample_s += beside_decoding_s;
    return times;
  }

 private:
  // Adds the seconds since the last stage began to that stage.
  void end_stage() {
    if (stage_seconds_ != nullptr) times_.*stage_seconds_ += seconds_of(timer_.lap());
    stage_seconds_ = nullptr;
  }
  // `of_bad_input`: the rule that is broken when the clip's own bytes are at fault.
  void begin_stage(Rule of_bad_input, double StageTimes::*seconds) {
    end_stage();
    rule_of_bad_input_ = of_bad_input;
    stage_seconds_ = seconds;
  }

  Status take_sound(const corpus::Clip& clip, const corpus::SourcePlace& place,
                    ClipOutcome& outcome) {
    timer_ = LapTimer();
    exceeded_limit_.reset();
    sound_.begin();
    XTTS_TRY(clip.segment ? cut_out(clip, place, outcome) : decode_source(clip, place, outcome));
    return outcome.reject ? Status() : sound_.end();
  }

  Status run(const corpus::Clip& clip, ClipOutcome& outcome) {
    XTTS_TRY(take_sound(clip, corpus_.place_of(clip), outcome));
    if (outcome.reject) return {};
    if (is_over_long_ && refused(clip, refusal_of_source(recipe_.corpus), outcome)) return {};
    if (refused(clip, refusal_of_length(outcome.source_seconds, recipe_.corpus), outcome))
      return {};

    begin_stage(Rule::kUnfitSound, &StageTimes::condition_s);
    XTTS_ASSIGN(const auto conditioned, conditioner_.measure(sound_));
    keep(conditioned, outcome);
    if (auto refusal = refusal_of(outcome.facts, recipe_.corpus, has_text(clip))) {
      outcome.reject = reject_of(clip, refusal->kind, std::move(refusal->reason));
      return {};
    }

    begin_stage(Rule::kNoFeatures, &StageTimes::features_s);
    return extract(clip, conditioned, outcome);
  }

  Result<SourceFile::Opened> read_source(const corpus::Clip& clip, const corpus::SourcePlace& place,
                                         ClipOutcome& outcome) {
    begin_stage(Rule::kSourceRefused, &StageTimes::read_s);
    outcome.source_bytes = clip.source_bytes;
    XTTS_ASSIGN(const auto source, source_.read(env_, place));
    if (source.size_bytes == 0) {
      rule_of_bad_input_ = Rule::kSourceEmpty;
      return Status(StatusCode::kBadInput, "the file is empty");
    }
    begin_stage(Rule::kDecodeFailed, &StageTimes::decode_s);
    return source;
  }

  Status decode_source(const corpus::Clip& clip, const corpus::SourcePlace& place,
                       ClipOutcome& outcome) {
    XTTS_ASSIGN(const auto source, read_source(clip, place, outcome));
    outcome.facts.content_digest = source.content_digest;
    request_.suffix = suffix_of(clip.source);
    audio::DecodeRequest request = request_;
    if (recipe_.features->resampler == formats::kRefuseRates) request.target_rate_hz = 0;
    const auto decoded = decoder_->decode(*source.file, request, to_sound_);
    exceeded_limit_ = decoder_->exceeded_limit();
    if (!decoded) return decoded.status();
    keep(*decoded, outcome);
    (void)refused(clip, refusal_of_rate(decoded->sample_rate_hz, *recipe_.features), outcome);
    return {};
  }

  // Cuts the clip out of a source that several clips share.
  Status cut_out(const corpus::Clip& clip, const corpus::SourcePlace& place, ClipOutcome& outcome) {
    if (shared_sources_ == nullptr)
      return {StatusCode::kInternal, "no place to decode segments to"};
    begin_stage(Rule::kDecodeFailed, &StageTimes::decode_s);
    const auto shared = shared_sources_->get(
        place.key(), [&](const audio::TakeSamples& take) -> SharedSources::Decoded {
          auto decoded = decode_shared(clip, place, take, outcome);
          if (!decoded)
            return SourceFailure{decoded.status(), rule_of_bad_input_, decoder_->exceeded_limit()};
          return std::move(*decoded);
        });
    if (const auto* const failure = std::get_if<SourceFailure>(&shared)) {
      rule_of_bad_input_ = failure->rule;
      exceeded_limit_ = failure->exceeded_limit;
      return failure->status;
    }
    const SharedSound& sound = *std::get<0>(shared);
    const SourceSound& source = sound.source;
    outcome.facts.content_digest = source.content_digest;
    is_over_long_ = source.facts.is_over_long;
    if (is_over_long_) return {};
    const std::uint32_t rate_hz = source.facts.sample_rate_hz;
    if (refused(clip, refusal_of_rate(rate_hz, *recipe_.features), outcome)) return {};
    // Counts the samples here, not the source's frames: they differ where its rate changes half
    // way.
    FrameRange range = frames_of(*clip.segment, rate_hz, sound.size_bytes / sizeof(float));
    if (range.refusal) {
      outcome.reject = reject_of(clip, RejectClass::kInput, std::move(*range.refusal));
      return {};
    }
    XTTS_ASSIGN(const Digest pcm_digest, resample(sound, range));
    keep(part_facts(source.facts, range, pcm_digest), outcome);
    // A part that ends before the cut is whole. The source's own end may be the cut.
    if (clip.segment->end_s && range.end < source.facts.whole_frame_count) {
      std::erase_if(outcome.facts.warnings,
                    [](const Reason& warning) { return is_sign_of_cut(warning.rule); });
    }
    if (source.facts.nonfinite_sample_count > 0) {
      outcome.facts.warnings.push_back(
          {.rule = Rule::kSourceNotFinite,
           .numbers = {static_cast<double>(source.facts.nonfinite_sample_count)}});
    }
    if (range.warning) outcome.facts.warnings.push_back(std::move(*range.warning));
    outcome.facts.clipped_sample_count.reset();  // counted before mixing, over the whole source
    outcome.facts.segment_start_s = clip.segment->start_s;
    outcome.facts.segment_end_s = clip.segment->end_s;
    return {};
  }

  // Resamples the part, which is at the source's rate.
  Result<Digest> resample(const SharedSound& source, const FrameRange& range) {
    begin_stage(Rule::kDecodeFailed, &StageTimes::resample_s);
    Hasher128 hasher;
    XTTS_TRY(resampler_.begin(source.source.facts.sample_rate_hz, request_.target_rate_hz,
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

  Result<SourceSound> decode_shared(const corpus::Clip& clip, const corpus::SourcePlace& place,
                                    const audio::TakeSamples& take, ClipOutcome& outcome) {
    XTTS_ASSIGN(const auto source, read_source(clip, place, outcome));
    audio::DecodeRequest at_own_rate = request_;
    at_own_rate.target_rate_hz = 0;
    at_own_rate.suffix = suffix_of(clip.source);
    XTTS_ASSIGN(auto facts, decoder_->decode(*source.file, at_own_rate, take));
    return SourceSound{source.content_digest, std::move(facts)};
  }

  static audio::SourceFacts part_facts(audio::SourceFacts facts, const FrameRange& range,
                                       const Digest& pcm_digest) {
    facts.frame_count = range.count();
    facts.pcm_digest = pcm_digest;
    facts.nonfinite_sample_count = 0;  // not known for the part; a warning tells the source's
    return facts;
  }

  static bool refused(const corpus::Clip& clip, std::optional<Reason> refusal,
                      ClipOutcome& outcome) {
    if (refusal) outcome.reject = reject_of(clip, RejectClass::kPolicy, std::move(*refusal));
    return refusal.has_value();
  }

  Status extract(const corpus::Clip& clip, const dsp::ConditionFacts& conditioned,
                 ClipOutcome& outcome) {
    const auto& features = *recipe_.features;
    const std::uint64_t frames = maker_.frame_count(conditioned.kept_samples());
    outcome.frame_count_before_cut =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(frames, UINT32_MAX));
    outcome.facts.frame_count_before_cut = outcome.frame_count_before_cut;
    if (frames > features.max_frames &&
        rule_of(features, has_text(clip)) == formats::TooLong::kDrop) {
      outcome.reject = reject_of(
          clip, RejectClass::kPolicy,
          {.rule = Rule::kTooLong,
           .numbers = {static_cast<double>(frames), static_cast<double>(features.max_frames)}});
      return {};
    }
    const std::uint64_t wanted = std::min(conditioned.kept_samples(), maker_.samples_wanted());
    XTTS_ASSIGN(const auto samples, sound_.load(conditioned.trim_start_samples, wanted));
    apply_scaling(conditioned.scaling, samples);
    XTTS_ASSIGN(auto refusal, maker_.make(samples, outcome));
    if (refusal) outcome.reject = reject_of(clip, RejectClass::kInput, std::move(*refusal));
    return {};
  }

  void keep(const audio::SourceFacts& source, ClipOutcome& outcome) {
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
    facts.warnings = reasons_of(source.warnings);
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
  audio::DecodeRequest request_;
  const corpus::Corpus& corpus_;
  SharedSources* const shared_sources_;
  SourceFile source_;
  ClipSound sound_;
  const audio::TakeSamples to_sound_ = [this](std::span<const float> samples) {
    return sound_.append(samples);
  };
  std::unique_ptr<audio::AudioDecoder> decoder_;
  dsp::Conditioner conditioner_;
  RecordMaker maker_;
  audio::SampleResampler resampler_;
  bool is_over_long_ = false;  // of the source in work
  std::vector<float> part_;    // a part of a shared source, at the source's rate
  Rule rule_of_bad_input_ = Rule::kDecodeFailed;
  std::optional<audio::ExceededLimit> exceeded_limit_;  // by the source in hand
  double StageTimes::*stage_seconds_ = nullptr;
  LapTimer timer_;
  StageTimes times_;
};

Status no_decoder() {
  return {StatusCode::kInternal, "no decoder was given"};
}

}  // namespace

Result<std::unique_ptr<ClipWorker>> ClipWorker::create(const WorkerJob& job,
                                                       SharedSources* shared_sources) {
  if (!job.make_decoder) return no_decoder();
  XTTS_ASSIGN(auto conditioner, dsp::Conditioner::create(*job.recipe.features));
  const formats::FeatureConfig& features = *job.recipe.features;
  XTTS_ASSIGN(auto extractor, job.engines ? dsp::FeatureExtractor::create(features, *job.engines)
                                          : dsp::FeatureExtractor::create(features, job.isa));
  return std::unique_ptr<ClipWorker>(
      std::make_unique<Worker>(job, shared_sources, std::move(conditioner), std::move(extractor)));
}

formats::Reject reject_of(const corpus::Clip& clip, RejectClass kind, Reason reason) {
  return {.kind = kind,
          .id = full_id(clip),
          .path = clip.source,
          .line = std::nullopt,
          .reason = std::move(reason),
          .split = std::string(to_string(clip.split))};
}

Result<formats::Numerics> numerics_of(dsp::Isa isa, const audio::MakeDecoder& make_decoder,
                                      const std::function<bool()>& cancelled,
                                      const dsp::FrameEngines* engines) {
  if (!make_decoder) return no_decoder();
  XTTS_ASSIGN(const std::string of_decoder, make_decoder(cancelled)->libraries());
  return formats::Numerics{
      .device = engines != nullptr ? engines->device() : "cpu",
      .isa = std::string(dsp::to_string(isa == dsp::Isa::kBest ? dsp::best_isa() : isa)),
      .libraries = formatted("{}, {}", of_decoder, dsp::feature_libraries(isa))};
}

}  // namespace xtts::records
