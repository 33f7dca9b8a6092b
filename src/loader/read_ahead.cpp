#include "loader/read_ahead.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "base/formatted.hpp"
#include "reader/block_map.hpp"

namespace xtts::loader {
namespace {

// How many batches earlier headers of blocks are asked for than their records.
constexpr std::uint64_t kHeadersAhead = 2;
constexpr std::uint64_t kBatchesAheadMax = 64;
// After so many batches in a row that lie in memory, we believe that all do.
constexpr std::uint32_t kBatchesToAnnounce = 32;
// In columns of small records, whole blocks up to this size come with their headers. That is one
// read and not one for each record, and the other records will be wanted, too.
constexpr std::uint64_t kSmallBlockBytesMax = std::uint64_t{256} << 10U;
// How many records of a batch are looked at, about.
constexpr std::size_t kSampledRecords = 4;

void announce_record(const reader::RecordPlace& place) {
  place.block->mapping->will_need(place.offset_in_shard(),
                                  place.block->header.region_bytes(place.slot));
}

bool is_known(const reader::RecordPlace& place) {
  return place.block != nullptr && place.is_mapped();
}

// Looks at a page in the middle of the record. True where the system does not tell.
bool lies_in_memory(const reader::RecordPlace& place) {
  const FileMapping& mapping = *place.block->mapping;
  if (!mapping.tells_what_is_resident()) return true;
  const std::uint64_t middle =
      place.offset_in_shard() + place.block->header.region_bytes(place.slot) / 2;
  return mapping.resident_bytes(middle, 1) > 0;
}

}  // namespace

bool is_stageable(const ColumnLayout& column) {
  return column.column->spec.record_bytes() >= kStagedRecordBytesMin;
}

ReadAhead::ReadAhead(const reader::CacheSet& caches, const ReadAheadOptions& options,
                     ChooseClips choose_clips)
    : caches_(caches), options_(options), choose_clips_(std::move(choose_clips)) {}

void ReadAhead::restart() {
  planned_.clear();
  asked_count_ = 0;
  first_step_ = 0;
  batches_to_announce_ = kBatchesToAnnounce;
  if (options_.staging != nullptr) options_.staging->clear();
}

bool ReadAhead::is_staged(const ColumnLayout& column) const {
  return options_.staging != nullptr && is_stageable(column);
}

bool ReadAhead::looks_ahead() const {
  return options_.looks_ahead && (options_.staging != nullptr || batches_to_announce_ > 0);
}

// So many batches that their records fill the staging memory, or kAnnouncedBytes.
std::uint64_t ReadAhead::batches_ahead(const BatchClips& clips) const {
  if (!looks_ahead()) return 0;
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  for (const ColumnLayout& column : clips.layout->columns) {
    if (is_staged(column)) count += clips.layout->batch_size;
    bytes += column.column->spec.record_bytes() * clips.layout->batch_size;
  }
  const std::uint64_t batches = count > 0 ? (options_.staging->cell_count() + count - 1) / count
                                          : kAnnouncedBytes / std::max(bytes, std::uint64_t{1});
  return std::clamp(batches, std::uint64_t{1}, kBatchesAheadMax);
}

Result<BatchClips> ReadAhead::take(BatchRecords& records, std::uint64_t step, bool disk_is_read) {
  if (disk_is_read) batches_to_announce_ = kBatchesToAnnounce;
  // Drops batches whose take() failed: nobody will ask for them again.
  while (!planned_.empty() && first_step_ < step) {
    release(planned_.front().records, 0, planned_.front().clips.positions.size());
    drop_first();
  }
  if (planned_.empty()) {
    first_step_ = step;
    if (!plan_next()) {
      return Status(StatusCode::kInternal, formatted("no epoch has the step {}", step));
    }
  }
  plan_until(step + 1 + batches_ahead(planned_.front().clips));
  Planned next = std::move(planned_.front());
  drop_first();
  records = std::move(next.records);
  return std::move(next.clips);
}

void ReadAhead::drop_first() {
  planned_.pop_front();
  ++first_step_;
  if (asked_count_ > 0) --asked_count_;
}

// Returns false where no further step is known now.
bool ReadAhead::plan_next() {
  auto clips = choose_clips_(first_step_ + planned_.size());
  if (!clips) return false;
  planned_.push_back({.clips = std::move(*clips)});
  if (looks_ahead()) announce_headers(planned_.back().clips);
  return true;
}

// Asks for the records of all steps below `end_step`, and for the headers of kHeadersAhead more.
void ReadAhead::plan_until(std::uint64_t end_step) {
  if (!looks_ahead()) return;
  while (first_step_ + planned_.size() < end_step + kHeadersAhead && plan_next()) {
  }
  while (asked_count_ < planned_.size() && first_step_ + asked_count_ < end_step) {
    ask_for(planned_[asked_count_]);
    ++asked_count_;
  }
}

void ReadAhead::announce_headers(const BatchClips& clips) const {
  for (const ColumnLayout& column : clips.layout->columns) {
    const bool is_small = column.column->spec.record_bytes() < kStagedRecordBytesMin;
    for (const std::uint64_t position : clips.positions) {
      const auto place = caches_.locate(position);
      const auto cache = caches_.cache(place.table);
      const auto id = caches_.column_id(*column.shared, place.table);
      if (!cache.ok() || !id.ok()) continue;
      (*cache)->blocks().announce_block(*id, place.position, is_small ? kSmallBlockBytesMax : 0);
    }
  }
}

std::vector<Places> ReadAhead::locate(const BatchClips& clips) const {
  std::vector<Places> places(clips.layout->columns.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].reserve(clips.positions.size());
    for (const std::uint64_t position : clips.positions) {
      auto place = caches_.locate_record(*clips.layout->columns[i].shared, position);
      places[i].push_back(place.ok() ? std::move(*place) : reader::RecordPlace());
    }
  }
  return places;
}

