// GpuReadQueue: a DirectQueue that reads files into a GPU's memory. It has threads, each of which
// waits for one read at a time.
//
// When a read is reaped, its bytes are in the GPU's memory, for all work that is put on a stream
// afterwards. A failed read has the system's error, or EIO where cuFile gives one of its own.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/direct_reads.hpp"
#include "cufile/cufile.hpp"

namespace xtts::cufile {

class GpuReadQueue final : public DirectQueue {
 public:
  // `memory` is the GPU's, and all reads go there. It must outlive the queue. Failures: CuFile's.
  [[nodiscard]] static Result<std::unique_ptr<DirectQueue>> open(
      const CuFile& library, std::shared_ptr<const cuda::Context> gpu, std::span<std::byte> memory,
      std::uint32_t depth);
  ~GpuReadQueue() override;
  GpuReadQueue(const GpuReadQueue&) = delete;
  GpuReadQueue& operator=(const GpuReadQueue&) = delete;

  [[nodiscard]] Result<std::size_t> submit(std::span<const DirectRead> reads) override;
  [[nodiscard]] Result<std::size_t> reap(std::span<DirectDone> done) override;
  [[nodiscard]] std::string first_failure() const override;

 private:
  GpuReadQueue(const CuFile& library, std::shared_ptr<const cuda::Context> gpu,
               RegisteredMemory memory, std::uint32_t depth);
  void start_threads();
  void work() noexcept;
  [[nodiscard]] DirectDone read(const DirectRead& wanted) noexcept;
  [[nodiscard]] Result<std::size_t> read_whole(const DirectRead& wanted, int& error) const;
  void note_failure(const Status& failure);

  const CuFile& library_;
  std::shared_ptr<const cuda::Context> gpu_;
  RegisteredMemory memory_;
  const std::uint32_t depth_;

  std::condition_variable has_work_;
  std::condition_variable has_done_;
  mutable std::mutex mutex_;        // guards the five below
  std::vector<DirectRead> wanted_;  // both have room for `depth`, so that nothing throws
  std::vector<DirectDone> done_;
  std::uint32_t in_flight_ = 0;  // submitted and not reaped
  bool is_ending_ = false;
  std::string first_failure_;
  std::vector<std::thread> threads_;
};

}  // namespace xtts::cufile
