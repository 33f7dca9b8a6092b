#include "probe/numbers.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/cycle_search.hpp"
#include "base/storage_facts.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "probe/cache_probe.hpp"
#include "probe/corpus_probe.hpp"
#include "probe/gpus.hpp"
#include "probe/machine.hpp"
#include "probe/or_null.hpp"
#include "probe/scratch_folder.hpp"
#include "probe/storage_probe.hpp"

namespace xtts::probe {
namespace {

using nlohmann::json;

constexpr std::uint32_t kMeasureRounds = 4;
constexpr std::chrono::milliseconds kRound{700};
// A sample cache takes about this long to build.
constexpr double kSampleSeconds = 5.0;
constexpr std::uint64_t kSampleClipsMax = 512;
constexpr std::uint32_t kReaderThreadsMax = 4;
// Files that other programs are timed with.
constexpr std::size_t kFilesMax = 64;

Status check_cancelled(const Run& run) {
  return run.cancelled && run.cancelled() ? Status(StatusCode::kCancelled, "stopped") : Status();
}

json storage_numbers(Env& env, const StorageProbe& probe) {
  const StorageMeasurement found = measure_storage(env, probe);
  return {{"kind", words_of(found.system.kind)},
          {"file_system", found.system.file_system},
          {"extent_bytes", found.extent_bytes},
          {"sequential_bytes_per_s", or_null(found.sequential_bytes_per_s)},
          {"random_4k_ms", or_null(found.random_4k_ms)},
          {"random_4k_per_s_deep", or_null(found.random_4k_per_s_deep)},
          {"extent_ms", or_null(found.extent_ms)},
          {"extents_per_s_deep", or_null(found.extents_per_s_deep)},
          {"sync_ms", or_null(found.sync_ms)},
          {"cached_share", or_null(found.cached_share)},
          {"missing", found.missing}};
}

json sound_numbers(const SampledSound& sound) {
  json formats = json::array();
  for (const auto& [format, count] : sound.formats)
    formats.push_back({{"container", format.first}, {"codec", format.second}, {"count", count}});
  return {{"corpus_clip_count", sound.corpus_clip_count},
          {"clip_count", sound.clip_count},
          {"formats", std::move(formats)},
          {"resampled_count", sound.resampled_count},
          {"mean_frames", sound.mean_frames},
          {"reject_count", sound.reject_count},
          {"rejects", sound.rejects}};
}

json recipe_numbers(const formats::Recipe& recipe) {
  const formats::FeatureConfig& features = *recipe.features;
  return {{"name", recipe.name},
          {"fingerprint", formats::fingerprint(features).to_hex()},
          {"sample_rate", features.sample_rate_hz},
          {"n_fft", features.stft.n_fft},
          {"hop", features.stft.hop_samples},
          {"win", features.stft.win_samples},
          {"n_mels", features.mel.n_mels},
          {"trims", features.trim.method != formats::TrimMethod::kNone}};
}

json rate_numbers(const ComputeRates& rates) {
  return {{"way", rates.way},
          {"worker_count", rates.worker_count},
          {"one", rates.one},
          {"all", rates.all}};
}

Result<CacheMeasurement> measured(Env& env, const std::string& cache, const Run& run) {
  const auto threads = static_cast<std::uint32_t>(std::max(1.0, read_machine(env).usable_cores()));
  auto found = measure_cache(env, {.cache = cache,
                                   .batch_size = run.batch_size,
                                   .thread_count = std::min(threads, kReaderThreadsMax),
                                   .cancelled = run.cancelled});
  XTTS_TRY(check_cancelled(run));
  return found;
}

json numbers_of(const CacheMeasurement& cache) {
  const auto cycle = search_cycle(cache.batch_ms);
  return {{"clips_per_s", cache.clips_per_s},
          {"batch_ms", cache.batch_ms},
          {"period", cycle ? json(cycle->period) : json()},
          {"cpu_ms_per_clip", cache.cpu_ms_per_clip},
          {"fingerprint", cache.features_fingerprint.to_hex()},
          {"clip_count", cache.clip_count},
          {"record_bytes", cache.record_bytes},
          {"shard_bytes", cache.shard_bytes},
          {"storage", nullptr}};
}

double mean_of(const std::vector<double>& rounds) {
  return rounds.empty() ? 0.0
                        : std::accumulate(rounds.begin(), rounds.end(), 0.0) /
                              static_cast<double>(rounds.size());
}

// Measures a cache of a sample, which goes with it. A failure says why there is none.
Result<json> sample_cache_numbers(Env& env, const CorpusQuestion& question,
                                  std::uint64_t clips_in_data, double clips_per_s, const Run& run) {
  XTTS_ASSIGN(const auto sample, ScratchFolder::make(run.scratch_folder));
  const std::string cache = join_path(sample->path(), "cache");
  run.begin("building a cache of a sample");
  const auto count = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(clips_per_s * kSampleSeconds), run.batch_size, kSampleClipsMax);
  const Status built =
      build_sample(env, question.build, cache, count, clips_in_data, run.cancelled);
  XTTS_TRY(check_cancelled(run));
  if (!built.ok()) {
    // The text behind the reason is advice for a build that is to stay.
    const std::string reason = built.message().substr(0, built.message().find(';'));
    return Status(built.code(), "A cache of a sample could not be built in " + run.scratch_folder +
                                    " (TMPDIR names another folder): " + reason);
  }
  run.begin("reading batches from it");
  XTTS_ASSIGN(const CacheMeasurement found, measured(env, cache, run));
  return numbers_of(found);
}

}  // namespace

