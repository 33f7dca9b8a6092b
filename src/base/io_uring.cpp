#include "base/io_uring.hpp"

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <system_error>
#include <thread>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

constexpr std::uint64_t kTryOutTag = UINT64_MAX;

int setup(std::uint32_t entries, io_uring_params& params) {
  return static_cast<int>(::syscall(__NR_io_uring_setup, entries, &params));
}

int enter(int ring, std::uint32_t submit_count, std::uint32_t wait_count, std::uint32_t flags) {
  return static_cast<int>(
      ::syscall(__NR_io_uring_enter, ring, submit_count, wait_count, flags, nullptr, 0));
}

Status failure(std::string_view doing, int error) {
  return {StatusCode::kResource,
          formatted("{}: io_uring: {}", doing, std::generic_category().message(error))};
}

// Maps memory that is shared with the kernel.
Mapping map_shared(int ring, std::size_t size_bytes, std::uint64_t what) {
  Mapping mapping(::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                         ring, static_cast<off_t>(what)),
                  size_bytes);
  if (mapping) (void)::madvise(mapping.bytes().data(), size_bytes, MADV_DONTFORK);
  return mapping;
}

template <typename T>
T* at(const Mapping& mapping, std::size_t offset_bytes) {
  return reinterpret_cast<T*>(mapping.bytes().data() + offset_bytes);
}

std::uint32_t load(std::uint32_t* index) {
  return std::atomic_ref(*index).load(std::memory_order_acquire);
}
void store(std::uint32_t* index, std::uint32_t value) {
  std::atomic_ref(*index).store(value, std::memory_order_release);
}

}  // namespace

Status why_no_io_uring(int error) {
  const std::string system = formatted(" ({})", std::generic_category().message(error));
  switch (error) {
    case ENOSYS:
      return {StatusCode::kUnsupported,
              "this kernel has no io_uring, or a filter hides it" + system};
    case EPERM:
    case EACCES:
      return {StatusCode::kUnsupported,
              "io_uring is forbidden here, as in many containers; the sysctl "
              "kernel.io_uring_disabled or the container's seccomp profile allows it" +
                  system};
    case ENOMEM:
      return {StatusCode::kUnsupported,
              "io_uring is not granted the memory it locks: raise the limit (ulimit -l)" + system};
    default:
      return {StatusCode::kUnsupported, "io_uring cannot be used" + system};
  }
}

struct IoUring::Rings {
  Descriptor fd;
  std::uint32_t depth = 0;
  Mapping indices, completions, entries;  // `completions` only where it is not in `indices`
  std::uint32_t *submit_head = nullptr, *submit_tail = nullptr, *submit_slots = nullptr;
  std::uint32_t *done_head = nullptr, *done_tail = nullptr;
  std::uint32_t submit_mask = 0, done_mask = 0;
  io_uring_sqe* requests = nullptr;
  io_uring_cqe* results = nullptr;

  [[nodiscard]] bool map(const io_uring_params& params) {
    const std::size_t submit_bytes =
        params.sq_off.array + params.sq_entries * sizeof(std::uint32_t);
    const std::size_t done_bytes = params.cq_off.cqes + params.cq_entries * sizeof(io_uring_cqe);
    const bool is_one = (params.features & IORING_FEAT_SINGLE_MMAP) != 0;
    indices = map_shared(fd.get(), is_one ? std::max(submit_bytes, done_bytes) : submit_bytes,
                         IORING_OFF_SQ_RING);
    if (!is_one) completions = map_shared(fd.get(), done_bytes, IORING_OFF_CQ_RING);
    entries = map_shared(fd.get(), params.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES);
    if (!indices || (!is_one && !completions) || !entries) return false;

    const Mapping& done = is_one ? indices : completions;
    submit_head = at<std::uint32_t>(indices, params.sq_off.head);
    submit_tail = at<std::uint32_t>(indices, params.sq_off.tail);
    submit_slots = at<std::uint32_t>(indices, params.sq_off.array);
    submit_mask = *at<std::uint32_t>(indices, params.sq_off.ring_mask);
    done_head = at<std::uint32_t>(done, params.cq_off.head);
    done_tail = at<std::uint32_t>(done, params.cq_off.tail);
    done_mask = *at<std::uint32_t>(done, params.cq_off.ring_mask);
    requests = at<io_uring_sqe>(entries, 0);
    results = at<io_uring_cqe>(done, params.cq_off.cqes);
    return true;
  }

  // The kernel reads the tail only in enter(), so hand_over() publishes it there.
  void put(std::uint32_t place, const io_uring_sqe& request) const {
    requests[place & submit_mask] = request;
    submit_slots[place & submit_mask] = place & submit_mask;
  }
};

