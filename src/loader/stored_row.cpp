#include "loader/stored_row.hpp"

#include <cstring>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "reader/index_reader.hpp"

namespace xtts::loader {

Result<RecordHead> StoredRow::find(std::size_t column) {
  column_ = column;
  place_ = slot_.records.places[column][row_];
  // The record could not be found before. This call says why, or finds it after all.
  if (place_.block == nullptr) {
    const BatchClips& clips = slot_.clips;
    XTTS_ASSIGN(place_, caches_.locate_record(*clips.layout->columns[column].shared,
                                              clips.positions[row_]));
  }
  return RecordHead{.length = place_.record().length, .fill_bits = place_.record().fill_bits};
}

Status StoredRow::verify_in_place() {
  if (check_ == reader::Check::kNothing) return {};
  XTTS_TRY(place_.map->verify(place_));
  // The record may be sound only as a read from the disk gave it, and not where it is mapped.
  if (!place_.map->is_verified(place_)) slot_.found.must_copy = true;
  return {};
}

// The record in staging memory, if it was staged and is what was written. Otherwise nothing: the
// ordinary path says what is wrong with it.
std::span<const std::byte> StoredRow::staged_record() const {
  const std::vector<Tickets>& tickets = slot_.records.tickets;
  const bool is_staged =
      column_ < tickets.size() && row_ < tickets[column_].size() && ticket() != kNoTicket;
  if (!is_staged) return {};
  const std::span<const std::byte> region = staging_->wait_for(ticket_number(ticket()));
  if (region.empty() || check_ == reader::Check::kNothing) return region;
  if (place_.map->check(place_, region).ok()) return region;
  staging_->count_as_failed();
  return {};
}

Status StoredRow::copy_bytes(std::uint64_t offset_bytes, std::size_t size_bytes,
                             device::SlotMemory& slot, std::size_t place) {
  const auto staged = staged_record();
  const auto out = slot.staging().subspan(place, size_bytes);
  if (staged.empty()) return place_.map->copy(place_, offset_bytes, out, check_);
  if (size_bytes == 0 || is_borrowed(ticket())) return {};
  const auto wanted = staged.subspan(offset_bytes, size_bytes);
  if (staging_->is_borrowable() && slot.borrow(place, wanted)) {
    ticket() = borrowed_ticket(ticket());
    return {};
  }
  std::memcpy(out.data(), wanted.data(), size_bytes);
  return {};
}

Status StoredRow::show(std::uint64_t offset_bytes, std::size_t size_bytes, GuardedReader reader,
                       void* context) {
  const auto staged = staged_record();
  if (staged.empty()) {
    return place_.map->read(place_, offset_bytes, size_bytes, reader, context, check_);
  }
  reader(context, staged.subspan(offset_bytes, size_bytes));
  return {};
}

Status StoredRow::wrong_length(const ColumnLayout& column, std::uint64_t length) const {
  const std::uint64_t position = slot_.clips.positions[row_];
  const auto facts = caches_.details(position);
  return {StatusCode::kCorrupt,
          formatted("reading {} of clip {}: the record has {} rows, and the index says otherwise: "
                    "'xtts-precompute verify CACHE' says what is damaged",
                    column.column->spec.name,
                    facts.ok() ? formats::full_id(*facts) : formatted("at position {}", position),
                    length)};
}

}  // namespace xtts::loader
