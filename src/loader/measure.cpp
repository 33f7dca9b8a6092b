#include "loader/measure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <limits>
#include <system_error>

#include "base/counted.hpp"
#include "base/env.hpp"
#include "base/formatted.hpp"
#include "base/guarded_read.hpp"
#include "base/try.hpp"
#include "device/gpu_sampler.hpp"
#include "formats/constants.hpp"
#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "reader/cache_paths.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::loader {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

void add_pages(void* sum, std::span<const std::byte> bytes) {
  unsigned total = 0;
  for (std::size_t i = 0; i < bytes.size(); i += formats::kPageBytes) {
    total += static_cast<unsigned>(bytes[i]);
  }
  static_cast<std::atomic<unsigned>*>(sum)->fetch_add(total, std::memory_order_relaxed);
}

// Waits for the batch and looks at its pages. Where the host cannot read the device's memory, it
// only waits.
Status look_at(const BatchSlot& slot) {
  XTTS_TRY(slot.finished.uploaded->wait());
  if (!slot.memory->device().reads_host_memory()) return {};
  const BatchLayout& layout = *slot.clips.layout;
  std::atomic<unsigned> sum = 0;
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    const ColumnLayout& column = layout.columns[i];
    const std::size_t size_bytes = column.record_bytes * layout.batch_size;
    // Where a mapped file was cut, the part that could be read is enough here.
    (void)guarded_read({slot.column_data(i), size_bytes}, add_pages, &sum);
  }
  return {};
}

// Watches the GPU that consumes the batches. Nothing: none does.
class GpuWatch {
 public:
  explicit GpuWatch(const device::Device& device) {
    if (device.id().kind != DeviceKind::kCuda) return;
    use_.emplace();
    auto sampler = open(device.pci_bus_id());
    if (!sampler.ok()) {
      use_->missing = sampler.status().message();
      return;
    }
    sampler_ = std::move(*sampler);
    if (const Status started = sampler_->start(); !started.ok()) {
      sampler_.reset();
      use_->missing = started.message();
    }
  }

  [[nodiscard]] std::optional<GpuUse> end() {
    if (sampler_ == nullptr) return use_;
    sampler_->stop();
    return sampler_->use();
  }

 private:
  static Result<std::unique_ptr<device::GpuSampler>> open(const std::string& pci_bus_id) {
    if (!pci_bus_id.empty()) return device::GpuSampler::open(pci_bus_id, {});
    return Status(StatusCode::kUnsupported, "the NVIDIA driver does not tell the GPU's PCI bus id");
  }

  std::optional<GpuUse> use_;
  std::unique_ptr<device::GpuSampler> sampler_;
};

// Does without Env: this concerns the machine that the cache lies on, not the cache.
Status drop_file(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0) {
    return {StatusCode::kResource,
            formatted("opening {}: {}", path, std::generic_category().message(errno))};
  }
  const int error = ::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
  ::close(fd);
  if (error == 0) return {};
  return {StatusCode::kUnsupported,
          formatted("dropping {} from memory: {}", path, std::generic_category().message(error))};
}

constexpr std::uint64_t kRoundBatchesMin = 3;

Result<MeasuredPass> run_pass(Loader& loader, const std::string& cache,
                              const MeasureOptions& options,
                              double seconds_max = std::numeric_limits<double>::infinity()) {
  MeasuredPass pass;
  GpuWatch watch(loader.device());
  const ReaderStats before = loader.stats();
  const Clock::time_point begin = Clock::now();
  std::optional<Clock::time_point> last;
  for (std::uint64_t count = 0; count < options.batch_count;) {
    if (options.cancelled && options.cancelled()) {
      return Status(StatusCode::kCancelled, "stopped while measuring");
    }
    XTTS_ASSIGN(const auto lease, reader::with_repair(loader.next(), cache));
    if (!lease) {
      loader.set_epoch(loader.epoch() + 1);
      continue;
    }
    const Clock::time_point now = Clock::now();
    if (last) {
      pass.batch_ms.push_back(std::chrono::duration<double, std::milli>(now - *last).count());
    }
    last = now;
    XTTS_TRY(look_at(**lease));
    pass.sample_count += (*lease)->clips.positions.size();
    ++count;
    if (count >= kRoundBatchesMin && seconds_since(begin) > seconds_max) break;
  }
  pass.seconds = seconds_since(begin);
  const ReaderStats after = loader.stats();
  pass.bytes = after.bytes - before.bytes;
  pass.waited_s = after.consumer_wait_s - before.consumer_wait_s;
  pass.gpu = watch.end();
  return pass;
}

Result<std::unique_ptr<Loader>> open_loader(const std::shared_ptr<reader::CacheSet>& caches,
                                            const ReaderOptions& options) {
  XTTS_ASSIGN(auto loader, Loader::open(std::make_shared<StoredSource>(caches), options));
  if (loader->batches_per_epoch() == 0) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("the {} not fill a batch of {}: ask for a smaller batch",
                            counted(loader->sample_count(), "clip chosen does", "clips chosen do"),
                            options.batch_size));
  }
  guard_reads();
  return loader;
}

}  // namespace

Result<Measured> measure(const std::shared_ptr<reader::CacheSet>& caches,
                         const MeasureOptions& options) {
  XTTS_ASSIGN(const auto loader, open_loader(caches, options.reader));
  Measured measured;
  loader->set_epoch(0);
  XTTS_ASSIGN(measured.first, run_pass(*loader, caches->path(), options));
  loader->set_epoch(0);
  XTTS_ASSIGN(measured.again, run_pass(*loader, caches->path(), options));
  const ReaderStats stats = loader->stats();
  measured.storage = stats.storage;
  measured.reading = stats.reading;
  measured.notice = stats.notice;
  return measured;
}

Result<MeasuredPass> measure_round(const std::shared_ptr<reader::CacheSet>& caches,
                                   const MeasureOptions& options, double seconds_max) {
  XTTS_ASSIGN(const auto loader, open_loader(caches, options.reader));
  loader->set_epoch(0);
  MeasureOptions ahead = options;
  ahead.batch_count = options.reader.slot_count;
  XTTS_TRY(run_pass(*loader, caches->path(), ahead, seconds_max).status());
  return run_pass(*loader, caches->path(), options, seconds_max);
}

Status drop_from_memory(const reader::CacheSet& caches) {
  for (std::size_t i = 0; i < caches.cache_count(); ++i) {
    XTTS_ASSIGN(const reader::CacheView* const cache, caches.cache(i));
    for (const formats::ColumnEntry& column : cache->manifest().columns)
      for (std::size_t shard = 0; shard < column.shards.size(); ++shard)
        XTTS_TRY(drop_file(join_path(cache->path(), reader::shard_name(column, shard))));
  }
  return {};
}

}  // namespace xtts::loader
