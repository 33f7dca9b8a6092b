// cold_bench FOLDER [ROUNDS [THREADS [SHUFFLE]]]: the workload of reader_bench (a cache of 4,096
// clips, which that program makes), from the disk: before each measurement the kernel is asked to
// forget the shards, and mincore must agree. The limit is io_uring with O_DIRECT on the same record
// regions at random, at several depths, by one thread that looks at one byte a page of each; beside
// it our reader, mapped and direct. Every round measures all of them once, in turn; medians over
// the rounds are printed, and the ratio to the best depth of the same round. Other work on the
// machine or its disk makes noise: ratios within one run are what counts.
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
#include <filesystem>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "base/io_uring.hpp"
#include "device/host_memory.hpp"
#include "reader/cache_view.hpp"
#include "reader/shard_files.hpp"
#include "xtts/batch.hpp"

namespace {

using namespace xtts;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kBatch = 32;
constexpr std::size_t kWarmBytes = std::size_t{128} << 20U;
constexpr std::size_t kRecordBytes = std::size_t{800} * 80 * sizeof(float);
constexpr std::size_t kAlignmentMax = 4096;
constexpr std::size_t round_up(std::size_t bytes, std::size_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}
constexpr std::size_t kCellBytes = round_up(kRecordBytes, kAlignmentMax) + kAlignmentMax;

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

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// Nobody may have the shards mapped.
void forget(const std::string& folder) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder + "/shards")) {
    if (!entry.is_regular_file()) continue;
    const int fd = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ::fsync(fd) != 0) std::exit(1);
    (void)::posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    const std::size_t size_bytes = entry.file_size();
    void* const mapping = ::mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
    std::vector<unsigned char> is_resident((size_bytes + 4095) / 4096);
    if (mapping == MAP_FAILED || ::mincore(mapping, size_bytes, is_resident.data()) != 0) {
      std::exit(1);
    }
    const auto left = std::ranges::count_if(is_resident, [](auto page) { return (page & 1) != 0; });
    if (left > 0) {
      std::fprintf(stderr, "%s: %zd pages are still in memory\n", entry.path().c_str(), left);
    }
    ::munmap(mapping, size_bytes);
    ::close(fd);
  }
}

// A virtual machine may get its pages from its host when they are first written to: 2.5 ms a MiB
// where this was found, a third of an epoch for the reader's 64 MiB. Pages that were written to and
// given back a moment ago are there, for the limit's memory and for the reader's.
void fault_in_memory() {
  const auto memory = must(device::HostMemory::allocate(kWarmBytes));
  for (std::size_t i = 0; i < kWarmBytes; i += 4096) memory.bytes()[i] = std::byte{1};
}

struct Region {
  std::shared_ptr<const DirectFile> file;
  std::uint64_t offset_bytes = 0;
};

std::vector<Region> find_regions(const std::string& folder) {
  const auto view = must(reader::CacheView::open(Env::real(), folder));
  const auto& column = *view->manifest().find_column("mel");
  std::vector<std::shared_ptr<const DirectFile>> shards;
  for (std::size_t i = 0; i < column.shards.size(); ++i) {
    const std::string name = folder + "/shards/mel/" +
                             formats::shard_file_name(i, column.shards[i].digest, column.store);
    shards.push_back(must(must(Env::real().open_for_read(name))->open_direct()));
  }
  std::vector<Region> regions;
  for (std::uint64_t i = 0; i < view->size(); ++i) {
    const auto location = must(view->location(column.spec.id, i));
    const auto block = must(view->block(column.spec.id, location.block_row));
    regions.push_back(
        {shards[block.shard], block.place.payload_offset + location.slot * kRecordBytes});
  }
  return regions;
}

void shuffle(std::vector<Region>& regions) {
  static std::uint64_t state = 1;
  for (std::size_t i = regions.size(); i > 1; --i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    std::swap(regions[i - 1], regions[(state >> 33U) % i]);
  }
}

struct Series {
  std::string name;
  std::vector<double> per_s = {}, share_of_limit = {}, first_ms = {}, batch_ms = {};
};

