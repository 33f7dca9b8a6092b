// Compares clips that are computed while they are read with the cache that holds them. The source
// takes the cache's records and pretends to compute them.
#include "loader/computed_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/try.hpp"
#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "support/memory_env.hpp"
#include "support/test_cache.hpp"

namespace xtts::loader {
namespace {

using ::testing::Each;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// A test's settings for the clips, by position.
struct Story {
  std::set<std::uint64_t> rejected = {};
  std::set<std::uint64_t> known = {};  // rejected clips that another caller has found before
  std::set<std::uint64_t> failing_once = {};
  std::set<std::uint64_t> away_once = {};  // the environment's fault, over by the second attempt
  std::uint64_t rejects_allowed = 1000;
  bool has_torn_rows = false;
};

class ToldClips final : public ClipSource {
 public:
  ToldClips(std::shared_ptr<reader::CacheView> cache, Story story)
      : cache_(std::move(cache)), story_(std::move(story)), found_(story_.known) {}

  const std::string& path() const override { return cache_->path(); }
  std::string digest() const override { return cache_->manifest().index_digest.to_hex(); }
  Result<std::string> manifest() const override { return encode_manifest_copy(cache_->manifest()); }
  std::uint32_t thread_count() const override { return 2; }
  std::uint64_t size() const override { return cache_->size(); }
  SourceClip clip(std::uint64_t position) const override {
    const auto row = cache_->plan_row(position);
    EXPECT_TRUE(row.ok());
    return {.speaker = row->speaker,
            .language = row->language,
            .dataset = row->dataset,
            .split = row->split};
  }
  std::optional<std::uint64_t> find(std::string_view id) const override {
    return *cache_->find(id);
  }
  std::string facts(std::uint64_t position) const override {
    formats::RecordFacts facts;
    facts.id = cache_->details(position)->id;
    std::string bytes;
    append_facts(facts, bytes);
    return bytes;
  }
  Status compute(std::uint64_t position, SourceRecord& record, std::string* facts) const override {
    const std::scoped_lock lock(mutex_);
    ++computed_[position];
    computed_by_.insert(std::this_thread::get_id());
    if (story_.failing_once.erase(position) > 0) return {StatusCode::kResource, "no memory left"};
    record.reject = "";
    if (story_.away_once.erase(position) > 0) {
      record.reject = "clip is away";
      return {};
    }
    if (story_.rejected.contains(position)) record.reject = "clip is rejected";
    if (!record.reject.empty()) {
      found_.insert(position);
      return {};
    }
    record.columns.clear();
    for (const formats::ColumnEntry& column : cache_->manifest().columns) {
      XTTS_ASSIGN(auto stored, cache_->read_record(column.spec.name, position));
      if (story_.has_torn_rows) stored.bytes.pop_back();
      record.columns.push_back({.length = stored.shape.front(),
                                .fill_bits = stored.fill_bits,
                                .rows = std::move(stored.bytes)});
    }
    XTTS_ASSIGN(const auto row, cache_->plan_row(position));
    record.frame_count = row.mel_len;
    record.token_count = row.text_len;
    record.flags = row.flags;
    if (facts == nullptr) return {};
    XTTS_ASSIGN(const auto details, cache_->details(position));
    facts->clear();
    append_facts(details, *facts);
    return {};
  }
  std::vector<std::uint64_t> rejected() const override {
    const std::scoped_lock lock(mutex_);
    if (has_no_memory_) throw std::bad_alloc();
    return {found_.begin(), found_.end()};
  }
  Status check_rejects() const override {
    const std::scoped_lock lock(mutex_);
    if (found_.size() <= story_.rejects_allowed) return {};
    return {StatusCode::kTooManyRejects, std::to_string(found_.size()) + " clips"};
  }
  [[nodiscard]] std::map<std::uint64_t, int> computed() const {
    const std::scoped_lock lock(mutex_);
    return computed_;
  }
  [[nodiscard]] std::set<std::thread::id> computed_by() const {
    const std::scoped_lock lock(mutex_);
    return computed_by_;
  }
  void run_out_of_memory(bool is_so) {
    const std::scoped_lock lock(mutex_);
    has_no_memory_ = is_so;
  }

