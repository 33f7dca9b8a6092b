#include "verify/repair.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/published_clip.hpp"
#include "reader/cache_paths.hpp"
#include "reader/open_generation.hpp"
#include "store/cache_folder.hpp"
#include "store/durable.hpp"
#include "store/generations.hpp"
#include "store/index_copy.hpp"
#include "verify/index_repair.hpp"
#include "verify/left_out.hpp"
#include "verify/renewal.hpp"
#include "verify/shard_check.hpp"
#include "verify/shard_repair.hpp"

namespace xtts::verify {
namespace {

void report_obstacle(Run& run, const std::string& file, const Obstacle& obstacle, RemedyKind remedy,
                     const std::string& column = {}) {
  run.findings.add({.file = file,
                    .clip = obstacle.clip,
                    .column = column,
                    .check = obstacle.check,
                    .outcome = Outcome::kNotRepaired,
                    .expected = obstacle.expected,
                    .found = obstacle.why,
                    .remedy = remedy,
                    .is_of_checks = false});
}

// True if every byte of the index matches its checks.
bool is_sound_index(Env& env, const std::string& cache) {
  const auto generation = reader::open_generation(env, cache);
  if (!generation) return false;
  const reader::ChunkedFile& file = generation->index->file();
  for (std::uint64_t chunk = 0; chunk < file.footer().chunk_count; ++chunk)
    if (!file.check_chunk(chunk).ok()) return false;
  return true;
}

class Repair {
 public:
  Repair(Run& run, Report& report) : run_(run), report_(report) {}

  // Under the builder's lock.
  Status repair_all(store::CacheFolder& folder) {
    auto generation = reader::open_generation(run_.env, run_.cache);
    if (!generation) return give_up(generation.status());
    generation_ = std::move(*generation);
    XTTS_TRY(manifest().allows_changes());
    std::set<std::string> files = run_.findings.files_to_repair();
    if (files.contains(index().file().name())) return {};  // repair_index has told why
    XTTS_TRY(load_plan_again());
    if (files.erase(std::string(reader::kRejectsName)) > 0) XTTS_TRY(repair_rejects(folder));
    if (files.erase(std::string(store::kIndexCopyName)) > 0) XTTS_TRY(repair_index_copy(folder));
    XTTS_TRY(repair_and_renew(folder, files));
    note_lost_clips();
    if (may_leave_out()) {
      XTTS_TRY(leave_out(folder));
      XTTS_TRY(repair_and_renew(folder, run_.findings.files_to_repair()));
      note_lost_clips();
    }
    for (const ReportedObstacle& left : obstacles_)
      report_unrepaired(left.file, left.obstacle, left.obstacle.remedy, left.column);
    if (run_.findings.files_to_repair().empty()) report_.record_count = all_records();
    return {};
  }

 private:
  // Obstacles are reported at the end, because some are overcome until then.
  struct ReportedObstacle {
    std::string file;
    std::string column;
    Obstacle obstacle;
  };

  [[nodiscard]] const formats::Manifest& manifest() const { return generation_.loaded.manifest; }
  [[nodiscard]] reader::IndexReader& index() const { return *generation_.index; }

  Status give_up(const Status& status) {
    if (run_.is_manifest_told) return {};
    if (status.code() != StatusCode::kCorrupt) return status;
    if (reader::load_manifest(run_.env, run_.cache)) return {};  // repair_index has told why
    report_unrepaired(
        std::string(reader::kManifestName),
        {.clip = "",
         .check = Check::kManifest,
         .why = {"no_copy_of_manifest", "no index that can be read keeps a copy of it"}},
        RemedyKind::kOverwrite);
    return {};
  }

  // The checks before have reported the plan's contradictions, unless another build has published
  // since.
  Status load_plan_again() {
    Run silent(run_.env, run_.cache, run_.options);
    plan_ = load_plan(silent, index(), manifest(), true);
    if (!silent.findings.files_to_repair().empty())
      return {StatusCode::kMismatch, "the cache has changed meanwhile: verify it again"};
    XTTS_ASSIGN(texts_, Recomputer::create(run_.env, manifest(), index(), {}, 1));
    return {};
  }

  // Counts the records that the checks look at once nothing is damaged any more.
  [[nodiscard]] std::uint64_t all_records() const {
    std::uint64_t count = 0;
    for (const formats::ColumnEntry& column : manifest().columns)
      for (const formats::ShardEntry& shard : column.shards) count += shard.record_count;
    return count;
  }

  // Leaves out files that the manifest does not name (any more).
  [[nodiscard]] std::map<std::string, ShardPlace> shards_of(
      const std::set<std::string>& files) const {
    std::map<std::string, ShardPlace> shards;
    for (std::size_t column = 0; column < manifest().columns.size(); ++column) {
      for (std::uint32_t i = 0; i < manifest().columns[column].shards.size(); ++i) {
        const std::string name = reader::shard_name(manifest().columns[column], i);
        if (files.contains(name)) shards.emplace(name, ShardPlace{column, i});
      }
    }
    return shards;
  }

