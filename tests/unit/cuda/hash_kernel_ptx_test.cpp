// The kernel that hashes, as NVIDIA's compiler has translated it, in the interpreter of PTX,
// against check64(). Equal in every bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "cuda/kernels/hash_work.hpp"
#include "support/ptx/kernel_files.hpp"
#include "support/ptx/machine.hpp"
#include "support/ptx/mutations.hpp"
#include "support/ptx/parser.hpp"

namespace xtts::cuda {
namespace {

namespace ptx = testing::ptx;

constexpr std::uint32_t kThreadsLaunched = 256;  // as kernels.cpp does
constexpr std::size_t kTileBytes = 65'536;

// Ranges of one launch, each in memory of its own: nothing beside it may be read, but the rest of
// the words in which it begins and ends.
class HashCase {
 public:
  // The ranges begin `skew` bytes behind a multiple of 8.
  explicit HashCase(const std::vector<std::size_t>& sizes, std::size_t skew = 0)
      : skew_(skew), sizes_(sizes), results_(sizes.size()) {
    for (const std::size_t size : sizes_) {
      std::vector<std::uint64_t>& words = memory_.emplace_back((skew_ + size + 7) / 8);
      for (std::uint64_t& word : words) word = random_();
      seeds_.push_back(seeds_.size() < 2 ? seeds_.size() : random_());
    }
  }

  // In words; empty: equal.
  [[nodiscard]] std::string difference(const ptx::Program& program, std::uint32_t threads,
                                       std::uint64_t steps_max = 1'000'000) {
    std::ranges::fill(results_, 0);
    HashTable table{};
    table.range_count = sizes_.size();
    ptx::Launch launch{.kernel = kHashKernel,
                       .grid_y = static_cast<std::uint32_t>(sizes_.size()),
                       .block_x = threads,
                       .steps_max = steps_max};
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      HashRange& range = table.ranges[i];
      range = {.address = address(memory_[i].data()) + skew_,
               .size_bytes = sizes_[i],
               .seed = seeds_[i],
               .result = address(&results_[i])};
      launch.memory.push_back({.name = "range " + std::to_string(i),
                               .address = address(memory_[i].data()),
                               .size_bytes = skew_ == 0 ? sizes_[i] : 8 * memory_[i].size(),
                               .use = ptx::MemoryRange::Use::kRead});
    }
    launch.memory.push_back({.name = "results",
                             .address = address(results_.data()),
                             .size_bytes = 8 * results_.size(),
                             .use = ptx::MemoryRange::Use::kWrite});
    launch.table = std::as_bytes(std::span(&table, 1));
    const Status status = run(program, launch);
    if (!status.ok()) return status.message();
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const auto bytes = std::as_bytes(std::span(memory_[i])).subspan(skew_, sizes_[i]);
      if (results_[i] != check64(bytes, seeds_[i])) {
        return "the hash of " + std::to_string(sizes_[i]) + " bytes differs";
      }
    }
    return {};
  }

 private:
  static std::uint64_t address(const void* memory) {
    return reinterpret_cast<std::uint64_t>(memory);
  }

  std::mt19937_64 random_{43};
  std::size_t skew_;
  std::vector<std::size_t> sizes_;
  std::vector<std::uint64_t> results_;
  std::vector<std::uint64_t> seeds_;  // the first ranges have 0 and 1
  std::vector<std::vector<std::uint64_t>> memory_;
};

class HashKernelPtx : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    auto parsed = ptx::parse(ptx::text_of(GetParam()));
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    program_ = *parsed;
  }
  void expect_equal(const std::vector<std::size_t>& sizes) const {
    HashCase some(sizes);
    for (const std::uint32_t threads : {kThreadsLaunched, 8U, 3U}) {
      EXPECT_EQ(some.difference(program_, threads), "") << threads << " threads";
    }
  }
  ptx::Program program_;
};

TEST_P(HashKernelPtx, EqualsTheHostsHash) {
  expect_equal(
      {241, 255, 256, 257, 300, 1023, 1024, 1025, 1087, 1088, 1089, 1090, 2047, 2048, 2049, 5003});
  expect_equal({16'000});
}

TEST_P(HashKernelPtx, EqualsTheHostsHashAtEveryAddress) {
  for (std::size_t skew = 1; skew < 8; ++skew) {
    HashCase some({241, 256, 1023, 1024, 1025, 1089, 3000 + skew, 5003}, skew);
    EXPECT_EQ(some.difference(program_, kThreadsLaunched), "") << skew;
  }
}

TEST_P(HashKernelPtx, EqualsTheHostsHashAroundTiles) {
  expect_equal({kTileBytes - 1, kTileBytes, kTileBytes + 1, kTileBytes + 64, kTileBytes + 65});
  expect_equal({kTileBytes + 1024, kTileBytes + 1025, kTileBytes + 5555, 2 * kTileBytes + 7});
}

std::vector<HashCase> cases_for_mutations() {
  std::vector<HashCase> cases;
  for (const auto& sizes : {std::vector<std::size_t>{250}, {1024, 3001}, {kTileBytes + 1500}}) {
    cases.emplace_back(sizes);
  }
  cases.emplace_back(std::vector<std::size_t>{300, 1200}, 3);
  return cases;
}

bool is_noticed(const std::string& text, std::vector<HashCase>& cases) {
  const auto program = ptx::parse(text);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return !program.ok() || std::ranges::any_of(cases, [&](HashCase& one) {
    return !one.difference(*program, 16, 100'000).empty();
  });
}

TEST_P(HashKernelPtx, WrongInstructionsAreNoticed) {
  std::vector<HashCase> cases = cases_for_mutations();
  ptx::MutationCount count;
  for (const ptx::Mutation& mutation : ptx::mutations_of(ptx::text_of(GetParam()))) {
    if (mutation.kernel != kHashKernel) continue;
    count.add(mutation, is_noticed(mutation.program, cases));
  }
  EXPECT_EQ(count.shortfall(), "");
}

TEST_P(HashKernelPtx, EveryBarrierIsNeeded) {
  std::vector<HashCase> cases = cases_for_mutations();
  const std::string text = ptx::text_of(GetParam());
  std::size_t barrier_count = 0;
  for (std::size_t at = text.find("bar.sync"); at != std::string::npos;
       at = text.find("bar.sync", at + 1)) {
    std::string without = text;
    without.replace(at, text.find('\n', at) - at, "");
    EXPECT_TRUE(is_noticed(without, cases)) << "barrier " << barrier_count;
    ++barrier_count;
  }
  EXPECT_GE(barrier_count, 4U);
}

INSTANTIATE_TEST_SUITE_P(Kernels, HashKernelPtx,
                         ::testing::ValuesIn(ptx::kernel_files(XTTS_RANGE_KERNELS_PTX)),
                         ptx::name_of_file);

}  // namespace
}  // namespace xtts::cuda
