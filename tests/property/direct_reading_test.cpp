// Reading past the page cache against reading through it: the same batches, bit for bit, in every
// form of a cache, order and dtype; the same refusals of what is damaged; and whatever a disk does
// to a direct read, the record comes by the ordinary path. On real files, with a queue of our own
// that brings reads in another order, and with the kernel's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <random>
#include <string>
#include <tuple>

#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "reader/cache_set.hpp"
#include "storages_on_devices.hpp"
#include "support/made_direct_queue.hpp"
#include "support/temp_folder.hpp"
#include "taken_batches.hpp"

namespace xtts::testing {
namespace {

class DirectReading : public ::testing::TestWithParam<std::tuple<Storage, DeviceChoice>> {
 protected:
  DirectReading()
      : cache_(make_test_cache({.store = storage().store,
                                .layout = storage().layout,
                                .clip_count = 41,
                                .frames_max = 100,
                                .channel_count = 80,
                                .clips_per_block = 8,
                                .make_shard = make_real_shards(storage().store)})) {
    for (const auto& [name, bytes] : cache_.files) folder_.write(name, bytes);
  }

  [[nodiscard]] static const Storage& storage() { return std::get<Storage>(GetParam()); }
  // On the device that is tested, but for what is the measure of all others.
  [[nodiscard]] std::unique_ptr<loader::Loader> open(Env& env, ReaderOptions options,
                                                     Reading reading) const {
    options.device = device_.name();
    return open_there(env, std::move(options), reading);
  }
  [[nodiscard]] std::unique_ptr<loader::Loader> open_there(Env& env, ReaderOptions options,
                                                           Reading reading) const {
    options.reading = reading;
    auto caches = reader::CacheSet::open(env, std::span(&folder_.path(), 1));
    EXPECT_TRUE(caches.ok()) << caches.status().message();
    auto loader = loader::Loader::open(std::make_shared<loader::StoredSource>(*caches), options);
    EXPECT_TRUE(loader.ok()) << loader.status().message();
    return std::move(*loader);
  }

  // Batches that come mapped on the CPU come in each way on this device.
  void expect_same(const ReaderOptions& options) {
    const auto wanted_of = open_there(env_, options, Reading::kMapped);
    EXPECT_TRUE(wanted_of->stats().reading.starts_with("mapped:"));
    const auto wanted = take_some(*wanted_of);
    for (const Reading reading : {Reading::kDirect, Reading::kMapped}) {
      if (reading == Reading::kMapped && !device_.has_own_memory()) continue;
      const auto found_of = open(env_, options, reading);
      const std::string how = reading == Reading::kDirect ? "direct:" : "mapped:";
      const std::string told = found_of->stats().reading;
      EXPECT_TRUE(told.starts_with(how)) << told;
      // The host makes values narrower, on their way into the slot.
      const bool is_narrowed =
          !options.columns.empty() && options.columns.front().dtype == DType::kFloat16;
      EXPECT_EQ(told.find("the GPU copies records") != std::string::npos,
                reading == Reading::kDirect && device_.has_own_memory() && !is_narrowed)
          << told;
      const auto found = take_some(*found_of);
      ASSERT_EQ(wanted.size(), found.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(wanted[i].message, found[i].message);
        EXPECT_TRUE(wanted[i] == found[i]) << how << " batch " << i;
      }
      EXPECT_EQ(wanted_of->stats().check_failures, found_of->stats().check_failures);
    }
  }

