// RecordStaging reads records past the page cache into memory of our own, many at a time, in the
// order in which they will be asked for. From there each is checked, and copied once: into a batch
// by the processor, or to a GPU by the GPU.
//
//   ticket = add(file, offset, size)    the record's turn comes when a cell is free
//   wait_for(ticket)                    its bytes; nothing where they could not be read this way
//   release(ticket)                     the cell is free for another record
//
// A device's slots may borrow records from their cells (device.hpp). Such a ticket is released by
// release_after(), for the time when the device has copied it.
//
// Memory is a fixed number of cells, so a slow consumer stops the reading. Cells go to tickets in
// turn. So whoever holds tickets must release the lowest of them sooner or later, whatever others
// do. Before that he may wait for held_count_max tickets at most, or borrowed_count_max. Tickets
// may be released out of turn, and without having been waited for. The disk has at most `depth`
// reads at once.
//
// Synchronised inside: any number of threads. It has no thread of its own. A thread that waits for
// a record collects the finished reads of all threads, and begins new ones. clear() may be called
// only while nobody waits.
// Failures of open(): kUnsupported (DirectQueue), kResource (memory). A record that cannot be read
// here is read in the ordinary way, which says what is wrong.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/direct_reads.hpp"
#include "base/env.hpp"
#include "device/device.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

struct StagingOptions {
  std::uint64_t record_bytes_max = 0;  // larger records are not read here
  std::uint64_t memory_bytes = 0;      // but there are at least kStagingCellsMin cells
  std::uint32_t depth = 0;
  // How many tickets in a row one thread waits for before it releases the first of them. There are
  // at least so many cells. With fewer, the thread would wait for a cell that it holds itself.
  std::uint32_t held_count_max = 1;
  // The device whose slots may borrow; null: none. `borrowed_count_max` tickets in a row may be
  // waited for before the first of them is released: those of a batch. There are as many cells
  // more.
  const device::Device* lender = nullptr;
  std::uint64_t borrowed_count_max = 0;
};

constexpr std::uint32_t kStagingCellsMin = 4;
// Batches that would borrow more than this borrow nothing.
constexpr std::uint64_t kBorrowedBytesMax = std::uint64_t{128} << 20U;

class RecordStaging {
 public:
  [[nodiscard]] static Result<std::unique_ptr<RecordStaging>> open(Env& env,
                                                                   const StagingOptions& options);
  ~RecordStaging();
  RecordStaging(const RecordStaging&) = delete;
  RecordStaging& operator=(const RecordStaging&) = delete;

  // Tickets are numbers in ascending order.
  [[nodiscard]] std::uint64_t add(std::shared_ptr<const DirectFile> file,
                                  std::uint64_t offset_bytes, std::uint64_t size_bytes);
  // Valid until the ticket is released.
  [[nodiscard]] std::span<const std::byte> wait_for(std::uint64_t ticket);
  void release(std::uint64_t ticket);
  // For a ticket whose record is borrowed; go_on() follows. Where the event cannot be waited for,
  // no cell is used again, and their memory is never freed.
  void release_after(std::shared_ptr<const device::BorrowingEnd> until, std::uint64_t ticket);
  // Begins the reads for which cells have become free, by uploads that have ended, too.
  void go_on();
  [[nodiscard]] bool is_borrowable() const noexcept { return is_borrowable_; }
  // Forgets all tickets: wait_for() gives nothing for them, and release() does nothing.
  void clear();

  [[nodiscard]] std::uint64_t cell_count() const noexcept { return cells_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_.bytes().size(); }
  // Counts a record that cannot be read here, or is not what was written. It, too, is left to the
  // ordinary path.
  void count_as_failed();
  // How many records were left to the ordinary path.
  [[nodiscard]] std::uint64_t failed_count() const;
  // Why reading here has ended for good, in words, so that all records take the ordinary path.
  // Empty: it goes on.
  [[nodiscard]] std::string why_stopped() const;

 private:
  // A cell goes through these in order, and may skip some. A released one becomes kFree: from
  // kReading when its read has ended. kInUse: a device still reads the cell.
  enum class CellState : std::uint8_t { kFree, kReading, kDone, kFailed, kInUse };
  struct Cell {
    CellState state = CellState::kFree;
    bool is_abandoned = false;  // released while its read was under way
    std::uint64_t ticket = 0;
    std::shared_ptr<const DirectFile> file;
    std::size_t lead_bytes = 0;  // bytes before the record, read for alignment's sake
    std::size_t size_bytes = 0;
    std::shared_ptr<const device::BorrowingEnd> until;  // kInUse: until then
  };
  struct Wanted {
    std::shared_ptr<const DirectFile> file;  // null: released before its turn
    std::uint64_t offset_bytes = 0;
    std::uint64_t size_bytes = 0;
  };

  RecordStaging(device::BorrowableMemory memory, std::unique_ptr<DirectQueue> queue,
                bool is_borrowable, std::uint32_t depth, std::uint64_t cell_bytes,
                std::size_t cell_count);
  [[nodiscard]] Cell& cell_of(std::uint64_t ticket) { return cells_[ticket % cells_.size()]; }
  [[nodiscard]] std::span<std::byte> memory_of(std::uint64_t ticket) const;
  [[nodiscard]] bool fits(const Wanted& wanted) const;
  [[nodiscard]] DirectRead prepare(std::uint64_t ticket, Wanted wanted);
  [[nodiscard]] static bool become_free(Cell& cell);
  void begin_reads();
  void lose_device();
  [[nodiscard]] std::shared_ptr<const device::BorrowingEnd> upload_in_the_way();
  void settle(const DirectDone& done);
  void reap_for(std::uint64_t ticket);
  [[nodiscard]] bool must_wait_for_reads(std::uint64_t ticket);

  const std::uint32_t depth_;
  const std::uint64_t cell_bytes_;
  const bool is_borrowable_;
  device::BorrowableMemory memory_;
  std::unique_ptr<DirectQueue> queue_;  // destroyed before the memory that it reads into
  std::mutex reap_mutex_;               // held while reaping; taken before mutex_
  mutable std::mutex mutex_;            // guards what stands below
  std::condition_variable changed_;
  std::vector<Cell> cells_;
  std::deque<Wanted> wanted_;      // by ticket, from begun_end_ on
  std::uint64_t first_valid_ = 0;  // tickets before this were forgotten
  std::uint64_t begun_end_ = 0;    // tickets before this have had their turn
  std::uint64_t next_ticket_ = 0;
  std::uint32_t reading_count_ = 0;
  std::uint64_t failed_count_ = 0;
  const char* why_stopped_ = nullptr;  // null: it goes on
  bool is_upload_lost_ = false;        // the device may read cells for ever
  std::vector<DirectRead> reads_;      // used by begin_reads(): reads that it prepares
};

}  // namespace xtts::loader
