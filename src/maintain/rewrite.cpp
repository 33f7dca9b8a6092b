#include "maintain/rewrite.hpp"

#include <algorithm>
#include <iterator>

#include "base/channel_norm.hpp"
#include "base/try.hpp"
#include "formats/enum_names.hpp"
#include "formats/manifest_recipe.hpp"
#include "maintain/copy_records.hpp"
#include "maintain/one_numerics.hpp"
#include "maintain/published_clips.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/index_build.hpp"
#include "reader/cache_paths.hpp"
#include "store/source_table.hpp"

namespace xtts::maintain {
namespace {

using formats::Manifest;

// The payload alone: headers, facts and index are some per cent of it.
std::uint64_t payload_bytes(const Manifest& manifest,
                            const std::vector<formats::ColumnSpec>& columns,
                            std::uint32_t max_frames) {
  std::uint64_t bytes = 0;
  for (const formats::ColumnSpec& column : columns) {
    bytes += column.layout == formats::Layout::kPadded
                 ? manifest.counts.records * column.record_bytes()
                 : manifest.counts.frames * (column.record_bytes() / max_frames);
  }
  return bytes;
}

Status check_bakeable(const Manifest& manifest) {
  const auto refuse = [](const std::string& why) {
    return Status(StatusCode::kInvalidArgument, "--bake corpus: " + why);
  };
  if (manifest.features.contains("baked")) {
    return refuse(
        "the cache is baked already: its records are normalized by the corpus' statistics. Without "
        "--bake it is converted as it is");
  }
  const formats::ColumnEntry* const mel = manifest.find_column("mel");
  const auto& statistics = manifest.mel_statistics;
  if (mel == nullptr) return refuse("the cache has no column mel, and statistics are of that");
  if (!statistics || statistics->mean.size() != mel->spec.shape.back()) {
    return refuse(
        "the cache has no statistics, for it was published without a frame to train with");
  }
  if (manifest.features.value("pad", nlohmann::json()) == "samples") {
    return refuse(
        "this recipe pads samples, so frames of padding are features too, and would differ by "
        "channel. Ask the reader to normalize instead, and give it a pad_value (0 is the mean)");
  }
  return {};
}

class Rewriter {
 public:
  Rewriter(Env& env, std::shared_ptr<reader::CacheView> from, store::CacheFolder& to,
           const WriteRun& run, bool keep_statistics)
      : env_(env), from_(std::move(from)), to_(to), run_(run), keep_statistics_(keep_statistics) {}

  // Before write(): records are normalized on their way. `before` is bakeable.
  Status bake(const Manifest& before) {
    const formats::Statistics& statistics = *before.mel_statistics;
    auto norm = ChannelNorm::create(statistics.mean, statistics.std_deviation);
    if (!norm) return norm.status();
    norm_.emplace(std::move(*norm));
    baked_ = {.dtype = before.find_column("mel")->spec.dtype,
              .mean = statistics.mean,
              .std_deviation = statistics.std_deviation};
    return {};
  }

