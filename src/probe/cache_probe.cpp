#include "probe/cache_probe.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <numeric>

#include "base/try.hpp"
#include "loader/measure.hpp"
#include "pipeline/build.hpp"
#include "pipeline/build_observer.hpp"
#include "probe/fixed_random.hpp"
#include "reader/cache_paths.hpp"
#include "reader/cache_set.hpp"

namespace xtts::probe {
namespace {

constexpr std::size_t kRounds = 6;
constexpr std::size_t kExtentsMax = 256;

double cpu_seconds() {
  struct rusage used {};
  ::getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

// The rate of each sixth of the pass.
std::vector<double> rounds_of(const std::vector<double>& batch_ms, std::uint32_t batch_size) {
  std::vector<double> rates;
  const std::size_t length = std::max<std::size_t>(batch_ms.size() / kRounds, 1);
  for (std::size_t i = 0; i + length <= batch_ms.size(); i += length) {
    const auto begin = batch_ms.begin() + static_cast<std::ptrdiff_t>(i);
    const double ms = std::accumulate(begin, begin + static_cast<std::ptrdiff_t>(length), 0.0);
    if (ms > 0.0) rates.push_back(1e3 * static_cast<double>(batch_size * length) / ms);
  }
  return rates;
}

class SilentObserver : public pipeline::BuildObserver {
 public:
  explicit SilentObserver(const std::function<bool()>& cancelled) : cancelled_(cancelled) {}
  [[nodiscard]] bool wants_estimate() const override { return false; }
  void before(const pipeline::BuildPreview& /*preview*/) override {}
  void progress(const pipeline::BuildProgress& /*progress*/) override {}
  [[nodiscard]] bool cancelled() const override { return cancelled_ && cancelled_(); }

 private:
  const std::function<bool()>& cancelled_;
};

}  // namespace

Result<CacheMeasurement> measure_cache(Env& env, const CacheQuestion& question) {
  XTTS_ASSIGN(const auto caches, reader::CacheSet::open(env, question.cache));
  CacheMeasurement found;
  found.features_fingerprint = caches->whole().features_fingerprint;
  for (const formats::ColumnEntry& column : caches->whole().columns)
    found.record_bytes += column.spec.record_bytes();
  std::vector<Extent> shards;
  for (std::size_t cache = 0; cache < caches->cache_count(); ++cache) {
    XTTS_ASSIGN(const reader::CacheView* const view, caches->cache(cache));
    for (const formats::ColumnEntry& column : view->manifest().columns) {
      for (std::size_t i = 0; i < column.shards.size(); ++i) {
        const std::uint64_t size = column.shards[i].file_bytes;
        found.shard_bytes += size;
        shards.push_back(
            {.path = join_path(view->path(), reader::shard_name(column, i)), .size_bytes = size});
      }
    }
  }
  found.clip_count = caches->size();
  loader::MeasureOptions options;
  options.reader = {.batch_size = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                        question.batch_size, std::max<std::uint64_t>(caches->size(), 1))),
                    .shuffle = Shuffle::kGlobal,
                    .thread_count = question.thread_count};
  options.batch_count = question.batch_count;
  options.cancelled = question.cancelled;
  const double before = cpu_seconds();
  XTTS_ASSIGN(const loader::Measured measured, loader::measure(caches, options));
  const double clips =
      static_cast<double>(measured.first.sample_count + measured.again.sample_count);
  found.cpu_ms_per_clip = clips > 0.0 ? 1e3 * (cpu_seconds() - before) / clips : 0.0;
  found.batch_ms = measured.again.batch_ms;
  found.clips_per_s = rounds_of(found.batch_ms, options.reader.batch_size);
  FixedRandom random;
  const std::uint64_t record = std::max<std::uint64_t>(
      found.clip_count > 0 ? found.shard_bytes / found.clip_count : 0, 4096);
  for (std::size_t i = 0; i < kExtentsMax && !shards.empty(); ++i) {
    const Extent& shard = shards[random() % shards.size()];
    if (shard.size_bytes <= record) continue;
    found.extents.push_back({.path = shard.path,
                             .offset_bytes = random() % (shard.size_bytes - record),
                             .size_bytes = record});
  }
  return found;
}

Status build_sample(Env& env, pipeline::BuildRequest request, const std::string& folder,
                    std::uint64_t clip_count, std::uint64_t clips_in_data,
                    const std::function<bool()>& cancelled) {
  request.options.cache = folder;
  request.partition.reset();
  // Limits concern a whole corpus. A sample may be unlucky.
  request.max_rejects = {.count = {}, .share = 1.0};
  request.max_losses = {.dropped = 1.0, .gone = 1.0};
  if (clip_count < clips_in_data) {
    request.recipe.corpus.train_subset_fraction =
        static_cast<double>(clip_count) / static_cast<double>(clips_in_data);
    request.recipe.corpus.validation_split = 0.0;
    request.recipe.corpus.train_split = 1.0;
  }
  SilentObserver observer(cancelled);
  return pipeline::build(env, request, observer).status();
}

}  // namespace xtts::probe
