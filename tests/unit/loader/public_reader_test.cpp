// Tests of the public reader on a real folder, through the shared library. Batches hold what the
// cache was made from, in the shape and dtype asked for, as long as they are held.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/half.hpp"
#include "made_cache.hpp"

namespace xtts {
namespace {

namespace fs = std::filesystem;

TEST(PublicReader, BringsEveryClipAsItWasMadeInEachLayoutAndOrder) {
  for (const auto layout : {formats::Layout::kPadded, formats::Layout::kPacked}) {
    const MadeCache cache({.layout = layout, .clip_count = 61});
    const Cache opened = cache.open();
    for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
      Reader reader = open_reader(opened, {.batch_size = 8,
                                           .shuffle = shuffle,
                                           .last_batch = LastBatch::kPad,
                                           .stretch_samples = 4,
                                           .stretches_per_window = 3});
      EXPECT_EQ(reader.batches_per_epoch(), 8U);
      std::vector<std::uint64_t> seen;
      for (;;) {
        const auto batch = reader.next();
        ASSERT_TRUE(batch.ok()) << batch.status().message();
        if (!*batch) break;
        EXPECT_EQ((*batch)->size(), 8U);
        expect_all_rows(**batch, cache);
        seen.insert(seen.end(), (*batch)->positions().begin(), (*batch)->positions().end());
      }
      if (shuffle != Shuffle::kNone) {
        EXPECT_FALSE(std::ranges::is_sorted(seen));
        std::ranges::sort(seen);
      }
      EXPECT_EQ(seen, all_positions(cache));
    }
  }
}

TEST(PublicReader, LastBatchIsPaddedWithRowsWithoutClips) {
  const MadeCache cache;
  Reader reader = open_reader(
      cache.open(), {.batch_size = 32, .shuffle = Shuffle::kNone, .last_batch = LastBatch::kPad});
  ASSERT_TRUE(reader.next().ok());
  const auto batch = reader.next();
  ASSERT_TRUE(batch.ok() && *batch);
  EXPECT_EQ((*batch)->size(), 32U);
  EXPECT_EQ((*batch)->valid_count(), 29U);
  const BatchColumn& mel = *(*batch)->find("mel");
  const auto floats = mel.as_floats();
  ASSERT_TRUE(floats.ok());
  const float fill = std::bit_cast<float>(cache.made().manifest.columns[0].fill_bits);
  for (std::uint32_t row = 29; row < 32; ++row) {
    EXPECT_EQ(mel.lengths[row], 0);
    EXPECT_EQ((*batch)->speakers()[row], -1);
    const std::size_t stride = std::size_t{mel.shape[1]} * mel.shape[2];
    for (const float value : floats->subspan(row * stride, stride)) ASSERT_EQ(value, fill);
  }
  EXPECT_FALSE((*reader.next()).has_value());
}

TEST(PublicReader, PaddingIsTheRecordsOwnOrWhatIsAskedFor) {
  for (const auto layout : {formats::Layout::kPadded, formats::Layout::kPacked}) {
    const MadeCache cache({.layout = layout, .clip_count = 20});
    const Cache opened = cache.open();
    for (const std::optional<double> pad : {std::optional<double>(), std::optional<double>(-4.5)}) {
      Reader reader = open_reader(
          opened,
          {.batch_size = 4, .columns = {{.name = "mel", .pad_value = pad}, {.name = "tokens"}}});
      const auto batch = reader.next();
      ASSERT_TRUE(batch.ok() && *batch);
      const BatchColumn& mel = *(*batch)->find("mel");
      const auto floats = mel.as_floats();
      const std::size_t stride = std::size_t{mel.shape[1]} * mel.shape[2];
      const float fill = std::bit_cast<float>(cache.made().manifest.columns[0].fill_bits);
      for (std::uint32_t row = 0; row < 4; ++row) {
        const std::size_t true_count = static_cast<std::size_t>(mel.lengths[row]) * mel.shape[2];
        for (std::size_t i = true_count; i < stride; ++i) {
          ASSERT_EQ((*floats)[row * stride + i], pad ? -4.5F : fill);
        }
      }
    }
  }
}

TEST(PublicReader, ConvertsFloatsWhereAskedAndNothingElse) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const auto read_as = [&](DType dtype) {
    Reader reader =
        open_reader(opened, {.batch_size = 8, .columns = {{.name = "mel", .dtype = dtype}}});
    auto batch = reader.next();
    EXPECT_TRUE(batch.ok() && *batch);
    return std::move(**batch);
  };
  const Batch plain = read_as(DType::kFloat32);
  const auto floats = plain.find("mel")->as_floats();
  for (const DType dtype : {DType::kFloat16, DType::kBFloat16}) {
    const Batch half = read_as(dtype);
    const BatchColumn& mel = *half.find("mel");
    ASSERT_EQ(mel.dtype, dtype);
    ASSERT_EQ(mel.bytes.size(), floats->size() * 2);
    for (std::size_t i = 0; i < floats->size(); ++i) {
      std::uint16_t bits = 0;
      std::memcpy(&bits, mel.bytes.data() + i * 2, 2);
      ASSERT_EQ(bits,
                dtype == DType::kFloat16 ? to_float16((*floats)[i]) : to_bfloat16((*floats)[i]));
    }
  }
  const auto refused =
      Reader::open(opened, {.columns = {{.name = "tokens", .dtype = DType::kFloat32}}});
  EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
}

