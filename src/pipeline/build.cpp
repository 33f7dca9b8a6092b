#include "pipeline/build.hpp"

#include <algorithm>
#include <new>
#include <system_error>
#include <unordered_map>

#include "base/confined_env.hpp"
#include "base/shell_words.hpp"
#include "base/shortage.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/clip_worker.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/confined_data.hpp"
#include "pipeline/index_build.hpp"
#include "pipeline/plan.hpp"
#include "pipeline/preview.hpp"
#include "pipeline/published_clip.hpp"
#include "pipeline/record_maker.hpp"
#include "pipeline/resource_advice.hpp"
#include "pipeline/sound_columns.hpp"
#include "pipeline/too_long.hpp"
#include "reader/cache_paths.hpp"
#include "reader/cache_view.hpp"
#include "store/cache_folder.hpp"
#include "store/generations.hpp"
#include "store/journal.hpp"
#include "store/source_table.hpp"

namespace xtts::pipeline {
namespace {

using formats::Reject;

class Build {
 public:
  Build(Env& env, const BuildRequest& request, BuildObserver& observer)
      : env_(env), request_(request), observer_(observer) {}

  Result<BuildReport> run() {
    auto report = plan_and_build();
    if (report) return report;
    const Status failure = with_advice(report.status());
    leave_no_trace();
    return failure;
  }

 private:
  Result<BuildReport> plan_and_build() {
    XTTS_TRY(check_data());
    if (!request_.dry_run) {
      const std::uint64_t shortages = shortage_count();
      auto opened = store::CacheFolder::open(
          env_, request_.cache,
          {.tell = [this](const std::string& text) { observer_.notice(text); },
           .cancelled = [this] { return observer_.cancelled(); }});
      const bool is_refused = opened.status().code() == StatusCode::kResource;
      if (is_refused && shortage_count() == shortages) return advise_on_writing(opened.status());
      XTTS_ASSIGN(folder_, std::move(opened));
    }
    XTTS_TRY(open_published());
    XTTS_TRY(check_not_baked(previous_ ? &previous_->manifest() : nullptr, request_.recipe));
    if (previous_) XTTS_TRY(check_same_recipe(previous_->manifest(), request_.recipe));
    XTTS_TRY(check_partition(request_, previous_ ? &previous_->manifest() : nullptr));
    numerics_ = numerics_of(request_.isa);
    sources_ = store::load_source_table(env_, request_.cache);
    XTTS_ASSIGN(plan_, make_plan({.env = env_,
                                  .data = request_.data,
                                  .corpora = request_.corpora,
                                  .recipe = request_.recipe,
                                  .previous = previous_.get(),
                                  .sources = sources_ ? &*sources_ : nullptr,
                                  .retry_rejects = request_.retry_rejects,
                                  .without_text = request_.without_text,
                                  .copies_renamed = has_published_numerics(),
                                  .partition = request_.partition,
                                  .clips_per_shard =
                                      clips_per_shard(sound_columns(request_.recipe, numerics_)),
                                  .decoder_command = request_.run.decoder_command,
                                  .cancelled = request_.run.cancelled,
                                  .audio_roots = request_.audio_roots,
                                  .memory_bytes = request_.run.memory_bytes}));
    if (plan_.unchanged) return report_unchanged();
    if (previous_ && request_.partition) return check_published_part();
    if (previous_) XTTS_TRY(check_same_corpus(previous_->size(), plan_.gone_count));
    if (previous_)
      XTTS_TRY(check_added_columns(previous_->manifest(), has_tokens(plan_, request_.recipe)));
    XTTS_TRY(check_numerics());
    // What is published in this dtype fits, and shows that its corpus does.
    if (!previous_) XTTS_TRY(check_dtype_holds_full_scale(request_.recipe, request_.isa));
    if (request_.dry_run) {
      preview(
          sealed_count(store::Journal::shard_count(env_, request_.cache, plan_.to_compute_digest)));
      return BuildReport{};
    }
    XTTS_TRY(check_known_losses());
    return compute_and_publish();
  }

  Status check_data() {
    if (request_.corpora.empty()) return check_folders(env_, request_.data, request_.cache);
    for (const auto& entry : request_.corpora)
      XTTS_TRY(check_folders(env_, entry.folder, request_.cache).with_context(entry.name));
    return {};
  }