json machine_numbers(Env& env) {
  const MachineFacts machine = read_machine(env);
  auto gpus = gpu_numbers();
  return {{"core_count", machine.core_count},
          {"cpu_limit", or_null(machine.cpu_limit)},
          {"usable_cores", machine.usable_cores()},
          {"memory_total_bytes", machine.memory_total_bytes},
          {"memory_available_bytes", machine.memory_available_bytes},
          {"lock_limit_bytes", or_null(machine.lock_limit_bytes)},
          {"shm_total_bytes", or_null(machine.shm_total_bytes)},
          {"shm_free_bytes", or_null(machine.shm_free_bytes)},
          {"no_gpu", gpus.ok() ? json() : json(gpus.status().message())},
          {"gpus", gpus.ok() ? std::move(*gpus) : json::array()}};
}

Result<json> corpus_numbers(Env& env, const CorpusQuestion& question, const Run& run) {
  const std::string& data = question.build.data.path;
  run.begin("looking for clips in " + data);
  pipeline::BuildRequest request = question.build;
  request.run.thread_count = std::max(request.run.thread_count, question.worker_count);
  XTTS_ASSIGN(const auto corpus, CorpusProbe::open(env, std::move(request), run.scratch_folder));
  // Before the files come into the page cache.
  run.begin("reading from the storage of " + data);
  json storage = storage_numbers(env, {.folder = data,
                                       .extents = corpus->extents(),
                                       .in_order = corpus->neighbours(),
                                       .writable_folder = run.writable_folder,
                                       .cancelled = run.cancelled});
  XTTS_TRY(check_cancelled(run));
  run.begin("computing features on the fly");
  XTTS_ASSIGN(const ComputeRates rates,
              corpus->measure(question.worker_count, kMeasureRounds, kRound, run.cancelled));
  const CorpusProbe::Faults faults = corpus->faults();
  json numbers = {
      {"layout", corpus->layout()},
      {"clip_count", corpus->clip_count()},
      {"source_bytes", corpus->source_bytes()},
      {"record_bytes", corpus->record_bytes()},
      {"batch_size", run.batch_size},
      {"recipe", recipe_numbers(corpus->recipe())},
      {"faults", {{"count", faults.count}, {"allowed", faults.allowed}, {"first", faults.first}}},
      {"sound", sound_numbers(corpus->sound())},
      {"storage", std::move(storage)},
      {"rates", rate_numbers(rates)},
      // Of the files that were read just now. Some file systems keep nothing, however much memory
      // there is; the rates then contain the reads.
      {"share_in_page_cache", or_null(share_in_page_cache(env, corpus->read_extents()))},
      {"files", corpus->whole_files(kFilesMax)},
      {"cache", nullptr},
      {"no_cache", ""}};
  const double clips_per_s = mean_of(rates.all);
  if (!question.builds_sample_cache || clips_per_s <= 0.0) return numbers;
  auto cache = sample_cache_numbers(env, question, corpus->clip_count(), clips_per_s, run);
  XTTS_TRY(check_cancelled(run));
  if (cache.ok()) {
    numbers["cache"] = std::move(*cache);
  } else {
    numbers["no_cache"] = cache.status().message();
  }
  return numbers;
}

Result<json> cache_numbers(Env& env, const std::string& cache, const Run& run) {
  run.begin("reading batches from " + cache);
  XTTS_ASSIGN(const CacheMeasurement found, measured(env, cache, run));
  json numbers = numbers_of(found);
  run.begin("reading from the storage of " + cache);
  numbers["storage"] =
      storage_numbers(env, {.folder = cache, .extents = found.extents, .cancelled = run.cancelled});
  XTTS_TRY(check_cancelled(run));
  return numbers;
}

}  // namespace xtts::probe
