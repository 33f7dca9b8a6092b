#include "verify/recompute.hpp"

#include <algorithm>
#include <numeric>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"
#include "pipeline/build_plan.hpp"
#include "records/clip_worker.hpp"
#include "records/columns.hpp"
#include "records/segment.hpp"
#include "records/source_file.hpp"
#include "records/too_long.hpp"
#include "records/value_rules.hpp"

namespace xtts::verify {
namespace {

// Clips keep the split that was published, as in a build. No other order depends on it.
corpus::KnownSplits published_splits(reader::IndexReader& index) {
  return [&index](std::string_view id) -> std::optional<corpus::Split> {
    const auto position = index.find(digest128(id));
    if (!position || !*position) return std::nullopt;
    const auto row = index.plan_row(**position);
    if (!row) return std::nullopt;
    return static_cast<corpus::Split>(row->split);
  };
}

RecomputedClip answer(RecomputeResult result, Evidence why_not, records::ClipOutcome outcome) {
  return {.result = result, .why_not = std::move(why_not), .outcome = std::move(outcome)};
}

formats::Recipe without_baking(formats::Recipe recipe) {
  formats::BakedConfig& baked = recipe.features->baked;
  if (baked.is_baked()) recipe.storage.dtype = baked.dtype;
  baked = {};
  return recipe;
}

records::ClipOutcome with_buffers(std::vector<RecordRows> buffers) {
  records::ClipOutcome outcome;
  outcome.records = std::move(buffers);
  return outcome;
}

}  // namespace

Recomputer::Recomputer(Env& env, formats::Recipe recipe, const Sources& sources,
                       std::uint32_t thread_count, text::Tokenizer tokenizer, CancelCheck cancelled)
    : env_(env),
      recipe_(std::move(recipe)),
      computed_(without_baking(recipe_)),
      sources_(sources),
      thread_count_(std::max(thread_count, 1U)),
      cancelled_(std::move(cancelled)),
      tokenizer_(std::move(tokenizer)) {}

Result<std::unique_ptr<Recomputer>> Recomputer::create(Env& env, const formats::Manifest& manifest,
                                                       reader::IndexReader& index,
                                                       const Sources& sources,
                                                       std::uint32_t thread_count,
                                                       CancelCheck cancelled) {
  XTTS_ASSIGN(auto recipe, formats::recipe_of(manifest));
  XTTS_ASSIGN(auto tokenizer, text::Tokenizer::create(recipe.text));
  std::unique_ptr<Recomputer> made(new Recomputer(env, std::move(recipe), sources, thread_count,
                                                  std::move(tokenizer), std::move(cancelled)));
  if (const auto& baked = made->recipe_.features->baked; baked.is_baked()) {
    XTTS_ASSIGN(made->norm_, ChannelNorm::create(baked.mean, baked.std_deviation));
  }
  if (!sources.data.path.empty()) XTTS_TRY(made->discover(index));
  return made;
}

Status Recomputer::discover(reader::IndexReader& index) {
  XTTS_TRY(sources_.no_decoder);
  XTTS_ASSIGN(numerics_, records::numerics_of(sources_.isa, sources_.make_decoder, cancelled_));
  XTTS_ASSIGN(corpus_, listed_corpus(env_, sources_, recipe_, published_splits(index), cancelled_));
  for (std::uint32_t i = 0; i < corpus_.clips.size(); ++i) {
    places_.emplace(full_id(corpus_.clips[i]), i);
  }
  for (std::uint64_t position = 0; position < index.clip_count(); ++position) {
    const auto facts = index.details(position);
    if (!facts || places_.contains(formats::full_id(*facts))) return {};
  }
  if (index.clip_count() == 0) return {};
  return {StatusCode::kMismatch,
          formatted("{} holds none of the {} of this cache: is it another corpus?",
                    sources_.data.path, counted(index.clip_count(), "clip", "clips"))};
}

void Recomputer::expect(std::span<const std::string> full_ids) {
  std::vector<std::uint32_t> clips;
  for (const std::string& id : full_ids) {
    if (const auto place = places_.find(id); place != places_.end()) clips.push_back(place->second);
  }
  expect_places(clips);
}

void Recomputer::expect_all() {
  std::vector<std::uint32_t> clips(corpus_.clips.size());
  std::iota(clips.begin(), clips.end(), 0U);
  expect_places(clips);
}

void Recomputer::expect_places(std::span<const std::uint32_t> clips) {
  const std::uint64_t share = std::clamp(sources_.memory_bytes / thread_count_,
                                         records::kWorkerBytesMin, records::kWorkerBytesMax);
  workers_.emplace(records::WorkerJob{.env = env_,
                                      .recipe = computed_,
                                      .isa = sources_.isa,
                                      .corpus = corpus_,
                                      .make_decoder = sources_.make_decoder,
                                      .cancelled = cancelled_,
                                      .scratch_folder = sources_.scratch_folder,
                                      .memory_bytes = static_cast<std::size_t>(share)},
                   clips);
}

const corpus::Clip* Recomputer::find(const formats::RecordFacts& stored) const {
  const auto place = places_.find(formats::full_id(stored));
  return place == places_.end() ? nullptr : &corpus_.clips[place->second];
}

Result<RecomputedClip> Recomputer::sound(const formats::RecordFacts& stored,
                                         std::vector<RecordRows> buffers) {
  const corpus::Clip* const listed = find(stored);
  if (listed == nullptr) {
    return answer(RecomputeResult::kOtherSource, {kNotListed, "DATA has no such clip any more"},
                  with_buffers(std::move(buffers)));
  }
  if (!records::is_same_part(listed->segment, stored)) {
    return answer(RecomputeResult::kOtherSource,
                  {"other_part", "it is cut out of another place of its source now"},
                  with_buffers(std::move(buffers)));
  }
  corpus::Clip clip = *listed;
  // The treatment of a clip that is too long depends on its text, so we take the text of that
  // build.
  const auto& features = *recipe_.features;
  if (records::was_cut(features, stored) && records::depends_on_text(features)) {
    clip.text_raw.clear();
    clip.text_normalized.clear();
  }
  if (stored.text_raw) clip.text_raw = *stored.text_raw;
  if (stored.text_normalized) clip.text_normalized = *stored.text_normalized;
  XTTS_ASSIGN(auto outcome, workers_->process(clip, std::move(buffers)));
  const auto digest =
      outcome.facts.content_digest ? outcome.facts.content_digest : hash_source(clip);
  if (!digest) {
    return answer(RecomputeResult::kUnread, {"source_unread", "its source cannot be read"},
                  std::move(outcome));
  }
  if (digest != stored.content_digest) {
    return answer(RecomputeResult::kOtherSource,
                  {"source_changed", "its source has changed since the build"}, std::move(outcome));
  }
  if (!outcome.reject) {
    if (const auto refusal = bake(outcome))
      return answer(RecomputeResult::kRefused, refused(*refusal), std::move(outcome));
    return answer(RecomputeResult::kRecord, {}, std::move(outcome));
  }
  const bool may_work_next_time = outcome.reject->kind == formats::RejectClass::kEnvironment ||
                                  outcome.reject->kind == formats::RejectClass::kCrash;
  Evidence why_not = refused(outcome.reject->reason);
  return answer(may_work_next_time ? RecomputeResult::kUnread : RecomputeResult::kRefused,
                std::move(why_not), std::move(outcome));
}

// Bakes with the function of `convert --bake`, which gives the same bits.
std::optional<formats::Reason> Recomputer::bake(records::ClipOutcome& outcome) const {
  if (!norm_) return std::nullopt;
  const auto computed = records::sound_column_forms(computed_);
  const auto stored = records::sound_column_forms(recipe_);
  for (std::size_t column = 0; column < stored.size(); ++column) {
    const DType from = computed[column].dtype;
    const DType to = stored[column].dtype;
    const bool is_normalized = records::has_sums(stored[column]);
    if (!is_normalized && from == to) continue;
    std::vector<std::byte> rows;
    auto verdict = records::change_rows(stored[column].name, outcome.records[column].rows, from,
                                        is_normalized ? &*norm_ : nullptr, to, rows);
    if (verdict.refusal) return std::move(verdict.refusal);
    outcome.records[column].rows = std::move(rows);
    if (verdict.warning) outcome.facts.warnings.push_back(std::move(*verdict.warning));
  }
  return std::nullopt;
}

std::optional<Digest> Recomputer::hash_source(const corpus::Clip& clip) {
  records::SourceFile file(0);
  const auto source = file.read(env_, corpus_.place_of(clip));
  return source ? std::optional(source->content_digest) : std::nullopt;
}

pipeline::ClipText Recomputer::tokens(const formats::RecordFacts& stored) const {
  corpus::Clip clip;
  clip.text_raw = stored.text_raw.value_or("");
  clip.text_normalized = stored.text_normalized.value_or("");
  return pipeline::tokenize_clip(clip, tokenizer_, recipe_.text);
}

std::optional<std::string> Recomputer::other_text(const formats::RecordFacts& stored) const {
  const corpus::Clip* const listed = find(stored);
  if (listed == nullptr || !stored.text_raw) return std::nullopt;
  if (listed->text_raw != *stored.text_raw) return listed->text_raw;
  if (listed->text_normalized != stored.text_normalized.value_or(""))
    return listed->text_normalized;
  return std::nullopt;
}

}  // namespace xtts::verify
