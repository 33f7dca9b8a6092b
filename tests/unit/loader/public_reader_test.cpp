// The public reader on a real folder, through the shared library: what arrives is what the cache
// was made from, in the order that the seed says, for any threads, ranks, stores and layouts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/half.hpp"
#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"
#include "xtts/batch.hpp"

namespace xtts {
namespace {

namespace fs = std::filesystem;

// A cache on disk, and the clips that it was made from.
class MadeCache {
 public:
  explicit MadeCache(const testing::TestCacheOptions& options = {.clip_count = 61})
      : options_(options), made_(testing::make_test_cache(options)) {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
  }

  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  [[nodiscard]] const testing::TestCache& made() const { return made_; }
  [[nodiscard]] const testing::TestCacheOptions& options() const { return options_; }
  [[nodiscard]] std::string shard(std::size_t column, std::size_t ordinal) const {
    return path() + "/" + made_.shard_name(column, ordinal);
  }
  [[nodiscard]] Cache open() const {
    auto cache = Cache::open(path());
    EXPECT_TRUE(cache.ok()) << cache.status().message();
    return std::move(*cache);
  }

 private:
  testing::TestCacheOptions options_;
  testing::TestCache made_;
  testing::TempFolder folder_;
};

Reader open_reader(const Cache& cache, const ReaderOptions& options) {
  auto reader = Reader::open(cache, options);
  EXPECT_TRUE(reader.ok()) << reader.status().message();
  return std::move(*reader);
}

// Positions in the order in which an epoch brings them.
std::vector<std::uint64_t> positions_of_epoch(Reader& reader) {
  std::vector<std::uint64_t> positions;
  for (;;) {
    const auto batch = reader.next();
    EXPECT_TRUE(batch.ok()) << batch.status().message();
    if (!batch.ok() || !*batch) return positions;
    const auto some = (*batch)->positions();
    positions.insert(positions.end(), some.begin(), some.end());
  }
}

void expect_clip(const Batch& batch, std::uint32_t row, const testing::TestClip& clip,
                 std::uint32_t channels) {
  const BatchColumn* mel = batch.find("mel");
  const BatchColumn* tokens = batch.find("tokens");
  ASSERT_NE(mel, nullptr);
  ASSERT_NE(tokens, nullptr);
  const auto floats = mel->as_floats();
  const auto ints = tokens->as_int32s();
  ASSERT_TRUE(floats.ok() && ints.ok());
  const std::size_t frames = clip.mel.size() / channels;
  EXPECT_EQ(mel->lengths[row], static_cast<std::int32_t>(frames));
  EXPECT_EQ(tokens->lengths[row], static_cast<std::int32_t>(clip.tokens.size()));
  const std::size_t mel_stride = std::size_t{mel->shape[1]} * mel->shape[2];
  EXPECT_TRUE(std::ranges::equal(floats->subspan(row * mel_stride, clip.mel.size()), clip.mel))
      << clip.id;
  EXPECT_TRUE(
      std::ranges::equal(ints->subspan(row * tokens->shape[1], clip.tokens.size()), clip.tokens))
      << clip.id;
}

void expect_all_rows(const Batch& batch, const MadeCache& cache) {
  for (std::uint32_t row = 0; row < batch.valid_count(); ++row) {
    expect_clip(batch, row, cache.made().clips[batch.positions()[row]],
                cache.options().channel_count);
  }
}

std::vector<std::uint64_t> all_positions(const MadeCache& cache) {
  std::vector<std::uint64_t> positions(cache.made().clips.size());
  for (std::size_t i = 0; i < positions.size(); ++i) positions[i] = i;
  return positions;
}

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

TEST(PublicReader, OrderIsTheSameForAnyThreadsAndAnotherForEachEpochAndSeed) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const auto order = [&](std::uint32_t threads, std::uint64_t seed, std::uint64_t epoch) {
    Reader reader = open_reader(opened, {.batch_size = 5, .seed = seed, .thread_count = threads});
    reader.set_epoch(epoch);
    return positions_of_epoch(reader);
  };
  const auto first = order(1, 7, 3);
  EXPECT_EQ(first.size(), 60U);  // the last one does not fill a batch
  EXPECT_EQ(order(2, 7, 3), first);
  EXPECT_EQ(order(9, 7, 3), first);
  EXPECT_NE(order(1, 8, 3), first);
  EXPECT_NE(order(1, 7, 4), first);
}

TEST(PublicReader, RanksShareTheSequenceWithoutOverlap) {
  const MadeCache cache;
  const Cache opened = cache.open();
  Reader whole = open_reader(opened, {.batch_size = 4, .last_batch = LastBatch::kPad});
  const auto sequence = positions_of_epoch(whole);
  for (const auto last : {LastBatch::kDrop, LastBatch::kPad}) {
    std::vector<std::uint64_t> together;
    std::set<std::uint64_t> batch_counts;
    std::vector<std::vector<std::uint64_t>> by_rank;
    for (std::uint32_t rank = 0; rank < 3; ++rank) {
      Reader reader =
          open_reader(opened, {.batch_size = 4, .rank = rank, .world_size = 3, .last_batch = last});
      batch_counts.insert(reader.batches_per_epoch());
      by_rank.push_back(positions_of_epoch(reader));
      together.insert(together.end(), by_rank.back().begin(), by_rank.back().end());
    }
    EXPECT_EQ(batch_counts.size(), 1U);
    EXPECT_EQ(std::set<std::uint64_t>(together.begin(), together.end()).size(), together.size());
    EXPECT_EQ(together.size(), last == LastBatch::kPad ? 61U : 60U);
    // Rank 1 begins behind rank 0's first batch.
    EXPECT_TRUE(std::equal(by_rank[1].begin(), by_rank[1].begin() + 4, sequence.begin() + 4));
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

TEST(PublicReader, StateGoesOnExactlyAlsoOnAnotherWorldSize) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const ReaderOptions options{.batch_size = 4, .seed = 5, .last_batch = LastBatch::kPad};
  Reader whole = open_reader(opened, options);
  whole.set_epoch(2);
  const auto sequence = positions_of_epoch(whole);

  Reader begun = open_reader(opened, options);
  begun.set_epoch(2);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(begun.next().ok());
  const ReaderState state = begun.state();
  EXPECT_EQ(state.samples_consumed, 24U);
  const std::vector<std::uint64_t> rest(sequence.begin() + 24, sequence.end());

  Reader alone = open_reader(opened, options);
  ASSERT_TRUE(alone.load_state(state).ok());
  EXPECT_EQ(positions_of_epoch(alone), rest);

  std::vector<std::uint64_t> together;
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    ReaderOptions of_rank = options;
    of_rank.batch_size = 3;
    of_rank.rank = rank;
    of_rank.world_size = 2;
    Reader reader = open_reader(opened, of_rank);
    ASSERT_TRUE(reader.load_state(state).ok());
    const auto some = positions_of_epoch(reader);
    together.insert(together.end(), some.begin(), some.end());
    EXPECT_TRUE(std::equal(some.begin(), some.begin() + 3, rest.begin() + rank * 3));
  }
  std::ranges::sort(together);
  auto expected = rest;
  std::ranges::sort(expected);
  EXPECT_EQ(together, expected);
}

TEST(PublicReader, WeightedEpochsAreOfAsManyDrawsAndGoOnFromAState) {
  const MadeCache cache({.clip_count = 61, .speaker_count = 3});
  const Cache opened = cache.open();
  const ReaderOptions options{
      .batch_size = 4,
      .seed = 5,
      .weights = Weights{.by = WeightBy::kSpeaker, .temperature = 0.0, .draw_count = 200}};
  Reader whole = open_reader(opened, options);
  EXPECT_EQ(whole.batches_per_epoch(), 50U);
  whole.set_epoch(1);
  const auto sequence = positions_of_epoch(whole);
  ASSERT_EQ(sequence.size(), 200U);
  Reader begun = open_reader(opened, options);
  begun.set_epoch(1);
  for (int i = 0; i < 7; ++i) {
    const auto batch = begun.next();
    ASSERT_TRUE(batch.ok() && *batch);
    expect_all_rows(**batch, cache);
  }
  Reader after = open_reader(opened, options);
  ASSERT_TRUE(after.load_state(begun.state()).ok());
  EXPECT_EQ(positions_of_epoch(after),
            std::vector<std::uint64_t>(sequence.begin() + 28, sequence.end()));
  Reader unweighted = open_reader(opened, {.batch_size = 4});
  EXPECT_EQ(unweighted.load_state(begun.state()).code(), StatusCode::kMismatch);
  ReaderOptions in_order = options;
  in_order.shuffle = Shuffle::kNone;
  EXPECT_EQ(Reader::open(opened, in_order).status().code(), StatusCode::kInvalidArgument);
}

TEST(PublicReader, StateOfAnotherCacheOrSelectionIsATypedError) {
  const MadeCache cache;
  const MadeCache other({.clip_count = 60});
  const Cache opened = cache.open();
  const ReaderState state = open_reader(opened, {.batch_size = 4}).state();
  Reader elsewhere = open_reader(other.open(), {.batch_size = 4});
  EXPECT_EQ(elsewhere.load_state(state).code(), StatusCode::kMismatch);
  Reader fewer = open_reader(opened, {.batch_size = 4, .exclude = {cache.made().clips[3].id}});
  EXPECT_EQ(fewer.load_state(state).code(), StatusCode::kMismatch);
  Reader otherwise = open_reader(opened, {.batch_size = 4, .shuffle = Shuffle::kNone});
  EXPECT_EQ(otherwise.load_state(state).code(), StatusCode::kMismatch);
  ReaderState newer = state;
  newer.order_version = 2;
  EXPECT_EQ(otherwise.load_state(newer).code(), StatusCode::kUnsupported);
}

// Flips a byte in the first record of the column's first shard.
std::string damage_first_record(const MadeCache& cache) {
  const std::string path = cache.shard(0, 0);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto& numbers = cache.made().clips[0].mel;
  const std::string wanted(reinterpret_cast<const char*>(numbers.data()),
                           numbers.size() * sizeof(float));
  const std::size_t place = bytes.find(wanted);
  EXPECT_NE(place, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(place + 5));
  file.put(static_cast<char>(bytes[place + 5] ^ 1));
  return cache.made().clips[0].id;
}

TEST(PublicReader, DamagedRecordIsToldByNameSkippedOrIgnored) {
  const MadeCache cache;
  const std::string id = damage_first_record(cache);
  const Cache opened = cache.open();
  const ReaderOptions options{.batch_size = 4, .shuffle = Shuffle::kNone};
  Reader raising = open_reader(opened, options);
  const auto failed = raising.next();
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.status().code(), StatusCode::kCorrupt);
  EXPECT_NE(failed.status().message().find("mel of clip " + id), std::string::npos)
      << failed.status().message();
  const auto after = raising.next();
  ASSERT_TRUE(after.ok() && *after);
  EXPECT_EQ((*after)->positions()[0], 4U);

