#include "pipeline/live_clips.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/try.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/clip_worker.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/confined_data.hpp"
#include "pipeline/record_maker.hpp"
#include "pipeline/text_column.hpp"

namespace xtts::pipeline {
namespace {

Status check_request_of_live_clips(Env& env, const BuildRequest& request) {
  if (request.corpora.empty()) XTTS_TRY(check_data_folder(env, request.data));
  for (const auto& entry : request.corpora)
    XTTS_TRY(check_data_folder(env, entry.folder).with_context(entry.name));
  if (request.recipe.corpus.duplicates == formats::OddClip::kDrop) {
    return {
        StatusCode::kUnsupported,
        "which of two equal clips is dropped takes all clips at once, as a build sees them: set "
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
      confined_(confined_to_data(env, request_.data, request_.corpora, request_.audio_roots)),
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

Status LiveClips::prepare() {
  const formats::Recipe& recipe = request_.recipe;
  XTTS_TRY(check_dtype_holds_full_scale(recipe, request_.isa));
  XTTS_ASSIGN(plan_, make_plan({.env = env_,
                                .data = request_.data,
                                .corpora = request_.corpora,
                                .recipe = recipe,
                                .without_text = request_.without_text,
                                .decoder_command = request_.run.decoder_command,
                                .audio_roots = request_.audio_roots}));
  if (plan_.to_compute.empty()) {
    XTTS_TRY(check_rejects(plan_.rejects, {.count = UINT64_MAX, .share = 1.0}, size(), size()));
  }
  for (std::uint32_t position = 0; position < size(); ++position)
    positions_.emplace(full_id(clip(position)), position);
  speakers_ =
      NameTable(request_.known_speakers, names_of(plan_.corpus.clips, &corpus::Clip::speaker));
  languages_ = NameTable({}, names_of(plan_.corpus.clips, &corpus::Clip::language));
  const formats::Numerics numerics = numerics_of(request_.isa);
  for (const formats::ColumnSpec& column : sound_columns(recipe, numerics))
    columns_.push_back(entry_of(column, recipe));
  if (plan_.corpus.has_text && recipe.text.tokens != formats::TokenKind::kNone) {
    columns_.push_back(entry_of(tokens_column(recipe, numerics), recipe));
    XTTS_ASSIGN(tokenizer_, text::Tokenizer::create(recipe.text));
  }
  // Plans its transforms while nobody else takes memory, and keeps the plans for all that follow:
  // FFTW ends the process where it finds none.
  XTTS_ASSIGN(const auto planner,
              ClipWorker::create(env_, recipe, request_.isa, plan_.corpus,
                                 {.decoder_command = request_.run.decoder_command}));
  workers_.emplace(
      ClipWorkersJob{.env = env_,
                     .recipe = recipe,
                     .isa = request_.isa,
                     .corpus = plan_.corpus,
                     .folder = scratch_folder_,
                     .decoder_command = request_.run.decoder_command,
                     .worker_bytes = std::clamp(
                         request_.run.memory_bytes / std::max(request_.run.thread_count, 1U),
                         kWorkerBytesMin, kWorkerBytesMax),
                     .turns = ClipTurns::kManyTimes},
      plan_.to_compute);
  return {};
}

std::optional<std::uint64_t> LiveClips::find(std::string_view full_id) const {
  const auto found = positions_.find(std::string(full_id));
  return found == positions_.end() ? std::nullopt : std::optional<std::uint64_t>(found->second);
}

double LiveClips::frame_s() const noexcept {
  const auto& features = request_.recipe.features;
  return static_cast<double>(features.stft.hop_samples) / features.sample_rate_hz;
}

std::optional<formats::Reject> LiveClips::known_reject(std::uint64_t position) const {
  const std::lock_guard lock(mutex_);
  const auto found = rejects_.find(position);
  return found == rejects_.end() ? std::nullopt : std::optional(found->second);
}

void LiveClips::remember(std::uint64_t position, const formats::Reject& reject) {
  const std::lock_guard lock(mutex_);
  rejects_.insert_or_assign(position, reject);
}

void LiveClips::forget(std::uint64_t position) {
  const std::lock_guard lock(mutex_);
  rejects_.erase(position);
}

Result<LiveRecord> LiveClips::record(std::uint64_t position) {
  LiveRecord record;
  record.reject = known_reject(position);
  // What the environment did may be over by now: it is tried again.
  const bool was_rejected = record.reject.has_value();
  if (was_rejected && record.reject->kind != formats::RejectClass::kEnvironment) return record;
  const corpus::Clip& planned = clip(position);
  XTTS_ASSIGN(ClipOutcome outcome, workers_->process(planned, {}));
  record.reject = std::move(outcome.reject);
  if (record.reject) {
    remember(position, *record.reject);
    return record;
  }
  if (was_rejected) forget(position);
  record.records = std::move(outcome.records);
  record.frame_count = outcome.frame_count;
  if (tokenizer_) XTTS_TRY(add_tokens(planned, record));
  return record;
}

Status LiveClips::add_tokens(const corpus::Clip& clip, LiveRecord& record) const {
  XTTS_ASSIGN(const ClipText text, tokenize_clip(clip, *tokenizer_, request_.recipe.text));
  const auto bytes = std::as_bytes(std::span(text.tokens));
  record.records.push_back({.length = text.token_count,
                            .fill_bits = 0,
                            .rows = std::vector<std::byte>(bytes.begin(), bytes.end())});
  return {};
}

std::uint64_t LiveClips::fault_count() const {
  auto count = static_cast<std::uint64_t>(std::ranges::count_if(plan_.rejects, is_fault));
  const std::lock_guard lock(mutex_);
  for (const auto& [position, reject] : rejects_) count += is_fault(reject) ? 1U : 0U;
  return count;
}

std::uint64_t LiveClips::faults_allowed() const {
  const std::uint64_t considered = plan_.clips.size() + plan_.corpus.problems.size();
  return allowed_faults(request_.max_rejects, considered);
}

}  // namespace xtts::pipeline