  Status repair_rejects(store::CacheFolder& folder) {
    XTTS_ASSIGN(const std::string lines, index().section_text(formats::SectionKind::kRejects));
    XTTS_TRY(store::replace_rejects(folder, lines));
    const std::string name(reader::kRejectsName);
    run_.findings.forget(name);
    report_.repaired.push_back(
        {.file = name, .done = {"rejects_rewritten", "rewritten from the index"}});
    return {};
  }

  Status repair_index_copy(store::CacheFolder& folder) {
    const std::string name(store::kIndexCopyName);
    XTTS_TRY(store::remove_if_there(run_.env, run_.path_of(name)));
    XTTS_TRY(store::save_index_copy(run_.env, folder, manifest()));
    run_.findings.forget(name);
    report_.repaired.push_back(
        {.file = name, .done = {"rejects_rewritten", "rewritten from the index"}});
    return {};
  }

  Status repair_and_renew(store::CacheFolder& folder, const std::set<std::string>& files) {
    obstacles_.clear();
    to_renew_.clear();
    XTTS_TRY(repair_shards(folder, shards_of(files)));
    return to_renew_.empty() ? Status() : renew(folder);
  }

  // A build, if it can begin, accepts changed sources and drops clips that are gone.
  [[nodiscard]] bool is_build_refused() const {
    if (manifest().features.contains("baked")) return true;
    const auto lost = pipeline::lost_shard(run_.env, run_.cache, manifest());
    return !lost || lost->has_value();
  }

  void note_lost_clips() {
    const bool is_part = manifest().partition.has_value();
    const bool is_refused = is_build_refused();
    lost_clips_.clear();
    for (ReportedObstacle& left : obstacles_) {
      RemedyKind& remedy = left.obstacle.remedy;
      if (remedy == RemedyKind::kBuild && is_refused) remedy = RemedyKind::kLeaveOut;
      // merge joins parts of one plan, and no part may lack a clip.
      if (remedy == RemedyKind::kLeaveOut && is_part) remedy = RemedyKind::kOverwrite;
      if (remedy != RemedyKind::kLeaveOut || !left.obstacle.position) continue;
      lost_clips_.emplace(*left.obstacle.position, left.obstacle);
    }
    run_.lost_clip_count = lost_clips_.size();
    run_.clip_count = index().clip_count();
  }

  [[nodiscard]] bool may_leave_out() const {
    const double share =
        static_cast<double>(lost_clips_.size()) / static_cast<double>(index().clip_count());
    return !lost_clips_.empty() && lost_clips_.size() < index().clip_count() &&
           share <= run_.options.max_gone + pipeline::kShareTolerance;
  }

  Status leave_out(store::CacheFolder& folder) {
    std::set<std::uint64_t> positions;
    for (const auto& [position, obstacle] : lost_clips_) positions.insert(position);
    close_generation();
    XTTS_ASSIGN(const auto published, publish_without(run_, folder, positions));
    XTTS_TRY(open_published(folder, published));
    for (const auto& [position, obstacle] : lost_clips_) {
      report_.repaired.push_back(
          {.file = formats::index_file_name(published.index_digest),
           .done = {"clip_left_out",
                    formatted("generation {} is without {}", published.generation, obstacle.clip),
                    published.generation},
           .why = obstacle.why});
    }
    forget_replaced_files(published.generation);
    return {};
  }

  // The tokens are now in other files.
  void forget_replaced_files(std::uint64_t generation) {
    const std::set<std::string> files = run_.findings.files_to_repair();
    const auto shards = shards_of(files);
    for (const std::string& file : files) {
      if (shards.contains(file) || !store::is_shard_name(file_name(file))) continue;
      run_.findings.forget(file);
      report_.repaired.push_back(
          {.file = file,
           .done = {"replaced_by", formatted("replaced by files of generation {}", generation),
                    generation}});
    }
  }

  // Releases the lock on the generation that will be replaced.
  void close_generation() {
    texts_.reset();
    sounds_.reset();
    generation_ = {};
  }

  Status open_published(store::CacheFolder& folder, const formats::Manifest& published) {
    // An unfinished build collects its own garbage.
    if (!store::unfinished_generation(run_.env, run_.cache))
      XTTS_TRY(folder.collect_garbage(&published, {}));
    XTTS_ASSIGN(generation_, reader::open_generation(run_.env, run_.cache));
    XTTS_TRY(load_plan_again());
    report_.clip_count = manifest().counts.records;
    report_.shard_count = 0;
    for (const auto& column : manifest().columns) report_.shard_count += column.shards.size();
    return {};
  }