 private:
  std::shared_ptr<reader::CacheView> cache_;
  mutable std::mutex mutex_;
  mutable Story story_;
  mutable std::set<std::uint64_t> found_;
  mutable std::map<std::uint64_t, int> computed_;
  mutable std::set<std::thread::id> computed_by_;
  bool has_no_memory_ = false;
};

class ComputedSourceTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kClips = 61;

  ComputedSourceTest() {
    const auto made = testing::make_test_cache({.clip_count = kClips, .speaker_count = 3});
    made.add_to(env_, "/cache");
    cache_ = *reader::CacheView::open(env_, "/cache");
  }

  std::shared_ptr<ToldClips> tell(Story story = {}) {
    return std::make_shared<ToldClips>(cache_, std::move(story));
  }
  static std::unique_ptr<Loader> open(std::shared_ptr<ToldClips> clips,
                                      const ReaderOptions& options) {
    auto source = ComputedSource::open(std::move(clips));
    EXPECT_TRUE(source.ok()) << source.status().message();
    auto loader = Loader::open(*source, options);
    EXPECT_TRUE(loader.ok()) << loader.status().message();
    return loader.ok() ? std::move(*loader) : nullptr;
  }
  std::unique_ptr<Loader> open_stored(const ReaderOptions& options) {
    auto loader =
        Loader::open(std::make_shared<StoredSource>(*reader::CacheSet::join({cache_})), options);
    EXPECT_TRUE(loader.ok()) << loader.status().message();
    return std::move(*loader);
  }

  testing::MemoryEnv env_;
  std::shared_ptr<reader::CacheView> cache_;
};

using Epoch = std::vector<std::vector<std::uint64_t>>;  // positions by batch

Epoch take_epoch(Loader& loader) {
  Epoch batches;
  for (;;) {
    const auto lease = loader.next();
    EXPECT_TRUE(lease.ok()) << lease.status().message();
    if (!lease.ok() || !*lease) return batches;
    batches.push_back((**lease)->clips.positions);
  }
}

std::vector<std::uint64_t> sorted(const Epoch& epoch) {
  std::vector<std::uint64_t> positions;
  for (const auto& batch : epoch) positions.insert(positions.end(), batch.begin(), batch.end());
  std::ranges::sort(positions);
  return positions;
}

std::vector<std::uint64_t> all_but(std::uint64_t count, const std::set<std::uint64_t>& left_out) {
  std::vector<std::uint64_t> positions;
  for (std::uint64_t i = 0; i < count; ++i) {
    if (!left_out.contains(i)) positions.push_back(i);
  }
  return positions;
}

void expect_same(const BatchSlot& made, const BatchSlot& stored) {
  EXPECT_EQ(made.clips.positions, stored.clips.positions);
  EXPECT_EQ(made.clips.bucket, stored.clips.bucket);
  EXPECT_EQ(made.indexed.speakers, stored.indexed.speakers);
  EXPECT_EQ(made.indexed.languages, stored.indexed.languages);
  ASSERT_EQ(made.clips.layout->columns.size(), stored.clips.layout->columns.size());
  for (std::size_t i = 0; i < made.clips.layout->columns.size(); ++i) {
    const ColumnLayout& column = made.clips.layout->columns[i];
    const std::size_t bytes = column.record_bytes * made.clips.layout->batch_size;
    EXPECT_TRUE(std::equal(made.column_data(i), made.column_data(i) + bytes, stored.column_data(i)))
        << column.column->spec.name;
    EXPECT_THAT(made.ints_at(column.lengths_offset_bytes),
                ElementsAreArray(stored.ints_at(column.lengths_offset_bytes)));
  }
}

// Compares the rest of the epoch in both.
void expect_same_batches(Loader& made, Loader& stored) {
  ASSERT_EQ(made.batches_per_epoch(), stored.batches_per_epoch());
  for (std::uint64_t count = 0;; ++count) {
    const auto one = made.next();
    const auto other = stored.next();
    ASSERT_TRUE(one.ok() && other.ok()) << one.status().message() << other.status().message();
    ASSERT_EQ(one->has_value(), other->has_value());
    if (!*one) {
      EXPECT_GT(count, 0U);
      return;
    }
    expect_same(***one, ***other);
  }
}

const std::map<std::string, ReaderOptions>& readers() {
  static const std::map<std::string, ReaderOptions> options = {
      {"Global", {.batch_size = 8, .seed = 3}},
      {"NoneAndItsEnd",
       {.batch_size = 7, .shuffle = Shuffle::kNone, .last_batch = LastBatch::kPad}},
      {"SecondOfThreeRanks",
       {.batch_size = 4, .rank = 1, .world_size = 3, .last_batch = LastBatch::kPad}},
      {"Buckets",
       {.last_batch = LastBatch::kPad,
        .buckets = {{.batch_size = 6, .frames_max = 8}, {.batch_size = 4, .tokens_max = 6}, {5}}}},
      {"BucketsOfTwoRanks",
       {.rank = 1, .world_size = 2, .buckets = {{.batch_size = 3, .frames_max = 12}, {2}}}},
      {"Crop", {.batch_size = 5, .seed = 9, .crop_frames = 6}},
      {"WhereOfLists", {.batch_size = 4, .where = "speaker == \"speaker-1\" or id ~ \"1\""}},
      {"WhereOfSound", {.batch_size = 4, .where = "frames > 5 and text_len < 11"}},
      {"WhereOfFacts", {.batch_size = 4, .where = "not peak > 2"}},
      {"Weights",
       {.batch_size = 8,
        .weights = Weights{.by = WeightBy::kSpeaker, .temperature = 0.2, .draw_count = 90}}},
      {"Columns",
       {.batch_size = 8,
        .columns = {{.name = "tokens", .pad_value = -1},
                    {.name = "mel",
                     .dtype = DType::kFloat16,
                     .normalize = Normalize::kGiven,
                     .means = {0, 1, 2, 3, 4},
                     .deviations = {1, 2, 3, 4, 5}}}}},
  };
  return options;
}

class ComputedBatches : public ComputedSourceTest,
                        public ::testing::WithParamInterface<std::string> {};

TEST_P(ComputedBatches, AreThoseOfTheCacheBitForBit) {
  const ReaderOptions& options = readers().at(GetParam());
  const auto made = open(tell(), options);
  const auto stored = open_stored(options);
  for (const std::uint64_t epoch : {0, 1, 7}) {
    made->set_epoch(epoch);
    stored->set_epoch(epoch);
    expect_same_batches(*made, *stored);
  }
}

TEST_P(ComputedBatches, GoOnWhereACacheWould) {
  const ReaderOptions& options = readers().at(GetParam());
  const auto made = open(tell(), options);
  const auto stored = open_stored(options);
  for (int i = 0; i < 2; ++i) {
    (void)made->next();
    (void)stored->next();
  }
  const ReaderState state = made->state();
  EXPECT_EQ(state.samples_consumed, stored->state().samples_consumed);
  EXPECT_EQ(state.selection, stored->state().selection);
  const auto again = open(tell(), options);
  const Status loaded = again->load_state(state);
  ASSERT_TRUE(loaded.ok()) << loaded.message();
  expect_same_batches(*again, *stored);
}

std::vector<std::string> reader_names() {
  std::vector<std::string> names;
  for (const auto& [name, options] : readers()) names.push_back(name);
  return names;
}

INSTANTIATE_TEST_SUITE_P(, ComputedBatches, ::testing::ValuesIn(reader_names()),
                         [](const auto& test) { return test.param; });

// The first epoch finds the rejected clips, so its batches are shorter. The second one knows them.
TEST_F(ComputedSourceTest, RejectedClipLeavesItsBatchAndTheEpochsToCome) {
  const std::set<std::uint64_t> rejected = {3, 20, 21, 60};
  const auto clips = tell({.rejected = rejected});
  const auto loader = open(clips, {.batch_size = 8, .seed = 5, .last_batch = LastBatch::kPad});
  const Epoch first = take_epoch(*loader);
  EXPECT_EQ(first.size(), 8U);  // of 61 clips
  EXPECT_EQ(sorted(first), all_but(kClips, rejected));
  EXPECT_EQ(loader->left_out().size(), 4U);
  EXPECT_EQ(loader->stats().left_out_count, 4U);
  const auto computed = clips->computed();
  for (const auto& [position, times] : computed) {
    EXPECT_LE(times, 2) << position;  // clips behind a rejected one move up, as they are
  }

  loader->set_epoch(1);
  const Epoch second = take_epoch(*loader);
  EXPECT_EQ(sorted(second), all_but(kClips, rejected));
  ASSERT_EQ(second.size(), 8U);  // of 57
  for (std::size_t i = 0; i + 1 < second.size(); ++i) EXPECT_EQ(second[i].size(), 8U) << i;
  EXPECT_EQ(loader->batches_per_epoch(), 8U);
  EXPECT_EQ(loader->stats().epoch_left_out_count, 0U);
}

TEST_F(ComputedSourceTest, OneRankThatDropsItsEndHasAsManyBatchesAsItCanFill) {
  const auto loader = open(tell({.rejected = {1, 2, 3, 4, 5, 6}}), {.batch_size = 8, .seed = 5});
  EXPECT_EQ(loader->batches_per_epoch(), 7U);  // 56 of 61
  for (std::uint64_t epoch = 1; loader->left_out().size() < 6 && epoch < 20; ++epoch) {
    (void)take_epoch(*loader);
    loader->set_epoch(epoch);
  }
  (void)take_epoch(*loader);
  loader->set_epoch(30);
  EXPECT_EQ(loader->batches_per_epoch(), 6U);  // 48 of 55
  for (const auto& batch : take_epoch(*loader)) EXPECT_EQ(batch.size(), 8U);
}

// Each rank knows of its own rejected clips only.
TEST_F(ComputedSourceTest, RanksKeepTheirStepsAndShareNoClip) {
  const std::set<std::uint64_t> rejected = {0, 7, 8, 9, 30, 44};
  std::vector<std::uint64_t> seen;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    const auto loader = open(
        tell({.rejected = rejected}),
        {.batch_size = 4, .seed = 8, .rank = rank, .world_size = 3, .last_batch = LastBatch::kPad});
    (void)take_epoch(*loader);
    loader->set_epoch(1);
    const Epoch second = take_epoch(*loader);
    EXPECT_EQ(second.size(), 6U) << rank;  // of 61 clips
    const auto some = sorted(second);
    seen.insert(seen.end(), some.begin(), some.end());
  }
  std::ranges::sort(seen);
  EXPECT_EQ(seen, all_but(kClips, rejected));
}

// The options of three ranks.
std::vector<ReaderOptions> options_of_ranks(LastBatch last) {
  std::vector<ReaderOptions> options;
  for (std::uint32_t rank = 0; rank < 3; ++rank) {
    options.push_back(
        {.batch_size = 4, .seed = 8, .rank = rank, .world_size = 3, .last_batch = last});
  }
  return options;
}

// A batch is short by its own rejected clips, and nothing else moves. So rejects do not leave the
// last steps of a rank empty.
TEST_F(ComputedSourceTest, OfSeveralRanksABatchIsShortByItsOwnRejectedClips) {
  const std::set<std::uint64_t> rejected = {0, 7, 8, 9, 30, 44, 51};
  for (const LastBatch last : {LastBatch::kDrop, LastBatch::kPad}) {
    for (const ReaderOptions& options : options_of_ranks(last)) {
      const auto whole = open(tell(), options);
      const auto loader = open(tell({.rejected = rejected, .known = rejected}), options);
      for (const std::uint64_t epoch : {0, 1, 2}) {
        whole->set_epoch(epoch);
        loader->set_epoch(epoch);
        Epoch wanted = take_epoch(*whole);
        for (auto& batch : wanted) {
          std::erase_if(batch, [&](std::uint64_t clip) { return rejected.contains(clip); });
        }
        EXPECT_EQ(take_epoch(*loader), wanted) << "epoch " << epoch << ", rank " << options.rank;
      }
      EXPECT_EQ(loader->stats().epoch_left_out_count, 0U);
    }
  }
}

TEST_F(ComputedSourceTest, StateOfSeveralRanksLosesNoClipAndBringsNoneTwice) {
  const std::set<std::uint64_t> rejected = {2, 11, 12, 33, 50};
  for (std::uint64_t taken_count = 0; taken_count <= 6; ++taken_count) {
    std::vector<std::uint64_t> seen;
    for (const ReaderOptions& options : options_of_ranks(LastBatch::kPad)) {
      Epoch taken;
      const auto loader = open(tell({.rejected = rejected, .known = rejected}), options);
      for (std::uint64_t i = 0; i < taken_count; ++i)
        taken.push_back((**loader->next())->clips.positions);
      // This reader stands for one in another process, which knows of no reject.
      const auto again = open(tell({.rejected = rejected}), options);
      ASSERT_TRUE(again->load_state(loader->state()).ok());
      for (const auto& batch : take_epoch(*again)) taken.push_back(batch);
      const auto some = sorted(taken);
      seen.insert(seen.end(), some.begin(), some.end());
    }
    std::ranges::sort(seen);
    EXPECT_EQ(seen, all_but(kClips, rejected)) << taken_count;
  }
}

TEST_F(ComputedSourceTest, StateOfAnEpochWithoutRejectedClipsLosesNone) {
  const std::set<std::uint64_t> rejected = {2, 11, 12, 33, 50};
  const auto clips = tell({.rejected = rejected});
  const ReaderOptions options = {.batch_size = 4, .seed = 1, .last_batch = LastBatch::kPad};
  const auto loader = open(clips, options);
  (void)take_epoch(*loader);
  loader->set_epoch(1);
  Epoch taken;
  for (int i = 0; i < 6; ++i) taken.push_back((**loader->next())->clips.positions);
  // This reader stands for one in another process, which knows of no reject.
  const auto again = open(tell({.rejected = rejected}), options);
  ASSERT_TRUE(again->load_state(loader->state()).ok());
  for (const auto& batch : take_epoch(*again)) taken.push_back(batch);
  EXPECT_EQ(sorted(taken), all_but(kClips, rejected));
}

TEST_F(ComputedSourceTest, BucketsKnowOfRejectedClipsFromTheBeginning) {
  const std::set<std::uint64_t> rejected = {4, 5, 29};
  const auto loader = open(tell({.rejected = rejected}),
                           {.last_batch = LastBatch::kPad, .buckets = {{4, 10, 0}, {4, 0, 0}}});
  EXPECT_EQ(loader->sample_count(), kClips - 3);
  EXPECT_THAT(loader->left_out(), ElementsAreArray(rejected));
  EXPECT_EQ(sorted(take_epoch(*loader)), all_but(kClips, rejected));
}

// The clip's length is not known, and it is not rejected. So nobody knows its bucket, and without
// one it would be lost without a word.
TEST_F(ComputedSourceTest, ClipThatIsAwayWhileLengthsAreLearnedIsAnErrorAndComesLater) {
  for (const ReaderOptions& options :
       {ReaderOptions{.last_batch = LastBatch::kPad, .buckets = {{4, 10, 0}, {4, 0, 0}}},
        ReaderOptions{
            .batch_size = 4, .last_batch = LastBatch::kPad, .where = "not seconds > 10000"}}) {
    const auto clips = tell({.rejected = {4}, .away_once = {9, 40}});
    const Status refused = Loader::open(*ComputedSource::open(clips), options).status();
    EXPECT_EQ(refused.code(), StatusCode::kSourceIo);
    EXPECT_THAT(refused.message(), HasSubstr("clip is away"));
    EXPECT_THAT(refused.message(), HasSubstr("open the reader again"));
    const auto loader = open(clips, options);
    ASSERT_NE(loader, nullptr);
    EXPECT_EQ(sorted(take_epoch(*loader)), all_but(kClips, {4}));
  }
}

TEST_F(ComputedSourceTest, WhatCanBeToldAtOnceIsToldBeforeLengthsAreLearned) {
  const auto clips = tell();
  const auto refusal = [&](ReaderOptions options) {
    options.buckets.resize(std::max<std::size_t>(options.buckets.size(), 1));
    return Loader::open(*ComputedSource::open(clips), options).status().code();
  };
  EXPECT_EQ(refusal({.device = "tpu:0"}), StatusCode::kUnsupported);
  EXPECT_EQ(refusal({.columns = {{.name = "no such"}}}), StatusCode::kNotFound);
  EXPECT_EQ(refusal({.columns = {{.name = "tokens", .dtype = DType::kFloat16}}}),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.weights = Weights{.temperature = 17}}), StatusCode::kInvalidArgument);
  EXPECT_EQ(refusal({.buckets = std::vector<Bucket>(33)}), StatusCode::kInvalidArgument);
  EXPECT_THAT(clips->computed(), IsEmpty());
}

// `cancelled` is called on the thread that opens the reader: it may need a lock that this thread
// holds, like an interpreter's.
TEST_F(ComputedSourceTest, LearningOfLengthsEndsWhenItIsCancelled) {
  const auto clips = tell();
  ReaderOptions options = {.buckets = {{4}}, .thread_count = 3};
  std::set<std::thread::id> asked_by;
  bool throws = false;
  options.cancelled = [&] {
    asked_by.insert(std::this_thread::get_id());
    if (throws) throw std::runtime_error("a signal came");
    return true;
  };
  const auto cancelled = Loader::open(*ComputedSource::open(clips), options).status();
  EXPECT_EQ(cancelled.code(), StatusCode::kCancelled);
  throws = true;
  const auto thrown = Loader::open(*ComputedSource::open(clips), options).status();
  EXPECT_EQ(thrown.code(), StatusCode::kCancelled);
  EXPECT_EQ(thrown.message(), "a signal came");
  EXPECT_EQ(asked_by, std::set{std::this_thread::get_id()});

  options.cancelled = [] { return false; };
  EXPECT_NE(open(clips, options), nullptr);
}

TEST_F(ComputedSourceTest, TooManyRejectedClipsEndTheLearningOfLengths) {
  std::set<std::uint64_t> all;
  for (std::uint64_t position = 0; position < kClips; ++position) all.insert(position);
  const auto clips = tell({.rejected = all, .rejects_allowed = 5});
  const Status refused =
      Loader::open(*ComputedSource::open(clips), {.buckets = {{4}}, .thread_count = 2}).status();
  EXPECT_EQ(refused.code(), StatusCode::kTooManyRejects);
  EXPECT_LT(clips->computed().size(), 10U);
}

TEST_F(ComputedSourceTest, ClipsThatAreKnownToBeRejectedAreNamedFromTheBeginning) {
  const std::set<std::uint64_t> rejected = {3, 20, 21};
  for (const std::uint32_t world_size : {1U, 2U}) {
    const auto loader = open(tell({.rejected = rejected, .known = rejected}),
                             {.batch_size = 8, .world_size = world_size});
    EXPECT_THAT(loader->left_out(), ElementsAreArray(rejected));
    EXPECT_EQ(loader->stats().left_out_count, 3U);
    (void)take_epoch(*loader);
    loader->set_epoch(1);
    (void)take_epoch(*loader);
    EXPECT_THAT(loader->left_out(), ElementsAreArray(rejected));
    EXPECT_EQ(loader->stats().left_out_count, 3U);
    EXPECT_EQ(loader->stats().epoch_left_out_count, 0U);
  }
  // left_out() has no clips that the options do not choose.
  const std::string id = *cache_->details(20)->id;
  for (const ReaderOptions& options :
       {ReaderOptions{.batch_size = 2, .exclude = {id}},
        ReaderOptions{.exclude = {id}, .buckets = {{.batch_size = 2}}}}) {
    const auto loader = open(tell({.rejected = rejected, .known = rejected}), options);
    EXPECT_THAT(loader->left_out(), ElementsAreArray({3, 21}));
    EXPECT_EQ(loader->stats().left_out_count, 2U);
  }
}

TEST_F(ComputedSourceTest, TooManyKnownRejectsAreAnErrorBeforeTheFirstBatch) {
  const Story story = {.rejected = {1, 5}, .known = {1, 5}, .rejects_allowed = 1};
  const ReaderOptions options = {.batch_size = 4, .shuffle = Shuffle::kNone};
  const auto refused = Loader::open(*ComputedSource::open(tell(story)), options);
  EXPECT_EQ(refused.status().code(), StatusCode::kTooManyRejects);

  // An epoch that begins when they are known fails, too.
  const auto loader = open(tell({.rejected = {1, 5}, .rejects_allowed = 1}), options);
  while (loader->left_out().size() < 2) (void)loader->next();
  for (const std::uint64_t epoch : {1, 2}) {
    loader->set_epoch(epoch);
    EXPECT_EQ(loader->next().status().code(), StatusCode::kTooManyRejects);
    EXPECT_EQ(loader->state().epoch, epoch);
  }
}

// The source shares its memory out for the filling threads only.
TEST_F(ComputedSourceTest, ConsumerComputesNothing) {
  const auto clips = tell({.rejected = {5, 6}});
  const auto loader = open(clips, {.batch_size = 4, .thread_count = 1});
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    loader->set_epoch(epoch);
    EXPECT_EQ(take_epoch(*loader).size(), loader->batches_per_epoch());
  }
  EXPECT_EQ(clips->computed_by().size(), 1U);
  EXPECT_FALSE(clips->computed_by().contains(std::this_thread::get_id()));
}

TEST_F(ComputedSourceTest, StatsTellRejectedClipsFromDamagedOnes) {
  const std::set<std::uint64_t> rejected = {3, 20, 21, 60};
  std::vector<std::string> told;
  ReaderOptions options = {.batch_size = 8, .last_batch = LastBatch::kPad};
  options.log = [&](LogLevel level, const std::string& text) {
    EXPECT_TRUE(text != "clip is rejected" || level == LogLevel::kInfo);
    told.push_back(text);
  };
  const auto loader = open(tell({.rejected = rejected}), options);
  (void)take_epoch(*loader);
  EXPECT_EQ(std::ranges::count(told, "clip is rejected"), 4);
  const ReaderStats stats = loader->stats();
  EXPECT_EQ(stats.sample_count, kClips - 4);
  EXPECT_EQ(stats.cache_hits, 0U);
  EXPECT_EQ(stats.check_failures, 0U);
  EXPECT_THAT(stats.first_failures, IsEmpty());
  EXPECT_EQ(stats.left_out_count, 4U);
  EXPECT_EQ(stats.epoch_left_out_count, 4U);

  const auto with_buckets = open(tell({.rejected = rejected}), {.buckets = {{.batch_size = 4}}});
  EXPECT_EQ(with_buckets->stats().left_out_count, 4U);
}

TEST_F(ComputedSourceTest, EpochThatCannotBeginSaysSoInNext) {
  const auto clips = tell();
  const auto loader = open(clips, {.batch_size = 8});
  (void)take_epoch(*loader);
  clips->run_out_of_memory(true);
  loader->set_epoch(1);
  EXPECT_EQ(loader->next().status().code(), StatusCode::kResource);
  clips->run_out_of_memory(false);
  loader->set_epoch(1);
  EXPECT_EQ(take_epoch(*loader).size(), loader->batches_per_epoch());
}

TEST_F(ComputedSourceTest, FailureIsToldWhereItsBatchWouldCome) {
  const auto loader =
      open(tell({.failing_once = {12}}), {.batch_size = 5, .shuffle = Shuffle::kNone});
  EXPECT_TRUE(loader->next().ok());
  EXPECT_TRUE(loader->next().ok());
  const auto failed = loader->next();
  EXPECT_EQ(failed.status().code(), StatusCode::kResource);
  EXPECT_EQ(take_epoch(*loader).size(), 9U);
  loader->set_epoch(0);
  EXPECT_EQ(take_epoch(*loader).size(), 12U);
}

TEST_F(ComputedSourceTest, TooManyRejectedClipsAreAnError) {
  const ReaderOptions options = {.batch_size = 4, .shuffle = Shuffle::kNone};
  const auto loader = open(tell({.rejected = {1, 5}, .rejects_allowed = 1}), options);
  // It fails with the second reject's batch, or before: batches are filled ahead.
  const Status first = loader->next().status();
  const Status second = first.ok() ? loader->next().status() : first;
  EXPECT_EQ(second.code(), StatusCode::kTooManyRejects);
}

TEST_F(ComputedSourceTest, RecordOfAnotherFormIsRefused) {
  const auto loader = open(tell({.has_torn_rows = true}), {.batch_size = 4});
  const auto failed = loader->next();
  EXPECT_EQ(failed.status().code(), StatusCode::kInternal);
  EXPECT_THAT(failed.status().message(), HasSubstr("its column's form"));
}

TEST_F(ComputedSourceTest, OptionsOfStorageAreRefused) {
  const auto refusal = [&](const ReaderOptions& options) {
    return Loader::open(*ComputedSource::open(tell()), options).status();
  };
  EXPECT_EQ(refusal({.shuffle = Shuffle::kWindow}).code(), StatusCode::kInvalidArgument);
  const Status corpus = refusal({.columns = {{.name = "mel", .normalize = Normalize::kCorpus}}});
  EXPECT_EQ(corpus.code(), StatusCode::kUnsupported);
  EXPECT_THAT(corpus.message(), HasSubstr("cache.stats"));
  const std::map<std::string, ReaderOptions> without_meaning = {
      {"verify_records", {.verify_records = false}},
      {"on_damage", {.on_damage = OnDamage::kSkip}},
      {"reading", {.reading = Reading::kMapped}},
      {"max_damage", {.max_damage = 1}}};
  for (const auto& [name, options] : without_meaning) {
    const Status refused = refusal(options);
    EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(refused.message(), HasSubstr(name));
  }
}

TEST_F(ComputedSourceTest, WhatListsTellNeedsNoClipComputed) {
  const auto clips = tell();
  const auto source = *ComputedSource::open(clips);
  ASSERT_TRUE(source->prepare({.where = "speaker == \"x\" or id == \"y\""}).ok());
  EXPECT_THAT(clips->computed(), IsEmpty());
  ASSERT_TRUE(source->prepare({.where = "seconds > 1"}).ok());
  EXPECT_EQ(clips->computed().size(), kClips);
}

}  // namespace
}  // namespace xtts::loader
