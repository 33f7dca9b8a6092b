// CudaHasher, as Device::make_staging() makes it: files are read into the staging memory, and what
// lies there is hashed. Over the adversarial driver.
#include "device/cuda_hasher.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/hash.hpp"
#include "device/device.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cufile/fake_cufile.hpp"
#include "support/temp_folder.hpp"

namespace xtts::device {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kPieceBytes = 3 * 4096;
constexpr std::size_t kPieces = 12;

class CudaHasherTest : public ::testing::Test {
 protected:
  CudaHasherTest() {
    for (std::size_t i = 0; i < kPieces * kPieceBytes; ++i) {
      text_.push_back(static_cast<char>(i * 2654435761U >> 16U));
    }
    path_ = folder_.write("file", text_);
    begin(9);
  }
  ~CudaHasherTest() override { end(); }

  // A new driver, which knows nothing of what was before.
  void begin(std::uint64_t seed) {
    testing::fake_cuda::reset({.seed = seed, .is_started = true});
    testing::fake_cufile::reset();
    file_ = std::make_shared<DirectFile>(::open(path_.c_str(), O_RDONLY | O_CLOEXEC), 4096);
  }
  void end() {
    file_.reset();
    EXPECT_THAT(testing::fake_cufile::leftovers(), IsEmpty());
    EXPECT_THAT(testing::fake_cuda::faults(), IsEmpty());
    EXPECT_THAT(testing::fake_cuda::leftovers(), IsEmpty());
  }

  [[nodiscard]] static Result<DeviceStaging> make() {
    const auto device = Device::open("cuda:0");
    EXPECT_TRUE(device.ok()) << device.status().message();
    return (*device)->make_staging(
        {.bytes = kPieces * kPieceBytes, .hash_calls_max = kPieces, .depth = kPieces});
  }
  // Reads all pieces.
  void fill(DeviceStaging& staging) const {
    std::vector<DirectRead> reads;
    for (std::size_t i = 0; i < kPieces; ++i) {
      reads.push_back({.file = file_.get(),
                       .offset_bytes = i * kPieceBytes,
                       .out = staging.memory.bytes().subspan(i * kPieceBytes, kPieceBytes),
                       .tag = i});
    }
    ASSERT_EQ(*staging.queue->submit(reads), kPieces);
    std::vector<DirectDone> done(kPieces);
    for (std::size_t count = 0; count < kPieces;) {
      const auto some = staging.queue->reap(done);
      ASSERT_TRUE(some.ok());
      count += *some;
    }
  }
  [[nodiscard]] static std::vector<HashJob> jobs(const DeviceStaging& staging, std::size_t first,
                                                 std::size_t count) {
    std::vector<HashJob> all;
    for (std::size_t i = first; i < first + count; ++i) {
      // Not the whole piece: records begin and end anywhere.
      all.push_back({.bytes = staging.memory.bytes().subspan(i * kPieceBytes + 64 * i,
                                                             kPieceBytes - 64 * i - 5 * i),
                     .seed = i * 77});
    }
    return all;
  }
  [[nodiscard]] std::uint64_t wanted(std::size_t i) const {
    const auto bytes = std::as_bytes(std::span(text_)).subspan(i * kPieceBytes + 64 * i);
    return check64(bytes.first(kPieceBytes - 64 * i - 5 * i), i * 77);
  }

  testing::TempFolder folder_;
  std::string text_;
  std::string path_;
  std::shared_ptr<const DirectFile> file_;
};

TEST_F(CudaHasherTest, HashesAreThoseOfTheHost) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    end();
    begin(seed);
    auto staging = make();
    ASSERT_TRUE(staging.ok()) << staging.status().message();
    EXPECT_TRUE(staging->memory.is_of_gpu());
    EXPECT_FALSE(staging->copies_through_host);
    fill(*staging);
    for (int round = 0; round < 3; ++round) {
      // Several calls are under way.
      std::vector<std::shared_ptr<const Hashes>> all;
      for (std::size_t first = 0; first < kPieces; first += 4) {
        const auto hashes = staging->hasher->hash(jobs(*staging, first, 4));
        ASSERT_TRUE(hashes.ok()) << hashes.status().message();
        all.push_back(*hashes);
      }
      for (std::size_t i = 0; i < kPieces; ++i) {
        ASSERT_TRUE(all[i / 4]->wait().ok());
        EXPECT_TRUE(all[i / 4]->has_happened());
        EXPECT_EQ(all[i / 4]->of(i % 4), wanted(i)) << i;
      }
    }
  }
}

TEST_F(CudaHasherTest, NoMoreCallsThanItWasMadeFor) {
  auto staging = make();
  ASSERT_TRUE(staging.ok());
  fill(*staging);
  std::vector<std::shared_ptr<const Hashes>> all;
  for (std::size_t i = 0; i < kPieces; ++i) {
    all.push_back(*staging->hasher->hash(jobs(*staging, i, 1)));
  }
  EXPECT_EQ(staging->hasher->hash(jobs(*staging, 0, 1)).status().code(), StatusCode::kResource);
  ASSERT_TRUE(all[3]->wait().ok());
  all.erase(all.begin() + 3);
  EXPECT_TRUE(staging->hasher->hash(jobs(*staging, 3, 1)).ok());
  for (const auto& hashes : all) EXPECT_TRUE(hashes->wait().ok());
}

TEST_F(CudaHasherTest, ACallThatFailsLeavesTheGpuAtRest) {
  for (const char* const name : {"cuLaunchKernel", "cuMemcpyDtoHAsync", "cuEventRecord"}) {
    auto staging = make();
    ASSERT_TRUE(staging.ok());
    fill(*staging);
    fake_cuda_fail(name, testing::fake_cuda::call_count(name) + 1, cuda::kOutOfMemory);
    const auto refused = staging->hasher->hash(jobs(*staging, 0, 4));
    EXPECT_EQ(refused.status().code(), StatusCode::kResource) << name;
    EXPECT_THAT(refused.status().message(), HasSubstr("cuda:0")) << name;
  }
}

}  // namespace
}  // namespace xtts::device