void ReadAhead::ask_for(Planned& planned) {
  const BatchLayout& layout = *planned.clips.layout;
  BatchRecords& records = planned.records;
  records.places = locate(planned.clips);
  check_whether_in_memory(layout, records.places);
  records.tickets.assign(layout.columns.size(), {});
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    if (is_staged(layout.columns[i]))
      records.tickets[i].assign(records.places[i].size(), kNoTicket);
  }
  // Nothing may throw from here on: a ticket that nobody holds would never be released. Tickets are
  // taken in the order in which rows are filled, because cells go to tickets in turn.
  for (std::size_t row = 0; row < planned.clips.positions.size(); ++row) {
    for (std::size_t i = 0; i < layout.columns.size(); ++i) {
      if (is_staged(layout.columns[i])) records.tickets[i][row] = stage(records.places[i][row]);
    }
  }
  records.are_found = true;
  if (batches_to_announce_ > 0) announce(layout, records.places);
}

void ReadAhead::find_records(const BatchClips& clips, BatchRecords& records) {
  if (records.are_found) return;
  find_again(clips, records);
  records.are_found = true;
  if (!options_.looks_ahead) return;
  check_whether_in_memory(*clips.layout, records.places);
  if (batches_to_announce_ > 0) announce(*clips.layout, records.places);
}

void ReadAhead::find_again(const BatchClips& clips, BatchRecords& records) const {
  end_borrowing(records, nullptr);
  records.places = locate(clips);
  records.tickets.clear();
}

void ReadAhead::check_whether_in_memory(const BatchLayout& layout,
                                        const std::vector<Places>& places) {
  bool is_on_disk = false;
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (is_staged(layout.columns[i])) continue;
    const std::size_t apart = std::max<std::size_t>(places[i].size() / kSampledRecords, 1);
    for (std::size_t row = 0; row < places[i].size() && !is_on_disk; row += apart) {
      is_on_disk = is_known(places[i][row]) && !lies_in_memory(places[i][row]);
    }
  }
  batches_to_announce_ =
      is_on_disk ? kBatchesToAnnounce : batches_to_announce_ - std::min(batches_to_announce_, 1U);
}

void ReadAhead::announce(const BatchLayout& layout, const std::vector<Places>& places) const {
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (is_staged(layout.columns[i])) continue;
    for (const reader::RecordPlace& place : places[i]) {
      if (is_known(place)) announce_record(place);
    }
  }
}

std::uint64_t ReadAhead::stage(const reader::RecordPlace& place) const noexcept try {
  if (place.block == nullptr) return kNoTicket;
  const std::uint64_t true_bytes = place.record().length * place.block->header.column.row_bytes();
  const std::uint64_t region_bytes = place.block->header.region_bytes(place.slot);
  const std::uint64_t bytes = options_.reads_padding ? region_bytes : true_bytes;
  if (bytes == 0) return kNoTicket;
  auto file = place.map->direct_file(place);
  if (!file.ok()) {
    options_.staging->count_as_failed();
    return kNoTicket;
  }
  return options_.staging->add(std::move(*file), place.offset_in_shard(), bytes);
} catch (const std::bad_alloc&) {
  return kNoTicket;
}

void ReadAhead::release(const BatchRecords& records, std::size_t first_row,
                        std::size_t end_row) const {
  for (const Tickets& of_column : records.tickets) {
    for (std::size_t row = first_row; row < std::min(end_row, of_column.size()); ++row) {
      const std::uint64_t ticket = of_column[row];
      if (ticket == kNoTicket) continue;
      if (is_borrowed(ticket)) {
        options_.staging->go_on();  // earlier uploads may have ended
      } else {
        options_.staging->release(ticket);
      }
    }
  }
}

void ReadAhead::end_borrowing(
    BatchRecords& records,
    const std::shared_ptr<const device::BorrowingEnd>& until) const noexcept {
  for (Tickets& of_column : records.tickets) {
    for (std::uint64_t& ticket : of_column) {
      if (!is_borrowed(ticket)) continue;
      if (until != nullptr) {
        options_.staging->release_after(until, ticket_number(ticket));
      } else {
        options_.staging->release(ticket_number(ticket));
      }
      ticket = kNoTicket;
    }
  }
  if (options_.staging != nullptr && until != nullptr) options_.staging->go_on();
}

}  // namespace xtts::loader