  ReaderOptions skipping = options;
  skipping.on_damage = OnDamage::kSkip;
  Reader skips = open_reader(opened, skipping);
  const auto fewer = skips.next();
  ASSERT_TRUE(fewer.ok() && *fewer) << fewer.status().message();
  EXPECT_EQ((*fewer)->valid_count(), 3U);
  EXPECT_EQ((*fewer)->positions()[0], 1U);
  expect_all_rows(**fewer, cache);
  EXPECT_EQ((*fewer)->find("mel")->lengths[3], 0);

  ReaderOptions ignoring = options;
  ignoring.on_damage = OnDamage::kIgnore;
  Reader ignores = open_reader(opened, ignoring);
  const auto as_is = ignores.next();
  ASSERT_TRUE(as_is.ok() && *as_is);
  EXPECT_EQ((*as_is)->valid_count(), 4U);

  for (Reader* const reader : {&raising, &skips, &ignores}) {
    EXPECT_GE(reader->stats().check_failures, 1U);
    ASSERT_FALSE(reader->stats().first_failures.empty());
    EXPECT_NE(reader->stats().first_failures[0].find(id), std::string::npos);
  }

  ReaderOptions unchecked = options;
  unchecked.verify_records = false;
  Reader trusting = open_reader(opened, unchecked);
  EXPECT_TRUE(trusting.next().ok());
  EXPECT_EQ(trusting.stats().check_failures, 0U);
}

