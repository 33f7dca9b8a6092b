// open_bench FOLDER: a cache of a million clips (small records; index, plan and shards as many as
// the default recipe would have): how long until it is open, until a reader stands, until the first
// batch, and how much memory that takes. Makes the cache in FOLDER where there is none.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "support/test_cache.hpp"
#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

template <typename T>
T must(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

// Resident memory that is ours alone, MiB: mapped shards are the page cache's.
double own_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atof(line.c_str() + 8) / 1024.0;
  }
  return 0.0;
}

void make_cache(const std::string& folder) {
  const testing::TestCache cache = testing::make_test_cache({.clip_count = 1'000'000,
                                                             .frames_max = 2,
                                                             .channel_count = 1,
                                                             .clips_per_block = 32,
                                                             .blocks_per_shard = 16});
  for (const auto& [name, bytes] : cache.files) {
    const std::filesystem::path path = std::filesystem::path(folder) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: open_bench FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  if (!std::filesystem::exists(folder + "/manifest.json")) {
    make_cache(folder);
    std::printf("made; run again\n");
    return 0;
  }
  const double before = own_mib();
  const Clock::time_point begin = Clock::now();
  const auto cache = must(Cache::open(folder));
  std::printf("open              %8.1f ms, %.1f MiB\n", ms_since(begin), own_mib() - before);
  for (const char* split : {"", "train"}) {
    for (const Shuffle shuffle : {Shuffle::kGlobal, Shuffle::kWindow}) {
      const Clock::time_point start = Clock::now();
      auto reader =
          must(Reader::open(cache, {.batch_size = 32, .split = split, .shuffle = shuffle}));
      const double opened = ms_since(start);
      const auto batch = must(reader.next());
      std::printf("split '%s', %s: reader %.1f ms, first batch %.1f ms, %.1f MiB; %llu clips\n",
                  split, shuffle == Shuffle::kGlobal ? "global" : "window", opened, ms_since(start),
                  own_mib() - before, static_cast<unsigned long long>(reader.sample_count()));
    }
  }
  const Clock::time_point start = Clock::now();
  auto reader = must(Reader::open(cache, {.batch_size = 32, .where = "mel_len > 1"}));
  std::printf("where mel_len > 1: reader %.1f ms, %.1f MiB; %llu clips\n", ms_since(start),
              own_mib() - before, static_cast<unsigned long long>(reader.sample_count()));
  const Clock::time_point sorting = Clock::now();
  auto sorted = must(
      Reader::open(cache, {.buckets = {{.batch_size = 48, .frames_max = 1}, {.batch_size = 32}}}));
  const double opened = ms_since(sorting);
  (void)must(sorted.next());
  const double first = ms_since(sorting);
  sorted.set_epoch(7);
  std::printf("two buckets: reader %.1f ms, first batch %.1f ms, another epoch %.1f ms, %.1f MiB\n",
              opened, first, ms_since(sorting) - first, own_mib() - before);
  return 0;
}
