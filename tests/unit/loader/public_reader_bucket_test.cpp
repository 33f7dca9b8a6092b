// Tests of buckets (batches of like length) and of crops.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "made_cache.hpp"

namespace xtts {
namespace {

std::uint32_t frames_of(const MadeCache& cache, std::uint64_t position) {
  return static_cast<std::uint32_t>(cache.made().clips[position].mel.size() /
                                    cache.options().channel_count);
}

std::vector<Bucket> some_buckets() {
  return {
      {.batch_size = 6, .frames_max = 8}, {.batch_size = 4, .frames_max = 16}, {.batch_size = 3}};
}

struct Taken {
  std::uint32_t bucket = 0;
  std::vector<std::uint64_t> positions;

  friend bool operator==(const Taken&, const Taken&) = default;
};

std::vector<Taken> take_all(Reader& reader) {
  std::vector<Taken> all;
  for (;;) {
    const auto batch = reader.next();
    EXPECT_TRUE(batch.ok()) << batch.status().message();
    if (!batch.ok() || !*batch) return all;
    const auto positions = (*batch)->positions();
    all.push_back({(*batch)->bucket(), {positions.begin(), positions.end()}});
  }
}

TEST(PublicReaderBuckets, HoldsEveryClipOnceInBatchesAsLongAsTheirBucket) {
  const MadeCache cache;
  const Cache opened = cache.open();
  Reader reader = open_reader(opened, {.last_batch = LastBatch::kPad, .buckets = some_buckets()});
  std::multiset<std::uint64_t> seen;
  std::uint64_t batch_count = 0;
  for (;; ++batch_count) {
    const auto batch = reader.next();
    ASSERT_TRUE(batch.ok()) << batch.status().message();
    if (!*batch) break;
    const Bucket bucket = some_buckets()[(*batch)->bucket()];
    const BatchColumn* mel = (*batch)->find("mel");
    EXPECT_EQ((*batch)->size(), bucket.batch_size);
    EXPECT_EQ(mel->shape[0], bucket.batch_size);
    EXPECT_EQ(mel->shape[1],
              bucket.frames_max == 0 ? cache.options().frames_max : bucket.frames_max);
    EXPECT_EQ(mel->bytes.size(), std::size_t{4} * mel->shape[0] * mel->shape[1] * mel->shape[2]);
    expect_all_rows(**batch, cache);
    for (const std::uint64_t position : (*batch)->positions()) {
      seen.insert(position);
      const std::uint32_t frames = frames_of(cache, position);
      EXPECT_EQ((*batch)->bucket(), frames <= 8 ? 0U : frames <= 16 ? 1U : 2U);
    }
  }
  const auto all = all_positions(cache);
  EXPECT_EQ(seen, std::multiset<std::uint64_t>(all.begin(), all.end()));
  EXPECT_EQ(batch_count, reader.batches_per_epoch());
}

TEST(PublicReaderBuckets, AreTheSameOnAllRanksInAStep) {
  const MadeCache cache;
  const Cache opened = cache.open();
  std::vector<std::vector<Taken>> of_rank;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    Reader reader = open_reader(opened, {.seed = 5,
                                         .rank = rank,
                                         .world_size = 3,
                                         .last_batch = LastBatch::kPad,
                                         .buckets = some_buckets()});
    of_rank.push_back(take_all(reader));
  }
  std::set<std::uint64_t> seen;
  for (std::size_t step = 0; step < of_rank[0].size(); ++step) {
    for (const auto& steps : of_rank) {
      ASSERT_EQ(steps.size(), of_rank[0].size());
      EXPECT_EQ(steps[step].bucket, of_rank[0][step].bucket);
      for (const std::uint64_t position : steps[step].positions) {
        EXPECT_TRUE(seen.insert(position).second) << position;
      }
    }
  }
  EXPECT_EQ(seen.size(), 61U);
}

TEST(PublicReaderBuckets, GoOnFromAStateWithTheVeryNextBatch) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const ReaderOptions options{.seed = 9, .last_batch = LastBatch::kPad, .buckets = some_buckets()};
  Reader whole = open_reader(opened, options);
  whole.set_epoch(4);
  const auto sequence = take_all(whole);
  for (std::size_t begun_count = 0; begun_count <= sequence.size(); ++begun_count) {
    Reader begun = open_reader(opened, options);
    begun.set_epoch(4);
    for (std::size_t i = 0; i < begun_count; ++i) ASSERT_TRUE(begun.next().ok());
    Reader after = open_reader(opened, options);
    ASSERT_TRUE(after.load_state(begun.state()).ok());
    EXPECT_EQ(take_all(after),
              std::vector<Taken>(sequence.begin() + static_cast<std::ptrdiff_t>(begun_count),
                                 sequence.end()));
  }
}