double limit_per_s(const std::vector<Region>& regions, std::uint32_t depth,
                   std::vector<double>& batch_ms) {
  const auto ring = must(IoUring::open(depth));
  const auto memory = must(device::HostMemory::allocate(depth * kCellBytes));
  std::size_t next = 0;
  const auto read_into = [&](std::size_t cell) {
    const Region& region = regions[next++];
    // No more than the record takes: the reader reads no more either.
    const std::size_t alignment = region.file->alignment_bytes();
    const std::size_t lead = region.offset_bytes % alignment;
    const DirectRead read{
        region.file.get(), region.offset_bytes - lead,
        memory.bytes().subspan(cell * kCellBytes, round_up(lead + kRecordBytes, alignment)), cell};
    if (must(ring->submit({&read, 1})) != 1) std::exit(1);
  };
  const Clock::time_point begin = Clock::now();
  Clock::time_point last = begin;
  for (std::size_t cell = 0; cell < depth; ++cell) read_into(cell);
  for (std::size_t count = 0; count < regions.size();) {
    std::vector<DirectDone> done(8);
    done.resize(must(ring->reap(done)));
    for (const DirectDone& one : done) {
      if (one.error != 0 || one.read_bytes < kRecordBytes) std::exit(1);
      touch_pages(memory.bytes().data() + one.tag * kCellBytes, kRecordBytes);
      if (++count % kBatch == 0) {
        batch_ms.push_back(std::chrono::duration<double, std::milli>(Clock::now() - last).count());
        last = Clock::now();
      }
      if (next < regions.size()) read_into(one.tag);
    }
  }
  return static_cast<double>(regions.size()) / seconds_since(begin);
}

// With the reader's own start: from its opening to the epoch's end.
double ours_per_s(const std::string& folder, const ReaderOptions& options, Series& series) {
  const auto cache = must(Cache::open(folder));
  const Clock::time_point begin = Clock::now();
  auto reader = must(Reader::open(cache, options));
  Clock::time_point last = begin;
  std::uint64_t samples = 0;
  for (;;) {
    const auto batch = must(reader.next());
    if (!batch) break;
    const Clock::time_point now = Clock::now();
    (samples == 0 ? series.first_ms : series.batch_ms)
        .push_back(std::chrono::duration<double, std::milli>(now - last).count());
    last = now;
    for (const BatchColumn& column : batch->columns()) {
      touch_pages(column.bytes.data(), column.bytes.size());
    }
    samples += batch->valid_count();
  }
  const double per_s = static_cast<double>(samples) / seconds_since(begin);
  static bool is_told = false;
  if (!is_told) std::printf("%s\n", reader.stats().storage.c_str());
  is_told = true;
  if (series.per_s.empty()) std::printf("%s\n", reader.stats().reading.c_str());
  return per_s;
}

double quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values.empty()
             ? 0
             : values[std::min(values.size() - 1, static_cast<std::size_t>(
                                                      share * static_cast<double>(values.size())))];
}

void print(const Series& series) {
  double mean = 0, squares = 0;
  const auto count = static_cast<double>(series.batch_ms.size());
  for (const double ms : series.batch_ms) mean += ms / count;
  for (const double ms : series.batch_ms) squares += (ms - mean) * (ms - mean) / count;
  std::printf("%-18s %8.0f samples/s  %.2f of the limit  ms a batch: p50 %.2f p99 %.2f",  //
              series.name.c_str(), quantile(series.per_s, 0.5),
              quantile(series.share_of_limit, 0.5), quantile(series.batch_ms, 0.5),
              quantile(series.batch_ms, 0.99));
  std::printf("  std/mean %.2f", std::sqrt(squares) / mean);
  if (!series.first_ms.empty()) std::printf("  first %.1f", quantile(series.first_ms, 0.5));
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: cold_bench FOLDER [ROUNDS [THREADS [global|none]]]\n");
    return 2;
  }
  const std::string folder = argv[1];
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 7;
  ReaderOptions options{.batch_size = kBatch, .seed = 7};
  options.thread_count = static_cast<std::uint32_t>(argc > 3 ? std::atoi(argv[3]) : 0);
  if (argc > 4 && std::string(argv[4]) == "none") options.shuffle = Shuffle::kNone;

  std::vector<Region> regions = find_regions(folder);
  const std::vector<std::uint32_t> depths = {8, 16, 32, 64};
  std::vector<Series> limits;
  for (const std::uint32_t depth : depths)
    limits.push_back({"limit, depth " + std::to_string(depth)});
  const std::vector<Reading> readings = {Reading::kMapped, Reading::kDirect, Reading::kAuto};
  std::vector<Series> ours = {{"reader, mapped"}, {"reader, direct"}, {"reader, auto"}};
  for (int round = 0; round < rounds; ++round) {
    double best = 0;
    for (std::size_t i = 0; i < depths.size(); ++i) {
      forget(folder);
      fault_in_memory();
      shuffle(regions);
      limits[i].per_s.push_back(limit_per_s(regions, depths[i], limits[i].batch_ms));
      best = std::max(best, limits[i].per_s.back());
    }
    for (std::size_t i = 0; i < ours.size(); ++i) {
      forget(folder);
      fault_in_memory();
      options.reading = readings[i];
      options.seed = static_cast<std::uint64_t>(round);
      ours[i].per_s.push_back(ours_per_s(folder, options, ours[i]));
      ours[i].share_of_limit.push_back(ours[i].per_s.back() / best);
    }
    for (Series& limit : limits) limit.share_of_limit.push_back(limit.per_s.back() / best);
  }
  for (const Series& series : limits) print(series);
  for (const Series& series : ours) print(series);
  return 0;
}