TEST(PublicReader, FileCutWhileItIsReadIsATypedError) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  const Cache opened = cache.open();
  for (const Shuffle shuffle : {Shuffle::kGlobal, Shuffle::kNone}) {
    Reader reader = open_reader(opened, {.batch_size = 8, .shuffle = shuffle});
    EXPECT_EQ(positions_of_epoch(reader).size(), 64U);  // all mapped and verified
  }
  ASSERT_EQ(::truncate(cache.shard(0, 1).c_str(), 5000), 0);
  Reader reader = open_reader(opened, {.batch_size = 8});
  int failed_count = 0;
  for (std::uint64_t i = 0; i < reader.batches_per_epoch(); ++i) {
    const auto batch = reader.next();
    if (batch.ok()) {
      ASSERT_TRUE(batch->has_value());
      expect_all_rows(**batch, cache);
      continue;
    }
    ++failed_count;
    EXPECT_EQ(batch.status().code(), StatusCode::kCorrupt) << batch.status().message();
    EXPECT_NE(batch.status().message().find("of clip"), std::string::npos)
        << batch.status().message();
  }
  EXPECT_GT(failed_count, 0);
}

TEST(PublicReader, DamagedHeaderIsHandledLikeADamagedRecordInEachOrder) {
  const MadeCache cache({.clip_count = 16, .clips_per_block = 4, .blocks_per_shard = 2});
  {
    // The header of the second block: its magic is found behind the first one.
    std::fstream file(cache.shard(0, 0), std::ios::in | std::ios::out | std::ios::binary);
    std::string bytes((std::istreambuf_iterator<char>(file)), {});
    const std::size_t place = bytes.find("XTTSBLK1", bytes.find("XTTSBLK1") + 1);
    ASSERT_NE(place, std::string::npos);
    file.clear();
    file.seekp(static_cast<std::streamoff>(place + 300));
    file.put(static_cast<char>(bytes[place + 300] ^ 1));
  }
  const Cache opened = cache.open();
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal}) {
    for (const bool verifies : {true, false}) {
      Reader reader = open_reader(opened, {.batch_size = 8,
                                           .shuffle = shuffle,
                                           .verify_records = verifies,
                                           .on_damage = OnDamage::kSkip});
      std::size_t valid_count = 0;
      for (int i = 0; i < 2; ++i) {
        const auto batch = reader.next();
        ASSERT_TRUE(batch.ok() && *batch) << batch.status().message();
        expect_all_rows(**batch, cache);
        valid_count += (*batch)->valid_count();
      }
      EXPECT_EQ(valid_count, 12U);
      EXPECT_EQ(reader.stats().check_failures, 4U);
    }
  }
}

TEST(PublicReader, UnreadableRecordOfABatchInPlaceIsNeverShown) {
  const MadeCache cache({.clip_count = 64, .clips_per_block = 8, .blocks_per_shard = 4});
  const Cache opened = cache.open();
  ASSERT_EQ(::truncate(cache.shard(0, 0).c_str(), 0), 0);
  for (const OnDamage policy : {OnDamage::kRaise, OnDamage::kSkip, OnDamage::kIgnore}) {
    Reader reader =
        open_reader(opened, {.batch_size = 8, .shuffle = Shuffle::kNone, .on_damage = policy});
    for (std::uint64_t i = 0; i < reader.batches_per_epoch(); ++i) {
      const auto batch = reader.next();
      if (!batch.ok()) continue;
      ASSERT_TRUE(*batch);
      expect_all_rows(**batch, cache);  // reads them
    }
    EXPECT_GT(reader.stats().check_failures, 0U);
  }
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

// Memory of this process alone, in KiB.
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
      5'000;  // sanitizers keep books of their own: leaks are their matter
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
