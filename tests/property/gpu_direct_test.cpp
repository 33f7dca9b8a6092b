// Reading into a GPU's memory against reading through the page cache: the same batches, bit for
// bit, in every form of a cache and order; the same refusals of what is damaged; and
// whatever cuFile, the GPU or the disk does, the record comes by the ordinary path. Over the
// adversarial driver and the libcufile.so.0 for tests.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "reader/cache_set.hpp"
#include "real_test_cache.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cufile/fake_cufile.hpp"
#include "support/device_under_test.hpp"
#include "support/made_direct_queue.hpp"
#include "support/temp_folder.hpp"
#include "taken_batches.hpp"

namespace xtts::testing {
namespace {

class GpuDirect : public ::testing::TestWithParam<Storage> {
 protected:
  GpuDirect()
      : cache_(make_test_cache({.store = GetParam().store,
                                .layout = GetParam().layout,
                                .clip_count = 41,
                                .frames_max = 100,
                                .channel_count = 80,
                                .clips_per_block = 8,
                                .make_shard = make_real_shards(GetParam().store)})) {
    fake_cufile::reset();
    for (const auto& [name, bytes] : cache_.files) folder_.write(name, bytes);
  }
  ~GpuDirect() override { EXPECT_EQ(fake_cufile::leftovers(), std::vector<std::string>()); }

  void read_from_now_on(const TempFolder& folder, TestCacheOptions options) {
    options.store = GetParam().store;
    options.layout = GetParam().layout;
    options.make_shard = make_real_shards(options.store);
    for (const auto& [name, bytes] : make_test_cache(options).files) folder.write(name, bytes);
    path_ = folder.path();
  }
  // Each of the two is in 3 files.
  void read_two_mels_from_now_on(const TempFolder& folder) {
    read_from_now_on(folder, {.clip_count = 41,
                              .frames_max = 100,
                              .channel_count = 80,
                              .mel_copies = 1,
                              .clips_per_block = 8});
  }

  [[nodiscard]] Result<std::unique_ptr<loader::Loader>> try_open(ReaderOptions options) {
    auto caches = reader::CacheSet::open(env_, std::span(&path_, 1));
    EXPECT_TRUE(caches.ok()) << caches.status().message();
    return loader::Loader::open(std::make_shared<loader::StoredSource>(*caches), options);
  }
  [[nodiscard]] std::unique_ptr<loader::Loader> open(ReaderOptions options = {.batch_size = 8}) {
    options.device = "cuda:0";
    options.reading = Reading::kGpuDirect;
    auto loader = try_open(std::move(options));
    EXPECT_TRUE(loader.ok()) << loader.status().message();
    return std::move(*loader);
  }
  [[nodiscard]] std::unique_ptr<loader::Loader> open_mapped(ReaderOptions options = {
                                                                .batch_size = 8}) {
    options.reading = Reading::kMapped;
    auto loader = try_open(std::move(options));
    EXPECT_TRUE(loader.ok()) << loader.status().message();
    return std::move(*loader);
  }
  // `is_sound`: no record needs the ordinary path.
  void expect_same(const ReaderOptions& options, bool is_sound = true) {
    const auto wanted_of = open_mapped(options);
    const auto wanted = take_some(*wanted_of);
    const auto found_of = open(options);
    EXPECT_TRUE(found_of->stats().reading.starts_with("gpudirect:")) << found_of->stats().reading;
    const auto found = take_some(*found_of);
    ASSERT_EQ(wanted.size(), found.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(wanted[i].message, found[i].message);
      EXPECT_TRUE(wanted[i] == found[i]) << "batch " << i;
    }
    EXPECT_EQ(wanted_of->stats().check_failures, found_of->stats().check_failures);
    EXPECT_TRUE(!is_sound || !tells_of_page_cache(*found_of)) << found_of->stats().reading;
  }
  static bool tells_of_page_cache(loader::Loader& loader) {
    return loader.stats().reading.find("had to be read through the page cache") !=
           std::string::npos;
  }

