// Makes any calls in any order. The next batch must depend on epoch and place alone. It must not
// depend on the reader's way there, on what was filled ahead, on damage, or on batches held.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <thread>

#include "made_cache.hpp"

namespace xtts {
namespace {

constexpr std::uint64_t kEpochs = 4;

// The result of a call of next(): positions and the first numbers of their mels, or a failure.
struct Step {
  StatusCode code = StatusCode::kOk;
  std::uint32_t bucket = 0;
  std::vector<std::uint64_t> positions;
  std::vector<float> numbers;

  friend bool operator==(const Step&, const Step&) = default;
};

Step step_of(const Result<std::optional<Batch>>& taken) {
  if (!taken.ok()) return {.code = taken.status().code(), .positions = {}, .numbers = {}};
  if (!*taken) return {};
  const Batch& batch = **taken;
  Step step{.bucket = batch.bucket(), .positions = {}, .numbers = {}};
  const auto numbers = *batch.find("mel")->as_floats();
  const std::size_t stride = numbers.size() / batch.size();
  for (std::size_t row = 0; row < batch.positions().size(); ++row) {
    step.positions.push_back(batch.positions()[row]);
    step.numbers.push_back(numbers[row * stride]);
  }
  return step;
}

using Epoch = std::vector<Step>;  // the last step is the end's, which is empty

std::vector<Epoch> epochs_one_by_one(const Cache& cache, const ReaderOptions& options) {
  std::vector<Epoch> epochs;
  for (std::uint64_t epoch = 0; epoch < kEpochs; ++epoch) {
    Reader reader = open_reader(cache, options);
    reader.set_epoch(epoch);
    epochs.emplace_back();
    do {
      epochs.back().push_back(step_of(reader.next()));
    } while (!(epochs.back().back() == Step()));
  }
  return epochs;
}

// Wanderer takes batches of an epoch, most often up to its end, and then goes elsewhere.
class Wanderer {
 public:
  Wanderer(const Cache& cache, const ReaderOptions& options, std::uint32_t seed)
      : epochs_(epochs_one_by_one(cache, options)),
        reader_(open_reader(cache, options)),
        random_(seed) {}
  ~Wanderer() {
    for (std::thread& thread : holders_) thread.join();
  }

  // Goes on with another cache or other options, which must give the same batches.
  void read_otherwise(const Cache& cache, const ReaderOptions& options) {
    reader_ = open_reader(cache, options);
  }

  void wander(std::size_t call_count) {
    for (std::size_t i = 0; i < call_count && !::testing::Test::HasFailure(); ++i) {
      const std::uint32_t dice = random_() % 64;
      if (dice == 0) {
        go_to_epoch(random_() % kEpochs);
      } else if (dice == 1) {
        saved_ = {.state = reader_.state(), .epoch = epoch_, .step = step_};
      } else if (dice == 2 && saved_.state.cache != "") {
        ASSERT_TRUE(reader_.load_state(saved_.state).ok());
        epoch_ = saved_.epoch;
        step_ = saved_.step;
      } else {
        take();
      }
    }
  }

 private:
  struct Saved {
    ReaderState state;
    std::uint64_t epoch = 0;
    std::size_t step = 0;
  };

  void go_to_epoch(std::uint64_t epoch) {
    reader_.set_epoch(epoch);
    epoch_ = epoch;
    step_ = 0;
  }

  void take() {
    auto taken = reader_.next();
    ASSERT_NE(taken.status().code(), StatusCode::kBusy);
    ASSERT_EQ(step_of(taken), epochs_[epoch_][step_]) << "epoch " << epoch_ << " step " << step_;
    if (step_ + 1 == epochs_[epoch_].size()) return go_to_epoch((epoch_ + 1) % kEpochs);
    ++step_;
    if (!taken.ok() || random_() % 4 != 0) return;
    // Another thread drops the batch at some time.
    if (holders_.size() == 2) {
      for (std::thread& thread : holders_) thread.join();
      holders_.clear();
    }
    holders_.emplace_back([batch = std::move(**taken)] { std::this_thread::yield(); });
  }

