#include "maintain/rewrite.hpp"

#include <algorithm>

#include "base/try.hpp"
#include "formats/enum_names.hpp"
#include "formats/manifest_recipe.hpp"
#include "maintain/copy_records.hpp"
#include "maintain/one_numerics.hpp"
#include "maintain/published_clips.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/index_build.hpp"
#include "store/source_table.hpp"
#include "verify/verify.hpp"

namespace xtts::maintain {
namespace {

using formats::Manifest;

std::uint64_t bytes_of(const Manifest& manifest) {
  std::uint64_t bytes = manifest.index_bytes;
  for (const auto& column : manifest.columns) {
    for (const auto& shard : column.shards) bytes += shard.file_bytes;
  }
  return bytes;
}

// The payload alone: headers, facts and index are some per cent of it.
std::uint64_t payload_bytes(const Manifest& manifest, const formats::ColumnSpec& column) {
  if (column.layout == formats::Layout::kPadded)
    return manifest.counts.records * column.record_bytes();
  return manifest.counts.frames * column.row_bytes();
}

class Rewriter {
 public:
  Rewriter(Env& env, std::shared_ptr<reader::CacheView> from, store::CacheFolder& to,
           const RewriteRun& run, bool keep_statistics)
      : env_(env), from_(std::move(from)), to_(to), run_(run), keep_statistics_(keep_statistics) {}

  // Publishes, verifies, and tidies up.
  Result<RewriteReport> write(const formats::StorageConfig& storage) {
    const Manifest before = from_->manifest();
    XTTS_TRY(before.allows_changes());
    XTTS_TRY(check_one_numerics(env_, *from_));
    XTTS_ASSIGN(recipe_, formats::recipe_of(before));
    recipe_.storage = storage;
    XTTS_ASSIGN(const auto result, copy_and_index(before));
    XTTS_TRY(to_.publish(result.manifest, result.rejects_jsonl));
    if (Status status = verify(); !status.ok()) {
      take_back(before);
      return status;
    }
    XTTS_TRY(hand_over_sources(result.manifest.index_digest));
    from_.reset();  // gives up its lock on what was replaced
    XTTS_TRY(to_.collect_garbage(&result.manifest, {}));
    XTTS_TRY(to_.finish());
    return report_of(before, result.manifest);
  }

 private:
  Result<pipeline::IndexResult> copy_and_index(const Manifest& before) {
    XTTS_ASSIGN(const auto clips, published_clips(*from_));
    const formats::ColumnSpec mel = pipeline::mel_column(recipe_, before.numerics);
    XTTS_TRY(check_room(payload_bytes(before, mel)));
    XTTS_ASSIGN(const auto shards, copy_records({.from = *from_,
                                                 .clips = clips,
                                                 .column = mel,
                                                 .store = recipe_.storage.store,
                                                 .progress = step("clips"),
                                                 .cancelled = run_.cancelled},
                                                to_));
    XTTS_ASSIGN(auto result, pipeline::build_index({.env = env_,
                                                    .plan = clips.plan,
                                                    .recipe = recipe_,
                                                    .numerics = before.numerics,
                                                    .previous = nullptr,
                                                    .mel = mel,
                                                    .mel_shards = shards,
                                                    .rejects = clips.rejects,
                                                    .known_speakers = before.speakers,
                                                    .known_languages = before.languages,
                                                    .generation = 1},
                                                   to_));
    if (keep_statistics_) result.manifest.mel_statistics = before.mel_statistics;
    return result;
  }

  Status check_room(std::uint64_t needed_bytes) {
    const auto free_bytes = env_.free_bytes(to_.path());
    if (!free_bytes || *free_bytes >= needed_bytes) return {};
    return {StatusCode::kResource, to_.path() + " needs " + std::to_string(needed_bytes) +
                                       " bytes, " + std::to_string(*free_bytes) +
                                       " are free: make room, then run the same command again"};
  }

  [[nodiscard]] std::function<void(std::uint64_t, std::uint64_t)> step(const char* name) const {
    if (!run_.progress) return {};
    return
        [this, name](std::uint64_t done, std::uint64_t total) { run_.progress(name, done, total); };
  }

  Status verify() {
    verify::Options options;
    options.thread_count = run_.thread_count;
    options.progress = step("bytes verified");
    options.cancelled = run_.cancelled;
    XTTS_ASSIGN(const auto report, verify::verify_cache(env_, to_.path(), options));
    if (report.ok) return {};
    const auto& finding = report.findings.front();
    return {StatusCode::kCorrupt, "what was just written does not read back: " + finding.file +
                                      ": " + finding.what +
                                      "; the cache stays as it was: look at the disk's health"};
  }

  // The generation of before is still there, whole, if it was in this folder.
  void take_back(const Manifest& before) {
    if (from_->path() != to_.path()) return;
    const auto rejects = from_->rejects_jsonl();
    (void)to_.publish(before, rejects ? *rejects : std::string());
  }