TEST(PublicReaderBuckets, GoOnInAnotherWorldWithEveryClipThatIsLeft) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const ReaderOptions options{.seed = 9, .buckets = some_buckets()};
  Reader begun = open_reader(opened, options);
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 5; ++i) {
    const auto batch = begun.next();
    ASSERT_TRUE(batch.ok() && *batch);
    const auto positions = (*batch)->positions();
    seen.insert(positions.begin(), positions.end());
  }
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    Reader reader = open_reader(opened, {.seed = 9,
                                         .rank = rank,
                                         .world_size = 2,
                                         .last_batch = LastBatch::kPad,
                                         .buckets = {{.batch_size = 2, .frames_max = 8},
                                                     {.batch_size = 2, .frames_max = 16},
                                                     {.batch_size = 1}}});
    ASSERT_TRUE(reader.load_state(begun.state()).ok());
    for (const Taken& taken : take_all(reader)) {
      for (const std::uint64_t position : taken.positions) {
        EXPECT_TRUE(seen.insert(position).second) << position;
      }
    }
  }
  EXPECT_EQ(seen.size(), 61U);
}

TEST(PublicReaderBuckets, OfOtherLimitsRefuseTheState) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const ReaderState state = open_reader(opened, {.buckets = some_buckets()}).state();
  Reader without = open_reader(opened, {.batch_size = 4});
  EXPECT_EQ(without.load_state(state).code(), StatusCode::kMismatch);
  Reader otherwise =
      open_reader(opened, {.buckets = {{.batch_size = 6, .frames_max = 9}, {.batch_size = 4}}});
  EXPECT_EQ(otherwise.load_state(state).code(), StatusCode::kMismatch);
}

// States come from files. Numbers that no reader can have written are refused, or read as the
// nearest possible ones. The state that a reader makes of them can be loaded again.
TEST(PublicReaderBuckets, RefuseAStateWhoseNumbersCannotBe) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const ReaderOptions options{.last_batch = LastBatch::kPad, .buckets = some_buckets()};
  Reader reader = open_reader(opened, options);
  ReaderState state = reader.state();
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63U;
  for (const auto& numbers : {std::vector<std::uint64_t>{kHalf, kHalf, 0}, {6, 4, 3}, {62, 0, 0}}) {
    state.bucket_samples_consumed = numbers;
    EXPECT_EQ(reader.load_state(state).code(), StatusCode::kMismatch);
  }
  state.bucket_samples_consumed = {0, 0};
  EXPECT_EQ(reader.load_state(state).code(), StatusCode::kMismatch);
  EXPECT_EQ(take_all(reader), take_all(*std::make_unique<Reader>(open_reader(opened, options))));

  state.bucket_samples_consumed = {61, 0, 0};  // more than the bucket has
  state.samples_consumed = 61;
  ASSERT_TRUE(reader.load_state(state).ok());
  (void)take_all(reader);
  EXPECT_EQ(reader.state().samples_consumed, 61U);
  EXPECT_TRUE(reader.load_state(reader.state()).ok());
}

