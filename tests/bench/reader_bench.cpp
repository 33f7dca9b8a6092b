// reader_bench FOLDER [ROUNDS [THREADS]]: batches of the workload in RESULTS.md (4,096 clips, [32,
// 800, 80] float32 and tokens, seeded order, one byte a page touched by the consumer), as stored
// and normalized, beside what the machine allows: memcpy from the same mapped shards into one
// reused buffer, and pointers alone. Makes the cache in FOLDER where there is none. Every round
// measures all of them once; the medians over the rounds are printed, as samples a second and as
// ratios. Caches in memory: the page cache is warm.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "reader_workload.hpp"
#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using namespace xtts::bench;

// Appends the time from each batch to the next, but from the first, which begins an epoch.
double epoch_per_s(Reader& reader, std::uint64_t epoch, std::vector<double>& batch_ms) {
  const Clock::time_point begin = Clock::now();
  reader.set_epoch(epoch);
  std::uint64_t samples = 0;
  Clock::time_point last;
  for (;;) {
    const auto batch = must(reader.next());
    if (!batch) break;
    const Clock::time_point now = Clock::now();
    if (samples > 0) {
      batch_ms.push_back(std::chrono::duration<double, std::milli>(now - last).count());
    }
    last = now;
    for (const BatchColumn& column : batch->columns()) {
      touch_pages(column.bytes.data(), column.bytes.size());
    }
    samples += batch->valid_count();
  }
  return static_cast<double>(samples) / std::chrono::duration<double>(Clock::now() - begin).count();
}

// Each channel by numbers of its own: the cache of this workload has no statistics.
ColumnRequest normalized_mel() {
  return {.name = "mel",
          .normalize = Normalize::kGiven,
          .means = std::vector<double>(80, -5.0),
          .deviations = std::vector<double>(80, 2.5)};
}

void print_intervals(const std::vector<double>& ms) {
  double mean = 0, squares = 0;
  for (const double value : ms) mean += value / static_cast<double>(ms.size());
  for (const double value : ms) squares += (value - mean) * (value - mean);
  const double deviation = std::sqrt(squares / static_cast<double>(ms.size()));
  std::printf("  a batch: mean %.3f ms, std/mean %.2f, p50 %.3f, p95 %.3f, p99 %.3f\n", mean,
              deviation / mean, median(ms), quantile(ms, 0.95), quantile(ms, 0.99));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: reader_bench FOLDER [ROUNDS [THREADS]]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 9;
  const auto threads = static_cast<std::uint32_t>(argc > 3 ? std::atoi(argv[3]) : 1);
  if (!std::filesystem::exists(folder + "/manifest.json")) make_cache(folder);

  const Limits limits(folder);
  const auto cache = must(Cache::open(folder));
  auto global =
      must(Reader::open(cache, {.batch_size = kBatch, .seed = 7, .thread_count = threads}));
  auto in_place = must(Reader::open(
      cache, {.batch_size = kBatch, .shuffle = Shuffle::kNone, .thread_count = threads}));
  auto normalized = must(Reader::open(cache, {.batch_size = kBatch,
                                              .seed = 7,
                                              .columns = {normalized_mel(), {.name = "tokens"}},
                                              .thread_count = threads}));
  std::vector<double> first_ms, global_ms, normalized_ms, in_place_ms;
  const double first_epoch = epoch_per_s(global, 0, first_ms);

  std::vector<double> copy1, copy2, batch_copies, batch_copies_ms, ours, ours_normalized, shares;
  std::vector<double> pointers, ours_in_place;
  for (int round = 0; round < rounds; ++round) {
    const auto epoch = static_cast<std::uint64_t>(round) + 1;
    copy1.push_back(limits.copied_per_s(1));
    copy2.push_back(limits.copied_per_s(2));
    batch_copies.push_back(limits.batches_copied_per_s(batch_copies_ms));
    ours.push_back(epoch_per_s(global, epoch, global_ms));
    ours_normalized.push_back(epoch_per_s(normalized, epoch, normalized_ms));
    shares.push_back(ours_normalized.back() / ours.back());
    pointers.push_back(limits.pointed_per_s());
    ours_in_place.push_back(epoch_per_s(in_place, epoch, in_place_ms));
  }
  std::printf("memcpy, 1 thread          %9.0f samples/s\n", median(copy1));
  std::printf("memcpy, 2 threads         %9.0f\n", median(copy2));
  std::printf("the same batch by batch   %9.0f\n", median(batch_copies));
  print_intervals(batch_copies_ms);
  std::printf("global, first epoch       %9.0f  with the check of every record\n", first_epoch);
  print_intervals(first_ms);
  std::printf("global, later epochs      %9.0f  %.2f of memcpy by 2 threads, %.2f batch by batch\n",
              median(ours), median(ours) / median(copy2), median(ours) / median(batch_copies));
  print_intervals(global_ms);
  std::printf("global, normalized        %9.0f  %.2f of global\n", median(ours_normalized),
              median(shares));
  print_intervals(normalized_ms);
  std::printf("pointers                  %9.0f\n", median(pointers));
  std::printf("none, in place            %9.0f  %.2f of pointers\n", median(ours_in_place),
              median(ours_in_place) / median(pointers));
  print_intervals(in_place_ms);
  return 0;
}
