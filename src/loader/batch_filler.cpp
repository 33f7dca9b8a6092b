#include "loader/batch_filler.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/guarded_read.hpp"
#include "base/try.hpp"

namespace xtts::loader {
namespace {

// Large enough that handing out parts costs nothing, small enough that all threads end together.
constexpr std::uint64_t kPartBytes = std::uint64_t{1} << 20U;
constexpr std::size_t kDamageTextsMax = 16;

// Pages that this thread had to wait for a disk for.
long disk_waits() {
  rusage usage{};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_majflt : 0;
}

void announce(const reader::RecordPlace& place) {
  const std::span<const std::byte> region = place.region();
  const auto offset = region.data() - place.block->mapping->bytes().data();
  place.block->mapping->will_need(static_cast<std::uint64_t>(offset), region.size());
}

}  // namespace

BatchFiller::BatchFiller(reader::CacheView& cache, const Selection& selection,
                         const BatchLayout& layout, const BatchFillerOptions& options)
    : cache_(cache),
      selection_(selection),
      layout_(layout),
      options_(options),
      sequence_(selection, options.groups, options.order),
      rows_(cache.blocks(), layout),
      scratch_(options.thread_count + 1) {}

void BatchFiller::set_order(const EpochOrderOptions& order, const Steps& steps) {
  options_.order = order;
  options_.steps = steps;
  sequence_ = EpochSequence(selection_, options_.groups, order);
}

Status BatchFiller::begin(BatchSlot& slot, std::uint64_t step) {
  const PlaceRange places = options_.steps.places_of(step, options_.rank);
  slot.step = step;
  slot.positions.clear();
  for (std::uint64_t i = 0; i < places.count; ++i) {
    slot.positions.push_back(sequence_.position_at(places.first + i));
  }
  if (options_.window_reader != nullptr && places.count > 0) {
    options_.window_reader->wait_for(places.first + places.count - 1);
  }
  slot.is_damaged.assign(layout_.batch_size, 0);
  slot.must_copy = false;
  slot.in_place.assign(layout_.columns.size(), {});
  place_in_cache(slot);
  XTTS_TRY(find_speakers_and_languages(slot));
  locate_records(slot);
  const std::uint64_t parts = work_bytes(slot) / kPartBytes;
  slot.part_count =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(parts, 1, layout_.batch_size));
  return {};
}

// What the parts have to go through: what is copied, and what is checked where it lies.
std::uint64_t BatchFiller::work_bytes(const BatchSlot& slot) const {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < layout_.columns.size(); ++i) {
    const ColumnLayout& column = layout_.columns[i];
    const auto is_settled = [&](const reader::RecordPlace& place) {
      return !options_.verify_records ||
             (place.block != nullptr && cache_.blocks().is_verified(place));
    };
    if (slot.in_place[i].mapping != nullptr && std::ranges::all_of(slot.places[i], is_settled)) {
      continue;
    }
    bytes += column.record_bytes * layout_.batch_size;
  }
  return bytes;
}

// Finds the columns of a full batch of consecutive clips that need no copy.
void BatchFiller::place_in_cache(BatchSlot& slot) {
  if (options_.order.shuffle != Shuffle::kNone || slot.positions.size() != layout_.batch_size ||
      slot.positions.back() - slot.positions.front() != layout_.batch_size - 1) {
    return;
  }
  for (std::size_t i = 0; i < layout_.columns.size(); ++i) {
    const ColumnLayout& column = layout_.columns[i];
    if (column.is_converted() || column.pad_value) continue;
    // What cannot be found is told row by row, by whoever fills it.
    auto array = cache_.blocks().find_array(column.column->spec.id, slot.positions.front(),
                                            layout_.batch_size);
    if (!array.ok() || !*array) continue;
    slot.in_place[i] = {std::move((*array)->mapping), (*array)->bytes.data()};
  }
}

Status BatchFiller::find_speakers_and_languages(BatchSlot& slot) {
  slot.speakers.assign(layout_.batch_size, -1);
  slot.languages.assign(layout_.batch_size, -1);
  for (std::uint32_t row = 0; row < slot.positions.size(); ++row) {
    const auto plan = cache_.plan_row(slot.positions[row]);
    if (!plan.ok()) {
      XTTS_TRY(note_damage(slot, row, plan.status()));
      continue;
    }
    slot.speakers[row] = plan->speaker;
    slot.languages[row] = plan->language;
  }
  return {};
}

// Finds the records of all rows, each block's header being read once, and announces them to the
// kernel, so that the disk works on all of them at once while earlier batches are filled and
// consumed.
void BatchFiller::locate_records(BatchSlot& slot) {
  const bool is_announced = disk_is_read_.load(std::memory_order_relaxed);
  slot.places.resize(layout_.columns.size());
  for (std::size_t i = 0; i < layout_.columns.size(); ++i) {
    Places& places = slot.places[i];
    places.clear();
    for (const std::uint64_t position : slot.positions) {
      auto place = cache_.blocks().locate(layout_.columns[i].column->spec.id, position);
      places.push_back(place.ok() ? std::move(*place) : reader::RecordPlace());
      if (is_announced && place.ok() && places.back().is_mapped()) announce(places.back());
    }
  }
}