  DeviceUnderTest device_{std::get<DeviceChoice>(GetParam())};
  MadeDirectEnv env_;
  TempFolder folder_;
  TestCache cache_;
};

TEST_P(DirectReading, BringsTheSameBatchesInEachOrderAndDtype) {
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    for (const auto dtype : {DType::kFloat32, DType::kFloat16}) {
      for (const std::uint32_t threads : {1U, 3U}) {
        expect_same({.batch_size = 8,
                     .shuffle = shuffle,
                     .seed = 5,
                     .last_batch = LastBatch::kPad,
                     .columns = {{.name = "mel", .dtype = dtype}, {.name = "tokens"}},
                     .thread_count = threads,
                     .stretch_samples = 8,
                     .stretches_per_window = 2});
      }
    }
  }
  EXPECT_GT(env_.faults->read_count, 0U);
}

TEST_P(DirectReading, BringsTheSameCropsBucketsAndUncheckedRecords) {
  expect_same({.batch_size = 8, .crop_frames = 7});
  expect_same({.batch_size = 8, .verify_records = false});
  expect_same({.batch_size = 3, .slot_count = 5});
  expect_same({.buckets = {{.batch_size = 4, .frames_max = 40}, {.batch_size = 6}}});
}

TEST_P(DirectReading, DamageIsToldSkippedOrIgnoredAsEver) {
  std::mt19937 random(11);
  for (const auto& [name, bytes] : cache_.files) {
    if (!name.starts_with("shards/mel")) continue;
    for (int i = 0; i < (device_.has_own_memory() ? 2 : 6); ++i) {  // it takes its time
      std::string changed = bytes;
      changed[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      folder_.write(name, changed);
      for (const auto policy : {OnDamage::kRaise, OnDamage::kSkip, OnDamage::kIgnore}) {
        expect_same({.batch_size = 8, .on_damage = policy});
      }
    }
    folder_.write(name, bytes);
  }
}

TEST_P(DirectReading, FailingAndShortReadsBringTheSameBatches) {
  const auto wanted = take_some(*open_there(env_, {.batch_size = 8}, Reading::kMapped));
  for (const int error : {EIO, EAGAIN, EINTR, ECANCELED, 0}) {
    env_.faults->on_done = [error](std::uint64_t number, const DirectRead& read, DirectDone& done) {
      if (number % 3 == 0) done = {.tag = read.tag, .error = error, .read_bytes = 512};
    };
    const auto direct = open(env_, {.batch_size = 8}, Reading::kDirect);
    EXPECT_TRUE(take_some(*direct) == wanted);
    EXPECT_NE(direct->stats().reading.find("had to be read through the page cache"),
              std::string::npos)
        << direct->stats().reading;
  }
}

TEST_P(DirectReading, FilesThatCannotBeReadDirectlyAreMappedAndThatIsTold) {
  const auto wanted = take_some(*open_there(env_, {.batch_size = 8}, Reading::kMapped));
  env_.faults->refuses_files = true;
  const auto mapped = open(env_, {.batch_size = 8}, Reading::kDirect);
  EXPECT_TRUE(mapped->stats().reading.starts_with("mapped:")) << mapped->stats().reading;
  EXPECT_NE(mapped->stats().notice, "");
  EXPECT_TRUE(take_some(*mapped) == wanted);
}

TEST_P(DirectReading, FilesThatCannotBeMappedBringTheSameBatchesAndNoHits) {
  const auto wanted = take_some(*open_there(env_, {.batch_size = 8}, Reading::kMapped));
  env_.faults->refuses_maps = true;
  for (const Reading reading : {Reading::kMapped, Reading::kDirect}) {
    const auto unmapped = open(env_, {.batch_size = 8}, reading);
    EXPECT_TRUE(take_some(*unmapped) == wanted);
    EXPECT_EQ(unmapped->stats().cache_hits, 0U);
  }
}

// Somebody closed all descriptors of the process, say.
TEST_P(DirectReading, QueueThatIsLostMeanwhileBringsTheSameBatches) {
  const auto wanted = take_some(*open_there(env_, {.batch_size = 8}, Reading::kMapped));
  const auto direct = open(env_, {.batch_size = 8}, Reading::kDirect);
  ASSERT_TRUE(direct->next().ok());
  env_.faults->is_lost = true;
  direct->set_epoch(1);
  direct->set_epoch(0);
  EXPECT_TRUE(take_some(*direct) == wanted);
}

// The bytes that a direct read gets from the disk may be wrong, and right in the page cache.
TEST_P(DirectReading, BytesThatCameWrongAreReadAgain) {
  const auto wanted = take_some(*open_there(env_, {.batch_size = 8}, Reading::kMapped));
  env_.faults->on_done = [](std::uint64_t number, const DirectRead& read, DirectDone&) {
    if (number % 4 == 0) read.out[read.out.size() / 2] ^= std::byte{4};
  };
  const auto direct = open(env_, {.batch_size = 8}, Reading::kDirect);
  EXPECT_TRUE(take_some(*direct) == wanted);
  EXPECT_EQ(direct->stats().check_failures, 0U);
  EXPECT_NE(direct->stats().reading.find("had to be read through the page cache"),
            std::string::npos)
      << direct->stats().reading;
}

TEST_P(DirectReading, FileCutWhileItIsReadIsATypedErrorAndTheProcessLives) {
  for (const auto& [name, bytes] : cache_.files) {
    if (!name.starts_with("shards/mel")) continue;
    const auto direct = open(env_, {.batch_size = 8}, Reading::kDirect);
    (void)take_some(*direct);
    std::filesystem::resize_file(folder_.path() + "/" + name, bytes.size() / 3);
    direct->set_epoch(9);
    std::size_t refused_count = 0;
    for (const Taken& taken : take_some(*direct)) {
      if (taken.code == StatusCode::kOk) continue;
      ++refused_count;
      EXPECT_TRUE(taken.code == StatusCode::kCorrupt || taken.code == StatusCode::kSourceIo)
          << taken.message;
      EXPECT_NE(taken.message.find("of clip"), std::string::npos) << taken.message;
    }
    EXPECT_GT(refused_count, 0U);
    folder_.write(name, bytes);
  }
}

// The cells of a batch that could not be filled go round: there are far more records than cells.
TEST_P(DirectReading, DeviceThatFailsKeepsNoRecordFromItsCell) {
  if (device_.has_own_memory()) return;  // the one that fails has its name
  for (const std::string call : {"cuEventSynchronize", "cuEventRecord"}) {
    SCOPED_TRACE(call);
    const DeviceUnderTest failing(DeviceChoice::kCuda, {.name = call, .nth = 2});
    auto caches = reader::CacheSet::open(env_, std::span(&folder_.path(), 1));
    ASSERT_TRUE(caches.ok());
    const auto loader =
        loader::Loader::open(std::make_shared<loader::StoredSource>(*caches),
                             {.batch_size = 32,
                              .weights = Weights{.temperature = 1, .draw_count = 3200},
                              .device = failing.name(),
                              .reading = Reading::kDirect});
    ASSERT_TRUE(loader.ok()) << loader.status().message();
    std::size_t failed_count = 0;
    for (int i = 0; i < 100; ++i) {
      const auto lease =
          (*loader)->next(std::chrono::steady_clock::now() + std::chrono::minutes(1));
      ASSERT_NE(lease.status().code(), StatusCode::kCancelled) << "no batch in a minute";
      if (!lease.ok()) ++failed_count;
    }
    EXPECT_EQ(failed_count, 1U);
  }
}

// A batch keeps the cells of all its records. Without cells for them, it would wait for itself.
TEST_P(DirectReading, ABatchOfMoreRecordsThanAllOtherCellsIsBorrowedWhole) {
  if (!device_.has_own_memory()) return;
  auto caches = reader::CacheSet::open(env_, std::span(&folder_.path(), 1));
  ASSERT_TRUE(caches.ok());
  const auto loader =
      loader::Loader::open(std::make_shared<loader::StoredSource>(*caches),
                           {.batch_size = 1100,
                            .weights = Weights{.temperature = 1, .draw_count = 3300},
                            .device = device_.name(),
                            .reading = Reading::kDirect});
  ASSERT_TRUE(loader.ok()) << loader.status().message();
  for (int i = 0; i < 3; ++i) {
    const auto lease = (*loader)->next(std::chrono::steady_clock::now() + std::chrono::seconds(30));
    ASSERT_TRUE(lease.ok() && *lease) << lease.status().message();
    EXPECT_EQ((**lease)->clips.positions.size(), 1100U);
    EXPECT_TRUE((**lease)->finished.uploaded->wait().ok());
  }
}

TEST_P(DirectReading, KernelsOwnQueueBringsTheSameBatches) {
  const auto direct = open(Env::real(), {.batch_size = 8}, Reading::kDirect);
  const auto wanted = take_some(*open_there(Env::real(), {.batch_size = 8}, Reading::kMapped));
  EXPECT_TRUE(take_some(*direct) == wanted);
  if (direct->stats().reading.starts_with("mapped:")) {
    GTEST_SKIP() << "SKIPPED: " << direct->stats().reading;
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, DirectReading, ::testing::ValuesIn(storages_on_devices()),
                         [](const auto& choice) {
                           return std::get<Storage>(choice.param).name() +
                                  name_of(std::get<DeviceChoice>(choice.param));
                         });

}  // namespace
}  // namespace xtts::testing