  [[nodiscard]] Status with_advice(const Status& failure) {
    if (failure.code() != StatusCode::kResource) return failure;
    const auto free = free_bytes_for(env_, request_.cache);
    if (!free) return failure;
    std::optional<std::uint64_t> needed;
    if (!plan_.clips.empty())
      needed = bytes_left_to_write(env_, plan_, request_, preview_, published(), *free);
    return advise_on_space(failure, needed, *free);
  }

  // Refused before it computed anything: .build/ goes again, unless it holds the journal of a build
  // to go on with.
  void leave_no_trace() {
    if (folder_ == nullptr) return;
    const auto journal = env_.stat(join_path(store::build_folder(request_.cache), "journal"));
    if (journal.status().code() == StatusCode::kNotFound) (void)folder_->finish();
  }

  [[nodiscard]] bool is_the_one_to_overwrite(const formats::Manifest& manifest) const {
    return manifest.index_digest.to_hex() == request_.overwrite_only;
  }

  Status open_published() {
    overwrites_ = request_.overwrite;
    if (overwrites_ && request_.overwrite_only.empty()) return {};
    auto opened = reader::CacheView::open(env_, request_.cache);
    if (overwrites_ && opened) overwrites_ = is_the_one_to_overwrite((*opened)->manifest());
    if (overwrites_) return {};
    if (opened) {
      previous_ = std::move(opened).value();
      return check_shards_are_there();
    }
    if (opened.status().code() == StatusCode::kNotFound) {
      // Beside the journal of an unfinished update, a lost manifest looks like a first build.
      if (!store::is_manifest_lost(env_, request_.cache)) return {};
      return {StatusCode::kCorrupt,
              join_path(request_.cache, "manifest.json") +
                  " is lost, but its index is there: 'xtts-precompute verify " +
                  shell_quoted(request_.cache) + " --repair' brings it back"};
    }
    if (opened.status().code() != StatusCode::kCorrupt) return opened.status();
    return {opened.status().code(), opened.status().message() + "; --overwrite is the last resort"};
  }

  // A shard that is lost or cut would end the build after its work, or go unseen where there is
  // none. What sizes do not tell, verify does.
  Status check_shards_are_there() {
    XTTS_ASSIGN(const auto lost, lost_shard(env_, request_.cache, previous_->manifest()));
    if (!lost) return {};
    return {StatusCode::kCorrupt, request_.cache + " is damaged: " + *lost +
                                      "; 'xtts-precompute verify " + shell_quoted(request_.cache) +
                                      " --repair --data " + shell_quoted(request_.data) +
                                      "' mends it"};
  }

  // Its sources may have other times than when it was built, and what the system refused may work
  // now: that is for the build that goes on from the merged cache.
  Result<BuildReport> check_published_part() {
    XTTS_TRY(check_same_clips(*previous_->manifest().partition, plan_.all_clips));
    return report_unchanged();
  }

  [[nodiscard]] bool has_published_numerics() const {
    return previous_ && previous_->manifest().numerics.hash() == numerics_.hash();
  }

  // Before hours are spent on what would not be published.
  Status check_known_losses() const {
    if (previous_) XTTS_TRY(check_gone(plan_, previous_->size(), request_.max_losses));
    return check_known_drops(plan_, request_.recipe, request_.max_losses);
  }

  Status check_numerics() {
    if (!previous_ || request_.allow_mixed) return {};
    return check_same_numerics(previous_->manifest().numerics, numerics_, plan_.to_compute.size());
  }

  void preview(std::uint64_t sealed_count) {
    preview_ = preview_of(env_, plan_, request_, previous_ ? previous_->size() : 0, sealed_count,
                          observer_.wants_estimate());
    observer_.before(preview_);
  }

  [[nodiscard]] std::uint64_t sealed_count(std::uint64_t shard_count) const {
    const auto columns = sound_columns(request_.recipe, numerics_);
    return std::min<std::uint64_t>(shard_count * clips_per_shard(columns), plan_.to_compute.size());
  }