// The index's lengths choose the bucket. A record that is longer gives an error and is not cut.
TEST(PublicReaderBuckets, DoNotCutARecordThatIsLongerThanTheIndexSays) {
  constexpr std::uint64_t kWrong = 23;
  for (const bool is_of_tokens : {false, true}) {
    const MadeCache cache(
        {.clip_count = 61, .edit_plan_row = [&](std::uint32_t position, formats::PlanRow& row) {
           if (position == kWrong) (is_of_tokens ? row.text_len : row.mel_len) = 1;
         }});
    const auto& clip = cache.made().clips[kWrong];
    ASSERT_GT(frames_of(cache, kWrong), 2U);
    ASSERT_GT(clip.tokens.size(), 2U);
    const Cache opened = cache.open();
    ReaderOptions options{.last_batch = LastBatch::kPad,
                          .buckets = {{.batch_size = 2, .frames_max = 2}, {.batch_size = 4}}};
    if (is_of_tokens) options.buckets.front() = {.batch_size = 2, .tokens_max = 2};
    Reader raising = open_reader(opened, options);
    std::size_t failure_count = 0;
    for (auto batch = raising.next(); !batch.ok() || *batch; batch = raising.next()) {
      if (batch.ok()) {
        expect_all_rows(**batch, cache);
        continue;
      }
      ++failure_count;
      EXPECT_EQ(batch.status().code(), StatusCode::kCorrupt);
      EXPECT_NE(batch.status().message().find(clip.id), std::string::npos)
          << batch.status().message();
    }
    EXPECT_EQ(failure_count, 1U);
    options.on_damage = OnDamage::kSkip;
    Reader skipping = open_reader(opened, options);
    EXPECT_EQ(positions_of_epoch(skipping).size(), 60U);
    options.on_damage = OnDamage::kIgnore;
    Reader ignoring = open_reader(opened, options);
    EXPECT_EQ(positions_of_epoch(ignoring).size(), 61U);
  }
}

TEST(PublicReaderBuckets, ThatLeaveClipsWithoutOneAreRefusedInWords) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const auto reader = Reader::open(opened, {.buckets = {{.batch_size = 4, .frames_max = 8}}});
  ASSERT_EQ(reader.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(reader.status().message().find("fit into no bucket"), std::string::npos)
      << reader.status().message();
  EXPECT_TRUE(Reader::open(
                  opened, {.where = "frames <= 8", .buckets = {{.batch_size = 4, .frames_max = 8}}})
                  .ok());
  EXPECT_EQ(Reader::open(opened, {.buckets = {{.batch_size = 0}}}).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(Reader::open(opened, {.buckets = std::vector<Bucket>(33)}).status().code(),
            StatusCode::kInvalidArgument);
}

// Each crop is a stretch of its clip, and another epoch chooses another one.
TEST(PublicReaderCrops, AreStretchesOfTheirClipsThatChangeWithTheEpoch) {
  for (const auto layout : {formats::Layout::kPadded, formats::Layout::kPacked}) {
    const MadeCache cache({.layout = layout, .clip_count = 61});
    const Cache opened = cache.open();
    const std::size_t channels = cache.options().channel_count;
    constexpr std::uint32_t kFrames = 5;
    Reader reader = open_reader(
        opened, {.batch_size = 4, .last_batch = LastBatch::kPad, .crop_frames = kFrames});
    std::map<std::uint64_t, std::set<std::size_t>> begins;
    for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
      reader.set_epoch(epoch);
      for (;;) {
        const auto batch = reader.next();
        ASSERT_TRUE(batch.ok()) << batch.status().message();
        if (!*batch) break;
        const BatchColumn* mel = (*batch)->find("mel");
        const auto numbers = *mel->as_floats();
        ASSERT_EQ(mel->shape[1], kFrames);
        for (std::uint32_t row = 0; row < (*batch)->valid_count(); ++row) {
          const std::uint64_t position = (*batch)->positions()[row];
          const auto& clip = cache.made().clips[position].mel;
          const std::size_t frames = clip.size() / channels;
          const std::size_t length = std::min<std::size_t>(frames, kFrames);
          ASSERT_EQ(mel->lengths[row], static_cast<std::int32_t>(length));
          const auto crop = numbers.subspan(row * kFrames * channels, length * channels);
          std::size_t begin = 0;
          while (begin + length <= frames &&
                 !std::equal(crop.begin(), crop.end(),
                             clip.begin() + static_cast<std::ptrdiff_t>(begin * channels))) {
            ++begin;
          }
          ASSERT_LE(begin + length, frames) << "not a stretch of its clip";
          begins[position].insert(begin);
          // The tokens are whole.
          EXPECT_EQ((*batch)->find("tokens")->lengths[row],
                    static_cast<std::int32_t>(cache.made().clips[position].tokens.size()));
        }
      }
    }
    const auto changing = std::ranges::count_if(
        begins, [](const auto& of_clip) { return of_clip.second.size() > 1; });
    EXPECT_GT(changing, 20);
  }
}

