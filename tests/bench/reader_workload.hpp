// The workload of reader_bench and readers_vs_peers.py: 4,096 clips, [800, 80] float32 and tokens,
// whose frames are all true, and the limits of the machine for it: memcpy from the mapped shards,
// and pointers alone. For programs of one file: a failure ends them, with a message.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/env.hpp"
#include "reader/cache_view.hpp"
#include "support/test_cache.hpp"

namespace xtts::bench {

using Clock = std::chrono::steady_clock;

inline constexpr std::uint32_t kClips = 4096;
inline constexpr std::uint32_t kBatch = 32;
inline constexpr std::size_t kRecordBytes = std::size_t{800} * 80 * sizeof(float);

inline void make_cache(const std::string& folder) {
  xtts::testing::TestCacheOptions options{.clip_count = kClips,
                                          .frames_max = 800,
                                          .channel_count = 80,
                                          .tokens_max = 200,
                                          .clips_per_block = 32,
                                          .blocks_per_shard = 16};
  // Every frame is true: nothing is gained by leaving padding out.
  options.edit_clip = [](xtts::testing::TestClip& clip) {
    clip.mel.resize(kRecordBytes / 4, 0.5F);
  };
  const xtts::testing::TestCache cache = xtts::testing::make_test_cache(options);
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

inline std::atomic<unsigned> sink = 0;

inline void touch_pages(const std::byte* data, std::size_t size_bytes) {
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

  // The same by two threads, a batch at a time, as a reader has to: a batch is whole before anybody
  // looks at it, and what one looks at is not copied over. Threads wait for each other spinning.
  // Appends the time from each batch to the next.
  [[nodiscard]] double batches_copied_per_s(std::vector<double>& batch_ms) const {
    std::vector<std::byte> buffer(kBatch * kRecordBytes);
    std::atomic<std::size_t> wanted = 0;
    std::atomic<std::size_t> other_done = 0;
    const auto copy_half = [&](std::size_t batch, std::size_t half) {
      for (std::size_t row = half * kBatch / 2; row < (half + 1) * kBatch / 2; ++row) {
        std::memcpy(buffer.data() + row * kRecordBytes, records[batch * kBatch + row],
                    kRecordBytes);
      }
    };
    constexpr std::size_t kBatches = kClips / kBatch;
    std::thread other([&] {
      for (std::size_t batch = 0; batch < kBatches; ++batch) {
        while (wanted.load(std::memory_order_acquire) <= batch) {
        }
        copy_half(batch, 1);
        other_done.store(batch + 1, std::memory_order_release);
      }
    });
    const Clock::time_point begin = Clock::now();
    Clock::time_point last = begin;
    for (std::size_t batch = 0; batch < kBatches; ++batch) {
      wanted.store(batch + 1, std::memory_order_release);
      copy_half(batch, 0);
      while (other_done.load(std::memory_order_acquire) <= batch) {
      }
      const Clock::time_point now = Clock::now();
      if (batch > 0) {
        batch_ms.push_back(std::chrono::duration<double, std::milli>(now - last).count());
      }
      last = now;
      touch_pages(buffer.data(), buffer.size());
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    other.join();
    return kClips / seconds;
  }

  [[nodiscard]] double pointed_per_s() const {
    const Clock::time_point begin = Clock::now();
    for (const std::byte* record : in_order) touch_pages(record, kRecordBytes);
    return kClips / std::chrono::duration<double>(Clock::now() - begin).count();
  }

  std::vector<const std::byte*> records, in_order;
};

inline double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[std::min(values.size() - 1,
                         static_cast<std::size_t>(share * static_cast<double>(values.size())))];
}
inline double median(const std::vector<double>& values) {
  return quantile(values, 0.5);
}

}  // namespace xtts::bench
