#include "maintain/rewrite.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/channel_norm.hpp"
#include "base/confined_env.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "maintain/copy_records.hpp"
#include "maintain/published_clips.hpp"
#include "pipeline/index_build.hpp"
#include "pipeline/unfinished.hpp"
#include "reader/block_reader.hpp"
#include "reader/cache_paths.hpp"
#include "reader/repair_advice.hpp"
#include "reader/shard_files.hpp"
#include "records/columns.hpp"
#include "report/human.hpp"
#include "store/source_table.hpp"

namespace xtts::maintain {
namespace {

using formats::Manifest;

// Refuses two numerics in the mel column (a build with --allow-mixed): they cannot share a block,
// so such a cache cannot be laid out anew. Reads one block header a shard.
Status check_one_numerics(Env& env, reader::CacheView& view) {
  const auto& manifest = view.manifest();
  const auto& mel = manifest.columns.front();
  reader::ShardFiles files(env, view.path(), manifest);
  std::uint64_t first_row = 0;
  for (std::uint32_t shard = 0; shard < mel.shards.size(); ++shard) {
    XTTS_ASSIGN(const auto file, reader::with_repair(files.open(mel.spec.id, shard), view.path()));
    XTTS_ASSIGN(const auto row, view.block(mel.spec.id, first_row));
    XTTS_ASSIGN(
        const auto header,
        reader::with_repair(reader::read_block_header(*file, row.place, mel.spec), view.path()));
    if (header.column.numerics != manifest.numerics.hash()) {
      return {StatusCode::kMismatch,
              formatted("{} holds records of two processors or library versions (a build with {}): "
                        "build it anew with 'xtts-precompute build DATA CACHE --overwrite'",
                        view.path(), option_on("allow-mixed"))};
    }
    first_row += mel.shards[shard].block_count;
  }
  return {};
}

// The least that has to be written: only the payload of the sound columns.
std::uint64_t payload_bytes(const Manifest& before, const formats::Recipe& after) {
  std::uint64_t bytes = 0;
  for (const formats::ColumnSpec& column : records::sound_columns(after, before.numerics)) {
    bytes += column.layout == formats::Layout::kPadded
                 ? before.counts.records * column.record_bytes()
                 : before.counts.frames * (column.record_bytes() / after.features->max_frames);
  }
  return bytes;
}

// The bytes beside a record: its facts and its share of a block's header and last page.
constexpr std::uint64_t kBytesBesideRecord = 1024;
// Manifest, rejects, footers and the last pages of files.
constexpr std::uint64_t kOverheadBytes = std::uint64_t{64} << 10U;
// Less free space than this is a full disk, whatever the estimate says.
constexpr std::uint64_t kNothingFreeBytes = std::uint64_t{1} << 20U;

// The stored bytes of a column's records that clips still name.
std::uint64_t live_bytes(const Manifest& before, const formats::ColumnEntry& column) {
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;
  for (const formats::ShardEntry& shard : column.shards) {
    bytes += shard.file_bytes;
    records += shard.record_count;
  }
  if (records <= before.counts.records) return bytes;
  return static_cast<std::uint64_t>(static_cast<double>(bytes) *
                                    static_cast<double>(before.counts.records) /
                                    static_cast<double>(records));
}

// The bytes of a column in another layout or dtype. `rows_max`: the rows of the longest record, if
// rows are frames.
std::uint64_t bytes_as(const formats::ColumnSpec& column, const Manifest& before,
                       std::uint64_t bytes_now, std::optional<std::uint32_t> rows_max) {
  const std::uint64_t beside = before.counts.records * kBytesBesideRecord;
  if (column.layout == formats::Layout::kPadded)
    return before.counts.records * column.record_bytes() + beside;
  // Packed, a column takes no more bytes than padded.
  if (!rows_max) return bytes_now;
  return before.counts.frames * (column.record_bytes() / *rows_max) + beside;
}

// The bytes that are written before any replaced file is removed, as far as this can be known.
std::uint64_t needed_bytes(const Manifest& before, const formats::Recipe& after) {
  std::uint64_t bytes = before.index_bytes + kOverheadBytes;
  const auto sounds = records::sound_columns(after, before.numerics);
  for (std::size_t i = 0; i < before.columns.size(); ++i) {
    const formats::ColumnEntry& column = before.columns[i];
    const bool is_sound = i < sounds.size();
    formats::ColumnSpec spec = is_sound ? sounds[i] : column.spec;
    spec.layout = after.storage.layout;
    const std::uint64_t now = live_bytes(before, column);
    const bool is_the_same = spec.layout == column.spec.layout && spec.dtype == column.spec.dtype &&
                             after.storage.store == column.store;
    const auto rows = is_sound ? std::optional(after.features->max_frames) : std::nullopt;
    bytes += is_the_same ? now : bytes_as(spec, before, now, rows);
  }
  return bytes;
}

Status check_bakeable(const Manifest& manifest) {
  const auto refuse = [](const std::string& why) {
    return Status(StatusCode::kInvalidArgument, formatted("{}: {}", option("bake", "corpus"), why));
  };
  if (manifest.features.contains("baked")) {
    return refuse(
        formatted("the cache is baked already: its records are normalized by the corpus' "
                  "statistics. Leave out {} to convert it as it is",
                  option("bake")));
  }
  const formats::ColumnEntry* const mel = manifest.find_column("mel");
  const auto& statistics = manifest.mel_statistics;
  if (mel == nullptr)
    return refuse("the cache has no column mel, whose statistics would be needed");
  if (!statistics || statistics->mean.size() != mel->spec.shape.back()) {
    return refuse("the cache has no statistics, because it was published without a training clip");
  }
  if (manifest.features.value("pad", nlohmann::json()) == "samples") {
    return refuse(
        "this recipe pads samples, so normalized frames of padding would differ by channel. Ask "
        "the reader to normalize instead, with a pad_value (0 is the mean)");
  }
  return {};
}

// Passes on the source table, so that the next build need not hash the sources again.
Status copy_source_table(Env& env, const std::string& from, store::CacheFolder& to,
                         const Digest& index_digest) {
  auto table = store::load_source_table(env, from);
  if (!table) return {};
  table->index_digest = index_digest;
  return store::save_source_table(to, std::move(*table));
}

struct RewriteAim {
  bool keep_statistics = true;
  bool bakes = false;  // records are normalized while they are copied: the cache is bakeable
  std::uint64_t generation = 1;  // another number if canonical bytes must wait
};

class Rewriter {
 public:
  Rewriter(Env& env, std::shared_ptr<reader::CacheView> from, store::CacheFolder& to,
           const WriteRun& run, const RewriteAim& aim)
      : env_(env), from_(std::move(from)), to_(to), run_(run), aim_(aim) {}

