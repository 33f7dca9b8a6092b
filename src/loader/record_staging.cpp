#include "loader/record_staging.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"
#include "device/has_ended.hpp"

namespace xtts::loader {
namespace {

// Cells begin on pages. They have room before and behind a record that does not.
constexpr std::uint64_t kCellAlignmentBytes = device::kPageBytes;
// How many reads are handed to the kernel, or collected from it, at a time. It is small because the
// lock is held meanwhile.
constexpr std::size_t kReadsAtOnce = 8;
constexpr std::uint64_t kCellsMax = 1024;

// Nothing where there is no lender, or where it lends nothing or cannot lock so much memory.
std::optional<device::BorrowableMemory> make_borrowable(const StagingOptions& options,
                                                        std::uint64_t cell_bytes,
                                                        std::uint64_t cell_count) {
  const auto borrowed_bytes = checked_multiply(cell_bytes, options.borrowed_count_max);
  const auto size_bytes = checked_multiply(cell_bytes, cell_count);
  if (options.lender == nullptr || !borrowed_bytes || *borrowed_bytes > kBorrowedBytesMax ||
      !size_bytes) {
    return std::nullopt;
  }
  auto memory = options.lender->make_borrowable(*size_bytes);
  return memory.ok() ? std::move(*memory) : std::nullopt;
}

constexpr const char* kQueueIsLost = "the system no longer tells which reads are done";
constexpr const char* kDeviceIsLost = "the GPU no longer tells what it has read";

}  // namespace

Result<std::unique_ptr<RecordStaging>> RecordStaging::open(Env& env,
                                                           const StagingOptions& options) {
  const std::uint64_t cell_bytes =
      align_up(options.record_bytes_max, kCellAlignmentBytes) + kCellAlignmentBytes;
  const auto cell_count = std::max<std::size_t>(
      std::clamp<std::uint64_t>(options.memory_bytes / cell_bytes, kStagingCellsMin, kCellsMax),
      options.held_count_max);
  const auto size_bytes = checked_multiply<std::uint64_t>(cell_bytes, cell_count);
  if (!size_bytes) return Status(StatusCode::kResource, "records are too large to be staged");
  const std::size_t with_borrowed = cell_count + options.borrowed_count_max;
  XTTS_ASSIGN(auto queue, env.open_direct_queue(options.depth));
  auto memory = make_borrowable(options, cell_bytes, with_borrowed);
  const bool is_borrowable = memory.has_value();
  if (!is_borrowable) {
    // A child of fork() does not need this memory, and must not share pages that the disk writes
    // to.
    XTTS_ASSIGN(auto plain,
                device::HostMemory::allocate(*size_bytes, {.is_kept_from_children = true}));
    memory.emplace(std::move(plain));
  }
  return std::unique_ptr<RecordStaging>(
      new RecordStaging(std::move(*memory), std::move(queue), is_borrowable, options.depth,
                        cell_bytes, is_borrowable ? with_borrowed : cell_count));
}

RecordStaging::RecordStaging(device::BorrowableMemory memory, std::unique_ptr<DirectQueue> queue,
                             bool is_borrowable, std::uint32_t depth, std::uint64_t cell_bytes,
                             std::size_t cell_count)
    : depth_(depth),
      cell_bytes_(cell_bytes),
      is_borrowable_(is_borrowable),
      memory_(std::move(memory)),
      queue_(std::move(queue)),
      cells_(cell_count) {
  reads_.reserve(kReadsAtOnce);
}

RecordStaging::~RecordStaging() {
  clear();
  queue_.reset();  // where clear() could not wait, it may still read files that cells hold
  for (const Cell& cell : cells_) {
    if (cell.until != nullptr && !device::has_ended(*cell.until)) is_upload_lost_ = true;
  }
  // A kernel that no longer tells us about reads may still write to their memory: we leak it.
  if (why_stopped_ != nullptr) memory_.abandon();
  if (is_upload_lost_) memory_.abandon_to_device();
}

std::span<std::byte> RecordStaging::memory_of(std::uint64_t ticket) const {
  return memory_.bytes().subspan(ticket % cells_.size() * cell_bytes_, cell_bytes_);
}

bool RecordStaging::fits(const Wanted& wanted) const {
  const std::uint64_t alignment = wanted.file->alignment_bytes();
  if (alignment > kCellAlignmentBytes) return false;
  const std::uint64_t lead = wanted.offset_bytes % alignment;
  return wanted.size_bytes <= cell_bytes_ &&
         align_up(lead + wanted.size_bytes, alignment) <= cell_bytes_;
}

std::uint64_t RecordStaging::add(std::shared_ptr<const DirectFile> file, std::uint64_t offset_bytes,
                                 std::uint64_t size_bytes) {
  const std::scoped_lock lock(mutex_);
  wanted_.push_back({std::move(file), offset_bytes, size_bytes});
  const std::uint64_t ticket = next_ticket_++;
  begin_reads();
  return ticket;
}

DirectRead RecordStaging::prepare(std::uint64_t ticket, Wanted wanted) {
  Cell& cell = cell_of(ticket);
  const std::uint64_t alignment = wanted.file->alignment_bytes();
  cell.state = CellState::kReading;
  cell.is_abandoned = false;
  cell.ticket = ticket;
  cell.lead_bytes = wanted.offset_bytes % alignment;
  cell.size_bytes = wanted.size_bytes;
  cell.file = std::move(wanted.file);
  const std::uint64_t read_bytes = align_up(cell.lead_bytes + cell.size_bytes, alignment);
  return {.file = cell.file.get(),
          .offset_bytes = wanted.offset_bytes - cell.lead_bytes,
          .out = memory_of(ticket).first(read_bytes),
          .tag = ticket};
}

// Looks whether the device has copied what it borrowed.
bool RecordStaging::become_free(Cell& cell) {
  if (cell.state == CellState::kInUse && cell.until->has_happened()) {
    cell.state = CellState::kFree;
    cell.until.reset();
  }
  return cell.state == CellState::kFree;
}

// Begins the reads whose turn it is and for which there are cells. The caller holds the lock.
void RecordStaging::begin_reads() {
  if (why_stopped_ != nullptr) {
    // None of them will be read here. They must not pile up.
    wanted_.clear();
    begun_end_ = next_ticket_;
    return;
  }
  for (;;) {
    reads_.clear();
    while (!wanted_.empty() && reads_.size() < kReadsAtOnce &&
           reading_count_ + reads_.size() < depth_) {
      Cell& cell = cell_of(begun_end_);
      const bool is_skipped = wanted_.front().file == nullptr;
      if (!is_skipped && !become_free(cell)) break;
      Wanted wanted = std::move(wanted_.front());
      wanted_.pop_front();
      const std::uint64_t ticket = begun_end_++;
      if (is_skipped) continue;
      if (fits(wanted)) {
        reads_.push_back(prepare(ticket, std::move(wanted)));
      } else {
        cell.ticket = ticket;
        cell.state = CellState::kFailed;
        ++failed_count_;
      }
    }
    if (reads_.empty()) return;
    reading_count_ += static_cast<std::uint32_t>(reads_.size());
    const auto begun = queue_->submit(reads_);
    // The kernel may refuse reads, for want of memory or by a rule. Those records are read in the
    // ordinary way.
    for (std::size_t i = begun.ok() ? *begun : 0; i < reads_.size(); ++i) {
      settle({.tag = reads_[i].tag, .error = 1});
    }
    changed_.notify_all();
  }
}

// Notes a finished read. The caller holds the lock.
void RecordStaging::settle(const DirectDone& done) {
  Cell& cell = cell_of(done.tag);
  --reading_count_;
  const bool is_whole = done.error == 0 && done.read_bytes >= cell.lead_bytes + cell.size_bytes;
  if (!is_whole && !cell.is_abandoned) ++failed_count_;
  cell.state = cell.is_abandoned ? CellState::kFree
               : is_whole        ? CellState::kDone
                                 : CellState::kFailed;
  cell.file.reset();
}

std::span<const std::byte> RecordStaging::wait_for(std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  while (ticket >= first_valid_) {
    if (ticket < begun_end_) {
      Cell& cell = cell_of(ticket);
      if (cell.ticket != ticket || cell.state == CellState::kFailed || why_stopped_ != nullptr)
        return {};
      if (cell.state == CellState::kDone) {
        return memory_of(ticket).subspan(cell.lead_bytes, cell.size_bytes);
      }
    }
    if (why_stopped_ != nullptr) return {};
    if (reading_count_ == 0) {
      const auto upload = upload_in_the_way();
      if (upload == nullptr) {
        // Another thread holds the cell, and will release it.
        changed_.wait(lock);
        continue;
      }
      lock.unlock();
      const bool is_done = device::has_ended(*upload);
      lock.lock();
      if (!is_done) lose_device();
      begin_reads();
      changed_.notify_all();
      continue;
    }
    lock.unlock();
    reap_for(ticket);
    lock.lock();
  }
  return {};
}

void RecordStaging::lose_device() {
  why_stopped_ = kDeviceIsLost;
  is_upload_lost_ = true;
}

// The upload for which the next read waits. Null: it waits for something else. The caller holds the
// lock.
std::shared_ptr<const device::BorrowingEnd> RecordStaging::upload_in_the_way() {
  if (wanted_.empty()) return nullptr;
  const Cell& cell = cell_of(begun_end_);
  return cell.state == CellState::kInUse ? cell.until : nullptr;
}

// True where waiting for the kernel can bring this ticket on. The caller holds the lock.
bool RecordStaging::must_wait_for_reads(std::uint64_t ticket) {
  if (why_stopped_ != nullptr || reading_count_ == 0 || ticket < first_valid_) return false;
  return ticket >= begun_end_ ||
         (cell_of(ticket).ticket == ticket && cell_of(ticket).state == CellState::kReading);
}

// Waits until the kernel has finished a read, and settles what it has finished.
void RecordStaging::reap_for(std::uint64_t ticket) {
  const std::scoped_lock reaping(reap_mutex_);
  {
    // The thread that reaped before us may have settled our read.
    const std::scoped_lock lock(mutex_);
    if (!must_wait_for_reads(ticket)) return;
  }
  std::array<DirectDone, kReadsAtOnce> done;
  const auto count = queue_->reap(done);
  const std::scoped_lock lock(mutex_);
  if (!count.ok()) why_stopped_ = kQueueIsLost;
  for (const DirectDone& one : std::span(done).first(count.ok() ? *count : 0)) settle(one);
  begin_reads();
  changed_.notify_all();
}

void RecordStaging::release(std::uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  if (ticket < first_valid_) return;
  if (ticket >= begun_end_) {
    wanted_[ticket - begun_end_].file.reset();
  } else if (Cell& cell = cell_of(ticket); cell.ticket == ticket) {
    if (cell.state == CellState::kReading) {
      cell.is_abandoned = true;
    } else if (cell.state != CellState::kInUse) {
      cell.state = CellState::kFree;
    }
  }
  begin_reads();
  changed_.notify_all();
}

void RecordStaging::release_after(std::shared_ptr<const device::BorrowingEnd> until,
                                  std::uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  Cell& cell = cell_of(ticket);
  if (ticket < first_valid_ || cell.ticket != ticket) return;
  cell.state = CellState::kInUse;
  cell.until = std::move(until);
}

void RecordStaging::go_on() {
  const std::scoped_lock lock(mutex_);
  begin_reads();
  changed_.notify_all();
}

void RecordStaging::clear() {
  const std::scoped_lock reaping(reap_mutex_);
  std::unique_lock lock(mutex_);
  wanted_.clear();
  first_valid_ = begun_end_ = next_ticket_;
  for (Cell& cell : cells_) cell.is_abandoned = cell.state == CellState::kReading;
  while (reading_count_ > 0 && why_stopped_ == nullptr) {
    lock.unlock();
    std::array<DirectDone, kReadsAtOnce> done;
    const auto count = queue_->reap(done);
    lock.lock();
    if (!count.ok()) why_stopped_ = kQueueIsLost;
    for (const DirectDone& one : std::span(done).first(count.ok() ? *count : 0)) settle(one);
  }
  for (Cell& cell : cells_) {
    const bool is_in_use = cell.state == CellState::kReading || cell.state == CellState::kInUse;
    if (!is_in_use) cell.state = CellState::kFree;
  }
}

void RecordStaging::count_as_failed() {
  const std::scoped_lock lock(mutex_);
  ++failed_count_;
}

std::uint64_t RecordStaging::failed_count() const {
  const std::scoped_lock lock(mutex_);
  return failed_count_;
}

std::string RecordStaging::why_stopped() const {
  const std::scoped_lock lock(mutex_);
  return why_stopped_ == nullptr ? "" : why_stopped_;
}

}  // namespace xtts::loader