  Status repair_shards(store::CacheFolder& folder,
                       const std::map<std::string, ShardPlace>& shards) {
    std::uint64_t done = 0;
    for (const auto& [name, place] : shards) {
      if (run_.options.repair_progress) run_.options.repair_progress(done++, shards.size());
      XTTS_TRY(repair_shard(folder, name, place));
    }
    return {};
  }

  Status repair_shard(store::CacheFolder& folder, const std::string& name,
                      const ShardPlace& place) {
    if (run_.cancelled()) return {StatusCode::kCancelled, "repair was stopped"};
    const ColumnPlan& column = plan_.columns[place.column];
    const ShardRepairJob job = repair_job(place);
    XTTS_ASSIGN(const RemadeShard made, remake_shard(job));
    for (const Obstacle& obstacle : made.obstacles)
      obstacles_.push_back({name, column.entry->spec.name, obstacle});
    if (made.needs_renewal) to_renew_.push_back(place);
    if (!made.image) return {};
    XTTS_ASSIGN(const bool is_sound, holds(name, made.finished.bytes));
    if (is_sound) {
      report_unrepaired(
          name,
          {.clip = "",
           .check = Check::kShard,
           .why = {"index_contradicts", "its bytes are sound: the index contradicts them"}},
          RemedyKind::kOverwrite, column.entry->spec.name);
      return {};
    }
    const auto seal = folder.seal(column.entry->spec.name, place.ordinal, made.finished);
    if (!seal) return seal.status();
    run_.findings.forget(name);
    report_.repaired.push_back({.file = name,
                                .done = {"shard_remade", "made again, byte for byte"},
                                .recomputed_count = made.recomputed_count});
    look_again(place);
    return {};
  }

  [[nodiscard]] ShardRepairJob repair_job(const ShardPlace& place) {
    return {.env = run_.env,
            .cache = run_.cache,
            .manifest = manifest(),
            .index = index(),
            .plan = plan_,
            .column = plan_.columns[place.column],
            .ordinal = place.ordinal,
            .thread_count = std::max(run_.options.thread_count, 1U),
            .texts = *texts_,
            .sounds = [this] { return sounds(); },
            .cancelled = run_.options.cancelled};
  }

  // Renews, in a new generation, shards that cannot be made again to the byte.
  Status renew(store::CacheFolder& folder) {
    XTTS_ASSIGN(const Renewal renewal,
                renew_shards({.run = run_,
                              .manifest = manifest(),
                              .index = index(),
                              .plan = plan_,
                              .folder = folder,
                              .repair_job = [this](const auto& place) { return repair_job(place); },
                              .report_obstacle =
                                  [this](const auto& place, const auto& obstacle) {
                                    const auto& column = manifest().columns[place.column];
                                    obstacles_.push_back({reader::shard_name(column, place.ordinal),
                                                          column.spec.name, obstacle});
                                  }},
                             to_renew_));
    if (renewal.generation == 0) return {};
    close_generation();
    XTTS_TRY(open_published(folder, renewal.manifest));
    for (const RenewedShard& shard : renewal.shards) {
      run_.findings.forget(shard.name_before);
      if (shard.live_count == 0) {
        report_.repaired.push_back(
            {.file = shard.name_before,
             .done = {"shard_left_out",
                      formatted("left out of generation {}: no clip names its records any more",
                                renewal.generation),
                      renewal.generation}});
        continue;
      }
      const auto& column = manifest().columns[shard.after.column];
      report_.repaired.push_back(
          {.file = reader::shard_name(column, shard.after.ordinal),
           .done = {"live_records_kept",
                    formatted("made of the {} that clips name, in generation {}",
                              counted(shard.live_count, "record", "records"), renewal.generation),
                    shard.live_count, renewal.generation},
           .recomputed_count = shard.recomputed_count});
      look_again(shard.after);
    }
    return {};
  }

  void look_again(const ShardPlace& place) {
    run_.bytes_total += manifest().columns[place.column].shards[place.ordinal].file_bytes;
    std::vector<std::byte> buffer(formats::kPageBytes);
    ShardCheck(run_, index(), plan_, plan_.columns[place.column], place.ordinal).run(buffer);
  }

  [[nodiscard]] Result<bool> holds(const std::string& name,
                                   std::span<const std::byte> bytes) const {
    const auto file = run_.env.open_for_read(run_.path_of(name));
    if (!file || (*file)->size_bytes() != bytes.size()) return false;
    std::vector<std::byte> buffer(std::size_t{1} << 20U);
    for (std::size_t done = 0; done < bytes.size();) {
      const auto got = (*file)->read_at(done, buffer);
      if (!got || *got == 0) return false;
      const auto wanted = bytes.subspan(done, std::min(*got, bytes.size() - done));
      if (!std::ranges::equal(wanted, std::span(buffer).first(wanted.size()))) return false;
      done += wanted.size();
    }
    return true;
  }

