#include "loader/batch_filler.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/float_range.hpp"
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
  return static_cast<std::uint32_t>(part * slot.layout->batch_size / slot.part_count);
}

// Releases what was staged for the remaining rows, however the scope ends.
class StagedRows {
 public:
  StagedRows(const RecordFeed& feed, const BatchSlot& slot, std::uint32_t first_row,
             std::uint32_t end_row)
      : feed_(feed), slot_(slot), row_(first_row), end_row_(end_row) {}
  ~StagedRows() { feed_.release(slot_, row_, end_row_); }
  StagedRows(const StagedRows&) = delete;
  StagedRows& operator=(const StagedRows&) = delete;

  void release_next() {
    feed_.release(slot_, row_, row_ + 1);
    ++row_;
  }
  void keep() { row_ = end_row_; }

 private:
  const RecordFeed& feed_;
  const BatchSlot& slot_;
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
  XTTS_TRY(feed_.take(slot, step, disk_is_read_.exchange(false, std::memory_order_relaxed)));
  StagedRows staged(feed_, slot, 0, slot.layout->batch_size);
  XTTS_TRY(prepare(slot));
  staged.keep();  // for the parts
  return {};
}

Status BatchFiller::prepare(BatchSlot& slot) {
  slot.is_damaged.assign(slot.layout->batch_size, 0);
  slot.saturated.assign(slot.layout->batch_size, {});
  slot.must_copy = false;
  slot.rows_read = 0;
  slot.damage.clear();
  slot.left_out_count = 0;
  slot.in_place.assign(slot.layout->columns.size(), {});
  find_columns_in_place(slot);
  XTTS_TRY(read_index_rows(slot));
  feed_.find_records(slot);
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
void BatchFiller::find_columns_in_place(BatchSlot& slot) {
  const std::uint32_t batch_size = slot.layout->batch_size;
  if (!options_.reads_host_memory || options_.shuffle != Shuffle::kNone ||
      slot.positions.size() != batch_size ||
      slot.positions.back() - slot.positions.front() != batch_size - 1) {
    return;
  }
  for (std::size_t i = 0; i < slot.layout->columns.size(); ++i) {
    const ColumnLayout& column = slot.layout->columns[i];
    if (column.is_changed() || column.is_shortened() || column.pad_value) continue;
    slot.in_place[i] = feed_.find_array(column, slot.positions.front(), batch_size);
  }
}

RowOptions BatchFiller::row_options(reader::Check check) const noexcept {
  return {.check = check, .crop_frames = options_.crop_frames, .seed = options_.seed};
}

// Reads the clips' speakers, languages and first frames from the index.
Status BatchFiller::read_index_rows(BatchSlot& slot) {
  slot.speakers.assign(slot.layout->batch_size, -1);
  slot.languages.assign(slot.layout->batch_size, -1);
  slot.first_frames.assign(options_.crop_frames > 0 ? slot.positions.size() : 0, 0);
  for (std::uint32_t row = 0; row < slot.positions.size(); ++row) {
    const auto plan = clips_.plan_row(slot.positions[row]);
    if (!plan.ok()) {
      XTTS_TRY(note_damage(slot, row, plan.status()));
      continue;
    }
    slot.speakers[row] = plan->speaker;
    slot.languages[row] = plan->language;
    if (options_.crop_frames == 0) continue;
    slot.first_frames[row] =
        first_frame_of_crop(slot, row, plan->mel_len, row_options(reader::Check::kNothing));
  }
  return {};
}

Status BatchFiller::fill_part(BatchSlot& slot, std::uint32_t part) {
  guard_reads();
  const long waits_before = disk_waits();
  const std::uint32_t first_row = first_row_of(slot, part);
  const std::uint32_t end_row = first_row_of(slot, std::uint64_t{part} + 1);
  StagedRows staged(feed_, slot, first_row, end_row);
  for (std::uint32_t row = first_row; row < end_row; ++row) {
    XTTS_TRY(fill_row_or_skip(slot, row));
    staged.release_next();
  }
  count_rows_read(slot, first_row, end_row, disk_waits() != waits_before);
  return {};
}

// Without this, records that were staged for the part would keep their cells for ever.
void BatchFiller::drop_part(BatchSlot& slot, std::uint32_t part) noexcept {
  feed_.release(slot, first_row_of(slot, part), first_row_of(slot, std::uint64_t{part} + 1));
}

// Counts how many of the rows [first, end) were read from a disk. One thread has filled them.
// `has_waited`: it had to wait for pages.
void BatchFiller::count_rows_read(BatchSlot& slot, std::uint32_t first_row, std::uint32_t end_row,
                                  bool has_waited) {
  if (has_waited) disk_is_read_.store(true, std::memory_order_relaxed);
  const auto valid_count = static_cast<std::uint32_t>(slot.positions.size());
  end_row = std::min(end_row, valid_count);
  std::uint32_t read_count = 0;
  for (std::uint32_t row = first_row; row < end_row; ++row) {
    if (has_waited || !feed_.lies_in_memory(slot, row)) ++read_count;
  }
  slot.rows_read.fetch_add(read_count, std::memory_order_relaxed);
}

Status BatchFiller::fill_row_or_skip(BatchSlot& slot, std::uint32_t row) {
  if (row >= slot.positions.size()) {
    fill_empty_row(slot, row);
    return {};
  }
  if (slot.is_damaged[row] != 0) return {};
  const auto check = options_.verify_records ? reader::Check::kRecord : reader::Check::kNothing;
  Status status = feed_.copy_clip(slot, row, row_options(check));
  if (status.ok()) return check_range(slot, row);
  XTTS_TRY(note_damage(slot, row, std::move(status)));
  if (slot.is_damaged[row] != 0 || options_.on_damage != OnDamage::kIgnore) return {};
  // The record is copied as it is. It is not shown in place, where reading may be what failed.
  slot.must_copy = true;
  XTTS_TRY(feed_.copy_clip(slot, row, row_options(reader::Check::kNothing)));
  return check_range(slot, row);
}

// Refuses a row that lost values, unless the caller asked for the largest of the dtype.
Status BatchFiller::check_range(const BatchSlot& slot, std::uint32_t row) const {
  const Saturated& saturated = slot.saturated[row];
  if (saturated.count == 0 || options_.on_range == OnRange::kClip) return {};
  const ColumnLayout& column = slot.layout->columns[saturated.column];
  const auto facts = clips_.details(slot.positions[row]);
  const bool fits_bfloat16 = column.dtype == DType::kFloat16 &&
                             std::abs(saturated.value) <= largest_that_fits(DType::kBFloat16);
  return {StatusCode::kInvalidArgument,
          "column '" + column.column->spec.name + "' of clip " +
              (facts.ok() ? formats::full_id(*facts)
                          : "at position " + std::to_string(slot.positions[row])) +
              (column.norm == nullptr ? " holds " : ", normalized, has ") +
              shortest(saturated.value) + ", which " + std::string(to_string(column.dtype)) +
              " cannot hold: read the column as " + (fits_bfloat16 ? "bfloat16 or " : "") +
              "float32, or set on_range to clip, for the largest value of " +
              std::string(to_string(column.dtype))};
}

// Notes a record that is not what was written, cannot be read, or does not exist. Returns the
// failure where the batch must fail.
// A lack of memory, of descriptors or of a part of this build is no damage: no policy hides it.
Status BatchFiller::note_damage(BatchSlot& slot, std::uint32_t row, Status failure) {
  const bool is_rejected = failure.code() == StatusCode::kBadInput;
  if (!is_damage(failure) && !is_rejected) return failure;
  {
    const std::scoped_lock lock(mutex_);  // several fillers may get here
    const auto known = std::ranges::find(slot.damage, slot.positions[row], &FoundDamage::position);
    if (known == slot.damage.end()) {
      slot.damage.push_back({slot.positions[row], failure.message(), is_rejected});
    }
  }
  if (options_.on_damage == OnDamage::kRaise && !is_rejected) return failure;
  if (options_.on_damage == OnDamage::kSkip || is_rejected) slot.is_damaged[row] = 1;
  return {};
}

Status BatchFiller::finish(BatchSlot& slot) {
  while (slot.must_copy || std::ranges::find(slot.is_damaged, 1) != slot.is_damaged.end()) {
    XTTS_TRY(fill_again(slot));
  }
  std::byte* const host = slot.memory->host().data();
  std::memcpy(host + slot.layout->speakers_offset_bytes, slot.speakers.data(),
              slot.speakers.size() * sizeof(std::int32_t));
  std::memcpy(host + slot.layout->languages_offset_bytes, slot.languages.data(),
              slot.languages.size() * sizeof(std::int32_t));
  XTTS_ASSIGN(slot.uploaded, slot.memory->upload());
  slot.true_bytes = true_bytes(slot);
  feed_.end_batch(slot);
  return {};
}

void BatchFiller::drop(BatchSlot& slot) {
  feed_.end_batch(slot);
  feed_.release(slot, 0, slot.layout->batch_size);  // of parts that an exception ended
}

std::uint64_t BatchFiller::true_bytes(const BatchSlot& slot) const {
  std::uint64_t bytes = 0;
  for (const ColumnLayout& column : slot.layout->columns) {
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
  std::size_t sound_count = 0;
  for (std::size_t row = 0; row < slot.positions.size(); ++row) {
    if (slot.is_damaged[row] != 0) continue;
    slot.positions[sound_count] = slot.positions[row];
    slot.epoch_places[sound_count++] = slot.epoch_places[row];
  }
  slot.left_out_count += slot.positions.size() - sound_count;
  slot.positions.resize(sound_count);
  slot.epoch_places.resize(sound_count);
  slot.is_damaged.assign(slot.layout->batch_size, 0);
  slot.saturated.assign(slot.layout->batch_size, {});
  slot.in_place.assign(slot.layout->columns.size(), {});
  slot.memory->discard();
  XTTS_TRY(read_index_rows(slot));
  feed_.find_again(slot);
  for (std::uint32_t row = 0; row < slot.layout->batch_size; ++row) {
    XTTS_TRY(fill_row_or_skip(slot, row));
  }
  slot.must_copy = false;
  return {};
}

}  // namespace xtts::loader