  std::vector<Epoch> epochs_;
  Reader reader_;
  std::mt19937 random_;
  std::uint64_t epoch_ = 0;
  std::size_t step_ = 0;
  Saved saved_;
  std::vector<std::thread> holders_;
};

void damage_some(const MadeCache& cache) {
  std::fstream file(cache.shard(0, 1), std::ios::in | std::ios::out | std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto& numbers = cache.made().clips[5].mel;  // the shard has four clips
  const std::string wanted(reinterpret_cast<const char*>(numbers.data()),
                           numbers.size() * sizeof(float));
  const std::size_t place = bytes.find(wanted);
  ASSERT_NE(place, std::string::npos);
  file.clear();
  file.seekp(static_cast<std::streamoff>(place + 9));
  file.put(static_cast<char>(bytes[place + 9] ^ 1));
}

TEST(PublicReaderCalls, InAnyOrderBringWhatTheirPlaceSays) {
  const MadeCache cache;
  damage_some(cache);
  const Cache opened = cache.open();
  const std::vector<Bucket> buckets{{.batch_size = 3, .frames_max = 9}, {.batch_size = 4}};
  std::vector<ReaderOptions> all{
      {.batch_size = 4, .shuffle = Shuffle::kNone},
      {.batch_size = 4, .rank = 1, .world_size = 3, .last_batch = LastBatch::kPad},
      {.batch_size = 4, .shuffle = Shuffle::kWindow, .stretch_samples = 5},
      {.last_batch = LastBatch::kPad, .buckets = buckets},
      {.shuffle = Shuffle::kWindow, .buckets = buckets, .stretch_samples = 5},
      {.weights = Weights{.draw_count = 80}, .buckets = buckets},
      {.batch_size = 7, .crop_frames = 4},
      {.batch_size = 62},  // an epoch has no steps
  };
  std::uint32_t seed = 0;
  for (ReaderOptions& options : all) {
    for (const OnDamage on_damage : {OnDamage::kRaise, OnDamage::kSkip}) {
      options.on_damage = on_damage;
      options.slot_count = 4 + seed % 3;
      options.thread_count = 1 + seed % 3;
      Wanderer(opened, options, seed).wander(600);
      ASSERT_FALSE(HasFailure()) << "options " << seed / 2;
      ++seed;
    }
  }
}

// Reads past the page cache, so that reads are under way when a reader goes elsewhere. The records
// are large enough for that. With weights, a clip comes several times in a batch.
TEST(PublicReaderCalls, InAnyOrderBringWhatTheirPlaceSaysWhenReadDirectly) {
  const MadeCache first({.clip_count = 40,
                         .frames_max = 100,
                         .channel_count = 80,
                         .clips_per_block = 2,
                         .dataset = "a",
                         .speaker_count = 2});
  const MadeCache second({.layout = formats::Layout::kPacked,
                          .clip_count = 21,
                          .frames_max = 100,
                          .channel_count = 80,
                          .clips_per_block = 2,
                          .dataset = "b",
                          .speaker_count = 3});
  damage_some(first);
  const auto opened = Cache::open(std::vector{first.path(), second.path()});
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const std::vector<Bucket> buckets{{.batch_size = 3, .frames_max = 40}, {.batch_size = 4}};
  const Weights few{.by = WeightBy::kSpeaker, .temperature = 0, .draw_count = 300};
  std::vector<ReaderOptions> all{
      {.batch_size = 4, .shuffle = Shuffle::kNone},
      {.batch_size = 4, .rank = 1, .world_size = 3, .last_batch = LastBatch::kPad},
      {.batch_size = 4, .shuffle = Shuffle::kWindow, .stretch_samples = 5},
      {.last_batch = LastBatch::kPad, .buckets = buckets},
      {.batch_size = 20, .where = "frames < 12", .weights = few},
      {.weights = few, .buckets = buckets},
      {.batch_size = 7, .crop_frames = 9},
  };
  std::uint32_t seed = 0;
  for (ReaderOptions& options : all) {
    options.on_damage = seed % 2 == 0 ? OnDamage::kRaise : OnDamage::kSkip;
    options.slot_count = 4 + seed % 3;
    options.thread_count = 1 + seed % 3;
    options.reading = Reading::kMapped;
    Wanderer wanderer(*opened, options, seed);
    options.reading = Reading::kDirect;
    wanderer.read_otherwise(*opened, options);
    wanderer.wander(600);
    ASSERT_FALSE(HasFailure()) << "options " << seed;
    ++seed;
  }
}

}  // namespace
}  // namespace xtts
