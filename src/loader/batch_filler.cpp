#include "loader/batch_filler.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/float_range.hpp"
#include "base/formatted.hpp"
#include "base/guarded_read.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"

namespace xtts::loader {
namespace {

// How many pages this thread had to wait for a disk to bring.
long disk_waits() {
  rusage usage{};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_majflt : 0;
}

// The fewest digits that give the number back.
std::string shortest(float value) {
  std::array<char, 32> digits{};
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return error == std::errc() ? std::string(digits.data(), end) : std::string("a value");
}

std::uint32_t first_row_of(const BatchSlot& slot, std::uint64_t part) {
  return static_cast<std::uint32_t>(part * slot.clips.layout->batch_size / slot.part_count);
}

// Releases what was staged for the remaining rows, however the scope ends.
class StagedRows {
 public:
  StagedRows(const RecordFeed& feed, const BatchRecords& records, std::uint32_t first_row,
             std::uint32_t end_row)
      : feed_(feed), records_(records), row_(first_row), end_row_(end_row) {}
  ~StagedRows() { feed_.release(records_, row_, end_row_); }
  StagedRows(const StagedRows&) = delete;
  StagedRows& operator=(const StagedRows&) = delete;

  void release_next() {
    feed_.release(records_, row_, row_ + 1);
    ++row_;
  }
  void keep() { row_ = end_row_; }