TEST(PublicReader, CanonicalOrderOfAPaddedCacheIsSeenInPlace) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  const Cache opened = cache.open();
  Reader reader = open_reader(opened, {.batch_size = 8, .shuffle = Shuffle::kNone});
  std::optional<Batch> kept;
  for (std::uint64_t i = 0; i < 8; ++i) {
    auto batch = reader.next();
    ASSERT_TRUE(batch.ok() && *batch) << batch.status().message();
    expect_all_rows(**batch, cache);
    EXPECT_TRUE((*batch)->find("mel")->is_view);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*batch)->find("mel")->bytes.data()) % 64, 0U);
    if (i == 3) kept = std::move(*batch);
  }
  EXPECT_EQ(reader.stats().batches_in_place, 8U);
  // Batches that do not lie on blocks are copied, and look the same.
  Reader other = open_reader(opened, {.batch_size = 6, .shuffle = Shuffle::kNone});
  ASSERT_TRUE(other.next().ok());
  const auto crossing = other.next();
  ASSERT_TRUE(crossing.ok() && *crossing);
  EXPECT_FALSE((*crossing)->find("mel")->is_view);
  expect_all_rows(**crossing, cache);
  // A view outlives reader, cache and files.
  reader = std::move(other);
  fs::remove_all(cache.path());
  expect_all_rows(*kept, cache);
}

TEST(PublicReader, BatchOutlivesReaderAndCache) {
  const MadeCache cache;
  std::optional<Batch> batch;
  {
    const Cache opened = cache.open();
    Reader reader = open_reader(opened, {.batch_size = 8});
    batch = std::move(*reader.next());
  }
  expect_all_rows(*batch, cache);
  EXPECT_EQ(batch->find("mel")->name, "mel");
}

TEST(PublicReader, ProgramMayChangeItsFolder) {
  const MadeCache cache;
  const fs::path before = fs::current_path();
  fs::current_path(cache.path());
  auto opened = Cache::open(".");
  fs::current_path("/");
  ASSERT_TRUE(opened.ok());
  Reader reader = open_reader(*opened, {.batch_size = 4, .on_damage = OnDamage::kSkip});
  EXPECT_EQ(positions_of_epoch(reader).size(), 60U);
  EXPECT_TRUE(opened->read("mel", 0).ok());
  fs::current_path(before);
}

TEST(PublicReader, HoldingAllSlotsIsAClearError) {
  const MadeCache cache;
  Reader reader = open_reader(cache.open(), {.batch_size = 4, .slot_count = 3});
  std::vector<Batch> kept;
  for (int i = 0; i < 3; ++i) kept.push_back(std::move(**reader.next()));
  const auto refused = reader.next();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code(), StatusCode::kBusy);
  const auto consumed = reader.state().samples_consumed;
  EXPECT_EQ(consumed, 12U);
  for (const Batch& batch : kept) expect_all_rows(batch, cache);
  kept.pop_back();
  EXPECT_TRUE(reader.next().ok());
}

TEST(PublicReader, RefusesOptionsThatCannotBe) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const auto code = [&](const ReaderOptions& options) {
    return Reader::open(opened, options).status().code();
  };
  EXPECT_EQ(code({.batch_size = 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.rank = 2, .world_size = 2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.world_size = 0}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.slot_count = 2}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.thread_count = 257}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.split = "dev"}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.columns = {{.name = "wave"}}}), StatusCode::kNotFound);
  EXPECT_EQ(code({.columns = {{.name = "mel"}, {.name = "mel"}}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.columns = {{.name = "tokens", .pad_value = 0.5}}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.columns = {{.name = "tokens", .pad_value = 3e9}}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.columns = {{.name = "mel", .dtype = DType::kFloat16, .pad_value = 1e6}}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.batch_size = 1U << 21U}), StatusCode::kInvalidArgument);
  EXPECT_EQ(code({.device = "cuda:0"}), StatusCode::kUnsupported);
}

TEST(PublicReader, EmptySelectionHasNoBatches) {
  const MadeCache cache;
  Reader reader = open_reader(cache.open(), {.where = "mel_len > 100000"});
  EXPECT_EQ(reader.sample_count(), 0U);
  EXPECT_EQ(reader.batches_per_epoch(), 0U);
  const auto end = reader.next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

// The memory that this process alone has, in KiB.
long own_memory_kib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::atol(line.c_str() + 8);
  }
  return 0;
}

TEST(PublicReader, HundredThousandBatchesTakeNoMoreMemoryThanAThousand) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr std::uint64_t kBatches =
      5'000;  // sanitizers keep records of their own, and find leaks themselves
#else
  constexpr std::uint64_t kBatches = 100'000;
#endif
  const MadeCache cache;
  Reader reader = open_reader(cache.open(), {.batch_size = 4});
  std::uint64_t batch_count = 0;
  long after_some_kib = 0;
  for (std::uint64_t epoch = 0; batch_count < kBatches; ++epoch) {
    reader.set_epoch(epoch);
    for (;;) {
      const auto batch = reader.next();
      ASSERT_TRUE(batch.ok()) << batch.status().message();
      if (!*batch) break;
      if (++batch_count == 1'000) after_some_kib = own_memory_kib();
    }
  }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(own_memory_kib() - after_some_kib, 1024);
#endif
  EXPECT_GE(reader.stats().batch_count, kBatches);
}

TEST(PublicReader, StatsCountWhatWasHandedOut) {
  const MadeCache cache;
  Reader reader = open_reader(cache.open(), {.batch_size = 4});
  EXPECT_EQ(positions_of_epoch(reader).size(), 60U);
  const ReaderStats stats = reader.stats();
  EXPECT_EQ(stats.batch_count, 15U);
  EXPECT_EQ(stats.sample_count, 60U);
  EXPECT_GT(stats.bytes, 0U);
  EXPECT_GT(stats.ms_mean, 0.0);
  EXPECT_LE(stats.ms_p50, stats.ms_p99);
  EXPECT_EQ(stats.check_failures, 0U);
}

}  // namespace
}  // namespace xtts
