#include "pipeline/lengths.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "base/check_cancelled.hpp"
#include "base/run_on_threads.hpp"
#include "base/try.hpp"
#include "dsp/frame_grid.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/rules.hpp"
#include "pipeline/build_plan.hpp"
#include "records/clip_rules.hpp"
#include "records/decode_request.hpp"
#include "records/too_long.hpp"
#include "text/tokenizer.hpp"

namespace xtts::pipeline {
namespace {

constexpr double kKept = 0.999;  // of the clips
constexpr double kSecondsMost = 30.0;
constexpr std::uint32_t kFrameStep = 32;
constexpr std::uint32_t kTokensMost = 1024;
constexpr std::uint32_t kTokenStep = 8;
// Of clips whose source alone tells the length, where they pass one by one.
constexpr std::size_t kSampleMax = 10'000;
constexpr std::uint64_t kSampleSeed = 1;

std::uint32_t rounded_up(std::uint64_t number, std::uint32_t step) {
  constexpr std::uint64_t kNumberMax = std::uint64_t{1} << 31U;
  return static_cast<std::uint32_t>((std::min(number, kNumberMax) + step - 1) / step * step);
}

std::uint32_t frames_of_seconds(const formats::FeatureConfig& features, double seconds) {
  constexpr double kRounding = 1e-6;  // of seconds, which were samples
  const auto samples =
      static_cast<std::uint64_t>(std::ceil(seconds * features.sample_rate_hz - kRounding));
  const std::uint64_t frames = dsp::FrameGrid(features).frame_count(samples);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(frames, UINT32_MAX));
}

LengthRule frame_rule(const formats::FeatureConfig& features, bool has_text) {
  return {.step = kFrameStep,
          .least = features.max_frames.least.value_or(0),
          .most = frames_of_seconds(features, kSecondsMost),
          .without_clip = formats::FeatureConfig().max_frames,
          .drops_longer = records::rule_of(features, has_text) == formats::TooLong::kDrop};
}

LengthRule token_rule(const formats::TextConfig& text) {
  return {.step = kTokenStep,
          .least = text.max_tokens.least.value_or(0),
          .most = kTokensMost,
          .without_clip = formats::TextConfig().max_tokens,
          .drops_longer = text.too_long == formats::LongText::kDrop};
}

std::uint32_t most_of(const LengthRule& rule) {
  return std::max(rule.least, rounded_up(rule.most, rule.step));
}

// The length of clips that are split to fit.
std::uint32_t split_length(const LengthRule& rule) {
  return rule.least > 0 ? rule.least : most_of(rule);
}

std::optional<double> seconds_in_list(const corpus::Clip& clip) {
  if (!clip.segment || !clip.segment->end_s) return std::nullopt;
  return *clip.segment->end_s - clip.segment->start_s;
}

// 0 where the length is not known, or a rule will drop the clip for it.
std::uint32_t frames_that_count(std::optional<double> seconds, const formats::Recipe& recipe) {
  if (!seconds || !(*seconds > 0.0)) return 0;
  if (records::refusal_of_length(*seconds, recipe.corpus)) return 0;
  return frames_of_seconds(*recipe.features, *seconds);
}

// Looks at the sources of clips, on several threads.
class SourceLook {
 public:
  SourceLook(const LookRequest& request, const formats::Recipe& recipe)
      : request_(request), recipe_(recipe) {}

  Result<std::vector<std::uint32_t>> frames() {
    frames_.resize(request_.corpus.clips.size());
    const std::uint32_t threads = request_.corpus.is_stream ? 1 : request_.run.thread_count;
    run_on_threads(std::max(threads, 1U), [this] { work(); });
    XTTS_TRY(failure_);
    XTTS_TRY(check_cancelled(request_.run.cancelled));
    std::erase(frames_, 0U);
    return std::move(frames_);
  }

