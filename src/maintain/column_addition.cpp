#include "maintain/column_addition.hpp"

#include <algorithm>
#include <array>

#include "base/confined_env.hpp"
#include "base/float_range.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "formats/enum_names.hpp"
#include "formats/sound_columns.hpp"
#include "maintain/record_spool.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/copied_index.hpp"
#include "pipeline/sealed_records.hpp"
#include "pipeline/sealer.hpp"
#include "pipeline/shard_assembler.hpp"
#include "pipeline/unfinished.hpp"
#include "reader/cache_paths.hpp"
#include "reader/index_reader.hpp"
#include "store/cache_folder.hpp"
#include "store/hdf5_description.hpp"
#include "store/journal.hpp"
#include "store/journal_line.hpp"
#include "store/source_table.hpp"

namespace xtts::maintain {
namespace {

using formats::Axis;
using formats::ColumnEntry;
using formats::Manifest;

Status refuse(const std::string& problem) {
  return {StatusCode::kInvalidArgument, "add_column: " + problem};
}

// Reserved: attributes of the Python package's batches and clips (and of the dictionaries that
// PyTorch gets), and words of `where=`. A later version may reserve more names. Caches of this
// version do not change then: `batch["name"]` reaches any column.
constexpr auto kReserved = std::to_array<std::string_view>({
    "and",
    "audio_cut",
    "bandwidth",
    "bucket",
    "channels",
    "characters",
    "clear",
    "clipped",
    "codec",
    "columns",
    "container",
    "copy",
    "count",
    "cut",
    "dataset",
    "device",
    "duration_s",
    "frames",
    "fromkeys",
    "gain",
    "get",
    "id",
    "ids",
    "index",
    "is_view",
    "items",
    "keys",
    "language",
    "language_number",
    "lengths",
    "let_wait",
    "mel_len",
    "nonfinite",
    "not",
    "on_device",
    "or",
    "padded",
    "padding",
    "path",
    "pcm",
    "peak",
    "pin_memory",
    "pop",
    "popitem",
    "position",
    "positions",
    "release",
    "rms",
    "sample_rate",
    "seconds",
    "segment_end",
    "segment_start",
    "setdefault",
    "silence",
    "source",
    "source_rate",
    "source_seconds",
    "speaker",
    "speaker_number",
    "split",
    "text",
    "text_cut",
    "text_len",
    "text_normalized",
    "text_raw",
    "to",
    "trim_end",
    "trim_start",
    "update",
    "valid_count",
    "values",
    "wait",
    "warning",
});
static_assert(std::ranges::is_sorted(kReserved));

constexpr std::string_view kLengthSuffix = "_len";

// Column names are also names of folders (cache-v1.md, section 5), and HDF5 shards have data sets
// of their own.
Status check_name(const std::string& name) {
  if (store::is_taken_name(name))
    return refuse(formatted("'{}' is a name that shards use themselves: give another name", name));
  if (formats::find_sound_column(name) != nullptr || name == "tokens")
    return refuse(formatted("'{}' is a column that a build makes: give another name", name));
  if (name.starts_with('_'))
    return refuse(formatted("'{}' begins with '_', as internal names do: give another name", name));
  if (name.ends_with(kLengthSuffix)) {
    return refuse(formatted("'{}' would be the lengths of a column '{}': give another name", name,
                            name.substr(0, name.size() - kLengthSuffix.size())));
  }
  if (std::ranges::binary_search(kReserved, name)) {
    return refuse("'" + name + "' is a name that batches, clips or 'where' use themselves: " +
                  "give another name, like 'my_" + name + "'");
  }
  return {};
}

// Two additions are the same if the column's description and the data it was computed from are.
Digest fingerprint_of(const Manifest& manifest, const NewColumn& column) {
  return digest128(formats::dump_canonical({{"name", column.name},
                                            {"version", column.version},
                                            {"axis", std::string(formats::name_of(column.axis))},
                                            {"dtype", std::string(to_string(column.dtype))},
                                            {"row_shape", column.row_shape},
                                            {"rows_per_frame", column.rows_per_frame},
                                            {"features", manifest.features_fingerprint.to_hex()}}));
}

Result<std::vector<std::uint32_t>> shape_of(const Manifest& manifest, const NewColumn& column) {
  std::vector<std::uint32_t> shape = column.row_shape;
  const auto put_first = [&](std::uint64_t rows) {
    shape.insert(shape.begin(),
                 static_cast<std::uint32_t>(std::min<std::uint64_t>(rows, UINT32_MAX)));
  };
  if (column.axis == Axis::kFrames) {
    if (manifest.max_frames() == 0) return refuse("the cache's records have no frames");
    put_first(std::uint64_t{manifest.max_frames()} * column.rows_per_frame);
  } else if (column.axis == Axis::kTokens) {
    const ColumnEntry* const tokens = manifest.find_column("tokens");
    if (tokens == nullptr) return refuse("the cache has no tokens");
    put_first(tokens->spec.shape.front());
  }
  return shape;
}

class Addition final : public ColumnAddition {
 public:
  Addition(std::shared_ptr<Env> env, std::shared_ptr<reader::CacheView> view,
           std::unique_ptr<store::CacheFolder> folder, const NewColumn& column)
      : confined_(std::move(env)),
        env_(*confined_),
        view_(std::move(view)),
        folder_(std::move(folder)),
        column_(column) {}
  // If no record was put, removes .build/, so that it is in nobody's way.
  ~Addition() override {
    if (is_begun_ && next_ == 0) (void)folder_->finish();
  }
  Addition(const Addition&) = delete;
  Addition& operator=(const Addition&) = delete;

