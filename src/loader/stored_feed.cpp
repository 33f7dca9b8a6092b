#include "loader/stored_feed.hpp"

#include <algorithm>
#include <utility>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "loader/epoch_plan.hpp"
#include "loader/option_rules.hpp"
#include "loader/stored_row.hpp"
#include "loader/stored_source.hpp"
#include "reader/block_map.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::loader {
namespace {

// The disk works on kReadsAtOnceBytes at once. More is no faster, but brings the records of several
// batches at the same moment. The rest of the staging memory, three times as much, holds records
// that wait to be checked and copied.
constexpr std::uint64_t kReadsAtOnceBytes = std::uint64_t{8} << 20U;
constexpr std::uint64_t kReadsAtOnceMin = 8;
constexpr std::uint64_t kReadsAtOnceMax = 128;
constexpr std::uint64_t kStagingBytes = std::uint64_t{32} << 20U;
// A part is so large that handing it out costs nothing, and so small that all threads end together.
constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20U;

// Values that become narrower are changed by the host, on their way into the slot.
bool has_borrowable_column(const BatchLayout& layout) {
  return std::ranges::any_of(layout.columns, [](const ColumnLayout& column) {
    return is_stageable(column) && (!column.is_changed() || column.may_be_changed_by_device());
  });
}

}  // namespace

Result<std::unique_ptr<RecordFeed>> StoredSource::open_feed(FeedJob job) {
  return std::unique_ptr<RecordFeed>(std::make_unique<StoredFeed>(*caches_, std::move(job)));
}

std::string StoredSource::remedy() const {
  std::string text;
  for (const std::string& path : caches_->paths()) {
    if (!text.empty()) text += " and ";
    text += reader::repair_command(path);
  }
  return text + " mends what is damaged";
}

std::uint32_t StoredSource::default_thread_count() const {
  return loader::default_thread_count();
}

std::string StoredSource::state_mismatch_message(const std::string& digest) const {
  return "the state is of another generation of the cache (index " + digest + ", here " +
         caches_->digest() + "): begin the epoch anew with set_epoch(), or open the cache of then";
}

StoredFeed::StoredFeed(const reader::CacheSet& caches, FeedJob job)
    : caches_(caches), verifies_records_(job.options.verify_records) {
  const BatchLayout& layout = job.layouts.front();
  choose_reading(job);
  if (job.options.shuffle == Shuffle::kWindow && staging_ == nullptr) {
    std::vector<const reader::SharedColumn*> columns;
    for (const ColumnLayout& column : layout.columns) columns.push_back(column.shared);
    window_reader_ = std::make_unique<WindowReader>(caches_, job.selection, std::move(columns),
                                                    job.options.lock_memory);
  }
  ahead_ = std::make_unique<ReadAhead>(caches_,
                                       ReadAheadOptions{.staging = staging_.get(),
                                                        .looks_ahead = window_reader_ == nullptr,
                                                        .reads_padding = verifies_records_},
                                       std::move(job.choose_clips));
}

// Releases fillers that wait for a window.
StoredFeed::~StoredFeed() {
  stop();
}

void StoredFeed::choose_reading(const FeedJob& job) {
  const ReadingFacts facts = find_reading_facts(caches_, job.layouts.front());
  storage_text_ = storage_in_words(facts);
  reading_ = loader::choose_reading(facts, job.options);
  if (reading_.reading == Reading::kMapped) return;
  const Status status = open_staging(job);
  if (!status.ok()) reading_ = fall_back(reading_, status);
}

Status StoredFeed::open_staging(const FeedJob& job) {
  const BatchLayout& layout = job.layouts.front();  // all have the same records
  std::uint64_t record_bytes_max = 0;
  std::uint32_t staged_count = 0;  // staged columns, and so staged records of a row
  for (const ColumnLayout& column : layout.columns) {
    if (!is_stageable(column)) continue;
    record_bytes_max = std::max(record_bytes_max, column.column->spec.record_bytes());
    ++staged_count;
  }
  if (staged_count == 0) {
    return {StatusCode::kUnsupported, "these records are small: the page cache is made for them"};
  }
  const std::uint64_t depth =
      std::clamp(kReadsAtOnceBytes / record_bytes_max, kReadsAtOnceMin, kReadsAtOnceMax);
  StagingOptions staging{.record_bytes_max = record_bytes_max,
                         .memory_bytes = kStagingBytes,
                         .depth = static_cast<std::uint32_t>(depth),
                         .held_count_max = staged_count};
  if (has_borrowable_column(layout)) {
    const auto rows = std::ranges::max(job.layouts, {}, &BatchLayout::batch_size).batch_size;
    staging.lender = &job.device;
    staging.borrowed_count_max = std::uint64_t{rows} * staged_count;
  }
  XTTS_TRY(try_direct_reads(layout));
  XTTS_ASSIGN(staging_, RecordStaging::open(caches_.env(), staging));
  return {};
}