  Result<BuildReport> compute_and_publish() {
    std::vector<formats::ColumnSpec> columns = sound_columns(request_.recipe, numerics_);
    for (formats::ColumnSpec& column : columns) {
      if (previous_) column = previous_->manifest().columns[column.id].spec;
    }
    std::vector<store::JournalShard> shards;
    XTTS_TRY(choose_generation());
    if (!plan_.to_compute.empty()) {
      XTTS_ASSIGN(shards, compute(columns));
    } else {
      preview(0);
    }
    if (observer_.cancelled()) return Status(StatusCode::kCancelled, "stopped as asked");
    std::vector<Reject> rejects = plan_.rejects;
    for (const auto& shard : shards)
      rejects.insert(rejects.end(), shard.rejects.begin(), shard.rejects.end());
    formats::sort_rejects(rejects);
    XTTS_TRY(check_rejects(rejects, request_.max_rejects,
                           plan_.clips.size() + plan_.corpus.problems.size(),
                           request_.partition ? std::nullopt : stored_count(shards)));
    return publish(columns, shards, rejects);
  }

  // Above every one that was published here, also by what --overwrite replaces. A part of a
  // partition is never updated, and merge joins parts of one generation: it stays 1.
  Status choose_generation() {
    if (request_.partition) return {};
    XTTS_ASSIGN(const auto generations, folder_->generations());
    generation_ = generations.newest + 1;
    return {};
  }

  Result<std::vector<store::JournalShard>> compute(std::vector<formats::ColumnSpec> columns) {
    XTTS_ASSIGN(
        auto journal,
        store::Journal::open(env_, *folder_,
                             {.plan = plan_.to_compute_digest,
                              .features_fingerprint = columns.front().fingerprint,
                              .storage_fingerprint = formats::fingerprint(request_.recipe.storage),
                              .numerics = numerics_.hash(),
                              .generation = generation_}));
    XTTS_TRY(keep_intact_prefix(journal));
    if (is_garbage_known_)
      XTTS_TRY(folder_->collect_garbage(published(), sealed_of(journal.shards)));
    preview(sealed_count(journal.shards.size()));
    // Plans its transforms while no other thread takes memory, and keeps the plans for all that
    // follow: FFTW ends the process where it finds none.
    XTTS_ASSIGN(const auto planner,
                ClipWorker::create(env_, request_.recipe, request_.isa, plan_.corpus,
                                   {.decoder_command = request_.run.decoder_command}));
    for (formats::ColumnSpec& column : columns) column.numerics = numerics_.hash();
    XTTS_ASSIGN(auto computed,
                compute_sound_columns(
                    {.env = env_,
                     .plan = plan_,
                     .previous = previous_.get(),
                     .recipe = request_.recipe,
                     .columns = columns,
                     .run = request_.run,
                     .isa = request_.isa,
                     .generation = generation_,
                     .first_ordinal = previous_ ? published()->columns.front().shards.size() : 0},
                    *folder_, journal, observer_));
    computed_count_ = plan_.to_compute.size() - preview_.renamed_count;
    times_ = computed.times;
    return std::move(computed.shards);
  }

  [[nodiscard]] const formats::Manifest* published() const {
    if (previous_) return &previous_->manifest();
    return overwritten_ ? &*overwritten_ : nullptr;
  }

  // Planned shards are sealed in order, so what follows a shard that is not as the journal says is
  // computed again.
  Status keep_intact_prefix(store::Journal::Opened& journal) {
    for (std::size_t i = 0; i < journal.shards.size(); ++i) {
      XTTS_ASSIGN(const bool intact, is_intact(journal.shards[i], i));
      if (intact) continue;
      journal.shards.resize(i);
      break;
    }
    // With --overwrite the published cache is not reused, but it stays until the new one is
    // published.
    if (overwrites_) {
      auto manifest = folder_->manifest();
      const StatusCode code = manifest.status().code();
      // What a manifest that cannot be read names is unknown: until the new one is published,
      // nothing is garbage.
      is_garbage_known_ = code != StatusCode::kCorrupt && code != StatusCode::kUnsupported;
      if (manifest) {
        overwritten_ = std::move(*manifest);
      } else if (is_garbage_known_) {
        return manifest.status();
      }
    }
    return {};
  }

  Result<bool> is_intact(const store::JournalShard& shard, std::uint64_t planned) const {
    const std::size_t count = request_.recipe.features.sound_columns().size();
    if (shard.planned_shard != planned) return false;
    if (!shard.sealed.empty() && shard.sealed.size() != count) return false;
    for (const store::SealedShard& sealed : shard.sealed) {
      XTTS_ASSIGN(const bool intact, folder_->is_intact(sealed));
      if (!intact) return false;
    }
    return true;
  }

