// Properties of readers on CUDA, over the adversarial driver: whatever the driver's order of work,
// and whichever of its calls fails, batches are those of the CPU, every failure is an error in
// words, no rule of the driver is broken, and nothing is left.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_under_test.hpp"
#include "support/device_under_test.hpp"
#include "unit/loader/made_cache.hpp"

namespace xtts {
namespace {

// XTTS_CUDA_SEEDS: another number of seeds.
std::uint64_t seed_count() {
  const char* const given = std::getenv("XTTS_CUDA_SEEDS");
  return given == nullptr ? 10'000 : std::strtoull(given, nullptr, 10);
}

void begin(const testing::fake_cuda::Options& options) {
  testing::cuda_under_test::begin(options.seed);  // the kernels
  testing::fake_cuda::reset(options);
}

// A seed chooses the consumer's acts, too. With two GPUs, one receives the batches, and the other
// one consumes them.
class Consumer {
 public:
  explicit Consumer(const MadeCache& cache) : opened_(cache.open()) {
    const std::vector<double> numbers(cache.options().channel_count, 1.5);
    normalized_ = {
        .name = "mel", .normalize = Normalize::kGiven, .means = numbers, .deviations = numbers};
  }

  // Returns the failures of calls.
  std::vector<Status> run(std::uint64_t seed, bool has_two_gpus) {
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t end) { return random() % end; };
    ReaderOptions options{.batch_size = static_cast<std::uint32_t>(2 + below(5)),
                          .seed = seed,
                          .last_batch = LastBatch::kPad,
                          .slot_count = static_cast<std::uint32_t>(3 + below(3)),
                          .thread_count = static_cast<std::uint32_t>(1 + below(3))};
    if (below(3) == 0) options.columns = {normalized_, {.name = "tokens"}};
    Reader on_cpu = open_reader(opened_, options);
    options.device = has_two_gpus ? "cuda:1" : "cuda";
    if (has_two_gpus) options.data_device = "cuda:0";
    std::vector<Status> failures;
    auto reader = Reader::open(opened_, options);
    if (!reader.ok()) return {reader.status()};
    const int gpu = has_two_gpus ? 1 : 0;
    std::vector<std::uintptr_t> streams;
    for (int i = 0; i < 3; ++i) streams.push_back(testing::fake_cuda::make_stream(gpu));
    if (!has_two_gpus) streams.back() = 1;  // the legacy default stream
    std::vector<Batch> kept;
    for (;;) {
      const auto batch = reader->next();
      auto wanted = on_cpu.next();
      if (!wanted.ok() || !*wanted) break;
      if (!batch.ok()) {
        failures.push_back(batch.status());
        continue;
      }
      if (!*batch) break;
      const std::uint64_t way = below(4);
      const Status status = way == 0 ? read_on_host(**batch, **wanted)
                                     : read_on_stream(**batch, **wanted, streams[way - 1]);
      if (!status.ok()) failures.push_back(status);
      if (below(4) == 0) kept.push_back(**batch);
      if (kept.size() > 1) kept.erase(kept.begin());
    }
    // The reader may go while its consumers' streams still work on the last batches.
    if (below(2) == 0) {
      kept.clear();
      reader = Status(StatusCode::kCancelled, "closed");
    }
    for (const std::uintptr_t stream : streams) testing::cuda_under_test::finish(stream);
    return failures;
  }

  [[nodiscard]] std::uint64_t wrong_count() const { return wrong_count_; }

 private:
  Status read_on_host(const Batch& batch, const Batch& wanted) {
    const Status status = batch.wait();
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < wanted.columns().size(); ++i) {
      const auto bytes = testing::cuda_under_test::read(batch.columns()[i].bytes);
      if (!std::ranges::equal(bytes, wanted.columns()[i].bytes)) ++wrong_count_;
    }
    return {};
  }
  Status read_on_stream(const Batch& batch, const Batch& wanted, std::uintptr_t stream) {
    const Status status = batch.let_wait(stream);
    if (!status.ok()) return status;
    for (std::size_t i = 0; i < wanted.columns().size(); ++i) {
      const std::span<const std::byte> right = wanted.columns()[i].bytes;
      testing::cuda_under_test::launch(
          stream, batch.columns()[i].bytes,
          [this, kept = std::vector<std::byte>(right.begin(), right.end())](
              const std::vector<std::byte>& bytes) { wrong_count_ += bytes == kept ? 0U : 1U; });
    }
    return {};
  }

