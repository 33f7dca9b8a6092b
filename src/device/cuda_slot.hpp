// CudaSlot: the memory of one batch on a GPU. See device.hpp for its calls, and README.md for the
// order of its work.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "cuda/copy_list.hpp"
#include "cuda/device_pool.hpp"
#include "cuda/stream.hpp"
#include "device/cuda_parts.hpp"
#include "device/device.hpp"
#include "device/host_memory.hpp"
#include "device/upload_plan.hpp"

namespace xtts::device {

class CudaSlot final : public SlotMemory {
 public:
  [[nodiscard]] static Result<std::unique_ptr<SlotMemory>> make(
      std::shared_ptr<const Device> device, std::shared_ptr<CudaParts> parts,
      const SlotBytes& size);
  ~CudaSlot() override;
  CudaSlot(const CudaSlot&) = delete;
  CudaSlot& operator=(const CudaSlot&) = delete;

  [[nodiscard]] const Device& device() const noexcept override { return *device_; }
  [[nodiscard]] Status begin_filling() override;
  [[nodiscard]] bool is_idle() const noexcept override;
  [[nodiscard]] std::span<std::byte> staging() noexcept override;
  void fill(std::size_t offset_bytes, std::size_t size_bytes,
            const Pattern& pattern) noexcept override;
  [[nodiscard]] bool change(std::size_t offset_bytes, std::size_t size_bytes,
                            const Change& change) override;
  [[nodiscard]] bool borrow(std::size_t offset_bytes, std::span<const std::byte> bytes) override;
  [[nodiscard]] std::shared_ptr<const BorrowingEnd> borrowed_until() const override {
    return borrowed_until_;
  }
  void discard() noexcept override;
  [[nodiscard]] std::span<std::byte> host() noexcept override;
  [[nodiscard]] Result<const Event*> upload() override;
  [[nodiscard]] const std::byte* consumer_data() const noexcept override;
  [[nodiscard]] const std::byte* consumer_host_data() const noexcept override;
  void end_lease() noexcept override;

 private:
  // The slot's event. Frameworks give it the streams that are going to read.
  class Uploaded final : public Event {
   public:
    explicit Uploaded(CudaSlot& slot) noexcept : slot_(slot) {}
    [[nodiscard]] Status wait() const override { return slot_.uploaded_event_.wait(); }
    [[nodiscard]] Status let_wait(std::uintptr_t stream) const override {
      return slot_.let_wait(stream);
    }

   private:
    CudaSlot& slot_;
  };
  // A consumer's stream, and the place in it behind which nobody reads the slot.
  struct Reader {
    cuda::StreamHandle stream = nullptr;
    cuda::Event done;
    bool has_ended = false;  // `done` is recorded

    [[nodiscard]] Status mark_end();
  };

  CudaSlot(std::shared_ptr<const Device> device, std::shared_ptr<CudaParts> parts,
           const SlotBytes& size, HostMemory memory, cuda::HostLock locked, cuda::DeviceMemory data,
           cuda::DeviceMemory shown, cuda::DeviceMemory arrivals, cuda::Stream stream,
           cuda::Event uploaded_event);
  [[nodiscard]] Status let_wait(std::uintptr_t stream);
  [[nodiscard]] Status wait_for_readers_on_stream();
  [[nodiscard]] Status enqueue_whole_or_wait();
  [[nodiscard]] Status enqueue();
  [[nodiscard]] Status enqueue_copies();
  [[nodiscard]] Status mark_end_of_borrowing();
  [[nodiscard]] std::shared_ptr<const BorrowingEnd> end_of_failed_borrowing() const noexcept;
  [[nodiscard]] Status enqueue_changes();
  [[nodiscard]] Status enqueue_fills();
  [[nodiscard]] Status copy_to_consumer();
  [[nodiscard]] Status wait_for_upload() const;
  [[nodiscard]] Status wait_for_all() noexcept;

  std::shared_ptr<const Device> device_;
  std::shared_ptr<CudaParts> parts_;
  const SlotBytes size_;
  HostMemory memory_;            // staging(), then host() on the next page
  cuda::HostLock locked_;        // all of it; unlocked before the memory goes
  cuda::DeviceMemory data_;      // what staging() becomes, and host() as it is
  cuda::DeviceMemory shown_;     // data_ on the consumer's GPU, if that is another one
  cuda::DeviceMemory arrivals_;  // stored values on their way to data_
  cuda::CopyList copies_;        // of the upload that is being put on the stream
  cuda::Stream stream_;
  cuda::Event uploaded_event_;
  Uploaded uploaded_{*this};

  std::mutex filling_mutex_;               // held while the first filler waits
  bool is_filling_ = false;                // from begin_filling() until upload() or end_lease()
  std::atomic<bool> is_enqueued_ = false;  // the stream may have work that reads staging()
  std::atomic<bool> is_recorded_ = false;  // uploaded_event_ stands for the end of that work

  mutable std::mutex ranges_mutex_;  // guards the four below, while fillers write
  std::vector<FilledRange> filled_;
  std::vector<ChangedRange> changed_;
  std::vector<BorrowedRange> borrowed_;
  bool lost_range_ = false;  // there was no memory to note a range

  std::shared_ptr<const BorrowingEnd> borrowed_until_;  // of the last upload

  mutable std::mutex readers_mutex_;  // guards the two below
  std::vector<Reader> readers_;
  std::vector<cuda::Event> spare_events_;
};

}  // namespace xtts::device