  [[nodiscard]] std::optional<std::uint64_t> stored_count(
      const std::vector<store::JournalShard>& shards) const {
    std::uint64_t stored = 0;
    for (const auto& clip : plan_.clips) stored += clip.fate == ClipFate::kReuse ? 1U : 0U;
    for (const auto& shard : shards) stored += record_count(shard);
    return stored;
  }

  Result<BuildReport> publish(const std::vector<formats::ColumnSpec>& columns,
                              const std::vector<store::JournalShard>& shards,
                              const std::vector<Reject>& rejects) {
    const bool adds_records = std::any_of(shards.begin(), shards.end(),
                                          [](const auto& shard) { return !shard.sealed.empty(); });
    if (adds_records) plan_.texts_changed = true;
    if (previous_ && !plan_.texts_changed) {
      // The index of the same generation tells by its name whether anything differs at all.
      XTTS_ASSIGN(const IndexResult same,
                  index(columns, shards, rejects, previous_->manifest().generation));
      XTTS_ASSIGN(const std::string would_be, encode_manifest(same.manifest));
      XTTS_ASSIGN(const std::string is, encode_manifest(previous_->manifest()));
      if (would_be == is) {
        XTTS_TRY(save_sources(rejects, same.manifest.index_digest));
        return report_unchanged();
      }
    }
    XTTS_ASSIGN(IndexResult index_result, index(columns, shards, rejects, generation_));
    const formats::Manifest& manifest = index_result.manifest;
    XTTS_TRY(check_losses(manifest, shards, rejects));
    XTTS_ASSIGN(const Accounting accounting, account_for(plan_, rejects, previous_.get()));
    XTTS_TRY(folder_->publish(manifest, index_result.rejects_jsonl));
    XTTS_TRY(save_sources(rejects, manifest.index_digest));
    previous_.reset();  // gives up its lock on the generation that was replaced
    XTTS_TRY(folder_->collect_garbage(&manifest, {}));
    XTTS_TRY(folder_->finish());
    BuildReport report = report_of(manifest);
    report.rejects = rejects;
    report.accounting = accounting;
    report.drops = remedies_of(rejects, request_.recipe, accounting.found, manifest.counts.records);
    report.times = times_;
    for (const auto& reject : rejects)
      report.frames_needed = std::max(report.frames_needed, frames_wanted(reject));
    report.cut_count = index_result.cut_count;
    report.cut_text_count = index_result.cut_text_count;
    report.warned_count = index_result.warned_count;
    report.warnings = index_result.warnings.by_count();
    return report;
  }

  // The index is written by then, for it knows the hours; it goes again where nothing is published.
  Status check_losses(const formats::Manifest& manifest,
                      const std::vector<store::JournalShard>& shards,
                      const std::vector<Reject>& rejects) {
    const auto& counts = manifest.counts;
    Status verdict =
        check_dropped(rejects, request_.recipe, request_.max_losses, found_count(plan_),
                      counts.records, counts.seconds, LossKnown::kAfter);
    if (verdict.ok() || !is_garbage_known_) return verdict;
    XTTS_TRY(folder_->collect_garbage(published(), sealed_of(shards)));
    return verdict;
  }

  static std::vector<store::SealedShard> sealed_of(const std::vector<store::JournalShard>& shards) {
    std::vector<store::SealedShard> sealed;
    for (const auto& shard : shards)
      sealed.insert(sealed.end(), shard.sealed.begin(), shard.sealed.end());
    return sealed;
  }

  Result<IndexResult> index(const std::vector<formats::ColumnSpec>& columns,
                            const std::vector<store::JournalShard>& shards,
                            const std::vector<Reject>& rejects, std::uint64_t generation) {
    return build_index({.env = env_,
                        .plan = plan_,
                        .recipe = request_.recipe,
                        .numerics = numerics_,
                        .previous = previous_.get(),
                        .columns = columns,
                        .shards = shards,
                        .rejects = rejects,
                        .known_speakers = request_.known_speakers,
                        .generation = generation,
                        .amend_manifest = [this](auto& manifest) { name_part(manifest); }},
                       *folder_);
  }

  void name_part(formats::Manifest& manifest) const {
    if (!request_.partition) return;
    manifest.partition = formats::Partition{.index = request_.partition->index,
                                            .count = request_.partition->count,
                                            .plan = plan_.all_clips};
  }

