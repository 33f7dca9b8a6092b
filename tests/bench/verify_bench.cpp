// How fast `verify --level full` goes over padded mel shards that lie in the page cache, beside the
// two things it is made of: copying the file out of the page cache, and hashing bytes that lie in
// memory. Bytes a second of shards. And the same for checked reading, record by record, and the
// time of `--level quick` for a million clips.
#include <benchmark/benchmark.h>

#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"
#include "verify/verify.hpp"
#include "xtts/reader.hpp"

namespace xtts {
namespace {

// Two shards of 128 MiB, as the default recipe has them.
class Corpus {
 public:
  Corpus() {
    const testing::TestCache cache = testing::make_test_cache({.clip_count = 1024,
                                                               .frames_max = 800,
                                                               .channel_count = 80,
                                                               .clips_per_block = 32,
                                                               .blocks_per_shard = 16});
    for (const auto& [name, bytes] : cache.files) folder_.write(name, bytes);
    shard_ = join_path(folder_.path(), cache.shard_name(0, 0));
  }

  [[nodiscard]] const std::string& folder() const { return folder_.path(); }
  [[nodiscard]] const std::string& shard() const { return shard_; }

 private:
  testing::TempFolder folder_;
  std::string shard_;
};

const Corpus& corpus() {
  static const Corpus corpus;
  return corpus;
}

void report_bytes(benchmark::State& state, std::uint64_t bytes_a_round) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes_a_round) * state.iterations());
}

void full_verify(benchmark::State& state) {
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    const auto report =
        verify::verify_cache(Env::real(), corpus().folder(),
                             {.thread_count = static_cast<std::uint32_t>(state.range(0))});
    if (!report.ok() || !report->ok) return state.SkipWithError("the cache is not sound");
    bytes = report->bytes_checked;
  }
  report_bytes(state, bytes);
}
BENCHMARK(full_verify)->Arg(1)->Arg(2)->UseRealTime()->MeasureProcessCPUTime();

void read_shard(benchmark::State& state) {
  const auto file = Env::real().open_for_read(corpus().shard());
  if (!file.ok()) return state.SkipWithError("no shard");
  std::vector<std::byte> buffer(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (std::uint64_t offset = 0; offset < (*file)->size_bytes(); offset += buffer.size()) {
      benchmark::DoNotOptimize((*file)->read_at(offset, buffer));
    }
  }
  report_bytes(state, (*file)->size_bytes());
}
BENCHMARK(read_shard)->Arg(256 << 10)->Arg(1 << 20)->Arg(8 << 20);

// As verify reads: a stretch is copied, then hashed.
void read_and_hash_shard(benchmark::State& state) {
  const auto file = Env::real().open_for_read(corpus().shard());
  if (!file.ok()) return state.SkipWithError("no shard");
  std::vector<std::byte> buffer(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    for (std::uint64_t offset = 0; offset < (*file)->size_bytes(); offset += buffer.size()) {
      benchmark::DoNotOptimize((*file)->read_at(offset, buffer));
      benchmark::DoNotOptimize(check64(buffer));
    }
  }
  report_bytes(state, (*file)->size_bytes());
}
BENCHMARK(read_and_hash_shard)
    ->Arg(256 << 10)
    ->Arg(512 << 10)
    ->Arg(1 << 20)
    ->Arg(2 << 20)
    ->Arg(8 << 20);

void hash_record(benchmark::State& state) {
  const std::vector<std::byte> record(256'000);
  for (auto _ : state) benchmark::DoNotOptimize(check64(record));
  report_bytes(state, record.size());
}
BENCHMARK(hash_record);

// Every record of one shard, in order, as the reader hands it out: checked.
void read_records_checked(benchmark::State& state) {
  const auto cache = Cache::open(corpus().folder());
  if (!cache.ok()) return state.SkipWithError("the cache cannot be opened");
  std::uint64_t bytes = 0;
  for (auto _ : state) {
    bytes = 0;
    for (std::uint64_t position = 0; position < 512; ++position) {
      const auto record = cache->read("mel", position);
      if (!record.ok()) return state.SkipWithError("a record cannot be read");
      bytes += record->bytes().size();
    }
  }
  report_bytes(state, bytes);
}
BENCHMARK(read_records_checked);

// The same number of reads of the same size, into fresh memory as the reader's are, unchecked.
void read_records_unchecked(benchmark::State& state) {
  const auto file = Env::real().open_for_read(corpus().shard());
  if (!file.ok()) return state.SkipWithError("no shard");
  constexpr std::size_t kRecordBytes = 256'000;
  for (auto _ : state) {
    for (std::uint64_t i = 0; i < 512; ++i) {
      std::vector<std::byte> record(kRecordBytes);
      benchmark::DoNotOptimize((*file)->read_at(i * kRecordBytes, record));
    }
  }
  report_bytes(state, 512 * kRecordBytes);
}
BENCHMARK(read_records_unchecked);

// As many shards as a million clips of the default recipe have, with small records.
void write_a_million(const testing::TempFolder& folder) {
  const testing::TestCache cache = testing::make_test_cache({.clip_count = 1'000'000,
                                                             .frames_max = 2,
                                                             .channel_count = 1,
                                                             .clips_per_block = 32,
                                                             .blocks_per_shard = 16});
  for (const auto& [name, bytes] : cache.files) folder.write(name, bytes);
}

void quick_verify_of_a_million(benchmark::State& state) {
  const testing::TempFolder folder;
  write_a_million(folder);
  for (auto _ : state) {
    const auto report =
        verify::verify_cache(Env::real(), folder.path(), {.level = verify::Level::kQuick});
    if (!report.ok() || !report->ok) return state.SkipWithError("the cache is not sound");
  }
}
BENCHMARK(quick_verify_of_a_million)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace xtts
