#include "device/cuda_hasher.hpp"

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/current_exception.hpp"
#include "base/try.hpp"
#include "cuda/stream.hpp"
#include "device/has_ended.hpp"
#include "device/host_memory.hpp"

namespace xtts::device {
namespace {

constexpr std::size_t kPlaceBytes = Hasher::kJobsMax * sizeof(std::uint64_t);
static_assert(Hasher::kJobsMax <= cuda::kHashRangesMax);
static_assert(Hasher::kBytesMin >= cuda::kHashedBytesMin);

}  // namespace

// What a hasher and its results share.
struct CudaHasher::Shared {
  // Where the results of a call lie, and the event of their copy.
  struct Place {
    std::size_t offset_bytes = 0;
    cuda::Event copied;
  };

  std::shared_ptr<CudaParts> parts;
  HostMemory memory;            // what the host reads
  cuda::HostLock locked;        // unlocked before the memory goes
  cuda::DeviceMemory computed;  // what the kernels write
  cuda::Stream stream;
  std::size_t place_count = 0;

  std::mutex mutex = {};  // guards the two below
  std::vector<Place> free = {};
  std::size_t made_count = 0;  // places, free or not

  ~Shared() {
    if (is_idle()) return;
    // The GPU may still write there.
    locked.abandon();
    memory.abandon();
    computed.abandon();
  }

  [[nodiscard]] bool is_idle() const noexcept { return has_ended(stream); }

  [[nodiscard]] Result<Place> take_place() {
    const std::scoped_lock lock(mutex);
    if (free.empty()) {
      if (made_count == place_count)
        return Status(StatusCode::kResource, "too many hashes at once");
      XTTS_ASSIGN(cuda::Event copied, cuda::Event::create(parts->data.context));
      return Place{.offset_bytes = made_count++ * kPlaceBytes, .copied = std::move(copied)};
    }
    Place place = std::move(free.back());
    free.pop_back();
    return place;
  }
};

// The results of one call.
class CudaHasher::Results final : public Hashes {
 public:
  explicit Results(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
  ~Results() override {
    if (is_lost_ || !place_) return;
    const std::scoped_lock lock(shared_->mutex);
    shared_->free.push_back(std::move(*place_));  // has room for all
  }
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  [[nodiscard]] Status wait() const override {
    if (!is_lost_) return place_->copied.wait();
    return {StatusCode::kResource, "a GPU may still read memory after a failed call"};
  }
  [[nodiscard]] bool has_happened() const noexcept override {
    return !is_lost_ && place_->copied.has_happened();
  }
  [[nodiscard]] std::uint64_t of(std::size_t i) const noexcept override { return values()[i]; }

  // Where it fails in the middle, wait() fails for ever, unless the GPU is idle.
  [[nodiscard]] Status begin(std::span<const HashJob> jobs) {
    XTTS_ASSIGN(place_, shared_->take_place());
    Status status;
    try {
      status = enqueue(jobs);
    } catch (...) {
      status = status_of_current_exception();
    }
    if (!status.ok()) is_lost_ = !shared_->is_idle();
    return is_lost_ ? Status() : status;
  }

 private:
  [[nodiscard]] Status enqueue(std::span<const HashJob> jobs) {
    const CudaParts& parts = *shared_->parts;
    const cuda::StreamHandle stream = shared_->stream.handle();
    const cuda::DeviceAddress computed = shared_->computed.address() + place_->offset_bytes;
    cuda::HashTable table{};
    for (const HashJob& job : jobs) {
      table.ranges[table.range_count] = {
          .address = reinterpret_cast<cuda::DeviceAddress>(job.bytes.data()),
          .size_bytes = job.bytes.size(),
          .seed = job.seed,
          .result = computed + table.range_count * sizeof(std::uint64_t)};
      ++table.range_count;
    }
    XTTS_TRY(parts.kernels->hash(table, stream));
    const cuda::Context& gpu = *parts.data.context;
    XTTS_TRY(gpu.run("copying hashes from " + gpu.label(), [&](const cuda::DriverCalls& calls) {
      return calls.copy_to_host(values(), computed, jobs.size() * sizeof(std::uint64_t), stream);
    }));
    return place_->copied.record(stream);
  }

  [[nodiscard]] std::uint64_t* values() const noexcept {
    return reinterpret_cast<std::uint64_t*>(shared_->memory.bytes().data() + place_->offset_bytes);
  }

  std::shared_ptr<Shared> shared_;
  std::optional<Shared::Place> place_;
  bool is_lost_ = false;  // the GPU may be at work for ever
};

Result<std::unique_ptr<Hasher>> CudaHasher::make(std::shared_ptr<CudaParts> parts,
                                                 std::size_t call_count_max) {
  const CudaGpu& gpu = parts->data;
  const std::size_t size_bytes = call_count_max * kPlaceBytes;
  XTTS_ASSIGN(HostMemory memory,
              HostMemory::allocate(size_bytes, {.numa_node = gpu.context->numa_node(),
                                                .is_kept_from_children = true}));
  XTTS_ASSIGN(cuda::HostLock locked, cuda::HostLock::lock(gpu.context, memory.bytes()));
  XTTS_ASSIGN(cuda::DeviceMemory computed, gpu.pool->allocate(size_bytes, gpu.limit));
  XTTS_ASSIGN(cuda::Stream stream, cuda::Stream::create(gpu.context));
  const std::shared_ptr<Shared> shared(new Shared{.parts = std::move(parts),
                                                  .memory = std::move(memory),
                                                  .locked = std::move(locked),
                                                  .computed = std::move(computed),
                                                  .stream = std::move(stream),
                                                  .place_count = call_count_max});
  shared->free.reserve(call_count_max);
  return std::unique_ptr<Hasher>(new CudaHasher(shared));
}

Result<std::shared_ptr<const Hashes>> CudaHasher::hash(std::span<const HashJob> jobs) {
  const auto results = std::make_shared<Results>(shared_);
  XTTS_TRY(results->begin(jobs));
  return std::shared_ptr<const Hashes>(results);
}

}  // namespace xtts::device
