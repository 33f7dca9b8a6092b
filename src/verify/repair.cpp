#include "verify/repair.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "base/try.hpp"
#include "reader/cache_paths.hpp"
#include "reader/open_generation.hpp"
#include "store/cache_folder.hpp"
#include "verify/index_repair.hpp"
#include "verify/shard_check.hpp"
#include "verify/shard_repair.hpp"

namespace xtts::verify {
namespace {

constexpr const char* kBuildRemedy =
    "xtts-precompute build DATA CACHE brings changed clips up to date; with --overwrite it makes "
    "the cache anew";
constexpr const char* kOverwriteRemedy =
    "restore the file from a copy, or make the cache anew: xtts-precompute build DATA CACHE "
    "--overwrite";

struct ShardPlace {
  std::size_t column = 0;
  std::uint32_t ordinal = 0;
};

void tell(Run& run, const std::string& file, const Obstacle& obstacle, const char* remedy,
          const std::string& column = {}) {
  run.findings.add({.file = file,
                    .clip = obstacle.clip,
                    .column = column,
                    .what = "not mended, " + obstacle.what,
                    .found = obstacle.why,
                    .remedy = remedy,
                    .is_of_checks = false});
}

// Every byte of it is what its checks say.
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
  Status mend_all(store::CacheFolder& folder) {
    auto generation = reader::open_generation(run_.env, run_.cache);
    if (!generation) return give_up(generation.status());
    generation_ = std::move(*generation);
    XTTS_TRY(manifest().allows_changes());
    std::set<std::string> files = run_.findings.files_to_mend();
    if (files.contains(index().file().name())) return {};  // mend_index has told why
    XTTS_TRY(load_plan_again());
    if (files.erase(std::string(reader::kRejectsName)) > 0) XTTS_TRY(mend_rejects(folder));
    XTTS_TRY(mend_shards(folder, shards_of(files)));
    if (run_.findings.files_to_mend().empty()) report_.record_count = all_records();
    return {};
  }

 private:
  [[nodiscard]] const formats::Manifest& manifest() const { return generation_.loaded.manifest; }
  [[nodiscard]] reader::IndexReader& index() const { return *generation_.index; }

  Status give_up(const Status& status) {
    if (status.code() != StatusCode::kCorrupt) return status;
    if (reader::load_manifest(run_.env, run_.cache)) return {};  // mend_index has told why
    not_mended(
        std::string(reader::kManifestName),
        {.clip = "", .what = "manifest", .why = "no index that can be read keeps a copy of it"},
        kOverwriteRemedy);
    return {};
  }

  // The checks before have told its contradictions, unless somebody has published since.
  Status load_plan_again() {
    Run silent(run_.env, run_.cache, run_.options);
    plan_ = load_plan(silent, index(), manifest(), true);
    if (!silent.findings.files_to_mend().empty())
      return {StatusCode::kMismatch, "the cache has changed meanwhile: verify it again"};
    XTTS_ASSIGN(texts_, Recomputer::create(run_.env, manifest(), index(),
                                           {.isa = run_.options.sources.isa}, 1));
    return {};
  }

  // What the checks have looked at, once nothing is damaged any more.
  [[nodiscard]] std::uint64_t all_records() const {
    std::uint64_t count = 0;
    for (const formats::ColumnEntry& column : manifest().columns)
      for (const formats::ShardEntry& shard : column.shards) count += shard.record_count;
    return count;
  }

  // Files that the manifest does not name (any more) are nobody's.
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

  Status mend_rejects(store::CacheFolder& folder) {
    XTTS_ASSIGN(const std::string lines, index().section_text(formats::SectionKind::kRejects));
    XTTS_TRY(store::replace_rejects(folder, lines));
    const std::string name(reader::kRejectsName);
    run_.findings.forget(name);
    report_.repaired.push_back({.file = name, .what = "rewritten from the index"});
    return {};
  }

  Status mend_shards(store::CacheFolder& folder, const std::map<std::string, ShardPlace>& shards) {
    std::uint64_t done = 0;
    for (const auto& [name, place] : shards) {
      if (run_.options.repair_progress) run_.options.repair_progress(done++, shards.size());
      XTTS_TRY(mend_shard(folder, name, place));
    }
    return {};
  }