  Status begin() {
    XTTS_TRY(describe(view_->manifest()));
    XTTS_TRY(list_clips());
    XTTS_TRY(check_no_other_journal());
    if (to_make_.empty()) return {};
    return continue_journal();
  }

  reader::CacheView& view() override { return *view_; }
  const std::vector<std::uint64_t>& to_make() const override { return to_make_; }
  std::uint64_t done_count() const override { return next_; }

  Result<std::uint32_t> length_of(std::uint64_t position) override {
    if (column_.axis == Axis::kFixed || column_.axis == Axis::kOwn)
      return entry_.spec.shape.front();
    XTTS_ASSIGN(const auto row, view_->plan_row(position));
    return column_.axis == Axis::kTokens ? row.text_len : row.mel_len * column_.rows_per_frame;
  }

  Status put(std::span<const std::byte> rows) override {
    if (next_ == to_make_.size()) return refuse("each clip has its record already: call finish()");
    XTTS_TRY(assemble(rows));
    XTTS_TRY(spool_->append(rows));
    if (!is_shard_full()) return {};
    XTTS_TRY(end_shard());
    return begin_shards();
  }

  Result<AdditionReport> finish() override {
    if (next_ < to_make_.size())
      return refuse("some clips have no record yet: call put() for each clip, then finish()");
    AdditionReport report{.generation = view_->manifest().generation,
                          .added_count = to_make_.size(),
                          .record_count = view_->size()};
    if (to_make_.empty()) {
      report.unchanged = true;
      // An addition that died after it had published has left the index of before.
      XTTS_TRY(folder_->collect_garbage(&view_->manifest(), {}));
      XTTS_TRY(folder_->finish());
      return report;
    }
    XTTS_ASSIGN(auto sealed, sealer_->finish());
    std::ranges::move(sealed, std::back_inserter(shards_));
    XTTS_ASSIGN(const Manifest manifest, publish());
    report.generation = manifest.generation;
    for (const auto& shard : manifest.find_column(column_.name)->shards)
      report.bytes += shard.file_bytes;
    return report;
  }

 private:
  Status assemble(std::span<const std::byte> rows) {
    const std::uint64_t position = to_make_[next_];
    XTTS_ASSIGN(const auto details, view_->details(position));
    XTTS_ASSIGN(const std::uint32_t length, length_of_record(position, rows.size(), details));
    XTTS_TRY(check_finite(rows, details));
    pipeline::AssembledRecord record;
    record.made.length = length;
    record.made.rows.assign(rows.begin(), rows.end());
    record.facts = pipeline::facts_of_further_column(details);
    XTTS_TRY(assembler_->add(std::move(record)));
    ++next_;
    return {};
  }

  Result<std::uint32_t> length_of_record(std::uint64_t position, std::uint64_t size_bytes,
                                         const formats::RecordFacts& details) {
    XTTS_ASSIGN(const std::uint32_t wanted, length_of(position));
    const std::uint64_t row_bytes = entry_.spec.row_bytes();
    const bool is_own = column_.axis == Axis::kOwn;
    const std::uint64_t found = size_bytes / row_bytes;
    if (size_bytes % row_bytes == 0 && (found == wanted || (is_own && found < wanted)))
      return static_cast<std::uint32_t>(found);
    return refuse(formatted("clip {} needs {}{} rows of {} bytes, and got {} bytes",
                            formats::full_id(details), is_own ? "at most " : "", wanted, row_bytes,
                            size_bytes));
  }

  [[nodiscard]] Status check_finite(std::span<const std::byte> rows,
                                    const formats::RecordFacts& details) const {
    if (column_.allow_nonfinite) return {};
    const std::uint64_t count = count_nonfinite(rows, entry_.spec.dtype);
    if (count == 0) return {};
    return refuse(formatted(
        "the record of clip '{}' has {}{} NaN or infinite: give finite ones, or allow_nonfinite "
        "where they mean something",
        formats::full_id(details), count, count == 1 ? " value that is" : " values that are"));
  }

