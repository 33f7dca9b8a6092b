// A full padded mel shard (512 records of 256,000 bytes) of each store: made, finished and sealed.
//   store_bench [--benchmark_min_time=…]; the folder for BM_Seal is $XTTS_BENCH_FOLDER, or the
//   system's temporary folder.
// Rates count the bytes of the finished image.
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/env.hpp"
#include "store/cache_folder.hpp"
#include "store/shard_image.hpp"

namespace xtts {
namespace {

constexpr std::uint32_t kFrames = 800;
constexpr std::uint32_t kFramesTrue = 560;  // 6.5 s of sound
constexpr std::uint32_t kChannels = 80;

formats::ColumnSpec column() {
  return {.name = "mel",
          .id = 0,
          .dtype = DType::kFloat32,
          .shape = {kFrames, kChannels},
          .layout = formats::Layout::kPadded,
          .fingerprint = {},
          .numerics = {}};
}

std::unique_ptr<store::ShardImage> filled_image(formats::StoreKind kind) {
  static const std::vector<float> rows(std::size_t{kFramesTrue} * kChannels, 1.5F);
  const formats::ColumnSpec spec = column();
  auto image = store::make_image(spec, kind, 1);
  if (!image) std::abort();
  const formats::Geometry geometry = spec.geometry();
  std::vector<store::PendingRecord> records(geometry.records_per_block,
                                            {.id_hash = {},
                                             .length = kFramesTrue,
                                             .fill_bits = 0,
                                             .rows = std::as_bytes(std::span<const float>(rows))});
  for (std::uint32_t block = 0; block < geometry.blocks_per_shard; ++block) {
    formats::BlockFacts facts;
    facts.records.resize(records.size());
    if (!(*image)->add_block(records, std::move(facts)).ok()) std::abort();
  }
  return std::move(*image);
}

void count_bytes(benchmark::State& state, std::uint64_t image_bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(image_bytes) *
                          static_cast<std::int64_t>(state.iterations()));
}

void BM_Image(benchmark::State& state, formats::StoreKind kind) {
  std::uint64_t size_bytes = 0;
  for (auto _ : state) {
    const auto image = filled_image(kind);
    const auto finished = image->finish();
    if (!finished) std::abort();
    size_bytes = finished->bytes.size();
  }
  count_bytes(state, size_bytes);
}
BENCHMARK_CAPTURE(BM_Image, lmdb, formats::StoreKind::kLmdb)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(BM_Image, hdf5, formats::StoreKind::kHdf5)->Unit(benchmark::kMillisecond);

void BM_Seal(benchmark::State& state, formats::StoreKind kind) {
  const char* chosen = std::getenv("XTTS_BENCH_FOLDER");
  const std::filesystem::path parent =
      chosen != nullptr ? std::filesystem::path(chosen) : std::filesystem::temp_directory_path();
  const std::filesystem::path cache = parent / "xtts-store-bench";
  const auto image = filled_image(kind);
  const auto finished = image->finish();
  auto folder = store::CacheFolder::open(Env::real(), cache.string());
  if (!finished || !folder) std::abort();
  for (auto _ : state) {
    if (!(*folder)->seal("mel", 0, *finished).ok()) std::abort();
  }
  count_bytes(state, finished->bytes.size());
  folder->reset();
  std::filesystem::remove_all(cache);
}
BENCHMARK_CAPTURE(BM_Seal, lmdb, formats::StoreKind::kLmdb)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(BM_Seal, hdf5, formats::StoreKind::kHdf5)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace xtts

BENCHMARK_MAIN();