  // Publishes, verifies, and tidies up.
  Result<RewriteReport> write(const formats::StorageConfig& storage) {
    auto report = try_to_write(storage);
    return report ? std::move(report) : advised(report.status());
  }

 private:
  Result<RewriteReport> try_to_write(const formats::StorageConfig& storage) {
    const Manifest before = from_->manifest();
    XTTS_TRY(before.allows_changes());
    XTTS_TRY(check_one_numerics(env_, *from_));
    XTTS_ASSIGN(recipe_, formats::recipe_of(before));
    recipe_.storage = storage;
    if (aim_.bakes) XTTS_TRY(bake(before));
    XTTS_ASSIGN(const auto result, copy_and_index(before));
    has_published_ = true;
    XTTS_TRY(to_.publish(result.manifest, result.rejects_jsonl));
    if (Status status = verify_written(env_, to_.path(), verify::Level::kFull, run_);
        !status.ok()) {
      take_back(before);
      return status;
    }
    XTTS_TRY(copy_source_table(env_, from_->path(), to_, result.manifest.index_digest));
    from_.reset();  // releases its lock on the replaced generation
    XTTS_ASSIGN(const LeftOver left_over, remove_left_over(env_, to_, result.manifest));
    XTTS_TRY(to_.finish());
    RewriteReport report = report_of(before, result.manifest);
    report.left_over.held_bytes = left_over.held_bytes;
    return report;
  }

  Status bake(const Manifest& before) {
    const formats::Statistics& statistics = *before.mel_statistics;
    XTTS_ASSIGN(norm_, ChannelNorm::create(statistics.mean, statistics.std_deviation));
    recipe_.features->baked = {.dtype = before.find_column("mel")->spec.dtype,
                               .mean = statistics.mean,
                               .std_deviation = statistics.std_deviation};
    return {};
  }

  Result<pipeline::IndexResult> copy_and_index(const Manifest& before) {
    XTTS_ASSIGN(const auto clips, published_clips(std::span(&from_, 1)));
    const auto columns = records::sound_columns(recipe_, before.numerics);
    XTTS_TRY(check_room(before));
    XTTS_ASSIGN(const auto shards, copy_columns(clips, columns));
    XTTS_ASSIGN(const auto added, copy_added_columns(before, clips));
    const auto keep_statistics = [&](formats::Manifest& manifest) {
      if (aim_.keep_statistics) manifest.mel_statistics = before.mel_statistics;
    };
    return pipeline::build_index({.env = env_,
                                  .plan = clips.plan,
                                  .recipe = recipe_,
                                  .numerics = before.numerics,
                                  .columns = columns,
                                  .shards = shards,
                                  .rejects = clips.rejects,
                                  .known_speakers = before.speakers,
                                  .known_languages = before.languages,
                                  .generation = aim_.generation,
                                  .added = added,
                                  .amend_manifest = keep_statistics},
                                 to_);
  }