 private:
  const RecordFeed& feed_;
  const BatchRecords& records_;
  std::uint32_t row_;
  std::uint32_t end_row_;
};

}  // namespace

bool is_damage(const Status& failure) noexcept {
  return failure.code() == StatusCode::kCorrupt || failure.code() == StatusCode::kSourceIo;
}

BatchFiller::BatchFiller(const RecordSource& source, RecordFeed& feed,
                         std::span<const BatchLayout> layouts, const BatchFillerOptions& options)
    : clips_(source.clips()), feed_(feed), layouts_(layouts), options_(options) {}

void BatchFiller::set_epochs(std::shared_ptr<const EpochPlan> now,
                             std::shared_ptr<const EpochPlan> next) {
  const std::scoped_lock lock(mutex_);
  this_epoch_ = std::move(now);
  next_epoch_ = std::move(next);
}

std::shared_ptr<const EpochPlan> BatchFiller::epoch_of(std::uint64_t step) const {
  const std::scoped_lock lock(mutex_);
  if (step < this_epoch_->end_step()) return this_epoch_;
  return next_epoch_ != nullptr && step < next_epoch_->end_step() ? next_epoch_ : nullptr;
}

Status BatchFiller::begin(BatchSlot& slot, std::uint64_t step) {
  slot.step = step;
  const bool disk_is_read = disk_is_read_.exchange(false, std::memory_order_relaxed);
  XTTS_ASSIGN(slot.clips, feed_.take(slot.records, step, disk_is_read));
  StagedRows staged(feed_, slot.records, 0, slot.clips.layout->batch_size);
  XTTS_TRY(prepare(slot));
  staged.keep();  // for the parts
  return {};
}

Status BatchFiller::prepare(BatchSlot& slot) {
  slot.found.is_damaged.assign(slot.clips.layout->batch_size, 0);
  slot.found.saturated.assign(slot.clips.layout->batch_size, {});
  slot.found.damage.clear();
  slot.found.read_count = 0;
  slot.found.must_copy = false;
  slot.finished.left_out_count = 0;
  slot.in_place = find_columns_in_place(slot.clips);
  XTTS_TRY(read_index_rows(slot.clips, slot.indexed, slot.found));
  feed_.find_records(slot.clips, slot.records);
  slot.part_count = feed_.part_count(slot);
  return {};
}

std::optional<BatchClips> BatchFiller::choose_clips(std::uint64_t step) const {
  const auto plan = epoch_of(step);
  if (plan == nullptr) return std::nullopt;
  BatchClips clips;
  clips.epoch = plan->epoch();
  clips.bucket = plan->bucket_of(step);
  clips.layout = &layouts_[clips.bucket];
  plan->find_places(step, options_.rank, clips.epoch_places);
  for (const std::uint64_t place : clips.epoch_places) {
    clips.positions.push_back(plan->sequence().position_at(place));
  }
  return clips;
}

// Finds the columns that need no copy. There are some only in a full batch of consecutive clips.
std::vector<ColumnInPlace> BatchFiller::find_columns_in_place(const BatchClips& clips) const {
  std::vector<ColumnInPlace> in_place(clips.layout->columns.size());
  const std::uint32_t batch_size = clips.layout->batch_size;
  if (!options_.reads_host_memory || options_.shuffle != Shuffle::kNone ||
      clips.positions.size() != batch_size ||
      clips.positions.back() - clips.positions.front() != batch_size - 1) {
    return in_place;
  }
  for (std::size_t i = 0; i < in_place.size(); ++i) {
    const ColumnLayout& column = clips.layout->columns[i];
    if (column.is_changed() || column.is_shortened() || column.pad_value) continue;
    in_place[i] = feed_.find_array(column, clips.positions.front(), batch_size);
  }
  return in_place;
}

RowOptions BatchFiller::row_options(reader::Check check) const noexcept {
  return {.check = check, .crop_frames = options_.crop_frames, .seed = options_.seed};
}

// Reads the clips' speakers, languages and first frames from the index.
Status BatchFiller::read_index_rows(const BatchClips& clips, IndexedRows& rows,
                                    FoundInRows& found) {
  rows.speakers.assign(clips.layout->batch_size, -1);
  rows.languages.assign(clips.layout->batch_size, -1);
  rows.first_frames.assign(options_.crop_frames > 0 ? clips.positions.size() : 0, 0);
  for (std::uint32_t row = 0; row < clips.positions.size(); ++row) {
    const auto plan = clips_.plan_row(clips.positions[row]);
    if (!plan.ok()) {
      XTTS_TRY(note_damage(clips, row, plan.status(), found));
      continue;
    }
    rows.speakers[row] = plan->speaker;
    rows.languages[row] = plan->language;
    if (options_.crop_frames == 0) continue;
    rows.first_frames[row] =
        first_frame_of_crop(clips, row, plan->mel_len, row_options(reader::Check::kNothing));
  }
  return {};
}

Status BatchFiller::fill_part(BatchSlot& slot, std::uint32_t part) {
  guard_reads();
  const long waits_before = disk_waits();
  const std::uint32_t first_row = first_row_of(slot, part);
  const std::uint32_t end_row = first_row_of(slot, std::uint64_t{part} + 1);
  StagedRows staged(feed_, slot.records, first_row, end_row);
  for (std::uint32_t row = first_row; row < end_row; ++row) {
    XTTS_TRY(fill_row_or_skip(slot, row));
    staged.release_next();
  }
  slot.found.read_count.fetch_add(
      count_rows_read(slot, first_row, end_row, disk_waits() != waits_before),
      std::memory_order_relaxed);
  return {};
}

// Without this, records that were staged for the part would keep their cells for ever.
void BatchFiller::drop_part(BatchSlot& slot, std::uint32_t part) noexcept {
  feed_.release(slot.records, first_row_of(slot, part),
                first_row_of(slot, std::uint64_t{part} + 1));
}

// Counts how many of the rows [first, end) were read from a disk. One thread has filled them.
// `has_waited`: it had to wait for pages.
std::uint32_t BatchFiller::count_rows_read(const BatchSlot& slot, std::uint32_t first_row,
                                           std::uint32_t end_row, bool has_waited) {
  if (has_waited) disk_is_read_.store(true, std::memory_order_relaxed);
  const auto valid_count = static_cast<std::uint32_t>(slot.clips.positions.size());
  end_row = std::min(end_row, valid_count);
  std::uint32_t read_count = 0;
  for (std::uint32_t row = first_row; row < end_row; ++row) {
    if (has_waited || !feed_.lies_in_memory(slot.records, row)) ++read_count;
  }
  return read_count;
}

Status BatchFiller::fill_row_or_skip(BatchSlot& slot, std::uint32_t row) {
  if (row >= slot.clips.positions.size()) {
    fill_empty_row(slot, row);
    return {};
  }
  if (slot.found.is_damaged[row] != 0) return {};
  const auto check = options_.verify_records ? reader::Check::kRecord : reader::Check::kNothing;
  auto saturated = feed_.copy_clip(slot, row, row_options(check));
  if (!saturated.ok()) {
    XTTS_TRY(note_damage(slot.clips, row, saturated.status(), slot.found));
    if (slot.found.is_damaged[row] != 0 || options_.on_damage != OnDamage::kIgnore) return {};
    // The record is copied as it is. It is not shown in place, where reading may be what failed.
    slot.found.must_copy = true;
    saturated = feed_.copy_clip(slot, row, row_options(reader::Check::kNothing));
    if (!saturated.ok()) return saturated.status();
  }
  slot.found.saturated[row] = *saturated;
  return check_range(slot.clips, row, *saturated);
}

// Refuses a row that lost values, unless the caller asked for the largest of the dtype.
Status BatchFiller::check_range(const BatchClips& clips, std::uint32_t row,
                                const Saturated& saturated) const {
  if (saturated.count == 0 || options_.on_range == OnRange::kClip) return {};
  const ColumnLayout& column = clips.layout->columns[saturated.column];
  const auto facts = clips_.details(clips.positions[row]);
  const bool fits_bfloat16 = column.dtype == DType::kFloat16 &&
                             std::abs(saturated.value) <= largest_that_fits(DType::kBFloat16);
  return {
      StatusCode::kInvalidArgument,
      formatted(
          "column '{}' of clip {}{}{}, which {} cannot hold: read the column as {}float32, or set "
          "on_range to clip, for the largest value of {}",
          column.column->spec.name,
          facts.ok() ? formats::full_id(*facts) : formatted("at position {}", clips.positions[row]),
          column.norm == nullptr ? " holds " : ", normalized, has ", shortest(saturated.value),
          to_string(column.dtype), fits_bfloat16 ? "bfloat16 or " : "", to_string(column.dtype))};
}

// Notes a record that is not what was written, cannot be read, or does not exist. Returns the
// failure where the batch must fail.
// A lack of memory, of descriptors or of a part of this build is no damage: no policy hides it.
Status BatchFiller::note_damage(const BatchClips& clips, std::uint32_t row, Status failure,
                                FoundInRows& found) {
  const bool is_rejected = failure.code() == StatusCode::kBadInput;
  if (!is_damage(failure) && !is_rejected) return failure;
  {
    const std::scoped_lock lock(mutex_);  // several fillers may get here
    const auto known =
        std::ranges::find(found.damage, clips.positions[row], &FoundDamage::position);
    if (known == found.damage.end()) {
      found.damage.push_back({clips.positions[row], failure.message(), is_rejected});
    }
  }
  if (options_.on_damage == OnDamage::kRaise && !is_rejected) return failure;
  if (options_.on_damage == OnDamage::kSkip || is_rejected) found.is_damaged[row] = 1;
  return {};
}

Status BatchFiller::finish(BatchSlot& slot) {
  const FoundInRows& found = slot.found;
  while (found.must_copy || std::ranges::find(found.is_damaged, 1) != found.is_damaged.end()) {
    XTTS_TRY(fill_again(slot));
  }
  std::byte* const host = slot.memory->host().data();
  const BatchLayout& layout = *slot.clips.layout;
  const IndexedRows& rows = slot.indexed;
  std::memcpy(host + layout.speakers_offset_bytes, rows.speakers.data(),
              rows.speakers.size() * sizeof(std::int32_t));
  std::memcpy(host + layout.languages_offset_bytes, rows.languages.data(),
              rows.languages.size() * sizeof(std::int32_t));
  XTTS_ASSIGN(slot.finished.uploaded, slot.memory->upload());
  slot.finished.true_bytes = true_bytes(slot);
  feed_.end_batch(slot.records, slot.memory);
  return {};
}

void BatchFiller::drop(BatchSlot& slot) {
  feed_.end_batch(slot.records, slot.memory);
  // For parts that an exception ended.
  feed_.release(slot.records, 0, slot.clips.layout->batch_size);
}

std::uint64_t BatchFiller::true_bytes(const BatchSlot& slot) const {
  std::uint64_t bytes = 0;
  for (const ColumnLayout& column : slot.clips.layout->columns) {
    for (const std::int32_t length : slot.ints_at(column.lengths_offset_bytes)) {
      bytes += static_cast<std::uint64_t>(length) * column.row_bytes;
    }
  }
  return bytes;
}

// Fills the whole batch once more, by copying, from the clips that were not found damaged. This is
// rare, so it is simple. If another clip turns out to be damaged, finish() calls it again, with
// fewer clips each time.
Status BatchFiller::fill_again(BatchSlot& slot) {
  BatchClips& clips = slot.clips;
  std::size_t sound_count = 0;
  for (std::size_t row = 0; row < clips.positions.size(); ++row) {
    if (slot.found.is_damaged[row] != 0) continue;
    clips.positions[sound_count] = clips.positions[row];
    clips.epoch_places[sound_count++] = clips.epoch_places[row];
  }
  slot.finished.left_out_count += clips.positions.size() - sound_count;
  clips.positions.resize(sound_count);
  clips.epoch_places.resize(sound_count);
  slot.found.is_damaged.assign(clips.layout->batch_size, 0);
  slot.found.saturated.assign(clips.layout->batch_size, {});
  slot.in_place.assign(clips.layout->columns.size(), {});
  slot.memory->discard();
  XTTS_TRY(read_index_rows(clips, slot.indexed, slot.found));
  feed_.find_again(clips, slot.records);
  for (std::uint32_t row = 0; row < clips.layout->batch_size; ++row) {
    XTTS_TRY(fill_row_or_skip(slot, row));
  }
  slot.found.must_copy = false;
  return {};
}

}  // namespace xtts::loader