  Status describe(const Manifest& manifest) {
    const ColumnEntry* const there = manifest.find_column(column_.name);
    if (there != nullptr && !there->axis)
      return refuse(
          formatted("'{}' is a column that a build makes: give another name", column_.name));
    ColumnEntry fresh;
    fresh.axis = column_.axis;
    fresh.version = column_.version;
    fresh.store = manifest.columns.front().store;
    XTTS_ASSIGN(auto shape, shape_of(manifest, column_));
    fresh.spec = {.name = column_.name,
                  .id = there != nullptr ? there->spec.id
                                         : static_cast<std::uint32_t>(manifest.columns.size()),
                  .dtype = column_.dtype,
                  .shape = std::move(shape),
                  .layout = manifest.columns.front().spec.layout,
                  .fingerprint = fingerprint_of(manifest, column_),
                  .numerics = manifest.numerics.hash()};
    if (Status status = fresh.spec.validate(); !status.ok()) return refuse(status.message());
    is_continued_ = there != nullptr && there->spec.fingerprint == fresh.spec.fingerprint;
    entry_ = is_continued_ ? *there : fresh;
    if (is_continued_) XTTS_TRY(pipeline::take_over(*view_, entry_.spec.id, rows_));
    return {};
  }

  Status list_clips() {
    for (std::uint64_t position = 0; position < view_->size(); ++position) {
      if (is_continued_) {
        XTTS_ASSIGN(const auto location, view_->location(entry_.spec.id, position));
        if (location.block_row != formats::kNoRecord) continue;
      }
      to_make_.push_back(position);
    }
    return {};
  }

  // Takes over whole shards that an interrupted run of the same addition has sealed.
  Status continue_journal() {
    const Manifest& manifest = view_->manifest();
    XTTS_ASSIGN(const auto generations, folder_->generations());
    generation_ = generations.newest + 1;
    XTTS_ASSIGN(auto opened, store::Journal::open(env_, *folder_, journal_head()));
    journal_ = std::move(opened.journal);
    per_shard_ = entry_.spec.geometry().clips_per_shard();
    for (auto& shard : opened.shards) {
      bool is_next = shard.planned_shard == shards_.size() && shard.sealed.size() == 1;
      if (is_next) {
        XTTS_ASSIGN(is_next, folder_->is_intact(shard.sealed.front()));
      }
      if (!is_next) break;
      shards_.push_back(std::move(shard));
    }
    next_ = std::min<std::uint64_t>(shards_.size() * per_shard_, to_make_.size());
    std::vector<store::SealedShard> keep;
    for (const auto& shard : shards_) keep.push_back(shard.sealed.front());
    XTTS_TRY(folder_->collect_garbage(&manifest, keep));
    planned_ = shards_.size();
    sealer_.emplace(*folder_, journal_.get());
    assembler_.emplace(entry_.spec, entry_.store, generation_);
    is_begun_ = true;
    spool_.emplace(env_, view_->path(), digest128(store::encode_line(journal_head())));
    return begin_shards();
  }

  [[nodiscard]] bool is_shard_full() const {
    return next_ == to_make_.size() || next_ == (planned_ + 1) * per_shard_;
  }

  // Begins the shard in work, with the records that an interrupted addition has put into it.
  Status begin_shards() {
    while (next_ < to_make_.size()) {
      const std::uint64_t end =
          std::min<std::uint64_t>((planned_ + 1) * per_shard_, to_make_.size());
      XTTS_TRY(spool_->begin(planned_, end - next_, [this](auto rows) { return assemble(rows); }));
      if (!is_shard_full()) return {};
      XTTS_TRY(end_shard());
    }
    return {};
  }

  // Checks for the journal of a build or of another addition: it would be thrown away, with its
  // sealed shards.
  Status check_no_other_journal() {
    XTTS_ASSIGN(const auto journal, store::read_journal(env_, view_->path()));
    if (journal.head && journal.head->plan == journal_head().plan) return {};  // of this column
    return pipeline::check_no_unfinished(env_, view_->path(), &view_->manifest());
  }

  [[nodiscard]] store::JournalHead journal_head() const {
    const Manifest& manifest = view_->manifest();
    return {.plan = digest128(
                formatted("add_column {} {}", column_.name, manifest.index_digest.to_hex())),
            .features_fingerprint = entry_.spec.fingerprint,
            .storage_fingerprint = manifest.storage_fingerprint,
            .numerics = manifest.numerics.hash(),
            .generation = generation_,
            .about = pipeline::encode_asked({.column = column_.name})};
  }

  Status end_shard() {
    pipeline::SealJob job;
    XTTS_ASSIGN(auto image, assembler_->end_shard());
    if (!image) return {};
    job.images.push_back({column_.name, rows_.shards.size() + planned_, std::move(image)});
    job.entry.planned_shard = planned_++;
    XTTS_TRY(sealer_->submit(std::move(job)));  // the previous shard is sealed now
    return planned_ < 2 ? Status() : spool_->remove(planned_ - 2);
  }

