#include "device/gpu_sampler.hpp"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "base/formatted.hpp"
#include "base/guarded_read.hpp"
#include "base/try.hpp"

namespace xtts::device {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kIntervalMin{1};
constexpr std::chrono::milliseconds kIntervalMax = std::chrono::hours{1};

}  // namespace

GpuSampler::GpuSampler(std::unique_ptr<Shared> shared) : shared_(std::move(shared)) {}

Result<std::unique_ptr<GpuSampler>> GpuSampler::open(std::string_view pci_bus_id,
                                                     const GpuSamplerOptions& options) {
  XTTS_ASSIGN(auto monitor, GpuMonitor::open());
  XTTS_ASSIGN(const Gpu gpu, monitor->find(pci_bus_id));
  return open(std::move(monitor), gpu, options);
}

Result<std::unique_ptr<GpuSampler>> GpuSampler::open(std::shared_ptr<const GpuMonitor> monitor,
                                                     Gpu gpu, const GpuSamplerOptions& options) {
  if (options.interval < kIntervalMin || options.interval > kIntervalMax) {
    return Status(
        StatusCode::kInvalidArgument,
        formatted("interval must be from 1 ms to 1 h, not {} ms", options.interval.count()));
  }
  auto shared = std::make_unique<Shared>();
  XTTS_ASSIGN(const GpuFacts facts, monitor->facts(gpu));
  shared->tally.add(facts);
  shared->monitor = std::move(monitor);
  shared->gpu = gpu;
  shared->options = options;
  return std::unique_ptr<GpuSampler>(new GpuSampler(std::move(shared)));
}

GpuSampler::~GpuSampler() {
  if (is_forked()) {
    (void)shared_.release();
    return;
  }
  stop();
}

Status GpuSampler::start() {
  if (is_forked()) {
    return {StatusCode::kUnsupported,
            "the sampler was opened before this process was forked: open one in a worker that is "
            "started with the method 'spawn'"};
  }
  const std::scoped_lock lock(shared_->start_mutex);
  if (shared_->thread.joinable()) return {};
  shared_->is_stopping = false;  // no thread reads it
  try {
    shared_->thread = std::thread([shared = shared_.get()] { run(*shared); });
  } catch (const std::system_error& error) {
    return {StatusCode::kResource,
            "starting the thread that samples the GPU: " + std::string(error.what())};
  }
  return {};
}

void GpuSampler::stop() {
  if (is_forked()) return;
  const std::scoped_lock lock(shared_->start_mutex);
  if (!shared_->thread.joinable()) return;
  {
    const std::scoped_lock tally_lock(shared_->mutex);
    shared_->is_stopping = true;
  }
  shared_->for_thread.notify_one();
  shared_->thread.join();
}

GpuUse GpuSampler::use() const {
  if (is_forked()) return {.missing = "all: this process was forked from the one that samples"};
  const std::scoped_lock lock(shared_->mutex);
  return shared_->tally.use();
}

// NVML's utilization is of the time before a reading. So the first reading comes after an interval,
// and the last one when sampling stops.
void GpuSampler::run(Shared& shared) {
  block_process_signals();
  const PcieReading pcie =
      shared.options.reads_pcie ? PcieReading::kThroughput : PcieReading::kNone;
  Clock::time_point counted = Clock::now();
  Clock::time_point next = counted + shared.options.interval;
  std::unique_lock lock(shared.mutex);
  for (bool is_last = false; !is_last;) {
    is_last = shared.for_thread.wait_until(lock, next, [&] { return shared.is_stopping; });
    lock.unlock();
    const GpuReading reading = shared.monitor->read(shared.gpu, pcie);
    const Clock::time_point now = Clock::now();
    lock.lock();
    shared.tally.add(reading);
    shared.tally.add_seconds(std::chrono::duration<double>(now - counted).count());
    counted = now;
    next = std::max(next + shared.options.interval, now);
  }
  lock.unlock();
  const auto facts = shared.monitor->facts(shared.gpu);
  lock.lock();
  if (facts.ok()) shared.tally.add(*facts);
}

}  // namespace xtts::device