  Status mend_shard(store::CacheFolder& folder, const std::string& name, const ShardPlace& place) {
    if (run_.cancelled()) return {StatusCode::kCancelled, "repair was stopped"};
    const ColumnPlan& column = plan_.columns[place.column];
    const ShardRepairJob job{.env = run_.env,
                             .cache = run_.cache,
                             .manifest = manifest(),
                             .index = index(),
                             .plan = plan_,
                             .column = column,
                             .ordinal = place.ordinal,
                             .thread_count = std::max(run_.options.thread_count, 1U),
                             .texts = *texts_,
                             .sounds = [this] { return sounds(); },
                             .cancelled = run_.options.cancelled};
    XTTS_ASSIGN(const RemadeShard made, remake_shard(job));
    for (const Obstacle& obstacle : made.obstacles)
      not_mended(name, obstacle, obstacle.remedy != nullptr ? obstacle.remedy : kBuildRemedy,
                 column.entry->spec.name);
    if (!made.image) return {};
    XTTS_ASSIGN(const bool is_sound, holds(name, made.finished.bytes));
    if (is_sound) {
      not_mended(
          name,
          {.clip = "", .what = "shard", .why = "its bytes are sound: the index contradicts them"},
          kOverwriteRemedy, column.entry->spec.name);
      return {};
    }
    const auto seal = folder.seal(column.entry->spec.name, place.ordinal, made.finished);
    if (!seal) return seal.status();
    run_.findings.forget(name);
    report_.repaired.push_back({.file = name,
                                .what = "made again, byte for byte",
                                .recomputed_count = made.recomputed_count});
    look_again(place);
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

  // The sources are looked for once, when the first record needs them.
  Result<Recomputer*> sounds() {
    if (sounds_) return sounds_.get();
    Sources sources = run_.options.sources;
    if (sources.data.empty()) {
      return Status(StatusCode::kInvalidArgument,
                    "its source is needed: say where the sources are: --data DATA");
    }
    sources.scratch_folder = store::build_folder(run_.cache);
    XTTS_ASSIGN(auto made, Recomputer::create(run_.env, manifest(), index(), sources,
                                              run_.options.thread_count));
    XTTS_TRY(made->expect_all());
    sounds_ = std::move(made);
    return sounds_.get();
  }

  void not_mended(const std::string& file, const Obstacle& obstacle, const char* remedy,
                  const std::string& column = {}) {
    tell(run_, file, obstacle, remedy, column);
  }

  Run& run_;
  Report& report_;
  reader::Generation generation_;
  Plan plan_;
  std::unique_ptr<Recomputer> texts_;
  std::unique_ptr<Recomputer> sounds_;
};

// .build/ goes again, unless it holds the journal of a build to go on with.
Status leave(Env& env, store::CacheFolder& folder) {
  const auto journal = env.stat(join_path(store::build_folder(folder.path()), "journal"));
  return journal.status().code() == StatusCode::kNotFound ? folder.finish() : Status();
}

// A repair that died between a rename and the sync of its folder has left files that look whole,
// and a power cut would bring the damaged ones back. Its .build/ tells.
Status make_names_durable(Run& run) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  if (!loaded) return {};  // then nothing was mended
  for (const formats::ColumnEntry& column : loaded->manifest.columns)
    XTTS_TRY(run.env.sync_directory(store::column_folder(run.cache, column.spec.name)));
  return run.env.sync_directory(run.cache);
}

}  // namespace

Status mend(Run& run, Report& report) {
  const bool is_damaged = !run.findings.files_to_mend().empty();
  if (!is_damaged && !run.env.stat(store::build_folder(run.cache))) return {};
  auto folder = store::CacheFolder::open(run.env, run.cache, run.notices());
  if (!is_damaged && folder.status().code() == StatusCode::kBusy) return {};
  if (!folder) return folder.status();
  if (is_damaged) XTTS_TRY(Repair(run, report).mend_all(**folder));
  XTTS_TRY(make_names_durable(run));
  // After a failure .build/ stays, for the next repair to see.
  return leave(run.env, **folder);
}

Result<std::optional<Mended>> mend_index(Run& run) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  if (!loaded) return std::optional<Mended>();  // told as what it is: a lost manifest
  const std::string name = formats::index_file_name(loaded->manifest.index_digest);
  if (!run.findings.files_to_mend().contains(name)) return std::optional<Mended>();
  XTTS_TRY(loaded->manifest.allows_changes());
  if (is_sound_index(run.env, run.cache)) {
    tell(run, name,
         {.clip = "",
          .what = "index",
          .why = "its bytes are sound: it contradicts the manifest or itself"},
         kOverwriteRemedy);
    return std::optional<Mended>();
  }
  XTTS_ASSIGN(const auto folder, store::CacheFolder::open(run.env, run.cache, run.notices()));
  const auto why_not =
      remake_index(run.env, run.cache, loaded->manifest, *folder, run.options.cancelled);
  if (!why_not) return why_not.status();  // .build/ stays, for the next repair to see
  XTTS_TRY(leave(run.env, *folder));
  if (!*why_not)
    return std::optional(Mended{.file = name, .what = "made again from the shards, byte for byte"});
  tell(run, name, {.clip = "", .what = "index", .why = **why_not}, kOverwriteRemedy);
  return std::optional<Mended>();
}

}  // namespace xtts::verify
