// The cost for a reader of the look for values that a dtype cannot hold: a record of 800 frames of
// 80 mels is narrowed in pieces, with and without the look (src/loader/row_filler.cpp).
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/convert_floats.hpp"
#include "base/float_range.hpp"

namespace xtts {
namespace {

constexpr std::size_t kValues = std::size_t{800} * 80;
constexpr std::size_t kPieceValues = 4096;

// `range(0)`: records in turn. One stays in the processor's cache, 512 of them (128 MiB) do not.
template <DType kTo, bool kLooks>
void narrow(benchmark::State& state) {
  const auto record_count = static_cast<std::size_t>(state.range(0));
  std::vector<float> records(record_count * kValues, -4.5F);
  std::vector<std::byte> out(record_count * kValues * size_bytes(kTo));
  std::size_t record = 0;
  for (auto _ : state) {
    const auto from = std::span(records).subspan(record * kValues, kValues);
    const auto into = std::span(out).subspan(record * kValues * size_bytes(kTo));
    std::uint64_t found = 0;
    for (std::size_t done = 0; done < kValues; done += kPieceValues) {
      const std::size_t now = std::min(kPieceValues, kValues - done);
      const auto piece = into.subspan(done * size_bytes(kTo), now * size_bytes(kTo));
      narrow_floats(from.subspan(done, now), kTo, piece);
      if constexpr (kLooks) found += count_nonfinite(piece, kTo);
    }
    benchmark::DoNotOptimize(found);
    benchmark::ClobberMemory();
    record = (record + 1) % record_count;
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * kValues * sizeof(float)));
}

BENCHMARK(narrow<DType::kFloat16, false>)->Arg(1)->Arg(512);
BENCHMARK(narrow<DType::kFloat16, true>)->Arg(1)->Arg(512);
BENCHMARK(narrow<DType::kBFloat16, false>)->Arg(1)->Arg(512);
BENCHMARK(narrow<DType::kBFloat16, true>)->Arg(1)->Arg(512);

}  // namespace
}  // namespace xtts