 private:
  void work() noexcept {
    try {
      std::unique_ptr<audio::AudioDecoder> decoder;  // made for the first source that needs it
      // Threads stay near one another: rows of a file are read in pieces.
      for (std::size_t i = next_++; i < frames_.size() && !is_stopped_; i = next_++) {
        if (request_.run.cancelled && request_.run.cancelled()) return;
        frames_[i] = frames_of(request_.corpus.clips[i], decoder);
      }
    } catch (const std::bad_alloc&) {
      stop({StatusCode::kResource, "looking at the sources' lengths: out of memory"});
    }
  }

  void stop(Status failure) {
    const std::lock_guard lock(mutex_);
    if (failure_.ok()) failure_ = std::move(failure);
    is_stopped_ = true;
  }

  // 0 where the length is not known, or a rule will drop the clip for it.
  std::uint32_t frames_of(const corpus::Clip& clip, std::unique_ptr<audio::AudioDecoder>& decoder) {
    return frames_that_count(seconds_of(clip, decoder), recipe_);
  }

  std::optional<double> seconds_of(const corpus::Clip& clip,
                                   std::unique_ptr<audio::AudioDecoder>& decoder) {
    if (const auto seconds = seconds_in_list(clip)) return seconds;
    const auto length = length_of(clip, decoder);
    if (!length) return std::nullopt;
    const double seconds =
        static_cast<double>(length->frame_count) / static_cast<double>(length->sample_rate_hz);
    if (seconds > recipe_.corpus.max_source_seconds) return std::nullopt;
    return clip.segment ? seconds - clip.segment->start_s : seconds;
  }

  std::optional<audio::SourceLength> length_of(const corpus::Clip& clip,
                                               std::unique_ptr<audio::AudioDecoder>& decoder) {
    const auto file = corpus::open_source(request_.env, request_.corpus.place_of(clip));
    if (!file) return std::nullopt;
    if (const auto length = audio::header_length(**file)) return length;
    if (!request_.run.make_decoder) return std::nullopt;
    if (decoder == nullptr) decoder = request_.run.make_decoder(request_.run.cancelled);
    auto length = decoder->length(**file, records::suffix_of(clip.source));
    if (length) return *length;
    // No worker can be started: neither can the build's.
    const StatusCode code = length.status().code();
    if (code == StatusCode::kInternal || code == StatusCode::kResource ||
        code == StatusCode::kMismatch)
      stop(length.status());
    return std::nullopt;
  }

  const LookRequest& request_;
  const formats::Recipe& recipe_;
  std::vector<std::uint32_t> frames_;  // by clip; each thread writes its own
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> is_stopped_ = false;
  std::mutex mutex_;
  Status failure_;  // the first
};

// Tells how many tokens a text has, whatever the recipe's limit.
Result<text::Tokenizer> counting_tokenizer(formats::TextConfig text) {
  text.max_tokens = kTokensMost;
  text.too_long = formats::LongText::kDrop;  // its refusal tells the count
  return text::Tokenizer::create(text);
}

// nullopt: the text is refused for something else than its length.
std::optional<std::uint32_t> token_count(const text::Tokenizer& tokenizer, const corpus::Clip& clip,
                                         const formats::TextConfig& text) {
  const auto tokens = tokenizer.encode(text_to_tokenize(clip, text));
  if (!tokens.refusal) return static_cast<std::uint32_t>(tokens.values.size());
  if (tokens.refusal->rule != formats::Rule::kTextTooLong) return std::nullopt;
  return static_cast<std::uint32_t>(std::min(tokens.refusal->numbers[0], 4e9));
}

LengthCounts counted_lengths(const std::vector<std::uint32_t>& lengths) {
  LengthCounts counts;
  for (const std::uint32_t length : lengths) ++counts[length];
  return counts;
}

Result<LengthCounts> token_counts(const LookRequest& request, const formats::TextConfig& text) {
  LengthCounts counts;
  if (!request.corpus.has_text) return counts;
  XTTS_ASSIGN(const auto tokenizer, counting_tokenizer(text));
  for (const corpus::Clip& clip : request.corpus.clips) {
    if (const auto count = token_count(tokenizer, clip, text)) ++counts[*count];
  }
  return counts;
}

Result<LengthCounts> frame_counts(const LookRequest& request, const formats::Recipe& recipe) {
  XTTS_ASSIGN(const auto frames, SourceLook(request, recipe).frames());
  return counted_lengths(frames);
}

ChosenLength given(std::uint32_t number) {
  ChosenLength length;
  length.number = number;
  return length;
}

}  // namespace

