#include "cufile/gpu_read_queue.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/guarded_read.hpp"
#include "base/try.hpp"

namespace xtts::cufile {
namespace {

// For reads of 256 kB at 7 GB/s, each of 16 threads may take 600 us a read.
constexpr std::uint32_t kThreadsMax = 16;

}  // namespace

Result<std::unique_ptr<DirectQueue>> GpuReadQueue::open(const CuFile& library,
                                                        std::shared_ptr<const cuda::Context> gpu,
                                                        std::span<std::byte> memory,
                                                        std::uint32_t depth) {
  XTTS_ASSIGN(RegisteredMemory registered, RegisteredMemory::make(library, gpu, memory));
  std::unique_ptr<GpuReadQueue> queue(
      new GpuReadQueue(library, std::move(gpu), std::move(registered), depth));
  try {
    queue->start_threads();
  } catch (const std::system_error&) {
    return Status(StatusCode::kResource, "no thread could be started to read files for a GPU");
  }
  return std::unique_ptr<DirectQueue>(std::move(queue));
}

GpuReadQueue::GpuReadQueue(const CuFile& library, std::shared_ptr<const cuda::Context> gpu,
                           RegisteredMemory memory, std::uint32_t depth)
    : library_(library), gpu_(std::move(gpu)), memory_(std::move(memory)), depth_(depth) {
  wanted_.reserve(depth);
  done_.reserve(depth);
}

void GpuReadQueue::start_threads() {
  for (std::uint32_t i = 0; i < std::min(depth_, kThreadsMax); ++i) {
    threads_.emplace_back([this] { work(); });
  }
}

GpuReadQueue::~GpuReadQueue() {
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
  }
  has_work_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Result<std::size_t> GpuReadQueue::submit(std::span<const DirectRead> reads) {
  const std::scoped_lock lock(mutex_);
  const auto count = std::min<std::size_t>(reads.size(), depth_ - in_flight_);
  for (const DirectRead& read : reads.first(count)) {
    wanted_.push_back(read);
    ++in_flight_;
    has_work_.notify_one();
  }
  return count;
}

Result<std::size_t> GpuReadQueue::reap(std::span<DirectDone> done) {
  std::unique_lock lock(mutex_);
  has_done_.wait(lock, [&] { return !done_.empty() || in_flight_ == 0; });
  const std::size_t count = std::min(done.size(), done_.size());
  std::copy_n(done_.begin(), count, done.begin());
  done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(count));
  in_flight_ -= static_cast<std::uint32_t>(count);
  return count;
}

std::string GpuReadQueue::first_failure() const {
  const std::scoped_lock lock(mutex_);
  return first_failure_;
}

void GpuReadQueue::work() noexcept {
  block_process_signals();
  std::unique_lock lock(mutex_);
  for (;;) {
    has_work_.wait(lock, [&] { return is_ending_ || !wanted_.empty(); });
    if (wanted_.empty()) return;
    const DirectRead wanted = wanted_.front();
    wanted_.erase(wanted_.begin());
    lock.unlock();
    const DirectDone done = read(wanted);
    lock.lock();
    done_.push_back(done);
    has_done_.notify_one();
  }
}

DirectDone GpuReadQueue::read(const DirectRead& wanted) noexcept {
  DirectDone done{.tag = wanted.tag, .error = EIO, .read_bytes = 0};
  try {
    const auto got = read_whole(wanted, done.error);
    if (got.ok()) return {.tag = wanted.tag, .error = 0, .read_bytes = *got};
    note_failure(got.status());
  } catch (...) {  // no memory for the words of a failure
  }
  return done;
}

// `error` becomes the system's, where it gave one.
Result<std::size_t> GpuReadQueue::read_whole(const DirectRead& wanted, int& error) const {
  XTTS_ASSIGN(const auto handle, library_.handle_of(*wanted.file, gpu_));
  const std::span<std::byte> memory = memory_.bytes();
  ssize_t got = 0;
  int errno_of_read = 0;
  XTTS_TRY(CuFile::run(*gpu_, "reading a file for a GPU", [&] {
    got = library_.calls().read(handle, memory.data(), wanted.out.size(),
                                static_cast<off_t>(wanted.offset_bytes),
                                wanted.out.data() - memory.data());
    errno_of_read = errno;
    // -1: an error of the system. Below that: one of cuFile's own.
    return CallError{.code = got < -1 ? static_cast<int>(-got) : kSuccess, .driver_code = 0};
  }));
  if (got >= 0) return static_cast<std::size_t>(got);
  if (errno_of_read != 0) error = errno_of_read;
  return Status(StatusCode::kResource,
                "reading a file for a GPU: " + std::generic_category().message(error));
}

void GpuReadQueue::note_failure(const Status& failure) {
  const std::scoped_lock lock(mutex_);
  if (first_failure_.empty()) first_failure_ = failure.message();
}

}  // namespace xtts::cufile
