#include "verify/verify.hpp"

#include <algorithm>
#include <mutex>

#include "base/confined_env.hpp"
#include "base/current_exception.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/run_on_threads.hpp"
#include "base/shortage.hpp"
#include "base/try.hpp"
#include "pipeline/confined_data.hpp"
#include "reader/cache_paths.hpp"
#include "reader/open_generation.hpp"
#include "store/durable.hpp"
#include "store/generations.hpp"
#include "store/index_copy.hpp"
#include "store/source_table.hpp"
#include "verify/deep.hpp"
#include "verify/manifest_repair.hpp"
#include "verify/remedy.hpp"
#include "verify/repair.hpp"
#include "verify/shard_check.hpp"

namespace xtts::verify {
namespace {

// With this size, bytes copied out of the page cache are still in the core's second-level cache
// when they are hashed. Measured with tests/bench/verify_bench (512 KiB of L2): 256 KiB 67 ms, 512
// KiB 58, 1 MiB 63, 2 MiB 65, 8 MiB 78 for two mel shards. Larger records grow the buffer to their
// size.
constexpr std::size_t kPieceBytes = std::size_t{1} << 19U;

struct ShardTask {
  std::size_t column = 0;
  std::uint32_t ordinal = 0;
};

std::vector<ShardTask> all_shards(const formats::Manifest& manifest) {
  std::vector<ShardTask> tasks;
  for (std::size_t column = 0; column < manifest.columns.size(); ++column) {
    for (std::uint32_t i = 0; i < manifest.columns[column].shards.size(); ++i) {
      tasks.push_back({column, i});
    }
  }
  return tasks;
}

// A piece is no larger than the largest shard, so verifying a small cache takes a few pages of
// memory.
std::size_t piece_bytes(const formats::Manifest& manifest) {
  std::uint64_t largest = formats::kPageBytes;
  for (const formats::ColumnEntry& column : manifest.columns) {
    for (const formats::ShardEntry& shard : column.shards) {
      largest = std::max(largest, shard.file_bytes);
    }
  }
  return static_cast<std::size_t>(std::min<std::uint64_t>(largest, kPieceBytes));
}

std::uint64_t shard_bytes(const formats::Manifest& manifest) {
  std::uint64_t bytes = 0;
  for (const formats::ColumnEntry& column : manifest.columns) {
    for (const formats::ShardEntry& shard : column.shards) bytes += shard.file_bytes;
  }
  return bytes;
}

// Compares the manifest's sizes with the file system. Only full reads the shards' bytes.
void check_shard_size(Run& run, const formats::ColumnEntry& column, std::uint32_t ordinal) {
  const std::string name = reader::shard_name(column, ordinal);
  const std::uint64_t expected = column.shards[ordinal].file_bytes;
  Finding finding{.file = name,
                  .column = column.spec.name,
                  .expected = bytes(expected),
                  .remedy = column.spec.name == "tokens" ? RemedyKind::kRepair
                            : column.axis                ? RemedyKind::kAddColumn
                                                         : RemedyKind::kSources};
  const auto facts = run.env.stat(run.path_of(name));
  if (!facts.ok()) {
    const bool missing = facts.status().code() == StatusCode::kNotFound;
    finding.check = missing ? Check::kMissingFile : Check::kFile;
    finding.outcome = missing ? Outcome::kWrong : Outcome::kUnreadable;
    finding.found = missing ? no_such_file() : Evidence("status", facts.status().message());
    if (!missing) finding.remedy = RemedyKind::kLookAtDisk;
  } else if (facts->kind != FileKind::kRegular || facts->size_bytes != expected) {
    finding.check = Check::kFileSize;
    finding.offset_bytes = std::min(expected, facts->size_bytes);
    finding.found = facts->kind == FileKind::kRegular
                        ? bytes(facts->size_bytes)
                        : Evidence("no_regular_file", "no regular file");
  } else {
    return;
  }
  run.findings.add(std::move(finding));
}

// rejects.jsonl is a copy for people. A crash may leave an older one, and readers never use it.
void check_rejects(Run& run, reader::IndexReader& index) {
  const auto section = index.section_text(formats::SectionKind::kRejects);
  if (!section.ok()) return;  // told as a damaged chunk
  const std::string name(reader::kRejectsName);
  const auto text = read_text_file(run.env, run.path_of(name), section->size());
  if (text.ok() && *text == *section) return;
  if (text.status().code() == StatusCode::kNotFound && section->empty()) return;
  run.findings.add(
      {.weight = Weight::kNote,
       .file = name,
       .check = Check::kRejects,
       .expected = {"section_of_rejects",
                    "a copy of the index's section, " + counted(section->size(), "byte", "bytes"),
                    section->size()},
       .found = text.ok() ? Evidence("other_bytes", "other bytes")
                          : Evidence("status", text.status().message()),
       .remedy = RemedyKind::kRepair});
}

// The index keeps a copy of its manifest in case the manifest is lost.
void check_manifest_copy(Run& run, reader::IndexReader& index, const formats::Manifest& manifest) {
  const auto copy = index.section_text(formats::SectionKind::kManifest);
  if (!copy.ok() || copy->empty()) return;  // told as a damaged chunk; made before there was one
  const auto expected = formats::encode_manifest_copy(manifest);
  if (expected.ok() && *copy == *expected) return;
  run.findings.add({.file = index.file().name(),
                    .check = Check::kManifestCopy,
                    .expected = {"manifest_itself", "what manifest.json says"},
                    .found = {"other_text", "another text"},
                    .remedy = RemedyKind::kRepair});
}

// Checks every chunk of the index. Returns true if all are sound.
bool check_chunks(Run& run, const reader::IndexReader& index) {
  bool sound = true;
  const formats::IndexFooter& footer = index.footer();
  for (std::uint64_t chunk = 0; chunk < footer.chunk_count && !run.cancelled(); ++chunk) {
    const std::uint64_t offset = chunk * formats::kIndexChunkBytes;
    const Status status = index.file().check_chunk(chunk);
    if (!status.ok()) {
      sound = false;
      run.findings.add(failure(index.file().name(), offset, Check::kIndexChunk, status));
    }
    run.advance(std::min<std::uint64_t>(formats::kIndexChunkBytes, footer.data_bytes - offset));
  }
  run.advance(footer.file_bytes - footer.data_bytes);
  return sound;
}

// Takes shards one after the other until none is left. No exception may leave a thread.
class ShardWorkers {
 public:
  ShardWorkers(Run& run, reader::IndexReader& index, const formats::Manifest& manifest,
               const Plan& plan)
      : run_(run),
        index_(index),
        plan_(plan),
        tasks_(all_shards(manifest)),
        piece_bytes_(piece_bytes(manifest)) {}