ChosenLength choose_length_of(const LengthCounts& needed, const LengthRule& rule) {
  ChosenLength chosen;
  if (needed.empty()) {
    chosen.number = std::max(rule.least, rule.without_clip);
    return chosen;
  }
  std::uint64_t within = 0;  // clips that need no more than is possible
  for (const auto& [length, count] : needed) {
    chosen.clip_count += count;
    if (length <= most_of(rule)) within += count;
  }
  const std::uint64_t heard = rule.drops_longer && within > 0 ? within : chosen.clip_count;
  const auto may_go = static_cast<std::uint64_t>((1.0 - kKept) * static_cast<double>(heard) + 1e-9);
  std::uint64_t passed = 0;
  std::uint32_t kept_longest = 0;  // of the clips that are to be kept
  for (const auto& [length, count] : needed) {
    passed += count;
    kept_longest = length;
    if (passed >= heard - may_go) break;
  }
  const std::uint32_t wanted = rounded_up(kept_longest, rule.step);
  chosen.number = std::max({rule.least, std::min(wanted, most_of(rule)), rule.step});
  chosen.longest = needed.rbegin()->first;
  double filled = 0.0;
  for (const auto& [length, count] : needed) {
    filled += static_cast<double>(std::min(length, chosen.number)) * static_cast<double>(count);
    if (length > chosen.number) chosen.longer_count += count;
  }
  chosen.padding_share = 1.0 - filled / (static_cast<double>(chosen.clip_count) * chosen.number);
  return chosen;
}

ChosenLength choose_length(const std::vector<std::uint32_t>& needed, const LengthRule& rule) {
  return choose_length_of(counted_lengths(needed), rule);
}

bool has_open_lengths(const formats::Recipe& recipe) {
  return recipe.features->max_frames.is_of_corpus() || recipe.text.max_tokens.is_of_corpus();
}

void take_published_lengths(const formats::Manifest& published, formats::Recipe& recipe) {
  formats::RecordLength& frames = recipe.features->max_frames;
  if (frames.is_of_corpus()) frames = std::max(published.max_frames(), *frames.least);
  formats::RecordLength& tokens = recipe.text.max_tokens;
  const formats::ColumnEntry* const column = published.find_column("tokens");
  const auto kind = published.text.find("tokens");
  const bool is_alike = column != nullptr && kind != published.text.end() &&
                        *kind == std::string(formats::name_of(recipe.text.tokens));
  if (tokens.is_of_corpus() && is_alike)
    tokens = std::max(column->spec.shape.front(), *tokens.least);
}

formats::Recipe with_longest(formats::Recipe recipe) {
  formats::FeatureConfig& features = *recipe.features;
  const bool is_split = features.too_long == formats::TooLong::kSplit;
  const LengthRule frames = frame_rule(features, true);
  if (features.max_frames.is_of_corpus())
    features.max_frames = is_split ? split_length(frames) : most_of(frames);
  if (recipe.text.max_tokens.is_of_corpus())
    recipe.text.max_tokens = most_of(token_rule(recipe.text));
  return recipe;
}

ChosenLengths given_lengths(const formats::Recipe& recipe) {
  return {.frames = given(recipe.features->max_frames), .tokens = given(recipe.text.max_tokens)};
}

