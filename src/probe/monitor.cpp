#include "probe/monitor.hpp"

#include <algorithm>
#include <utility>

#include "base/file_mapping.hpp"
#include "base/try.hpp"
#include "reader/cache_paths.hpp"
#include "reader/cache_set.hpp"

namespace xtts::probe {
namespace {

constexpr std::uint64_t kStatsBytesMax = 64 * 1024;
constexpr std::size_t kReadersMax = 64;
// A reader that was killed leaves its file. Nobody waits this long for a batch.
constexpr double kStaleSeconds = 120.0;

double seconds(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

GpuSample sample_of(const device::GpuMonitor& monitor, const device::GpuFacts& gpu) {
  GpuSample sample{.name = gpu.name, .utilization = {}, .memory_used_bytes = {}, .power_w = {}};
  if (gpu.gpu == nullptr) return sample;
  const device::GpuReading reading = monitor.read(gpu.gpu, device::PcieReading::kNone);
  if (reading.utilization) sample.utilization = *reading.utilization;
  sample.memory_used_bytes = reading.memory_used_bytes;
  sample.power_w = reading.power_w;
  return sample;
}

}  // namespace

Monitor::Monitor(Env& env, const MonitorOptions& options) : env_(env), options_(options) {}
Monitor::~Monitor() = default;

Result<std::unique_ptr<Monitor>> Monitor::open(Env& env, const MonitorOptions& options) {
  std::unique_ptr<Monitor> monitor(new Monitor(env, options));
  if (!options.cache.empty()) XTTS_TRY(monitor->map_cache());
  for (const std::string& named : {options.folder, options.readers}) {
    if (!named.empty()) XTTS_TRY(env.stat(named).status());
  }
  const std::string folder = options.folder.empty() ? options.cache : options.folder;
  if (!folder.empty()) {
    const auto storage = env.storage(folder);
    if (storage.ok()) monitor->disk_ = storage->device;
  }
  auto gpus = device::GpuMonitor::open();
  if (gpus.ok()) {
    monitor->gpu_monitor_ = *gpus;
    auto facts = (*gpus)->gpus();
    if (facts.ok()) {
      monitor->gpus_ = std::move(*facts);
    } else {
      monitor->no_gpu_ = facts.status().message();
    }
  } else {
    monitor->no_gpu_ = gpus.status().message();
  }
  monitor->last_ = read_counters(monitor->disk_);
  monitor->begin_ = monitor->last_at_ = env.now();
  (void)monitor->sample_readers();
  return monitor;
}

Status Monitor::map_cache() {
  XTTS_ASSIGN(const auto caches, reader::CacheSet::open(env_, options_.cache));
  for (std::size_t cache = 0; cache < caches->cache_count(); ++cache) {
    XTTS_ASSIGN(const reader::CacheView* const view, caches->cache(cache));
    for (const formats::ColumnEntry& column : view->manifest().columns) {
      for (std::size_t i = 0; i < column.shards.size(); ++i) {
        auto file = env_.open_for_read(join_path(view->path(), reader::shard_name(column, i)));
        if (!file.ok()) continue;  // a newer generation may have replaced it
        auto mapping = (*file)->map();
        if (mapping.ok() && (*mapping)->tells_what_is_resident())
          shards_.push_back(std::move(*mapping));
      }
    }
  }
  return {};
}

std::vector<ReaderSample> Monitor::sample_readers() {
  std::vector<ReaderSample> samples;
  if (options_.readers.empty()) return samples;
  const auto entries = env_.list(options_.readers);
  if (!entries.ok()) return samples;
  std::map<std::string, ReaderCount> counts;
  for (const DirectoryEntry& entry : *entries) {
    if (entry.kind != FileKind::kRegular || file_extension(entry.name) != "json") continue;
    if (counts.size() == kReadersMax) break;
    const auto text = read_text_file(env_, join_path(options_.readers, entry.name), kStatsBytesMax);
    if (!text.ok()) continue;
    const auto count = parse_reader_count(*text);
    if (!count || seconds(env_.now()) - count->at_s > kStaleSeconds) continue;
    const ReaderCount& now = *count;
    const std::string name(file_stem(entry.name));
    counts[name] = now;
    const auto before = last_readers_.find(name);
    if (before == last_readers_.end()) continue;
    ReaderSample sample{.name = name};
    const double passed = now.at_s - before->second.at_s;
    if (passed > 0.0 && now.batches >= before->second.batches) {
      sample.batches_per_s = static_cast<double>(now.batches - before->second.batches) / passed;
      sample.samples_per_s = static_cast<double>(now.samples - before->second.samples) / passed;
      sample.wait_share = std::clamp((now.wait_s - before->second.wait_s) / passed, 0.0, 1.0);
    }
    samples.push_back(std::move(sample));
  }
  last_readers_ = std::move(counts);
  std::ranges::sort(samples, {}, &ReaderSample::name);
  return samples;
}

MonitorSample Monitor::sample() {
  const SystemCounters now = read_counters(disk_);
  const std::chrono::nanoseconds at = env_.now();
  const double passed = seconds(at - last_at_);
  MonitorSample sample;
  sample.at_s = seconds(at - begin_);
  sample.cpu_share = busy_share(last_.all, now.all);
  for (std::size_t i = 0; i < std::min(last_.cores.size(), now.cores.size()); ++i)
    sample.core_shares.push_back(busy_share(last_.cores[i], now.cores[i]));
  if (const auto available = env_.available_memory_bytes(); available.ok())
    sample.memory_available_bytes = *available;
  if (now.disk && last_.disk && passed > 0.0 && now.disk->read_bytes >= last_.disk->read_bytes) {
    sample.disk_bytes_per_s =
        static_cast<double>(now.disk->read_bytes - last_.disk->read_bytes) / passed;
    sample.disk_busy_share = std::clamp(
        static_cast<double>(now.disk->busy_ms - last_.disk->busy_ms) / (1e3 * passed), 0.0, 1.0);
  }
  for (const device::GpuFacts& gpu : gpus_) sample.gpus.push_back(sample_of(*gpu_monitor_, gpu));
  std::uint64_t resident = 0;
  std::uint64_t whole = 0;
  for (const auto& shard : shards_) {
    resident += shard->resident_bytes(0, shard->bytes().size());
    whole += shard->bytes().size();
  }
  if (whole > 0)
    sample.cache_in_memory_share =
        std::min(1.0, static_cast<double>(resident) / static_cast<double>(whole));
  sample.readers = sample_readers();
  last_ = now;
  last_at_ = at;
  return sample;
}

}  // namespace xtts::probe