IoUring::IoUring(std::unique_ptr<Rings> rings) noexcept : rings_(std::move(rings)) {}
IoUring::~IoUring() = default;

Result<std::unique_ptr<IoUring>> IoUring::open(std::uint32_t depth) {
  io_uring_params params = {};
  auto rings = std::make_unique<Rings>();
  rings->fd = Descriptor(setup(std::max(depth, std::uint32_t{1}), params));
  if (!rings->fd.is_open()) return why_no_io_uring(errno);
  rings->depth = depth;
  // This feature came with the plain read request, in Linux 5.6.
  if ((params.features & IORING_FEAT_RW_CUR_POS) == 0) return why_no_io_uring(ENOSYS);
  if (!rings->map(params)) return why_no_io_uring(errno);
  std::unique_ptr<IoUring> queue(new IoUring(std::move(rings)));
  XTTS_TRY(queue->try_out());
  return queue;
}

Status IoUring::try_out() {
  io_uring_sqe nothing = {};
  nothing.opcode = IORING_OP_NOP;
  nothing.user_data = kTryOutTag;
  rings_->put(*rings_->submit_tail, nothing);
  const auto begun = hand_over(1);
  if (!begun.ok()) return begun.status();
  if (*begun != 1) return why_no_io_uring(EAGAIN);
  DirectDone done;
  const auto reaped = reap({&done, 1});
  if (!reaped.ok()) return reaped.status();
  return *reaped == 1 && done.tag == kTryOutTag && done.error == 0 ? Status()
                                                                   : why_no_io_uring(done.error);
}

// Gives the kernel the `count` requests after the tail. Those that it does not take are withdrawn.
Result<std::size_t> IoUring::hand_over(std::uint32_t count) {
  const std::uint32_t tail = *rings_->submit_tail;
  store(rings_->submit_tail, tail + count);
  const int taken = retry_interrupted([&] { return enter(rings_->fd.get(), count, 0, 0); });
  const int error = taken < 0 ? errno : 0;
  const std::uint32_t begun = load(rings_->submit_head) - tail;
  store(rings_->submit_tail, tail + begun);
  on_their_way_.fetch_add(begun);
  if (error == 0 || error == EAGAIN || error == EBUSY || begun > 0) return std::size_t{begun};
  if (error == EPERM || error == ENOSYS || error == EACCES) return why_no_io_uring(error);
  return failure("asking for reads", error);
}

Result<std::size_t> IoUring::submit(std::span<const DirectRead> reads) {
  const std::int64_t room = rings_->depth - std::max<std::int64_t>(on_their_way_.load(), 0);
  const auto count = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(room, 0, static_cast<std::int64_t>(reads.size())));
  if (count == 0) return std::size_t{0};
  const std::uint32_t tail = *rings_->submit_tail;
  for (std::uint32_t i = 0; i < count; ++i) {
    const DirectRead& read = reads[i];
    io_uring_sqe request = {};
    request.opcode = IORING_OP_READ;
    request.fd = read.file->descriptor();
    request.off = read.offset_bytes;
    request.addr = reinterpret_cast<std::uintptr_t>(read.out.data());
    request.len = static_cast<std::uint32_t>(read.out.size());
    request.user_data = read.tag;
    rings_->put(tail + i, request);
  }
  return hand_over(count);
}

std::size_t IoUring::take_done(std::span<DirectDone> done) {
  const std::uint32_t head = *rings_->done_head;
  const std::uint32_t ready = load(rings_->done_tail) - head;
  const auto count = static_cast<std::uint32_t>(std::min<std::size_t>(ready, done.size()));
  for (std::uint32_t i = 0; i < count; ++i) {
    const io_uring_cqe& result = rings_->results[(head + i) & rings_->done_mask];
    done[i] = {.tag = result.user_data,
               .error = result.res < 0 ? -result.res : 0,
               .read_bytes = result.res < 0 ? 0 : static_cast<std::size_t>(result.res)};
  }
  store(rings_->done_head, head + count);
  on_their_way_.fetch_sub(count);
  return count;
}

Result<std::size_t> IoUring::reap(std::span<DirectDone> done) {
  while (!done.empty()) {
    if (const std::size_t count = take_done(done); count > 0) return count;
    if (on_their_way_.load() <= 0) break;
    if (enter(rings_->fd.get(), 0, 1, IORING_ENTER_GETEVENTS) >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN && errno != EBUSY) return failure("waiting for reads", errno);
    std::this_thread::yield();
  }
  return std::size_t{0};
}

}  // namespace xtts