  Cache opened_;
  ColumnRequest normalized_;
  std::atomic<std::uint64_t> wrong_count_ = 0;
};

// Half of its rows have so much padding that it crosses no bus, and a batch takes several copies.
MadeCache cache_of_long_rows() {
  return MadeCache({.clip_count = 23,
                    .frames_max = 160,
                    .channel_count = 25,
                    .clips_per_block = 8,
                    .blocks_per_shard = 4});
}

// A driver that refuses lists of copies, in their form of CUDA 13, and of CUDA 12.
const testing::fake_cuda::FailingCall kNoList{
    .name = "cuMemcpyBatchAsync_v2", .nth = 0, .code = cuda::kNotSupported};
const testing::fake_cuda::FailingCall kNoListOf12{
    .name = "cuMemcpyBatchAsync", .nth = 0, .code = cuda::kNotSupported};

TEST(CudaSeeds, EveryOrderOfWorkGivesTheSameBatches) {
  const MadeCache cache = cache_of_long_rows();
  Consumer consumer(cache);
  std::vector<std::string> wrong;
  for (std::uint64_t seed = 0; seed < seed_count() && wrong.empty(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    testing::fake_cuda::Options options{.seed = seed, .device_count = 2, .is_started = true};
    if (seed % 4 == 1) options.failing_calls = {kNoList};
    if (seed % 8 == 1) options.failing_calls.push_back(kNoListOf12);
    begin(options);
    EXPECT_TRUE(consumer.run(seed, seed % 3 == 0).empty());
    wrong = testing::cuda_under_test::end();
    EXPECT_EQ(wrong, std::vector<std::string>());
    ASSERT_EQ(consumer.wrong_count(), 0U);
  }
}

// Each call of the driver fails once, at each of its places.
TEST(CudaSeeds, EveryFailureOfTheDriverIsAnError) {
  const MadeCache cache = cache_of_long_rows();
  Consumer consumer(cache);
  const std::vector<std::string> names = {"cuDeviceGet",          "cuDeviceGetName",
                                          "cuDeviceGetAttribute", "cuDevicePrimaryCtxRetain",
                                          "cuCtxPushCurrent",     "cuMemAlloc",
                                          "cuMemHostRegister",    "cuMemcpyBatchAsync_v2",
                                          "cuMemcpyBatchAsync",   "cuMemcpyAsync",
                                          "cuMemcpyPeerAsync",    "cuStreamCreateWithPriority",
                                          "cuStreamWaitEvent",    "cuEventCreate",
                                          "cuEventRecord",        "cuEventSynchronize",
                                          "cuModuleLoadData",     "cuModuleGetFunction",
                                          "cuLaunchKernel"};
  for (const std::string& name : names) {
    std::uint64_t reached_count = 0;
    for (const bool has_two_gpus : {false, true}) {
      for (std::uint64_t nth = 1; nth < 60; ++nth) {
        SCOPED_TRACE(name + ", call " + std::to_string(nth));
        testing::fake_cuda::Options options{.seed = nth, .device_count = 2, .is_started = true};
        options.failing_calls = {{.name = name, .nth = nth}};
        // Older drivers' ways: their list, and a call for each copy.
        const bool has_no_list = name == "cuMemcpyAsync";
        if (has_no_list || name == "cuMemcpyBatchAsync") options.failing_calls.push_back(kNoList);
        if (has_no_list) options.failing_calls.push_back(kNoListOf12);
        begin(options);
        const std::vector<Status> failures = consumer.run(5, has_two_gpus);
        const bool was_reached = testing::fake_cuda::call_count(name) >= nth;
        for (const Status& failure : failures) {
          EXPECT_EQ(failure.code(), StatusCode::kResource) << failure.message();
          EXPECT_NE(failure.message().find("cuda:"), std::string::npos) << failure.message();
        }
        EXPECT_TRUE(was_reached || failures.empty());
        ASSERT_EQ(testing::cuda_under_test::end(), std::vector<std::string>());
        ASSERT_EQ(consumer.wrong_count(), 0U);
        if (!was_reached) break;
        ++reached_count;
      }
    }
    EXPECT_GT(reached_count, 0U) << name << " is never called";
  }
}

}  // namespace
}  // namespace xtts