  [[nodiscard]] Status check_all(std::uint32_t thread_count) {
    const std::size_t count =
        std::clamp<std::size_t>(thread_count, 1, std::max<std::size_t>(tasks_.size(), 1));
    run_on_threads(count, [this] { work(); });
    return failure_;
  }

 private:
  void work() noexcept {
    try {
      std::vector<std::byte> buffer(piece_bytes_);
      for (std::size_t i = next_++; i < tasks_.size() && !run_.cancelled(); i = next_++) {
        const ShardTask& task = tasks_[i];
        ShardCheck(run_, index_, plan_, plan_.columns[task.column], task.ordinal).run(buffer);
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      failure_ = status_of_current_exception();
    }
  }

  Run& run_;
  reader::IndexReader& index_;
  const Plan& plan_;
  const std::vector<ShardTask> tasks_;
  const std::size_t piece_bytes_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;  // guards failure_
  Status failure_;
};

// Where there is none, the next build makes it.
void check_index_copy(Run& run, const reader::IndexReader& index,
                      const formats::Manifest& manifest) {
  const std::string name(store::kIndexCopyName);
  if (!run.env.stat(run.path_of(name))) return;
  if (store::is_copy_of_another(run.env, run.cache, manifest)) return;  // a build replaces it
  const auto is_same =
      store::same_contents(run.env, run.path_of(index.file().name()), run.path_of(name));
  if (is_same && *is_same) return;
  run.findings.add(
      {.weight = Weight::kNote,
       .file = name,
       .check = Check::kIndexCopy,
       .expected = {"copy_of_index",
                    "a copy of the index, " + counted(manifest.index_bytes, "byte", "bytes"),
                    manifest.index_bytes},
       .found = is_same ? Evidence("other_bytes", "other bytes")
                        : Evidence("status", is_same.status().message()),
       .remedy = RemedyKind::kRepair});
}

Status check_everything(Run& run, reader::IndexReader& index, const formats::Manifest& manifest,
                        Report& report) {
  const bool sound = check_chunks(run, index);
  if (sound) check_index_copy(run, index, manifest);
  if (run.cancelled()) return {};
  const Plan plan = load_plan(run, index, manifest, sound);
  XTTS_TRY(ShardWorkers(run, index, manifest, plan).check_all(run.options.thread_count));
  if (run.options.level != Level::kDeep || !sound || run.cancelled()) return {};
  return recompute_and_compare(run, index, manifest, plan, report);
}

void check_sizes(Run& run, const formats::Manifest& manifest) {
  for (const ShardTask& task : all_shards(manifest)) {
    check_shard_size(run, manifest.columns[task.column], task.ordinal);
  }
}

// The manifest or the index is broken. Finds out which, and checks what is left.
Status check_broken_generation(Run& run, const Status& why) {
  const auto loaded = reader::load_manifest(run.env, run.cache);
  if (!loaded.ok()) {
    // With the journal of an unfinished update, a lost manifest looks as if there had been none.
    const bool is_lost = store::is_manifest_lost(run.env, run.cache);
    if (loaded.status().code() != StatusCode::kCorrupt && !is_lost) return loaded.status();
    run.findings.add(
        failure(std::string(reader::kManifestName), std::nullopt, Check::kManifest,
                is_lost ? Status(StatusCode::kCorrupt, "no such file") : loaded.status()));
    return {};
  }
  // Without the index the places of the blocks are unknown. We can only compare sizes.
  run.findings.add(failure(formats::index_file_name(loaded->manifest.index_digest), std::nullopt,
                           Check::kIndex, why));
  check_sizes(run, loaded->manifest);
  return {};
}

Status check_cache(Run& run, Report& report) {
  const auto generation = reader::open_generation(run.env, run.cache);
  if (generation.status().code() == StatusCode::kUnsupported) return generation.status();
  if (!generation.ok()) return check_broken_generation(run, generation.status());
  const formats::Manifest& manifest = generation->loaded.manifest;
  reader::IndexReader& index = *generation->index;
  run.bytes_total = generation->loaded.text.size() + manifest.index_bytes + shard_bytes(manifest);
  run.advance(generation->loaded.text.size());
  for (const formats::ColumnEntry& column : manifest.columns) {
    report.shard_count += column.shards.size();
  }
  report.clip_count = manifest.counts.records;
  report.has_sources = store::load_source_table(run.env, run.cache).has_value();
  check_counts(run, index, manifest);
  check_rejects(run, index);
  check_manifest_copy(run, index, manifest);
  if (run.options.level != Level::kQuick) return check_everything(run, index, manifest, report);
  check_sizes(run, manifest);
  report.record_count = 0;
  for (const ShardTask& task : all_shards(manifest))
    report.record_count += manifest.columns[task.column].shards[task.ordinal].record_count;
  return {};
}

// A file is not damaged, and must not be mended, if the system could not open it for want of
// descriptors or memory.
Status check_cache_in_plenty(Run& run, Report& report) {
  const std::uint64_t shortages = shortage_count();
  XTTS_TRY(check_cache(run, report));
  if (shortage_count() == shortages || run.findings.is_empty()) return {};
  return {StatusCode::kResource,
          formatted("the system ran short of open files or memory while it read {}: raise the "
                    "limits (ulimit -n, ulimit -v) or take fewer threads",
                    run.cache)};
}

Status check_options(const Options& options) {
  if (options.level == Level::kDeep && options.sources.data.path.empty())
    return {StatusCode::kInvalidArgument, "say where the sources are: " + option("data", "DATA")};
  if (options.repair && options.level == Level::kQuick) {
    return {StatusCode::kInvalidArgument,
            formatted("repair needs every byte looked at: {} full or deep", option("level"))};
  }
  if (!options.index.empty() && !options.repair)
    return {StatusCode::kInvalidArgument,
            formatted("{} is for {}", option("index"), option("repair"))};
  return {};
}

}  // namespace

Result<Report> verify_cache(Env& whole_env, const std::string& cache, const Options& options) {
  XTTS_TRY(check_options(options));
  const auto of_sources =
      options.sources.data.path.empty()
          ? confined_to(whole_env, cache, Links::kNone)
          : pipeline::confined_to_data(whole_env, options.sources.data, options.sources.corpora);
  const auto confined = confined_to(*of_sources, cache, Links::kNone);
  Env& env = *confined;
  const auto begin = env.now();
  Report report;
  report.level = options.level;
  auto run = std::make_unique<Run>(env, cache, options);
  if (options.repair) {
    XTTS_ASSIGN(const auto repaired_manifest, repair_manifest(*run));
    if (repaired_manifest) report.repaired.push_back(*repaired_manifest);
  }
  XTTS_TRY(check_cache_in_plenty(*run, report));
  if (options.repair && !run->cancelled()) {
    XTTS_ASSIGN(const auto repaired_index, repair_index(*run));
    if (repaired_index) {
      report.shard_count = 0;
      report.repaired.push_back(*repaired_index);
      run = std::make_unique<Run>(env, cache, options);
      XTTS_TRY(check_cache_in_plenty(*run, report));
    }
  }
  if (run->cancelled()) return Status(StatusCode::kCancelled, "verify was stopped");
  if (options.level != Level::kQuick) report.record_count = run->record_count;
  if (options.repair) XTTS_TRY(repair(*run, report));
  report.bytes_checked = run->bytes_done;
  report.seconds = std::chrono::duration<double>(env.now() - begin).count();
  run->findings.move_into(report);
  report.remedy = remedy_of(*run, report);
  return report;
}

}  // namespace xtts::verify