Status BatchFiller::fill_part(BatchSlot& slot, std::uint32_t part, std::uint32_t thread) {
  guard_reads();
  const long waits_before = disk_waits();
  const auto first_row = [&](std::uint64_t of_part) {
    return static_cast<std::uint32_t>(of_part * layout_.batch_size / slot.part_count);
  };
  for (std::uint32_t row = first_row(part); row < first_row(std::uint64_t{part} + 1); ++row) {
    XTTS_TRY(fill_row(slot, row, scratch_[thread]));
  }
  disk_is_read_.store(disk_waits() != waits_before, std::memory_order_relaxed);
  return {};
}

Status BatchFiller::fill_row(BatchSlot& slot, std::uint32_t row, FillScratch& scratch) {
  if (row >= slot.positions.size()) {
    rows_.fill_empty(slot, row);
    return {};
  }
  if (slot.is_damaged[row] != 0) return {};
  const auto check = options_.verify_records ? reader::Check::kRecord : reader::Check::kNothing;
  Status status = rows_.fill(slot, row, check, scratch);
  if (status.ok()) return status;
  XTTS_TRY(note_damage(slot, row, std::move(status)));
  if (options_.on_damage != OnDamage::kIgnore) return {};
  // As it is; but not in place, where reading it may be what failed.
  slot.must_copy = true;
  return rows_.fill(slot, row, reader::Check::kNothing, scratch);
}

// Counts a record that is not what was written, or cannot be read, and says what follows. That the
// machine lacks memory or descriptors, or this build a part, is nobody's damage: no policy hides
// it.
Status BatchFiller::note_damage(BatchSlot& slot, std::uint32_t row, Status failure) {
  const bool is_damage =
      failure.code() == StatusCode::kCorrupt || failure.code() == StatusCode::kSourceIo;
  if (!is_damage) return failure;
  {
    const std::scoped_lock lock(mutex_);
    ++counts_.damaged;
    if (counts_.damage.size() < kDamageTextsMax) counts_.damage.push_back(failure.message());
  }
  if (options_.on_damage == OnDamage::kRaise) return failure;
  if (options_.on_damage == OnDamage::kSkip) slot.is_damaged[row] = 1;
  return {};
}

Status BatchFiller::finish(BatchSlot& slot) {
  while (slot.must_copy || std::ranges::find(slot.is_damaged, 1) != slot.is_damaged.end()) {
    XTTS_TRY(fill_again(slot));
  }
  std::byte* const host = slot.memory->host().data();
  std::memcpy(host + layout_.speakers_offset_bytes, slot.speakers.data(),
              slot.speakers.size() * sizeof(std::int32_t));
  std::memcpy(host + layout_.languages_offset_bytes, slot.languages.data(),
              slot.languages.size() * sizeof(std::int32_t));
  XTTS_TRY(slot.memory->upload());
  XTTS_TRY(slot.memory->wait_for_upload());
  slot.true_bytes = true_bytes(slot);
  for (Places& places : slot.places) places.clear();  // their blocks are not kept any longer
  return {};
}

std::uint64_t BatchFiller::true_bytes(const BatchSlot& slot) const {
  std::uint64_t bytes = 0;
  for (const ColumnLayout& column : layout_.columns) {
    const std::byte* const lengths = slot.memory->host().data() + column.lengths_offset_bytes;
    for (std::uint32_t row = 0; row < layout_.batch_size; ++row) {
      std::int32_t length = 0;
      std::memcpy(&length, lengths + row * sizeof length, sizeof length);
      bytes += static_cast<std::uint64_t>(length) * column.row_bytes;
    }
  }
  return bytes;
}

// Rare, so simple: the whole batch once more, copied, from the clips that were not found damaged.
// Should another turn out to be, it is done again: there are fewer clips each time.
Status BatchFiller::fill_again(BatchSlot& slot) {
  std::vector<std::uint64_t> sound;
  for (std::size_t row = 0; row < slot.positions.size(); ++row) {
    if (slot.is_damaged[row] == 0) sound.push_back(slot.positions[row]);
  }
  slot.positions = std::move(sound);
  slot.is_damaged.assign(layout_.batch_size, 0);
  slot.in_place.assign(layout_.columns.size(), {});
  XTTS_TRY(find_speakers_and_languages(slot));
  locate_records(slot);
  FillScratch scratch;
  for (std::uint32_t row = 0; row < layout_.batch_size; ++row) {
    XTTS_TRY(fill_row(slot, row, scratch));
  }
  slot.must_copy = false;
  return {};
}

DamageCounts BatchFiller::damage() const {
  const std::scoped_lock lock(mutex_);
  return counts_;
}

}  // namespace xtts::loader