TEST(PublicReaderCrops, AreTheSameForAnyNumberOfRanksAndThreads) {
  const MadeCache cache;
  const Cache opened = cache.open();
  const auto crops = [&](const ReaderOptions& options) {
    std::map<std::uint64_t, std::vector<float>> by_position;
    for (std::uint32_t rank = 0; rank < options.world_size; ++rank) {
      ReaderOptions of_rank = options;
      of_rank.rank = rank;
      of_rank.last_batch = LastBatch::kPad;
      of_rank.crop_frames = 5;
      Reader reader = open_reader(opened, of_rank);
      for (auto batch = reader.next(); batch.ok() && *batch; batch = reader.next()) {
        const auto numbers = *(*batch)->find("mel")->as_floats();
        const std::size_t size = numbers.size() / (*batch)->size();
        for (std::uint32_t row = 0; row < (*batch)->valid_count(); ++row) {
          const auto part = numbers.subspan(row * size, size);
          by_position[(*batch)->positions()[row]].assign(part.begin(), part.end());
        }
      }
    }
    return by_position;
  };
  const auto alone = crops({.batch_size = 4, .thread_count = 1});
  EXPECT_EQ(alone.size(), 61U);
  EXPECT_EQ(crops({.batch_size = 3, .world_size = 4, .thread_count = 3}), alone);
}

TEST(PublicReaderCrops, OfARecordThatIsShorterThanTheIndexSaysAreTold) {
  constexpr std::uint64_t kWrong = 23;
  const MadeCache cache(
      {.clip_count = 61, .edit_plan_row = [](std::uint32_t position, formats::PlanRow& row) {
         if (position == kWrong) row.mel_len = 1'000'000;
       }});
  Reader reader =
      open_reader(cache.open(), {.batch_size = 4, .last_batch = LastBatch::kPad, .crop_frames = 2});
  std::size_t failure_count = 0;
  for (auto batch = reader.next(); !batch.ok() || *batch; batch = reader.next()) {
    if (batch.ok()) {
      for (std::uint32_t row = 0; row < (*batch)->valid_count(); ++row) {
        const std::uint32_t frames = frames_of(cache, (*batch)->positions()[row]);
        EXPECT_EQ((*batch)->find("mel")->lengths[row],
                  static_cast<std::int32_t>(std::min(frames, 2U)));
      }
      continue;
    }
    ++failure_count;
    EXPECT_EQ(batch.status().code(), StatusCode::kCorrupt);
    EXPECT_NE(batch.status().message().find(cache.made().clips[kWrong].id), std::string::npos)
        << batch.status().message();
  }
  EXPECT_EQ(failure_count, 1U);
}

TEST(PublicReaderCrops, DoNotGoWithBuckets) {
  const MadeCache cache;
  EXPECT_EQ(
      Reader::open(cache.open(), {.buckets = some_buckets(), .crop_frames = 4}).status().code(),
      StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts
