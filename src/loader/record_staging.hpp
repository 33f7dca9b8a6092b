// RecordStaging: records on their way past the page cache, from the disk into memory of our own,
// many at a time, in the order in which they will be asked for; from there they are checked and
// copied into batches, once.
//
//   ticket = add(file, offset, size)    its turn comes when a cell is free
//   wait_for(ticket)                    its bytes; nothing where they could not be read this way
//   release(ticket)                     the cell is free for another record
//
// Memory is a fixed number of cells, so that a slow consumer stops the reading; cells go to tickets
// in turn. Whoever holds tickets must wait for and release the lowest of them sooner or later,
// whatever the others do, and wait for no more than held_count_max before that; released out of
// turn, or without having been waited for, is fine too.
// The disk has at most `depth` reads at once.
//
// Synchronised inside: any number of threads. There is no thread of its own: who waits for a record
// takes in what the kernel has done for all, and begins new reads. clear(): while nobody waits.
// Failures of open(): kUnsupported (DirectQueue), kResource (memory). A record that cannot be read
// here is the ordinary path's, which says what is wrong.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/direct_reads.hpp"
#include "base/env.hpp"
#include "device/host_memory.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

struct StagingOptions {
  std::uint64_t record_bytes_max = 0;  // larger ones are not read here
  std::uint64_t memory_bytes = 0;      // at least kStagingCellsMin records, whatever this says
  std::uint32_t depth = 0;
  // Tickets in a row that one thread waits for before it releases the first of them: there are as
  // many cells at least, or it would wait for a cell of its own.
  std::uint32_t held_count_max = 1;
};

constexpr std::uint32_t kStagingCellsMin = 4;

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
  // Forgets all tickets: waiting for one of them gives nothing, releasing it does nothing.
  void clear();

  [[nodiscard]] std::uint64_t cell_count() const noexcept { return cells_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept { return memory_.bytes().size(); }
  // A record that was brought and is not what was written is left to the ordinary path, too.
  void count_as_failed();
  // Records that had to be left to the ordinary path.
  [[nodiscard]] std::uint64_t failed_count() const;

 private:
  enum class CellState : std::uint8_t { kFree, kReading, kDone, kFailed };
  struct Cell {
    CellState state = CellState::kFree;
    bool is_abandoned = false;  // released while it is being read into
    std::uint64_t ticket = 0;
    std::shared_ptr<const DirectFile> file;
    std::size_t lead_bytes = 0;  // before the record, for alignment's sake
    std::size_t size_bytes = 0;
  };
  struct Wanted {
    std::shared_ptr<const DirectFile> file;  // null: released before its turn
    std::uint64_t offset_bytes = 0;
    std::uint64_t size_bytes = 0;
  };

  RecordStaging(std::unique_ptr<DirectQueue> queue, device::HostMemory memory,
                const StagingOptions& options, std::uint64_t cell_bytes, std::size_t cell_count);
  [[nodiscard]] Cell& cell_of(std::uint64_t ticket) { return cells_[ticket % cells_.size()]; }
  [[nodiscard]] std::span<std::byte> memory_of(std::uint64_t ticket) const;
  [[nodiscard]] bool fits(const Wanted& wanted) const;
  [[nodiscard]] DirectRead prepare(std::uint64_t ticket, Wanted wanted);
  void begin_reads();
  void settle(const DirectDone& done);
  void reap_for(std::uint64_t ticket);
  [[nodiscard]] bool must_wait_for_reads(std::uint64_t ticket);

  const std::uint32_t depth_;
  const std::uint64_t cell_bytes_;
  device::HostMemory memory_;
  std::unique_ptr<DirectQueue> queue_;  // goes before the memory it reads into
  std::mutex reap_mutex_;               // held by who reaps; taken before mutex_
  mutable std::mutex mutex_;            // guards what stands below
  std::condition_variable changed_;
  std::vector<Cell> cells_;
  std::deque<Wanted> wanted_;      // from begun_end_ on
  std::uint64_t first_valid_ = 0;  // tickets before were forgotten
  std::uint64_t begun_end_ = 0;    // tickets before have had their cell
  std::uint64_t next_ticket_ = 0;
  std::uint32_t reading_count_ = 0;
  std::uint64_t failed_count_ = 0;
  bool is_broken_ = false;         // the queue no longer answers
  std::vector<DirectRead> reads_;  // being prepared
};

}  // namespace xtts::loader