  // We look for the sources once, when the first record needs them.
  Result<Recomputer*> sounds() {
    if (sounds_) return sounds_.get();
    if (!sources_failure_.ok()) return sources_failure_;
    Sources sources = run_.options.sources;
    if (sources.data.path.empty()) return nullptr;
    sources.scratch_folder = store::build_folder(run_.cache);
    auto made = Recomputer::create(run_.env, manifest(), index(), sources,
                                   run_.options.thread_count, run_.options.cancelled);
    sources_failure_ = made.status();
    if (!made) return sources_failure_;
    sounds_ = std::move(*made);
    sounds_->expect_all();
    return sounds_.get();
  }

  void report_unrepaired(const std::string& file, const Obstacle& obstacle, RemedyKind remedy,
                         const std::string& column = {}) {
    report_obstacle(run_, file, obstacle, remedy, column);
  }

  Run& run_;
  Report& report_;
  reader::Generation generation_;
  Plan plan_;
  std::unique_ptr<Recomputer> texts_;
  std::unique_ptr<Recomputer> sounds_;
  Status sources_failure_;
  std::vector<ShardPlace> to_renew_;
  std::vector<ReportedObstacle> obstacles_;
  std::map<std::uint64_t, Obstacle> lost_clips_;  // by position
};

// Removes .build/, unless it holds the journal of a build to continue.
Status leave(Env& env, store::CacheFolder& folder) {
  const auto journal = env.stat(join_path(store::build_folder(folder.path()), "journal"));
  return journal.status().code() == StatusCode::kNotFound ? folder.finish() : Status();
}

// A repaired cache has a copy of its index, too.
Status keep_index_copy(const Run& run, store::CacheFolder& folder) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  if (!loaded || !is_sound_index(run.env, run.cache)) return {};
  return store::save_index_copy(run.env, folder, loaded->manifest);
}

// A repair that died between a rename and the sync of its folder has left files that look whole. A
// power cut would bring the damaged ones back. Its .build/ shows this case.
Status make_names_durable(Run& run) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  if (!loaded) return {};  // then no file was mended
  for (const formats::ColumnEntry& column : loaded->manifest.columns)
    XTTS_TRY(run.env.sync_directory(store::column_folder(run.cache, column.spec.name)));
  return run.env.sync_directory(run.cache);
}

}  // namespace

Status repair(Run& run, Report& report) {
  const bool is_damaged = !run.findings.files_to_repair().empty();
  if (!is_damaged && !run.env.stat(store::build_folder(run.cache))) return {};
  auto folder = store::CacheFolder::open(run.env, run.cache, run.lease_callbacks());
  if (!is_damaged && folder.status().code() == StatusCode::kBusy) return {};
  if (!folder) return folder.status();
  if (is_damaged) XTTS_TRY(Repair(run, report).repair_all(**folder));
  XTTS_TRY(keep_index_copy(run, **folder));
  XTTS_TRY(make_names_durable(run));
  // After a failure .build/ stays, so that the next repair sees it.
  return leave(run.env, **folder);
}

Result<std::optional<RepairedFile>> repair_index(Run& run) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  if (!loaded) return std::optional<RepairedFile>();  // told as what it is: a lost manifest
  const std::string name = formats::index_file_name(loaded->manifest.index_digest);
  if (!run.findings.files_to_repair().contains(name)) return std::optional<RepairedFile>();
  XTTS_TRY(loaded->manifest.allows_changes());
  if (is_sound_index(run.env, run.cache)) {
    report_obstacle(run, name,
                    {.clip = "",
                     .check = Check::kIndex,
                     .why = {"contradicts_manifest",
                             "its bytes are sound: it contradicts the manifest or itself"}},
                    RemedyKind::kOverwrite);
    return std::optional<RepairedFile>();
  }
  XTTS_ASSIGN(const auto folder,
              store::CacheFolder::open(run.env, run.cache, run.lease_callbacks()));
  // After a failure .build/ stays, for the next repair to see.
  XTTS_ASSIGN(const bool is_back, restore_index(run.env, run.cache, loaded->manifest, *folder));
  XTTS_TRY(leave(run.env, *folder));
  if (is_back)
    return std::optional(
        RepairedFile{.file = name, .done = {"index_restored", "copied from copy-of-index.bin"}});
  report_obstacle(run, name,
                  {.clip = "",
                   .check = Check::kIndex,
                   .why = {"no_copy_of_index", "copy-of-index.bin is lost or damaged, too"}},
                  RemedyKind::kOverwrite);
  return std::optional<RepairedFile>();
}

}  // namespace xtts::verify