  // Copies the columns one after the other. The first one comes last, for it holds the warnings of
  // all. Each result lists a shard's columns together, as a build does.
  Result<std::vector<store::JournalShard>> copy_columns(
      const PublishedClips& clips, const std::vector<formats::ColumnSpec>& columns) {
    std::vector<store::JournalShard> shards;
    ClipWarnings warnings;
    for (std::size_t id = columns.size(); id-- > 0;) {
      const formats::ColumnSpec& column = columns[id];
      XTTS_ASSIGN(auto of_column,
                  copy_records({.from = *from_,
                                .clips = clips,
                                .column = column,
                                .clips_per_shard = records::clips_per_shard(columns),
                                .store = recipe_.storage.store,
                                .generation = aim_.generation,
                                .norm = norm_ && records::has_sums(column) ? &*norm_ : nullptr,
                                .progress = progress_of(run_, "clips"),
                                .cancelled = run_.cancelled},
                               to_, warnings));
      if (shards.empty()) shards.resize(of_column.size());
      for (std::size_t i = 0; i < shards.size(); ++i) {
        shards[i].planned_shard = i;
        auto& sealed = shards[i].sealed;
        sealed.insert(sealed.begin(), std::make_move_iterator(of_column[i].sealed.begin()),
                      std::make_move_iterator(of_column[i].sealed.end()));
      }
    }
    return shards;
  }

  Result<std::vector<pipeline::AddedColumn>> copy_added_columns(const Manifest& before,
                                                                const PublishedClips& clips) {
    std::vector<pipeline::AddedColumn> added;
    ClipWarnings none;
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
                                .generation = aim_.generation,
                                .progress = progress_of(run_, "clips"),
                                .cancelled = run_.cancelled},
                               to_, none));
      added.push_back(std::move(one));
    }
    return added;
  }

  // Refuses before work only what certainly does not fit.
  Status check_room(const Manifest& before) {
    needed_bytes_ = needed_bytes(before, recipe_);
    const auto free_bytes = env_.free_bytes(to_.path());
    if (!free_bytes || *free_bytes >= payload_bytes(before, recipe_)) return {};
    return {StatusCode::kResource, "no room in " + to_.path()};
  }

  // Adds advice to a failure that a full disk may have caused. First it removes what was written:
  // the same command begins anew.
  Status advised(const Status& failure) {
    if (failure.code() != StatusCode::kResource || !needed_bytes_) return failure;
    if (!has_published_ && from_->path() == to_.path())
      (void)to_.collect_garbage(&from_->manifest(), {});
    const auto free_bytes = env_.free_bytes(to_.path());
    if (!free_bytes || *free_bytes >= std::max(*needed_bytes_, kNothingFreeBytes)) return failure;
    return {failure.code(), failure.message() + "; its file system has " +
                                report::format_size(*free_bytes) + " free, and this needs about " +
                                report::format_size(*needed_bytes_) +
                                ": make room, then run again"};
  }

  // Publishes the manifest of before again, if it was in this folder: its generation is whole.
  void take_back(const Manifest& before) {
    if (from_->path() != to_.path()) return;
    const auto rejects = from_->rejects_jsonl();
    (void)to_.publish(before, rejects ? *rejects : std::string());
  }

  RewriteReport report_of(const Manifest& before, const Manifest& after) const {
    RewriteReport report;
    report.is_baked = recipe_.features->baked.is_baked();
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
  const RewriteAim aim_;
  std::optional<ChannelNorm> norm_;
  formats::Recipe recipe_;
  std::optional<std::uint64_t> needed_bytes_;  // unset until it is known
  bool has_published_ = false;
};

Status check_dtype(DType from, DType to) {
  if (from == to || from == DType::kFloat32) return {};
  return {StatusCode::kInvalidArgument,
          formatted("the cache holds {}: {} of full precision needs the sources: 'xtts-precompute "
                    "build DATA NEW --dtype {}'",
                    to_string(from), to_string(to), to_string(to))};
}

// True where `left` is what the request would make of `from`.
Result<bool> is_conversion(reader::CacheView& from, reader::CacheView& left,
                           const ConvertRequest& request) {
  const Manifest& before = from.manifest();
  const Manifest& after = left.manifest();
  if (after.storage_fingerprint != formats::fingerprint(request.storage) ||
      after.features.contains("baked") !=
          (request.bake_corpus || before.features.contains("baked")) ||
      (!request.bake_corpus && after.features_fingerprint != before.features_fingerprint) ||
      after.columns.size() != before.columns.size())
    return false;
  return has_same_clips(from, left);
}

// Does what a run that died after it had published has not done: it may not have verified.
Result<RewriteReport> complete(Env& env, const ConvertRequest& request, const Manifest& before,
                               const Manifest& after) {
  XTTS_ASSIGN(const auto folder,
              store::CacheFolder::open(env, request.to, lease_callbacks_of(request.run)));
  XTTS_TRY(verify_written(env, request.to, verify::Level::kFull, request.run));
  RewriteReport report{.is_baked = after.features.contains("baked"),
                       .generation_before = before.generation,
                       .record_count = after.counts.records,
                       .bytes_before = reader::cache_bytes(before),
                       .bytes_after = reader::cache_bytes(after),
                       .is_completed = true};
  XTTS_TRY(copy_source_table(env, request.from, *folder, after.index_digest));
  XTTS_ASSIGN(report.left_over, remove_left_over(env, *folder, after));
  XTTS_TRY(folder->finish());
  return report;
}

}  // namespace

Result<RewriteReport> compact(Env& whole_env, const CompactRequest& request) {
  const auto confined = confined_to(whole_env, request.cache, Links::kNone);
  Env& env = *confined;
  XTTS_ASSIGN(auto view, reader::CacheView::open(env, request.cache));
  // Shards of an unfinished build belong to no manifest yet, and would be taken for garbage.
  XTTS_TRY(pipeline::check_no_unfinished(env, request.cache, &view->manifest()));
  XTTS_ASSIGN(const auto folder,
              store::CacheFolder::open(env, request.cache, lease_callbacks_of(request.run)));
  // Checks again, now that nobody else writes.
  XTTS_ASSIGN(view, reader::CacheView::open(env, request.cache));
  XTTS_TRY(pipeline::check_no_unfinished(env, request.cache, &view->manifest()));
  const Manifest& manifest = view->manifest();
  if (manifest.generation == 1) {
    RewriteReport report{.unchanged = true, .record_count = manifest.counts.records};
    report.bytes_before = report.bytes_after = reader::cache_bytes(manifest);
    // A compact that was killed, or that ran beside a reader, has left the generation of before.
    XTTS_ASSIGN(report.left_over, remove_left_over(env, *folder, manifest));
    XTTS_TRY(folder->finish());
    return report;
  }
  XTTS_ASSIGN(const auto recipe, formats::recipe_of(manifest));
  XTTS_ASSIGN(const auto generations, folder->generations());
  RewriteAim aim{.keep_statistics = request.keep_statistics};
  // Canonical bytes have generation 1. If a reader holds an older generation, 1 would not be the
  // highest number, and a lost manifest would be made again from the older generation.
  if (generations.are_others_read) aim.generation = generations.newest + 1;
  auto report = Rewriter(env, std::move(view), *folder, request.run, aim).write(recipe.storage);
  if (!report) (void)folder->finish();  // removes .build/
  return report;
}

Result<RewriteReport> convert(Env& whole_env, const ConvertRequest& request) {
  const auto of_source = confined_to(whole_env, request.from, Links::kNone);
  const auto confined = confined_to(*of_source, request.to, Links::kNone);
  Env& env = *confined;
  XTTS_ASSIGN(auto view, reader::CacheView::open(env, request.from));
  if (const auto& part = view->manifest().partition) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{} is part {} of a cache: join all parts with 'xtts-precompute merge "
                            "NEW PART...', then convert NEW",
                            request.from, part->name()));
  }
  // The dtype is the recipe's, not the first column's: a wave has its own dtype.
  XTTS_ASSIGN(const formats::Recipe recipe, formats::recipe_of(view->manifest()));
  XTTS_TRY(check_dtype(recipe.storage.dtype, request.storage.dtype));
  if (request.bake_corpus) XTTS_TRY(check_bakeable(view->manifest()));
  if (const auto left = published_and_left(env, request.to)) {
    XTTS_ASSIGN(const bool is_it, is_conversion(*view, *left, request));
    if (is_it) return complete(env, request, view->manifest(), left->manifest());
  }
  XTTS_TRY(check_target(env, request.to));
  XTTS_ASSIGN(const auto folder,
              store::CacheFolder::open(env, request.to, lease_callbacks_of(request.run)));
  XTTS_TRY(folder->collect_garbage(nullptr, {}));  // from an interrupted convert
  auto report = Rewriter(env, std::move(view), *folder, request.run, {.bakes = request.bake_corpus})
                    .write(request.storage);
  if (!report) remove_unpublished(*folder);
  return report;
}

}  // namespace xtts::maintain
