#include "pipeline/live_clips.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "formats/index.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/confined_data.hpp"
#include "pipeline/lengths.hpp"
#include "pipeline/manifest_parts.hpp"
#include "pipeline/text_column.hpp"
#include "records/clip_rules.hpp"
#include "records/columns.hpp"
#include "records/record_maker.hpp"
#include "records/too_long.hpp"

namespace xtts::pipeline {
namespace {

Status check_request_of_live_clips(Env& env, const BuildRequest& request) {
  if (request.corpora.empty()) XTTS_TRY(check_data_folder(env, request.data.path));
  for (const auto& entry : request.corpora)
    XTTS_TRY(check_data_folder(env, entry.folder).with_context(entry.name));
  if (request.recipe.corpus.duplicates == formats::OddClip::kDrop) {
    return {StatusCode::kUnsupported,
            "corpus.duplicates=drop has to see all clips at once, as a build does: set "
            "corpus.duplicates=warn, or build a cache"};
  }
  return check_not_baked(nullptr, request.recipe);
}

bool is_fault(const formats::Reject& reject) {
  return reject.kind != formats::RejectClass::kPolicy;
}

}  // namespace

LiveClips::LiveClips(Env& env, BuildRequest request, std::string scratch_folder)
    : request_(std::move(request)),
      confined_(confined_to_data(env, request_.data, request_.corpora)),
      env_(*confined_),
      scratch_folder_(std::move(scratch_folder)) {}

Result<std::unique_ptr<LiveClips>> LiveClips::open(Env& env, BuildRequest request,
                                                   std::string scratch_folder) {
  XTTS_TRY(check_request_of_live_clips(env, request));
  std::unique_ptr<LiveClips> clips(
      new LiveClips(env, std::move(request), std::move(scratch_folder)));
  XTTS_TRY(clips->prepare());
  return clips;
}

// Open lengths are those of a cache that would be made now.
Result<std::optional<corpus::Corpus>> LiveClips::settle_lengths() {
  if (!has_open_lengths(request_.recipe)) return std::optional<corpus::Corpus>();
  XTTS_ASSIGN(auto corpus, discover_corpus(plan_request(with_longest(request_.recipe))));
  XTTS_TRY(choose_lengths({env_, corpus, request_.run}, request_.recipe).status());
  return std::optional(std::move(corpus));
}

PlanRequest LiveClips::plan_request(const formats::Recipe& recipe) const {
  return {.env = env_, .build = request_, .recipe = recipe};
}

Status LiveClips::prepare() {
  XTTS_ASSIGN(auto found, settle_lengths());
  const formats::Recipe& recipe = request_.recipe;
  XTTS_TRY(check_dtype_holds_full_scale(recipe, request_.isa));
  XTTS_ASSIGN(plan_, make_plan(plan_request(recipe), std::move(found)));
  XTTS_TRY(check_any_clip(plan_.rejects, plan_.to_compute.size()));
  for (std::uint32_t position = 0; position < size(); ++position)
    positions_.emplace(full_id(clip(position)), position);
  speakers_ =
      NameTable(request_.known_speakers, names_of(plan_.corpus.clips, &corpus::Clip::speaker));
  languages_ = NameTable({}, names_of(plan_.corpus.clips, &corpus::Clip::language));
  datasets_ = NameTable({""}, names_of(plan_.corpus.clips, &corpus::Clip::dataset));
  const formats::Numerics numerics;  // what is computed here is never stored
  for (const formats::ColumnSpec& column : records::sound_columns(recipe, numerics))
    columns_.push_back(records::entry_of(column, recipe));
  if (has_tokens(plan_, recipe)) {
    columns_.push_back(records::entry_of(records::tokens_column(recipe, numerics), recipe));
    XTTS_ASSIGN(tokenizer_, text::Tokenizer::create(recipe.text));
  }
  std::shared_ptr<const dsp::FrameEngines> engines;
  if (request_.choose_engines) {
    XTTS_ASSIGN(engines, request_.choose_engines(""));
  }
  const std::uint64_t share = std::clamp(request_.run.memory_bytes / thread_count(),
                                         records::kWorkerBytesMin, records::kWorkerBytesMax);
  workers_.emplace(records::WorkerJob{.env = env_,
                                      .recipe = recipe,
                                      .isa = request_.isa,
                                      .engines = std::move(engines),
                                      .corpus = plan_.corpus,
                                      .make_decoder = request_.run.make_decoder,
                                      .scratch_folder = scratch_folder_,
                                      .memory_bytes = static_cast<std::size_t>(share)},
                   plan_.to_compute, records::ClipTurns::kManyTimes);
  return workers_->start();
}

std::optional<std::uint64_t> LiveClips::find(std::string_view full_id) const {
  const auto found = positions_.find(std::string(full_id));
  return found == positions_.end() ? std::nullopt : std::optional<std::uint64_t>(found->second);
}

std::optional<formats::Reject> LiveClips::known_reject(std::uint64_t position) const {
  const std::lock_guard lock(mutex_);
  const auto found = rejects_.find(position);
  return found == rejects_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::uint64_t> LiveClips::rejected() const {
  std::vector<std::uint64_t> positions;
  const std::lock_guard lock(mutex_);
  for (const auto& [position, reject] : rejects_) {
    if (reject.kind != formats::RejectClass::kEnvironment) positions.push_back(position);
  }
  return positions;
}

Result<LiveRecord> LiveClips::record(std::uint64_t position, std::vector<RecordRows> buffers) {
  LiveRecord record;
  record.reject = known_reject(position);
  // An environment's fault may be over by now, so the clip is tried again.
  const bool was_rejected = record.reject.has_value();
  if (was_rejected && record.reject->kind != formats::RejectClass::kEnvironment) return record;
  const corpus::Clip& planned = clip(position);
  std::vector<std::byte> token_buffer;
  if (tokenizer_ && buffers.size() == columns_.size()) {
    token_buffer = std::move(buffers.back().rows);
    buffers.pop_back();
  }
  XTTS_ASSIGN(records::ClipOutcome outcome, workers_->process(planned, std::move(buffers)));
  record.reject = std::move(outcome.reject);
  if (record.reject) {
    const std::lock_guard lock(mutex_);
    rejects_.insert_or_assign(position, *record.reject);
    return record;
  }
  if (was_rejected) {
    const std::lock_guard lock(mutex_);
    rejects_.erase(position);
  }
  record.records = std::move(outcome.records);
  record.frame_count =
      frames_of_main_record(*request_.recipe.features, record.records.front().length);
  record.facts = std::move(outcome.facts);
  if (tokenizer_) {
    XTTS_TRY(add_tokens(planned, std::move(token_buffer), record));
  } else {
    take_text(facts_of_untokenized(planned, request_.recipe.text), record.facts);
  }
  describe(planned, record);
  return record;
}

Status LiveClips::add_tokens(const corpus::Clip& clip, std::vector<std::byte> buffer,
                             LiveRecord& record) const {
  XTTS_ASSIGN(const ClipText text, tokenize_planned_clip(clip, *tokenizer_, request_.recipe.text));
  const auto bytes = std::as_bytes(std::span(text.tokens));
  buffer.assign(bytes.begin(), bytes.end());
  record.records.push_back({.length = text.token_count, .fill_bits = 0, .rows = std::move(buffer)});
  record.token_count = text.token_count;
  if (text.was_cut) record.flags |= formats::kPlanTextCut;
  take_text(text.facts, record.facts);
  return {};
}

// Describes the clip as the index would.
void LiveClips::describe(const corpus::Clip& clip, LiveRecord& record) const {
  formats::RecordFacts& facts = record.facts;
  const formats::Recipe& recipe = request_.recipe;
  add_facts_of_lists(clip, facts);
  records::judge(recipe.corpus, plan_.corpus.has_text && !has_text(clip), {}, facts);
  if (records::was_cut(*recipe.features, facts)) record.flags |= formats::kPlanAudioCut;
  if (!facts.warnings.empty()) record.flags |= formats::kPlanWarnings;
}

formats::RecordFacts LiveClips::facts(std::uint64_t position) const {
  formats::RecordFacts facts;
  add_facts_of_lists(clip(position), facts);
  take_text(facts_of_untokenized(clip(position), request_.recipe.text), facts);
  return facts;
}

formats::Manifest LiveClips::manifest() const {
  formats::Manifest manifest;
  describe_recipe(request_.recipe, manifest);
  manifest.columns = columns_;
  manifest.datasets = datasets_.names();
  manifest.speakers = speakers_.names();
  manifest.languages = languages_.names();
  manifest.data_layout = plan_.corpus.layout;
  manifest.counts.planned = manifest.counts.records = size();
  return manifest;
}

std::uint64_t LiveClips::fault_count() const {
  auto count = static_cast<std::uint64_t>(std::ranges::count_if(plan_.rejects, is_fault));
  const std::lock_guard lock(mutex_);
  for (const auto& [position, reject] : rejects_) count += is_fault(reject) ? 1U : 0U;
  return count;
}

std::optional<formats::Reject> LiveClips::first_fault() const {
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [position, reject] : rejects_) {
      if (is_fault(reject)) return reject;
    }
  }
  const auto found = std::ranges::find_if(plan_.rejects, is_fault);
  return found == plan_.rejects.end() ? std::nullopt : std::optional(*found);
}

std::uint64_t LiveClips::faults_allowed() const {
  const std::uint64_t considered = plan_.clips.size() + plan_.corpus.problems.size();
  return allowed_faults(request_.max_rejects, considered);
}

}  // namespace xtts::pipeline
