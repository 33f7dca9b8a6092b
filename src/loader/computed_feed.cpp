#include "loader/computed_feed.hpp"

#include <algorithm>
#include <span>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

// The records of a clip that has been computed.
class ComputedRow final : public RowRecords {
 public:
  ComputedRow(const BatchLayout& layout, const SourceRecord& record)
      : layout_(layout), record_(record) {}

  Result<RecordHead> find(std::size_t column) override {
    const ColumnLayout& wanted = layout_.columns[column];
    const std::size_t place = wanted.shared->number;
    if (place >= record_.columns.size()) return broken(wanted);
    column_ = &record_.columns[place];
    if (column_->rows.size() != column_->length * wanted.stored_row_bytes ||
        column_->length > wanted.column->spec.shape[0]) {
      return broken(wanted);
    }
    return RecordHead{.length = column_->length, .fill_bits = column_->fill_bits};
  }
  Status verify_in_place() override { return {}; }
  Status copy_bytes(std::uint64_t offset_bytes, std::size_t size_bytes, device::SlotMemory& slot,
                    std::size_t place) override {
    const auto rows = std::span(column_->rows).subspan(offset_bytes, size_bytes);
    std::ranges::copy(rows, slot.staging().subspan(place, size_bytes).begin());
    return {};
  }
  Status show(std::uint64_t offset_bytes, std::size_t size_bytes, GuardedReader reader,
              void* context) override {
    reader(context, std::span(column_->rows).subspan(offset_bytes, size_bytes));
    return {};
  }
  Status wrong_length(const ColumnLayout& column, std::uint64_t length) const override {
    return {StatusCode::kMismatch,
            formatted("a clip has {} of {} now, and had fewer when its bucket was chosen: its "
                      "source has changed",
                      counted(length, "row", "rows"), column.column->spec.name)};
  }

 private:
  static Status broken(const ColumnLayout& column) {
    return {StatusCode::kInternal, formatted("a computed record of {} has not its column's form",
                                             column.column->spec.name)};
  }

  const BatchLayout& layout_;
  const SourceRecord& record_;
  const RecordRows* column_ = nullptr;  // as find() says
};

}  // namespace

Result<BatchClips> ComputedFeed::take(BatchRecords& records, std::uint64_t step,
                                      bool /*disk_is_read*/) {
  end_batch(records, nullptr);  // frees the records of a batch that has failed
  auto clips = choose_clips_(step);
  if (!clips) return Status(StatusCode::kInternal, formatted("no epoch has the step {}", step));
  records.computed.resize(clips->positions.size());
  return std::move(*clips);
}

// Keeps the clips that are left, in their order.
void ComputedFeed::find_again(const BatchClips& /*clips*/, BatchRecords& records) const {
  std::erase(records.computed, nullptr);
}

std::uint32_t ComputedFeed::part_count(const BatchSlot& slot) const {
  return slot.clips.layout->batch_size;
}

Result<Saturated> ComputedFeed::copy_clip(BatchSlot& slot, std::uint32_t row,
                                          const RowOptions& options) const {
  Memory& clip = slot.records.computed[row];
  if (clip == nullptr) {
    Memory fresh = take_memory();
    XTTS_TRY(source_->compute(slot.clips.positions[row], *fresh));
    if (!fresh->reject.empty()) return Status(StatusCode::kBadInput, fresh->reject);
    clip = std::move(fresh);
  }
  if (options.crop_frames > 0) {  // the clip's length was not known before
    slot.indexed.first_frames[row] =
        first_frame_of_crop(slot.clips, row, clip->frame_count, options);
  }
  ComputedRow records(*slot.clips.layout, *clip);
  return place_records(slot, row, records, reader::Check::kRecord);
}

ComputedFeed::Memory ComputedFeed::take_memory() const {
  {
    const std::scoped_lock lock(mutex_);
    if (!free_.empty()) {
      Memory memory = std::move(free_.back());
      free_.pop_back();
      return memory;
    }
  }
  return std::make_unique<SourceRecord>();
}

void ComputedFeed::end_batch(BatchRecords& records, const device::SlotMemory* /*memory*/) const {
  const std::scoped_lock lock(mutex_);
  for (Memory& memory : records.computed) {
    if (memory != nullptr) free_.push_back(std::move(memory));
  }
  records.computed.clear();
}

FeedWords ComputedFeed::words() const {
  return {.storage = source_->path(), .reading = "computed now, a clip at a time on each thread"};
}

}  // namespace xtts::loader