  DeviceUnderTest device_{DeviceChoice::kCuda};
  MadeDirectEnv env_;
  TempFolder folder_;
  std::string path_ = folder_.path();  // of the cache that is read
  TestCache cache_;
};

TEST_P(GpuDirect, BringsTheSameBatchesInEachOrder) {
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    for (const std::uint32_t threads : {1U, 3U}) {
      expect_same({.batch_size = 8,
                   .shuffle = shuffle,
                   .seed = 5,
                   .last_batch = LastBatch::kPad,
                   .columns = {{.name = "mel"}, {.name = "tokens"}},
                   .thread_count = threads,
                   .stretch_samples = 8,
                   .stretches_per_window = 2});
    }
  }
  EXPECT_GT(fake_cufile::call_count("cuFileRead"), 0U);
  EXPECT_EQ(env_.faults->read_count, 0U);  // the host reads nothing past the page cache
}

TEST_P(GpuDirect, BringsTheSameCropsBucketsAndUncheckedRecords) {
  expect_same({.batch_size = 8, .crop_frames = 7});
  expect_same({.batch_size = 8, .verify_records = false});
  expect_same({.batch_size = 3, .slot_count = 5});
  expect_same({.buckets = {{.batch_size = 4, .frames_max = 40}, {.batch_size = 6}}});
}

// Its stored values lie beside the batch.
std::vector<ColumnRequest> normalized_mel() {
  const std::vector<double> numbers(80, 1.5);
  return {{.name = "mel", .normalize = Normalize::kGiven, .means = numbers, .deviations = numbers}};
}

TEST_P(GpuDirect, BringsTheSameNormalizedValues) {
  expect_same({.batch_size = 8, .columns = normalized_mel()});
}

// A row has two records in the GPU's memory.
TEST_P(GpuDirect, BringsTheSameBatchesOfTwoColumns) {
  const TempFolder folder;
  read_two_mels_from_now_on(folder);
  for (const std::uint32_t threads : {1U, 4U}) {
    for (const bool is_checked : {true, false}) {
      fake_cufile::reset();
      expect_same({.batch_size = 8,
                   .columns = {{.name = "mel"}, {.name = "tokens"}, {.name = "mel_1"}},
                   .verify_records = is_checked,
                   .thread_count = threads});
      EXPECT_EQ(fake_cufile::call_count("cuFileHandleRegister"), 6U);
    }
  }
}

// The host makes the values of one column narrower, so it reads these itself.
TEST_P(GpuDirect, BringsTheSameBatchesOfAColumnBesideOneThatTheHostReads) {
  const TempFolder folder;
  read_two_mels_from_now_on(folder);
  for (const char* const narrow : {"mel", "mel_1"}) {
    const char* const wide = narrow == std::string_view("mel") ? "mel_1" : "mel";
    const std::vector<ColumnRequest> columns = {{.name = narrow, .dtype = DType::kFloat16},
                                                {.name = wide}};
    const std::string notice = open({.batch_size = 8, .columns = columns})->stats().notice;
    EXPECT_NE(notice.find("column '" + std::string(narrow) + "' is read through"),
              std::string::npos)
        << notice;
    for (const std::uint32_t threads : {1U, 4U}) {
      fake_cufile::reset();
      expect_same({.batch_size = 8, .columns = columns, .thread_count = threads});
      EXPECT_EQ(fake_cufile::call_count("cuFileHandleRegister"), 3U);
      EXPECT_EQ(env_.faults->read_count, 0U);
    }
  }
}

TEST_P(GpuDirect, DamageIsToldSkippedOrIgnoredAsEver) {
  std::mt19937 random(13);
  for (const auto& [name, bytes] : cache_.files) {
    if (!name.starts_with("shards/mel")) continue;
    for (int i = 0; i < 2; ++i) {
      std::string changed = bytes;
      changed[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
      folder_.write(name, changed);
      for (const auto policy : {OnDamage::kRaise, OnDamage::kSkip, OnDamage::kIgnore}) {
        expect_same({.batch_size = 8, .on_damage = policy}, false);
      }
    }
    folder_.write(name, bytes);
  }
}

TEST_P(GpuDirect, FailingShortAndWrongReadsBringTheSameBatches) {
  const auto wanted = take_some(*open_mapped());
  for (const ssize_t result : {-5011, -5044, -1, 4096}) {
    fake_cufile::reset({.on_read = [result](std::uint64_t nth, ssize_t got) {
      errno = EIO;
      return nth % 3 == 0 ? result : got;
    }});
    const auto direct = open();
    EXPECT_TRUE(take_some(*direct) == wanted);
    EXPECT_TRUE(tells_of_page_cache(*direct)) << direct->stats().reading;
  }
  fake_cufile::reset({.on_bytes = [](std::uint64_t nth, std::span<std::byte> bytes) {
    if (nth % 4 == 0) bytes[bytes.size() / 2] ^= std::byte{4};
  }});
  const auto direct = open();
  EXPECT_TRUE(take_some(*direct) == wanted);
  EXPECT_TRUE(tells_of_page_cache(*direct)) << direct->stats().reading;
  EXPECT_EQ(direct->stats().check_failures, 0U);
}

TEST_P(GpuDirect, WhereItCannotBeHadTheHostReadsAndThatIsTold) {
  const auto wanted = take_some(*open_mapped());
  const auto expect_direct = [&](const loader::Loader& loader, const std::string& words) {
    const ReaderStats stats = loader.stats();
    EXPECT_TRUE(stats.reading.starts_with("direct:")) << stats.reading;
    EXPECT_NE(stats.notice.find(words), std::string::npos) << stats.notice;
  };
  const std::vector<std::pair<std::string, std::string>> refusals = {
      {"cuFileBufRegister", "BAR1"}, {"cuFileHandleRegister", "/run/udev"}};
  for (const auto& [call, words] : refusals) {
    fake_cufile::reset();
    fake_cufile::fail(call, 5036);
    const auto loader = open();
    expect_direct(*loader, words);
    EXPECT_TRUE(take_some(*loader) == wanted);
  }
  fake_cufile::reset();
  expect_direct(*open({.batch_size = 8, .columns = {{.name = "mel", .dtype = DType::kFloat16}}}),
                "the host makes the values of these records narrower");
  auto on_cpu = try_open({.batch_size = 8, .reading = Reading::kGpuDirect});
  ASSERT_TRUE(on_cpu.ok());
  expect_direct(**on_cpu, "only a reader for 'cuda' or 'cuda:N' can do it");
  EXPECT_TRUE(take_some(**on_cpu) == wanted);
}

TEST_P(GpuDirect, FilesThatAreRefusedLaterComeByTheOrdinaryPath) {
  const auto wanted = take_some(*open_mapped());
  fake_cufile::reset();
  fake_cufile::fail("cuFileHandleRegister", 5030, 2);
  const auto loader = open();
  EXPECT_TRUE(take_some(*loader) == wanted);
  EXPECT_TRUE(loader->stats().reading.starts_with("gpudirect:")) << loader->stats().reading;
  EXPECT_TRUE(tells_of_page_cache(*loader)) << loader->stats().reading;
  EXPECT_NE(loader->stats().reading.find(
                "(the first: opening a file of the cache: cuFile gives error 5030"),
            std::string::npos)
      << loader->stats().reading;
}

TEST_P(GpuDirect, WhereTheHostsMemoryIsOnTheWayANoticeSaysSo) {
  fake_cufile::reset({.has_direct_path = false});
  const auto loader = open();
  const ReaderStats stats = loader->stats();
  EXPECT_TRUE(stats.reading.starts_with("gpudirect through the host's memory:")) << stats.reading;
  EXPECT_NE(stats.notice.find("makes fewer copies"), std::string::npos) << stats.notice;
}

// Where device_memory does not suffice for both, batches come first.
TEST_P(GpuDirect, StagingLeavesTheBatchesTheirMemory) {
  const auto wanted = take_some(*open_mapped());
  std::size_t direct_count = 0;
  const auto expect_as_direct = [&](std::uint64_t kibibytes, bool reads) {
    ReaderOptions options{.batch_size = 8, .columns = normalized_mel()};
    options.device_memory_bytes = kibibytes << 10U;
    options.device = "cuda:0";
    options.reading = Reading::kDirect;
    const bool fits = try_open(options).ok();
    options.reading = Reading::kGpuDirect;
    const auto loader = try_open(options);
    EXPECT_EQ(loader.ok(), fits) << kibibytes << " KiB: " << loader.status().message();
    if (!loader.ok()) return;
    if ((*loader)->stats().reading.starts_with("direct:")) {
      ++direct_count;
      EXPECT_NE((*loader)->stats().notice.find("device_memory"), std::string::npos)
          << (*loader)->stats().notice;
    }
    if (reads) {
      EXPECT_EQ(take_some(**loader).size(), wanted.size());
    }
  };
  for (const std::uint64_t mebibytes : {1U, 2U, 4U, 8U, 64U})
    expect_as_direct(mebibytes << 10U, true);
  for (std::uint64_t kibibytes = 32U << 10U; kibibytes < 36U << 10U; kibibytes += 200) {
    expect_as_direct(kibibytes, false);
  }
  EXPECT_GT(direct_count, 0U);
}

// The same where the GPU itself has no more, whether or not cuFile takes the memory.
TEST_P(GpuDirect, StagingLeavesTheBatchesASmallGpu) {
  for (std::uint64_t kibibytes = 32U << 10U; kibibytes < 36U << 10U; kibibytes += 700) {
    for (const bool is_refused : {false, true}) {
      SCOPED_TRACE(std::to_string(kibibytes) + " KiB");
      fake_cuda::reset({.seed = kibibytes, .is_started = true, .memory_bytes = kibibytes << 10U});
      fake_cufile::reset();
      if (is_refused) fake_cufile::fail("cuFileBufRegister", 5036);
      const auto loader = open({.batch_size = 8, .columns = normalized_mel()});
      EXPECT_FALSE(take_some(*loader).empty());
      if (!is_refused) continue;
      // What cuFile did not take is there for others.
      const auto device = device::Device::open("cuda:0");
      const auto first = (*device)->make_slot({.staging = std::size_t{14} << 20U});
      const auto second = (*device)->make_slot({.staging = std::size_t{14} << 20U});
      EXPECT_TRUE(first.ok() && second.ok()) << second.status().message();
    }
  }
}

// Records of 32,724 bytes begin at multiples of 4.
TEST_P(GpuDirect, BringsTheSameBatchesOfOddRecords) {
  const TempFolder folder;
  read_from_now_on(
      folder, {.clip_count = 30, .frames_max = 101, .channel_count = 81, .clips_per_block = 8});
  expect_same({.batch_size = 8});
  expect_same({.batch_size = 8, .crop_frames = 7});
}

// Files are opened again and again: no more than 64 stay open.
TEST_P(GpuDirect, BringsTheSameBatchesFromManyFiles) {
  const TempFolder folder;
  read_from_now_on(folder, {.clip_count = 90,
                            .frames_max = 100,
                            .channel_count = 80,
                            .clips_per_block = 1,
                            .blocks_per_shard = 1});
  expect_same({.batch_size = 8});
  EXPECT_GT(fake_cufile::call_count("cuFileHandleRegister"), 90U);
}

// How many orders of work are tried: a fiftieth of XTTS_CUDA_SEEDS.
std::uint64_t order_count() {
  const char* const given = std::getenv("XTTS_CUDA_SEEDS");
  return given == nullptr ? 200 : std::strtoull(given, nullptr, 10) / 50;
}

// A driver that refuses lists of copies, in their form of CUDA 13, and of CUDA 12.
const fake_cuda::FailingCall kNoListOfCopies{
    .name = "cuMemcpyBatchAsync_v2", .nth = 0, .code = cuda::kNotSupported};
const fake_cuda::FailingCall kNoListOfCopiesIn12{
    .name = "cuMemcpyBatchAsync", .nth = 0, .code = cuda::kNotSupported};

class GpuDirectOrders : public GpuDirect {};
class GpuDirectFailures : public GpuDirect {};

TEST_P(GpuDirectOrders, EveryOrderOfWorkGivesTheSameBatches) {
  ReaderOptions options{.batch_size = 6, .slot_count = 3, .thread_count = 2};
  const auto wanted = take_some(*open_mapped(options));
  options.reading = Reading::kGpuDirect;
  for (std::uint64_t seed = 0; seed < order_count(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    fake_cuda::Options driver{.seed = seed, .device_count = 2, .is_started = true};
    // Older drivers' ways: their list of copies, and a call for each.
    if (seed % 4 == 1) driver.failing_calls = {kNoListOfCopies};
    if (seed % 8 == 1) driver.failing_calls.push_back(kNoListOfCopiesIn12);
    fake_cuda::reset(driver);
    {
      options.device = seed % 3 == 0 ? "cuda:1" : "cuda:0";
      options.data_device = seed % 3 == 0 ? "cuda:0" : "";
      const auto loader = try_open(options);
      ASSERT_TRUE(loader.ok()) << loader.status().message();
      ASSERT_TRUE(take_some(**loader) == wanted);
      const std::string reading = (*loader)->stats().reading;
      ASSERT_TRUE(reading.starts_with("gpudirect:") && !tells_of_page_cache(**loader)) << reading;
    }
    ASSERT_EQ(fake_cuda::faults(), std::vector<std::string>());
    ASSERT_EQ(fake_cuda::leftovers(), std::vector<std::string>());
  }
}

// Each call of the driver fails once, at some of its places.
TEST_P(GpuDirectFailures, AFailureOfTheDriverIsAnErrorOrLeftToTheOrdinaryPath) {
  const ReaderOptions options{.batch_size = 6, .device = "cuda:0", .reading = Reading::kGpuDirect};
  const auto wanted = take_some(*open_mapped({.batch_size = 6}));
  for (const char* const name :
       {"cuCtxPushCurrent", "cuMemAlloc", "cuMemHostRegister", "cuMemcpyBatchAsync_v2",
        "cuMemcpyDtoHAsync", "cuStreamCreateWithPriority", "cuEventCreate", "cuEventRecord",
        "cuEventSynchronize", "cuModuleGetFunction", "cuLaunchKernel"}) {
    std::uint64_t reached_count = 0;
    for (std::uint64_t nth = 1; nth < 200; nth += 1 + nth / 2) {
      SCOPED_TRACE(std::string(name) + ", call " + std::to_string(nth));
      fake_cuda::reset(
          {.seed = nth, .is_started = true, .failing_calls = {{.name = name, .nth = nth}}});
      {
        const auto loader = try_open(options);
        std::vector<Taken> found;
        if (loader.ok()) found = take_some(**loader);
        for (std::size_t i = 0; i < found.size(); ++i) {
          if (found[i].code == StatusCode::kOk) {
            ASSERT_TRUE(found[i] == wanted[i]) << "batch " << i;
          } else {
            EXPECT_EQ(found[i].code, StatusCode::kResource) << found[i].message;
          }
        }
      }
      if (fake_cuda::call_count(name) < nth) break;
      ++reached_count;
      ASSERT_EQ(fake_cuda::faults(), std::vector<std::string>());
      ASSERT_EQ(fake_cuda::leftovers(), std::vector<std::string>());
    }
    EXPECT_GT(reached_count, 0U) << name << " is never called";
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, GpuDirect, ::testing::ValuesIn(all_storages()),
                         [](const auto& storage) { return storage.param.name(); });
INSTANTIATE_TEST_SUITE_P(Storages, GpuDirectOrders,
                         ::testing::Values(all_storages().front(), all_storages().back()),
                         [](const auto& storage) { return storage.param.name(); });
INSTANTIATE_TEST_SUITE_P(Storages, GpuDirectFailures, ::testing::Values(all_storages().back()),
                         [](const auto& storage) { return storage.param.name(); });

}  // namespace
}  // namespace xtts::testing