  // Publishes, verifies, and tidies up.
  Result<RewriteReport> write(const formats::StorageConfig& storage) {
    const Manifest before = from_->manifest();
    XTTS_TRY(before.allows_changes());
    XTTS_TRY(check_one_numerics(env_, *from_));
    XTTS_ASSIGN(recipe_, formats::recipe_of(before));
    recipe_.storage = storage;
    if (norm_) recipe_.features.baked = baked_;
    XTTS_ASSIGN(const auto result, copy_and_index(before));
    XTTS_TRY(to_.publish(result.manifest, result.rejects_jsonl));
    if (Status status = verify_written(env_, to_.path(), verify::Level::kFull, run_);
        !status.ok()) {
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
    XTTS_ASSIGN(const auto clips, published_clips(std::span(&from_, 1)));
    const auto columns = pipeline::sound_columns(recipe_, before.numerics);
    XTTS_TRY(check_room(payload_bytes(before, columns, recipe_.features.max_frames)));
    XTTS_ASSIGN(const auto shards, copy_columns(clips, columns));
    XTTS_ASSIGN(const auto added, copy_added_columns(before, clips));
    const auto keep_statistics = [&](formats::Manifest& manifest) {
      if (keep_statistics_) manifest.mel_statistics = before.mel_statistics;
    };
    return pipeline::build_index({.env = env_,
                                  .plan = clips.plan,
                                  .recipe = recipe_,
                                  .numerics = before.numerics,
                                  .previous = nullptr,
                                  .columns = columns,
                                  .shards = shards,
                                  .rejects = clips.rejects,
                                  .known_speakers = before.speakers,
                                  .known_languages = before.languages,
                                  .generation = 1,
                                  .added = added,
                                  .amend_manifest = keep_statistics},
                                 to_);
  }

  // One after the other. As a build, a shard's columns are listed together.
  Result<std::vector<store::JournalShard>> copy_columns(
      const PublishedClips& clips, const std::vector<formats::ColumnSpec>& columns) {
    std::vector<store::JournalShard> shards;
    for (const formats::ColumnSpec& column : columns) {
      XTTS_ASSIGN(auto of_column,
                  copy_records({.from = *from_,
                                .clips = clips,
                                .column = column,
                                .clips_per_shard = pipeline::clips_per_shard(columns),
                                .store = recipe_.storage.store,
                                .norm = norm_ && pipeline::has_sums(column) ? &*norm_ : nullptr,
                                .progress = progress_of(run_, "clips"),
                                .cancelled = run_.cancelled},
                               to_));
      if (shards.empty()) shards.resize(of_column.size());
      for (std::size_t i = 0; i < shards.size(); ++i) {
        shards[i].planned_shard = i;
        std::ranges::move(of_column[i].sealed, std::back_inserter(shards[i].sealed));
      }
    }
    return shards;
  }

  Result<std::vector<pipeline::AddedColumn>> copy_added_columns(const Manifest& before,
                                                                const PublishedClips& clips) {
    std::vector<pipeline::AddedColumn> added;
    for (const formats::ColumnEntry& column : before.columns) {
      if (!column.axis) continue;
      pipeline::AddedColumn one{.entry = column, .shards = {}};
      one.entry.store = recipe_.storage.store;
      one.entry.spec.layout = recipe_.storage.layout;
      XTTS_ASSIGN(one.shards,
                  copy_records({.from = *from_,
                                .clips = clips,
                                .column = one.entry.spec,
                                .clips_per_shard = one.entry.spec.geometry().clips_per_shard(),
                                .store = recipe_.storage.store,
                                .progress = progress_of(run_, "clips"),
                                .cancelled = run_.cancelled},
                               to_));
      added.push_back(std::move(one));
    }
    return added;
  }

  Status check_room(std::uint64_t needed_bytes) {
    const auto free_bytes = env_.free_bytes(to_.path());
    if (!free_bytes || *free_bytes >= needed_bytes) return {};
    return {StatusCode::kResource, to_.path() + " needs " + std::to_string(needed_bytes) +
                                       " bytes, " + std::to_string(*free_bytes) +
                                       " are free: make room, then run the same command again"};
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
    report.is_baked = recipe_.features.baked.is_baked();
    report.generation_before = before.generation;
    report.record_count = after.counts.records;
    for (const auto& shard : before.columns.front().shards)
      report.left_behind_count += shard.record_count;
    report.left_behind_count -= after.counts.records;
    report.bytes_before = reader::cache_bytes(before);
    report.bytes_after = reader::cache_bytes(after);
    report.statistics_changed =
        before.mel_statistics.has_value() &&
        (!after.mel_statistics || before.mel_statistics->mean != after.mel_statistics->mean ||
         before.mel_statistics->std_deviation != after.mel_statistics->std_deviation);
    return report;
  }

  Env& env_;
  std::shared_ptr<reader::CacheView> from_;
  store::CacheFolder& to_;
  const WriteRun& run_;
  const bool keep_statistics_;
  std::optional<ChannelNorm> norm_;
  formats::BakedConfig baked_;
  formats::Recipe recipe_;
};

Status check_dtype(DType from, DType to) {
  if (from == to || from == DType::kFloat32) return {};
  return {StatusCode::kInvalidArgument,
          "the cache holds " + std::string(to_string(from)) + ": " + std::string(to_string(to)) +
              " of full precision comes from the sources alone: 'build DATA NEW --dtype " +
              std::string(to_string(to)) + "'"};
}

// Its sealed shards belong to no manifest yet, and would be taken for garbage.
Status check_no_unfinished_build(Env& env, const std::string& cache) {
  if (!env.stat(join_path(store::build_folder(cache), "journal"))) return {};
  return {StatusCode::kInvalidArgument,
          cache + " has an unfinished build: run the same build command again first"};
}

}  // namespace

Result<RewriteReport> compact(Env& env, const CompactRequest& request) {
  XTTS_ASSIGN(auto view, reader::CacheView::open(env, request.cache));
  XTTS_TRY(check_no_unfinished_build(env, request.cache));
  XTTS_ASSIGN(const auto folder,
              store::CacheFolder::open(env, request.cache, notices_of(request.run)));
  // Once more, now that nobody else writes.
  XTTS_TRY(check_no_unfinished_build(env, request.cache));
  XTTS_ASSIGN(view, reader::CacheView::open(env, request.cache));
  const Manifest& manifest = view->manifest();
  if (manifest.generation == 1) {
    RewriteReport report{.unchanged = true, .record_count = manifest.counts.records};
    report.bytes_before = report.bytes_after = reader::cache_bytes(manifest);
    XTTS_TRY(folder->finish());
    return report;
  }
  XTTS_ASSIGN(const auto recipe, formats::recipe_of(manifest));
  Rewriter rewriter(env, std::move(view), *folder, request.run, request.keep_statistics);
  auto report = rewriter.write(recipe.storage);
  if (!report) (void)folder->finish();  // .build/ goes again
  return report;
}

Result<RewriteReport> convert(Env& env, const ConvertRequest& request) {
  XTTS_ASSIGN(auto view, reader::CacheView::open(env, request.from));
  if (const auto& part = view->manifest().partition) {
    return Status(StatusCode::kInvalidArgument,
                  request.from + " is part " + part->name() +
                      " of a cache: 'merge NEW PART...' joins all parts; convert that");
  }
  // Not the first column's: a wave has a dtype of its own.
  XTTS_ASSIGN(const formats::Recipe recipe, formats::recipe_of(view->manifest()));
  XTTS_TRY(check_dtype(recipe.storage.dtype, request.storage.dtype));
  if (request.bake_corpus) XTTS_TRY(check_bakeable(view->manifest()));
  XTTS_TRY(check_target(env, request.to));
  XTTS_ASSIGN(const auto folder,
              store::CacheFolder::open(env, request.to, notices_of(request.run)));
  XTTS_TRY(folder->collect_garbage(nullptr, {}));  // of a convert that was interrupted
  Rewriter rewriter(env, view, *folder, request.run, true);
  if (request.bake_corpus) XTTS_TRY(rewriter.bake(view->manifest()));
  view.reset();
  return rewriter.write(request.storage);  // after a failure .build/ stays: the folder is ours
}

}  // namespace xtts::maintain