  // So that the next build need not hash the sources again.
  Status hand_over_sources(const Digest& index_digest) {
    auto table = store::load_source_table(env_, from_->path());
    if (!table) return {};
    table->index_digest = index_digest;
    return store::save_source_table(env_, to_.path(), std::move(*table));
  }

  RewriteReport report_of(const Manifest& before, const Manifest& after) const {
    RewriteReport report;
    report.generation_before = before.generation;
    report.record_count = after.counts.records;
    for (const auto& shard : before.columns.front().shards)
      report.left_behind_count += shard.record_count;
    report.left_behind_count -= after.counts.records;
    report.bytes_before = bytes_of(before);
    report.bytes_after = bytes_of(after);
    report.statistics_changed =
        before.mel_statistics.has_value() &&
        (!after.mel_statistics || before.mel_statistics->mean != after.mel_statistics->mean ||
         before.mel_statistics->std_deviation != after.mel_statistics->std_deviation);
    return report;
  }

  Env& env_;
  std::shared_ptr<reader::CacheView> from_;
  store::CacheFolder& to_;
  const RewriteRun& run_;
  const bool keep_statistics_;
  formats::Recipe recipe_;
};

Status check_dtype(DType from, DType to) {
  if (from == to || from == DType::kFloat32) return {};
  return {StatusCode::kInvalidArgument,
          "the cache holds " + std::string(to_string(from)) + ": " + std::string(to_string(to)) +
              " of full precision comes from the sources alone: 'build DATA NEW --dtype " +
              std::string(to_string(to)) + "'"};
}

// Somebody's folder of other things must not become a cache by a slip of the keyboard.
Status check_target(Env& env, const ConvertRequest& request) {
  const auto entries = env.list(request.to);
  if (!entries) {
    return entries.status().code() == StatusCode::kNotFound ? Status() : entries.status();
  }
  const auto is_named = [&](std::string_view name) {
    return std::ranges::any_of(*entries, [&](const auto& entry) { return entry.name == name; });
  };
  if (is_named("manifest.json")) {
    return {StatusCode::kInvalidArgument,
            request.to + " holds a cache already: give a folder that does not exist yet"};
  }
  if (entries->empty() || is_named(".build")) return {};
  return {StatusCode::kInvalidArgument, request.to +
                                            " is not empty and not a cache: give a folder "
                                            "that does not exist yet"};
}

// Its sealed shards belong to no manifest yet, and would be taken for garbage.
Status check_no_unfinished_build(Env& env, const std::string& cache) {
  if (!env.stat(join_path(store::build_folder(cache), "journal"))) return {};
  return {StatusCode::kInvalidArgument,
          cache + " has an unfinished build: run the same build command again first"};
}

// .build/ goes again where nothing was published.
Result<RewriteReport> tidy(Result<RewriteReport> report, store::CacheFolder& folder) {
  if (!report) (void)folder.finish();
  return report;
}

}  // namespace

Result<RewriteReport> compact(Env& env, const CompactRequest& request) {
  XTTS_ASSIGN(auto view, reader::CacheView::open(env, request.cache));
  XTTS_TRY(check_no_unfinished_build(env, request.cache));
  XTTS_ASSIGN(const auto folder, store::CacheFolder::open(env, request.cache));
  // Once more, now that nobody else writes.
  XTTS_TRY(check_no_unfinished_build(env, request.cache));
  XTTS_ASSIGN(view, reader::CacheView::open(env, request.cache));
  const Manifest& manifest = view->manifest();
  if (manifest.generation == 1) {
    RewriteReport report{.unchanged = true, .record_count = manifest.counts.records};
    report.bytes_before = report.bytes_after = bytes_of(manifest);
    XTTS_TRY(folder->finish());
    return report;
  }
  XTTS_ASSIGN(const auto recipe, formats::recipe_of(manifest));
  Rewriter rewriter(env, std::move(view), *folder, request.run, request.keep_statistics);
  return tidy(rewriter.write(recipe.storage), *folder);
}

Result<RewriteReport> convert(Env& env, const ConvertRequest& request) {
  XTTS_ASSIGN(auto view, reader::CacheView::open(env, request.from));
  XTTS_TRY(check_dtype(view->manifest().columns.front().spec.dtype, request.storage.dtype));
  XTTS_TRY(check_target(env, request));
  XTTS_ASSIGN(const auto folder, store::CacheFolder::open(env, request.to));
  XTTS_TRY(folder->collect_garbage(nullptr, {}));  // of a convert that was interrupted
  Rewriter rewriter(env, std::move(view), *folder, request.run, true);
  return tidy(rewriter.write(request.storage), *folder);
}

}  // namespace xtts::maintain
