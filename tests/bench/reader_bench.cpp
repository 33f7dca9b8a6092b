// reader_bench FOLDER [ROUNDS [THREADS]]: batches of the workload in RESULTS.md (4,096 clips, [32,
// 800, 80] float32 and tokens, seeded order, one byte a page touched by the consumer), beside what
// the machine allows: memcpy from the same mapped shards into one reused buffer, and pointers
// alone. Makes the cache in FOLDER where there is none. Every round measures all of them once; the
// medians over the rounds are printed, as samples a second and as ratios. Caches in memory: the
// page cache is warm.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "base/env.hpp"
#include "reader/cache_view.hpp"
#include "support/test_cache.hpp"
#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kClips = 4096;
constexpr std::uint32_t kBatch = 32;
constexpr std::size_t kRecordBytes = std::size_t{800} * 80 * sizeof(float);

void make_cache(const std::string& folder) {
  testing::TestCacheOptions options{.clip_count = kClips,
                                    .frames_max = 800,
                                    .channel_count = 80,
                                    .tokens_max = 200,
                                    .clips_per_block = 32,
                                    .blocks_per_shard = 16};
  // Every frame is true: nothing is gained by leaving padding out.
  options.edit_clip = [](testing::TestClip& clip) { clip.mel.resize(kRecordBytes / 4, 0.5F); };
  const testing::TestCache cache = testing::make_test_cache(options);
  for (const auto& [name, bytes] : cache.files) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(path.parent_path());
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (file == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
      std::perror(path.c_str());
      std::exit(1);
    }
    std::fclose(file);
  }
}

template <typename T>
T must(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

std::atomic<unsigned> sink = 0;

void touch_pages(const std::byte* data, std::size_t size_bytes) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < size_bytes; i += 4096) sum += static_cast<unsigned>(data[i]);
  sink.fetch_add(sum, std::memory_order_relaxed);
}

// Where each clip's mel lies, mapped, in a shuffled order that is not ours.
struct Limits {
  explicit Limits(const std::string& folder) {
    const auto view = must(reader::CacheView::open(Env::real(), folder));
    std::vector<const std::byte*> shards;
    const auto& column = *view->manifest().find_column("mel");
    for (std::size_t i = 0; i < column.shards.size(); ++i) {
      const std::string name = folder + "/shards/mel/" +
                               formats::shard_file_name(i, column.shards[i].digest, column.store);
      const int fd = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
      struct stat info {};
      if (fd < 0 || ::fstat(fd, &info) != 0) std::exit(1);
      void* mapping = ::mmap(nullptr, static_cast<std::size_t>(info.st_size), PROT_READ,
                             MAP_SHARED | MAP_POPULATE, fd, 0);
      ::close(fd);
      shards.push_back(static_cast<const std::byte*>(mapping));
    }
    for (std::uint64_t i = 0; i < view->size(); ++i) {
      const auto location = must(view->location(column.spec.id, i));
      const auto block = must(view->block(column.spec.id, location.block_row));
      records.push_back(shards[block.shard] + block.place.payload_offset +
                        location.slot * kRecordBytes);
    }
    in_order = records;
    std::uint64_t state = 1;
    for (std::size_t i = records.size(); i > 1; --i) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      std::swap(records[i - 1], records[(state >> 33U) % i]);
    }
  }

  // Threads copy their share of each batch into one buffer, and meet after it.
  [[nodiscard]] double copied_per_s(unsigned thread_count) const {
    std::vector<std::byte> buffer(kBatch * kRecordBytes);
    const auto copy = [&](std::size_t batch, unsigned thread) {
      for (std::size_t row = thread; row < kBatch; row += thread_count) {
        std::memcpy(buffer.data() + row * kRecordBytes, records[batch * kBatch + row],
                    kRecordBytes);
        touch_pages(buffer.data() + row * kRecordBytes, kRecordBytes);
      }
    };
    // Without a barrier: as if both threads were always ready at once, which flatters the limit.
    const Clock::time_point begin = Clock::now();
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < thread_count; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t batch = 0; batch < kClips / kBatch; ++batch) copy(batch, t);
      });
    }
    for (std::thread& thread : threads) thread.join();
    return kClips / std::chrono::duration<double>(Clock::now() - begin).count();
  }

  [[nodiscard]] double pointed_per_s() const {
    const Clock::time_point begin = Clock::now();
    for (const std::byte* record : in_order) touch_pages(record, kRecordBytes);
    return kClips / std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::vector<const std::byte*> records, in_order;
};

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

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}
double median(const std::vector<double>& values) {
  return quantile(values, 0.5);
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
  std::vector<double> first_ms, global_ms, in_place_ms;
  const double first_epoch = epoch_per_s(global, 0, first_ms);

  std::vector<double> copy1, copy2, ours, pointers, ours_in_place;
  for (int round = 0; round < rounds; ++round) {
    const auto epoch = static_cast<std::uint64_t>(round) + 1;
    copy1.push_back(limits.copied_per_s(1));
    copy2.push_back(limits.copied_per_s(2));
    ours.push_back(epoch_per_s(global, epoch, global_ms));
    pointers.push_back(limits.pointed_per_s());
    ours_in_place.push_back(epoch_per_s(in_place, epoch, in_place_ms));
  }
  std::printf("memcpy, 1 thread          %9.0f samples/s\n", median(copy1));
  std::printf("memcpy, 2 threads         %9.0f\n", median(copy2));
  std::printf("global, first epoch       %9.0f  with the check of every record\n", first_epoch);
  print_intervals(first_ms);
  std::printf("global, later epochs      %9.0f  %.2f of memcpy by 2 threads\n", median(ours),
              median(ours) / median(copy2));
  print_intervals(global_ms);
  std::printf("pointers                  %9.0f\n", median(pointers));
  std::printf("none, in place            %9.0f  %.2f of pointers\n", median(ours_in_place),
              median(ours_in_place) / median(pointers));
  print_intervals(in_place_ms);
  return 0;
}
