#include "loader/record_staging.hpp"

#include <algorithm>
#include <array>
#include <new>
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
// lock is held meanwhile. A device hashes in one call what is collected at a time.
constexpr std::size_t kReadsAtOnce = device::Hasher::kJobsMax;
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

// The memory is the lender's own. A batch has to fit, because all its records are borrowed.
Result<device::DeviceStaging> make_in_device(const StagingOptions& options,
                                             std::uint64_t cell_bytes, std::uint64_t cell_count) {
  const auto borrowed_bytes = checked_multiply(cell_bytes, options.borrowed_count_max);
  const auto size_bytes = checked_multiply(cell_bytes, cell_count);
  if (!borrowed_bytes || *borrowed_bytes > kBorrowedBytesMax || !size_bytes) {
    return Status(
        StatusCode::kUnsupported,
        "the records of a batch, each in a cell as large as the largest, take more than " +
            std::to_string(kBorrowedBytesMax >> 20U) + " MiB: make batches smaller");
  }
  return options.lender->make_staging({.bytes = *size_bytes,
                                       .hash_calls_max = options.hashes ? cell_count : 0,
                                       .depth = options.depth,
                                       .files = options.files});
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
  if (options.is_in_device) {
    XTTS_ASSIGN(auto parts, make_in_device(options, cell_bytes, with_borrowed));
    return std::unique_ptr<RecordStaging>(
        new RecordStaging(std::move(parts), true, options, cell_bytes, with_borrowed));
  }
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
  return std::unique_ptr<RecordStaging>(new RecordStaging(
      {.memory = std::move(*memory), .hasher = nullptr, .queue = std::move(queue)}, is_borrowable,
      options, cell_bytes, is_borrowable ? with_borrowed : cell_count));
}

RecordStaging::RecordStaging(device::DeviceStaging parts, bool is_borrowable,
                             const StagingOptions& options, std::uint64_t cell_bytes,
                             std::size_t cell_count)
    : depth_(options.depth),
      cell_bytes_(cell_bytes),
      is_borrowable_(is_borrowable),
      library_name_(std::move(parts.library_name)),
      copies_through_host_(parts.copies_through_host),
      memory_(std::move(parts.memory)),
      hasher_(std::move(parts.hasher)),
      queue_(std::move(parts.queue)),
      cells_(cell_count) {
  reads_.reserve(kReadsAtOnce);
  to_hash_.reserve(kReadsAtOnce);
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

// cuFile reads whole pages without a copy.
std::uint64_t RecordStaging::alignment_of(const DirectFile& file) const {
  return is_in_device() ? std::max<std::uint64_t>(file.alignment_bytes(), kCellAlignmentBytes)
                        : file.alignment_bytes();
}

bool RecordStaging::fits(const Wanted& wanted) const {
  const std::uint64_t alignment = alignment_of(*wanted.file);
  if (alignment > kCellAlignmentBytes) return false;
  const std::uint64_t lead = wanted.offset_bytes % alignment;
  return wanted.size_bytes <= cell_bytes_ &&
         align_up(lead + wanted.size_bytes, alignment) <= cell_bytes_;
}

std::uint64_t RecordStaging::add(std::shared_ptr<const DirectFile> file, std::uint64_t offset_bytes,
                                 std::uint64_t size_bytes, std::uint64_t seed) {
  const std::scoped_lock lock(mutex_);
  wanted_.push_back({std::move(file), offset_bytes, size_bytes, seed});
  const std::uint64_t ticket = next_ticket_++;
  begin_reads();
  return ticket;
}

DirectRead RecordStaging::prepare(std::uint64_t ticket, Wanted wanted) {
  Cell& cell = cell_of(ticket);
  const std::uint64_t alignment = alignment_of(*wanted.file);
  cell.state = CellState::kReading;
  cell.is_abandoned = false;
  cell.ticket = ticket;
  cell.lead_bytes = wanted.offset_bytes % alignment;
  cell.size_bytes = wanted.size_bytes;
  cell.seed = wanted.seed;
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
  if (hasher_ != nullptr && cell.state == CellState::kDone) to_hash_.push_back(done.tag);
}

// Notes up to kReadsAtOnce finished reads, and begins to hash their records where the device does
// that. The caller holds the lock.
void RecordStaging::settle_all(std::span<const DirectDone> done) {
  to_hash_.clear();
  for (const DirectDone& one : done) settle(one);
  if (!to_hash_.empty()) begin_hashes();
}

void RecordStaging::begin_hashes() {
  std::array<device::HashJob, kReadsAtOnce> jobs;
  for (std::size_t i = 0; i < to_hash_.size(); ++i) {
    const Cell& cell = cell_of(to_hash_[i]);
    jobs[i] = {.bytes = memory_of(to_hash_[i]).subspan(cell.lead_bytes, cell.size_bytes),
               .seed = cell.seed};
  }
  std::shared_ptr<const device::Hashes> hashes;
  try {
    auto begun = hasher_->hash(std::span(jobs).first(to_hash_.size()));
    if (begun.ok()) hashes = std::move(*begun);
  } catch (const std::bad_alloc&) {  // the records are read in the ordinary way
  }
  for (std::size_t i = 0; i < to_hash_.size(); ++i) {
    Cell& cell = cell_of(to_hash_[i]);
    cell.state = hashes != nullptr ? CellState::kHashing : CellState::kFailed;
    cell.hashes = hashes;
    cell.place_in_hashes = i;
    if (hashes == nullptr) ++failed_count_;
  }
}

std::span<const std::byte> RecordStaging::wait_for(std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  while (ticket >= first_valid_) {
    if (ticket < begun_end_) {
      Cell& cell = cell_of(ticket);
      if (cell.ticket != ticket || cell.state == CellState::kFailed || why_stopped_ != nullptr)
        return {};
      if (cell.state == CellState::kHashing) {
        wait_for_hash(cell, lock);
        continue;
      }
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

// `lock` is held before and after. Nobody else changes the cell: its ticket is the caller's.
void RecordStaging::wait_for_hash(Cell& cell, std::unique_lock<std::mutex>& lock) {
  const std::shared_ptr<const device::Hashes> hashes = cell.hashes;
  lock.unlock();
  const bool is_done = device::has_ended(*hashes);
  lock.lock();
  if (!is_done) {
    lose_device();
    begin_reads();
    changed_.notify_all();
    return;
  }
  cell.state = CellState::kDone;
  cell.hash = hashes->of(cell.place_in_hashes);
  cell.hashes.reset();
}

void RecordStaging::lose_device() {
  why_stopped_ = kDeviceIsLost;
  is_upload_lost_ = true;
}

std::uint64_t RecordStaging::hash_of(std::uint64_t ticket) {
  const std::scoped_lock lock(mutex_);
  return cell_of(ticket).hash;
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
  if (count.ok()) settle_all(std::span(done).first(*count));
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
    } else if (cell.state == CellState::kHashing) {
      stop_waiting_for_hash(cell);
    } else if (cell.state != CellState::kInUse) {
      cell.state = CellState::kFree;
    }
  }
  begin_reads();
  changed_.notify_all();
}

// Nobody wants the hash any more, but the device still reads the cell.
void RecordStaging::stop_waiting_for_hash(Cell& cell) {
  cell.state = CellState::kInUse;
  cell.until = std::move(cell.hashes);
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
    if (count.ok()) settle_all(std::span(done).first(*count));
  }
  for (Cell& cell : cells_) {
    if (cell.state == CellState::kHashing) stop_waiting_for_hash(cell);
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