// kUnsupported: none of the caches' file systems has direct reads. Other faults of a cache's first
// record are not told here, but when the record is read.
Status StoredFeed::try_direct_reads(const BatchLayout& layout) const {
  const auto column = std::ranges::find_if(layout.columns, is_stageable);
  Status unsupported;
  for (std::size_t cache = 0; cache < caches_.cache_count(); ++cache) {
    if (caches_.clip_count(cache) == 0) continue;
    const auto place = caches_.locate_record(*column->shared, caches_.first_position(cache));
    if (!place.ok()) continue;
    const auto file = place->map->direct_file(*place);
    if (file.ok()) return {};
    if (file.status().code() == StatusCode::kUnsupported) unsupported = file.status();
  }
  return unsupported;
}

void StoredFeed::begin_epoch(const EpochPlan& plan) {
  if (window_reader_ != nullptr) {
    window_reader_->begin(plan.sequence().order(), plan.first_place());
  }
  ahead_->restart();
}

void StoredFeed::stop() {
  if (window_reader_ != nullptr) window_reader_->stop();
}

Result<BatchClips> StoredFeed::take(BatchRecords& records, std::uint64_t step, bool disk_is_read) {
  auto clips = ahead_->take(records, step, disk_is_read);
  if (clips.ok() && window_reader_ != nullptr && !clips->epoch_places.empty()) {
    window_reader_->wait_for(clips->epoch_places.back());
  }
  return clips;
}

void StoredFeed::find_records(const BatchClips& clips, BatchRecords& records) {
  ahead_->find_records(clips, records);
}

void StoredFeed::find_again(const BatchClips& clips, BatchRecords& records) const {
  ahead_->find_again(clips, records);
}

void StoredFeed::release(const BatchRecords& records, std::uint32_t first_row,
                         std::uint32_t end_row) const {
  ahead_->release(records, first_row, end_row);
}

ColumnInPlace StoredFeed::find_array(const ColumnLayout& column, std::uint64_t first_position,
                                     std::uint32_t count) const {
  if (ahead_->is_staged(column)) return {};
  // A failure is not told here: the filler of each row tells it.
  auto array = caches_.find_array(*column.shared, first_position, count);
  if (!array.ok() || !*array) return {};
  return {std::move((*array)->mapping), (*array)->bytes.data()};
}

// How many bytes the parts have to copy, or to check in place.
std::uint64_t StoredFeed::work_bytes(const BatchSlot& slot) const {
  std::uint64_t bytes = 0;
  const BatchLayout& layout = *slot.clips.layout;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const ColumnLayout& column = layout.columns[i];
    const auto is_settled = [&](const reader::RecordPlace& place) {
      return !verifies_records_ || (place.block != nullptr && place.map->is_verified(place));
    };
    if (slot.in_place[i].mapping != nullptr &&
        std::ranges::all_of(slot.records.places[i], is_settled)) {
      continue;
    }
    bytes += column.record_bytes * layout.batch_size;
  }
  return bytes;
}

std::uint32_t StoredFeed::part_count(const BatchSlot& slot) const {
  const std::uint64_t parts = work_bytes(slot) / kPartBytes;
  return static_cast<std::uint32_t>(
      std::clamp<std::uint64_t>(parts, 1, slot.clips.layout->batch_size));
}

Result<Saturated> StoredFeed::copy_clip(BatchSlot& slot, std::uint32_t row,
                                        const RowOptions& options) const {
  StoredRow records(caches_, staging_.get(), slot, row, options.check);
  return place_records(slot, row, records, options.check);
}

bool StoredFeed::lies_in_memory(const BatchRecords& records, std::uint32_t row) const {
  const bool is_staged = std::ranges::any_of(records.tickets, [row](const Tickets& tickets) {
    return row < tickets.size() && tickets[row] != kNoTicket;
  });
  // A shard that is not mapped is read with calls, and calls do not tell whether they had to wait.
  const bool is_unmapped = std::ranges::any_of(records.places, [row](const Places& places) {
    return places[row].block != nullptr && !places[row].is_mapped();
  });
  return !is_staged && !is_unmapped;
}

// Lets go of the blocks, and of staged records when the device has copied them.
void StoredFeed::end_batch(BatchRecords& records, const device::SlotMemory* memory) const {
  if (memory != nullptr) ahead_->end_borrowing(records, memory->borrowed_until());
  for (Places& places : records.places) places.clear();
}

std::string StoredFeed::words_of_staging() const {
  std::string words = "direct: " + reading_.why;
  if (staging_->is_borrowable())
    words += "; the GPU copies records from where the disk has put them";
  if (const std::uint64_t count = staging_->failed_count(); count > 0) {
    words += formatted("; {} had to be read through the page cache",
                       counted(count, "record", "records"));
  }
  const std::string why_stopped = staging_->why_stopped();
  if (!why_stopped.empty()) {
    words += "; all records are read through the page cache now, because " + why_stopped;
  }
  return words;
}

FeedWords StoredFeed::words() const {
  FeedWords words{
      .storage = storage_text_, .reading = "mapped: " + reading_.why, .notice = reading_.notice};
  if (staging_ != nullptr) {
    words.reading = words_of_staging();
  }
  if (window_reader_ == nullptr) return words;
  const std::string more = window_reader_->shortfall();
  if (!words.notice.empty() && !more.empty()) words.notice += "; ";
  words.notice += more;
  return words;
}

}  // namespace xtts::loader