namespace {

// What the clips need; called where it has a say.
using FindCounts = std::function<Result<LengthCounts>()>;

Result<ChosenLengths> choose(formats::Recipe& recipe, bool has_text, const FindCounts& find_frames,
                             const FindCounts& find_tokens) {
  ChosenLengths chosen = given_lengths(recipe);
  formats::FeatureConfig& features = *recipe.features;
  if (features.max_frames.is_of_corpus()) {
    const LengthRule rule = frame_rule(features, has_text);
    if (features.too_long == formats::TooLong::kSplit) {
      chosen.frames = given(split_length(rule));
    } else {
      XTTS_ASSIGN(const LengthCounts needed, find_frames());
      chosen.frames = choose_length_of(needed, rule);
    }
    features.max_frames = chosen.frames.number;
  }
  if (recipe.text.max_tokens.is_of_corpus()) {
    if (recipe.text.tokens == formats::TokenKind::kNone) {
      chosen.tokens = given(formats::TextConfig().max_tokens);
    } else {
      XTTS_ASSIGN(const LengthCounts needed, find_tokens());
      chosen.tokens = choose_length_of(needed, token_rule(recipe.text));
    }
    recipe.text.max_tokens = chosen.tokens.number;
  }
  return chosen;
}

}  // namespace

Result<ChosenLengths> choose_lengths(const LookRequest& request, formats::Recipe& recipe) {
  return choose(
      recipe, request.corpus.has_text, [&] { return frame_counts(request, recipe); },
      [&] { return token_counts(request, recipe.text); });
}

Result<LengthTally> LengthTally::create(const formats::Recipe& recipe) {
  LengthTally tally(recipe);
  tally.frames_are_open_ = recipe.features->max_frames.is_of_corpus() &&
                           recipe.features->too_long != formats::TooLong::kSplit;
  if (recipe.text.max_tokens.is_of_corpus() && recipe.text.tokens != formats::TokenKind::kNone) {
    XTTS_ASSIGN(auto tokenizer, counting_tokenizer(recipe.text));
    tally.tokenizer_ = std::make_shared<const text::Tokenizer>(std::move(tokenizer));
  }
  return tally;
}

void LengthTally::add(const corpus::Clip& clip) {
  if (tokenizer_) {
    if (const auto count = token_count(*tokenizer_, clip, recipe_.text)) ++tokens_[*count];
  }
  if (!frames_are_open_) return;
  if (const auto seconds = seconds_in_list(clip)) {
    if (const std::uint32_t frames = frames_that_count(seconds, recipe_)) ++frames_[frames];
  } else {
    draw(clip);
  }
}

// Keeps the clips with the lowest numbers, so that the order in which they pass does not matter.
void LengthTally::draw(const corpus::Clip& clip) {
  ++unknown_count_;
  const std::uint64_t number = check64(as_bytes(full_id(clip)), kSampleSeed);
  if (sample_.size() == kSampleMax) {
    if (number >= sample_.front().number) return;
    std::ranges::pop_heap(sample_, std::less<>());
    sample_.pop_back();
  }
  Drawn& drawn = sample_.emplace_back(Drawn{.number = number, .clip = clip});
  drawn.clip.text_raw.clear();
  drawn.clip.text_normalized.clear();
  drawn.clip.extra_json.clear();
  std::ranges::push_heap(sample_, std::less<>());
}

Result<ChosenLengths> LengthTally::choose(Env& env, corpus::Corpus corpus, const RunConfig& run,
                                          formats::Recipe& recipe) {
  for (const Drawn& drawn : sample_) corpus.clips.push_back(drawn.clip);
  const bool has_text = corpus.has_text;
  const auto find_frames = [&]() -> Result<LengthCounts> {
    XTTS_ASSIGN(const LengthCounts sampled, frame_counts({env, corpus, run}, recipe));
    LengthCounts all = frames_;
    for (const auto& [length, count] : sampled)
      all[length] += count * unknown_count_ / std::max<std::size_t>(sample_.size(), 1);
    return all;
  };
  const auto find_tokens = [&]() -> Result<LengthCounts> {
    return has_text ? tokens_ : LengthCounts();
  };
  return pipeline::choose(recipe, has_text, find_frames, find_tokens);
}

}  // namespace xtts::pipeline