  // Finds where each clip's record lies now. The new records come in the order of to_make().
  Status locate() {
    const std::uint64_t first_block = rows_.block_count;
    for (const auto& shard : shards_) rows_.add_shard(shard.sealed.front(), generation_);
    pipeline::SealedRecords records(env_, view_->path(), shards_);
    std::size_t made = 0;
    for (std::uint64_t position = 0; position < view_->size(); ++position) {
      formats::LocationRow location;
      if (made < to_make_.size() && to_make_[made] == position) {
        XTTS_ASSIGN(const auto record, records.next());
        XTTS_ASSIGN(const auto details, view_->details(position));
        if (!record || record->id_hash != digest128(formats::full_id(details)))
          return {StatusCode::kInternal, "the added column's shards hold other clips"};
        location = {.block_row = static_cast<std::uint32_t>(first_block + record->block),
                    .slot = record->slot};
        ++made;
      } else {
        XTTS_ASSIGN(location, view_->location(entry_.spec.id, position));
      }
      append_row(location, rows_.locations);
    }
    return {};
  }

  // Writes the index again, with the new or changed column. Tombstones of a column that is made
  // anew lie in shards that are gone.
  Status write_index(Manifest& manifest) {
    pipeline::CopiedIndex changes;
    changes.columns.emplace(entry_.spec.id, rows_);
    XTTS_ASSIGN(const auto tombstones, view_->tombstones());
    for (const formats::TombstoneRow& row : tombstones)
      if (row.column_id != entry_.spec.id || is_continued_) changes.tombstones.add(row);
    return write_copied_index(view_->env(), view_->manifest(), changes, *folder_, manifest);
  }

  Result<Manifest> publish() {
    XTTS_TRY(locate());
    Manifest manifest = view_->manifest();
    manifest.generation = generation_;
    entry_.missing_count = 0;
    entry_.shards = rows_.shards;
    if (entry_.spec.id < manifest.columns.size()) {
      manifest.columns[entry_.spec.id] = entry_;
    } else {
      manifest.columns.push_back(entry_);
    }
    XTTS_TRY(write_index(manifest));
    XTTS_ASSIGN(const std::string rejects, view_->rejects_jsonl());
    const Digest index_before = view_->manifest().index_digest;
    XTTS_TRY(folder_->publish(manifest, rejects));
    if (auto sources = store::load_source_table(env_, view_->path());
        sources && sources->index_digest == index_before) {
      sources->index_digest = manifest.index_digest;
      XTTS_TRY(store::save_source_table(*folder_, std::move(*sources)));
    }
    sealer_.reset();
    view_.reset();  // releases its lock on the replaced generation
    XTTS_TRY(folder_->collect_garbage(&manifest, {}));
    XTTS_TRY(folder_->finish());
    return manifest;
  }

  const std::shared_ptr<Env> confined_;  // confined to the cache
  Env& env_;
  std::shared_ptr<reader::CacheView> view_;
  std::unique_ptr<store::CacheFolder> folder_;
  const NewColumn column_;
  ColumnEntry entry_;
  bool is_continued_ = false;  // the column's present records stay
  bool is_begun_ = false;      // the content of .build/ is ours
  std::uint64_t generation_ = 1;
  std::vector<std::uint64_t> to_make_;
  std::uint64_t next_ = 0;     // place in to_make_
  std::uint64_t planned_ = 0;  // shards
  std::uint64_t per_shard_ = 1;
  pipeline::ColumnRows rows_;
  std::unique_ptr<store::Journal> journal_;
  std::vector<store::JournalShard> shards_;  // by this addition
  std::optional<pipeline::Sealer> sealer_;
  std::optional<pipeline::ShardAssembler> assembler_;
  std::optional<RecordSpool> spool_;
};

}  // namespace

std::span<const std::string_view> reserved_column_names() {
  return kReserved;
}

Result<std::unique_ptr<ColumnAddition>> ColumnAddition::open(Env& env, const std::string& cache,
                                                             const NewColumn& column,
                                                             const WriteRun& run) {
  XTTS_TRY(check_name(column.name));
  XTTS_ASSIGN(auto folder, store::CacheFolder::open(env, cache, lease_callbacks_of(run)));
  XTTS_ASSIGN(auto view, reader::CacheView::open(env, cache));
  XTTS_TRY(view->manifest().allows_changes());
  auto addition = std::make_unique<Addition>(confined_to(env, cache, Links::kNone), std::move(view),
                                             std::move(folder), column);
  XTTS_TRY(addition->begin());
  return std::unique_ptr<ColumnAddition>(std::move(addition));
}

}  // namespace xtts::maintain