  Status save_sources(const std::vector<Reject>& rejects, const Digest& index_digest) {
    std::unordered_map<std::string, std::uint64_t> checks;
    for (const auto& reject : rejects) {
      if (is_judged_by_sound(reject))
        checks.emplace(reject.id, check64(as_bytes(formats::encode_reject(reject))));
    }
    store::SourceTable table;
    table.data_path = plan_.data_path;
    table.audio_roots = plan_.audio_roots;
    table.plan_digest = plan_.digest;
    table.index_digest = index_digest;
    table.rows.reserve(plan_.corpus.clips.size());
    for (const auto& clip : plan_.corpus.clips) {
      const auto check = checks.find(full_id(clip));
      table.rows.push_back({.id_hash = formats::id_hash(clip.dataset, clip.id),
                            .size_bytes = clip.source_bytes,
                            .mtime_ns = clip.source_mtime_ns,
                            .inode = clip.source_inode,
                            .reject_check = check == checks.end() ? 0 : check->second});
    }
    return store::save_source_table(*folder_, std::move(table));
  }

  BuildReport report_of(const formats::Manifest& manifest) const {
    BuildReport report;
    report.generation = manifest.generation;
    report.clip_count = manifest.counts.planned;
    report.record_count = manifest.counts.records;
    report.computed_count = computed_count_;
    report.gone_count = plan_.gone_count;
    report.reused_count = static_cast<std::uint64_t>(
        std::count_if(plan_.clips.begin(), plan_.clips.end(),
                      [](const PlannedClip& clip) { return clip.fate == ClipFate::kReuse; }));
    report.sound_seconds = manifest.counts.seconds;
    report.records_by_split = manifest.counts.records_by_split;
    report.speaker_count = manifest.speakers.size();
    report.cache_bytes = reader::cache_bytes(manifest);
    return report;
  }

  Result<BuildReport> report_unchanged() {
    if (folder_) XTTS_TRY(tidy_published());
    BuildReport report = report_of(previous_->manifest());
    report.unchanged = true;
    report.reused_count = report.record_count;
    XTTS_ASSIGN(const std::string lines, previous_->rejects_jsonl());
    XTTS_ASSIGN(report.rejects, formats::decode_rejects(lines));
    return report;
  }

  // What a build that died between its manifest and its end, or was given up, left undone.
  Status tidy_published() {
    XTTS_ASSIGN(const std::string rejects, previous_->rejects_jsonl());
    const auto for_people =
        read_text_file(env_, store::rejects_path(request_.cache), rejects.size());
    if (!for_people || *for_people != rejects) XTTS_TRY(store::replace_rejects(*folder_, rejects));
    XTTS_TRY(folder_->collect_garbage(&previous_->manifest(), {}));
    return folder_->finish();
  }

  Env& env_;
  const BuildRequest& request_;
  BuildObserver& observer_;
  std::unique_ptr<store::CacheFolder> folder_;
  std::shared_ptr<reader::CacheView> previous_;
  std::optional<formats::Manifest> overwritten_;
  bool is_garbage_known_ = true;
  bool overwrites_ = false;
  std::optional<store::SourceTable> sources_;
  formats::Numerics numerics_;
  Plan plan_;
  BuildPreview preview_;  // as the observer was told it
  std::uint64_t generation_ = 1;
  std::uint64_t computed_count_ = 0;
  StageTimes times_;
};

}  // namespace

Result<BuildReport> build(Env& env, const BuildRequest& request, BuildObserver& observer) {
  // What may still throw is the system refusing memory or threads; that is no defect of ours.
  try {
    const auto of_sources =
        confined_to_data(env, request.data, request.corpora, request.audio_roots);
    const auto confined = confined_to(*of_sources, request.cache, Links::kNone);
    BuildRequest heard = request;
    heard.run.cancelled = [&observer] { return observer.cancelled(); };
    return Build(*confined, heard, observer).run();
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResource,
                  "out of memory: run the same command with a lower --memory, or fewer threads");
  } catch (const std::system_error& error) {
    return Status(StatusCode::kResource,
                  "no thread could be started, for want of memory or by a limit of the system (" +
                      std::string(error.what()) + "): run the same command with a lower -j");
  }
}

}  // namespace xtts::pipeline
