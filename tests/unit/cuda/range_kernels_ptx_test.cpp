// The kernels that fill and change, as NVIDIA's compiler has translated them, in the interpreter of
// PTX, against the same headers compiled for the host. Equal in every bit.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "cuda/kernels/range_work.hpp"
#include "support/ptx/kernel_files.hpp"
#include "support/ptx/mutations.hpp"
#include "support/ptx/parser.hpp"
#include "support/ptx/ptx_machine.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): a symbol of assembler
extern "C" const char xtts_range_kernels_ptx[];

namespace xtts::cuda {
namespace {

namespace ptx = testing::ptx;
using Use = ptx::MemoryRange::Use;

constexpr unsigned char kBeforeFill = 0xEE;
constexpr std::size_t kChannels = 10;
constexpr DType kFloats[] = {DType::kFloat32, DType::kFloat16, DType::kBFloat16};

std::uint64_t address_of(const void* memory) {
  return reinterpret_cast<std::uint64_t>(memory);
}

struct Grid {
  std::uint32_t blocks = 1;
  std::uint32_t threads_per_block = 1;
};

// The launches of kernels.cpp, and few threads that take many pieces each.
Grid grid_as_launched(std::uint64_t piece_count_max) {
  return {static_cast<std::uint32_t>(std::clamp<std::uint64_t>(piece_count_max / 2048, 1, 1024)),
          256};
}
constexpr Grid kFewThreads = {2, 3};

// A launch, and the memory that it writes: once by PTX, once by the host.
class FillCase {
 public:
  struct Range {
    std::size_t element_bytes;
    std::size_t begin;
    std::size_t count;
  };
  explicit FillCase(std::vector<Range> ranges) : ranges_(std::move(ranges)) {
    for (const Range& range : ranges_) {
      const std::size_t end = range.begin + range.element_bytes * (range.count + 1);
      size_bytes_ = std::max(size_bytes_, end);
      largest_bytes_ = std::max<std::uint64_t>(largest_bytes_, range.element_bytes * range.count);
    }
  }

  // In words; empty: equal.
  [[nodiscard]] std::string difference(const ptx::Program& program, Grid grid,
                                       std::uint64_t steps_max = 1'000'000) const {
    std::vector<std::uint64_t> by_ptx(size_bytes_ / 8 + 1);
    std::memset(by_ptx.data(), kBeforeFill, by_ptx.size() * 8);
    auto by_host = by_ptx;
    const FillTable table = table_in(by_ptx.data());
    ptx::Launch launch{.kernel = kFillKernel,
                       .grid_x = grid.blocks,
                       .grid_y = static_cast<std::uint32_t>(table.range_count),
                       .block_x = grid.threads_per_block,
                       .table = std::as_bytes(std::span(&table, 1)),
                       .memory = {},
                       .steps_max = steps_max};
    for (std::uint64_t i = 0; i < table.range_count; ++i) {
      launch.memory.push_back({.name = "range " + std::to_string(i),
                               .address = table.ranges[i].address,
                               .size_bytes = table.ranges[i].size_bytes,
                               .use = Use::kWrite});
    }
    const Status status = run(program, launch);
    if (!status.ok()) return status.message();
    fill_on_host(table_in(by_host.data()));
    return by_ptx == by_host ? "" : "the filled memory differs";
  }

  [[nodiscard]] Grid launched() const { return grid_as_launched(largest_bytes_ / 8); }

 private:
  [[nodiscard]] FillTable table_in(void* memory) const {
    FillTable table{};
    for (const Range& range : ranges_) {
      table.ranges[table.range_count++] = {.address = address_of(memory) + range.begin,
                                           .size_bytes = range.element_bytes * range.count,
                                           .bits = 0x8877665544332211U,
                                           .element_bytes = range.element_bytes};
    }
    return table;
  }

  static void fill_on_host(const FillTable& table) {
    for (std::uint64_t i = 0; i < table.range_count; ++i) {
      auto* const memory = reinterpret_cast<unsigned char*>(table.ranges[i].address);
      const FillPlan plan = plan_fill(table.ranges[i]);
      for (std::uint64_t piece = 0; piece < fill_piece_count(plan); ++piece) {
        fill_piece(plan, memory, piece);
      }
    }
  }

  std::vector<Range> ranges_;
  std::size_t size_bytes_ = 8;
  std::uint64_t largest_bytes_ = 0;
};

// Every element at every place, tiny ranges and empty ones: end to end, 120 in a table.
std::vector<FillCase> fill_cases() {
  std::vector<FillCase> cases;
  std::vector<FillCase::Range> ranges;
  std::size_t begin = 0;
  for (const std::size_t element : {1U, 2U, 4U, 8U}) {
    for (std::size_t skew = 0; skew < 8; skew += element) {
      for (const std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 21U}) {
        begin = (begin + 7) / 8 * 8 + skew;
        ranges.push_back({element, begin, count});
        begin += element * count;
        if (ranges.size() < kFillRangesMax) continue;
        cases.emplace_back(std::exchange(ranges, {}));
        begin = 0;
      }
    }
  }
  if (!ranges.empty()) cases.emplace_back(ranges);
  cases.emplace_back(std::vector<FillCase::Range>{{2, 6, 30'001}, {1, 70'000, 5}});
  return cases;
}

// Values of one type in two ranges, which become those of another.
class ChangeCase {
 public:
  ChangeCase(DType from, DType to, bool is_normalized, std::vector<std::byte> values)
      : from_(from), to_(to), is_normalized_(is_normalized), in_(std::move(values)) {
    std::mt19937 random(27);
    std::normal_distribution<float> normal(-4.0F, 2.0F);
    // Most channels stay as they are, or are halved, so that all roundings of values_of() are met.
    for (std::size_t i = 0; i < kChannels; ++i) {
      means_.push_back(i % 5 == 0 ? normal(random) : 0.0F);
      divisors_.push_back(i % 5 == 0 ? std::abs(normal(random)) : i % 5 == 1 ? 2.0F : 1.0F);
    }
  }

  [[nodiscard]] std::string difference(const ptx::Program& program, Grid grid,
                                       std::uint64_t steps_max = 1'000'000) const {
    std::vector<std::byte> by_ptx(out_bytes());
    std::vector<std::byte> by_host(out_bytes());
    const ChangeTable table = table_for(by_ptx.data());
    ptx::Launch launch{
        .kernel = kChangeKernel,
        .grid_x = grid.blocks,
        .grid_y = static_cast<std::uint32_t>(table.range_count),
        .block_x = grid.threads_per_block,
        .table = std::as_bytes(std::span(&table, 1)),
        .memory = {read("in", in_), read("means", means_), read("divisors", divisors_)},
        .steps_max = steps_max};
    launch.memory.push_back({.name = "out",
                             .address = address_of(by_ptx.data()),
                             .size_bytes = by_ptx.size(),
                             .use = Use::kWrite});
    const Status status = run(program, launch);
    if (!status.ok()) return status.message();
    change_on_host(table_for(by_host.data()));
    for (std::size_t i = 0; i < by_ptx.size(); i += size_bytes(to_)) {
      if (are_equal(by_ptx.data() + i, by_host.data() + i)) continue;
      return "value " + std::to_string(i / size_bytes(to_)) + " differs";
    }
    return {};
  }

  [[nodiscard]] Grid launched() const { return grid_as_launched(value_count()); }

 private:
  template <typename T>
  static ptx::MemoryRange read(const char* name, const std::vector<T>& values) {
    return {.name = name,
            .address = address_of(values.data()),
            .size_bytes = values.size() * sizeof(T),
            .use = Use::kRead};
  }

  [[nodiscard]] std::size_t value_count() const { return in_.size() / size_bytes(from_); }
  [[nodiscard]] std::size_t out_bytes() const { return value_count() * size_bytes(to_); }

  // The first range has a third of the values; both begin with channel 0.
  [[nodiscard]] ChangeTable table_for(std::byte* out) const {
    ChangeTable table{};
    table.from_type = static_cast<std::uint64_t>(from_);
    table.to_type = static_cast<std::uint64_t>(to_);
    if (is_normalized_) {
      table.channel_count = kChannels;
      table.means = address_of(means_.data());
      table.divisors = address_of(divisors_.data());
    }
    const std::size_t first = value_count() / 3;
    table.range_count = 2;
    table.ranges[0] = {address_of(in_.data()), address_of(out), first};
    table.ranges[1] = {address_of(in_.data() + first * size_bytes(from_)),
                       address_of(out + first * size_bytes(to_)), value_count() - first};
    return table;
  }

  static void change_on_host(const ChangeTable& table) {
    for (std::uint64_t i = 0; i < table.range_count; ++i) {
      const ChangeRange& range = table.ranges[i];
      for (std::uint64_t value = 0; value < range.value_count; ++value) {
        change_value(table, reinterpret_cast<const unsigned char*>(range.from),
                     reinterpret_cast<unsigned char*>(range.to),
                     reinterpret_cast<const float*>(table.means),
                     reinterpret_cast<const float*>(table.divisors), value);
      }
    }
  }

  // A NaN that arithmetic made has the bits of its processor. One that is copied keeps its own.
  [[nodiscard]] bool are_equal(const std::byte* one, const std::byte* other) const {
    if (std::memcmp(one, other, size_bytes(to_)) == 0) return true;
    const auto number = [&](const std::byte* bytes) {
      return load_float(reinterpret_cast<const unsigned char*>(bytes), 0,
                        static_cast<std::uint64_t>(to_));
    };
    return is_normalized_ && std::isnan(number(one)) && std::isnan(number(other));
  }

  DType from_;
  DType to_;
  bool is_normalized_;
  std::vector<std::byte> in_;
  std::vector<float> means_;
  std::vector<float> divisors_;
};

template <typename T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {bytes.begin(), bytes.end()};
}

// All exponents and both signs, NaN, infinities and subnormals among them; halves: every `step`th
// number.
std::vector<std::byte> values_of(DType type, std::uint32_t step) {
  if (type != DType::kFloat32) {
    // Ties of float16: as they are, from bfloat16, and where channels 1 and 6 halve them.
    std::vector<std::uint16_t> halves = {0x33C0, 3, 0x33C0, 0x3420, 0x3420, 0, 5};
    for (std::uint32_t i = 0; i < 65'536; i += step)
      halves.push_back(static_cast<std::uint16_t>(i));
    return bytes_of(halves);
  }
  std::vector<std::uint32_t> floats = {0,          0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000,
                                       0xFFC12345, 0x7F800001, 1,          0x807FFFFF, 0x00800000,
                                       0x477FEFFF, 0x477FF000, 0x33000000, 0x33000001, 0x387FFFFF,
                                       0x38801000, 0x38803000, 0x3F808000, 0x3F818000, 0x7F7FFFFF};
  const std::vector<std::uint32_t> again = floats;
  floats.push_back(0);  // another channel for each of them
  floats.insert(floats.end(), again.begin(), again.end());
  std::mt19937 random(5);
  for (std::uint32_t i = 0; i < 65'536 / step; ++i) {
    floats.push_back(static_cast<std::uint32_t>(random()));
    // Float16 has 40 exponents of these, with its subnormals.
    const std::uint32_t exponent = 100 + static_cast<std::uint32_t>(random()) % 45;
    floats.push_back(exponent << 23U | (static_cast<std::uint32_t>(random()) & 0x807FFFFFU));
  }
  return bytes_of(floats);
}

std::vector<ChangeCase> change_cases(std::uint32_t step) {
  std::vector<ChangeCase> cases;
  for (const DType from : kFloats) {
    for (const DType to : kFloats) {
      for (const bool is_normalized : {false, true}) {
        cases.emplace_back(from, to, is_normalized, values_of(from, step));
      }
    }
  }
  return cases;
}

class RangeKernelsPtx : public ::testing::TestWithParam<std::string> {
 protected:
  static std::string text_of_kernels() { return ptx::text_of(GetParam()); }
  void SetUp() override {
    auto parsed = ptx::parse(text_of_kernels());
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    program_ = *parsed;
    ASSERT_EQ(program_.size(), 2U);
  }
  template <typename Case>
  void expect_equal(const Case& one) const {
    EXPECT_EQ(one.difference(program_, one.launched()), "");
    EXPECT_EQ(one.difference(program_, kFewThreads), "");
  }
  ptx::Program program_;
};

TEST_P(RangeKernelsPtx, FillAsTheHostDoes) {
  for (const FillCase& one : fill_cases()) expect_equal(one);
}

TEST_P(RangeKernelsPtx, ChangeEveryTypeIntoEveryOtherAsTheHostDoes) {
  for (const ChangeCase& one : change_cases(7)) expect_equal(one);
}

TEST_P(RangeKernelsPtx, WrongInstructionsAreNoticed) {
  const std::vector<FillCase> fills = fill_cases();
  const std::vector<ChangeCase> changes = change_cases(311);
  const auto is_noticed = [](const ptx::Program& program, const auto& cases) {
    return std::ranges::any_of(cases, [&](const auto& one) {
      return !one.difference(program, kFewThreads, 100'000).empty();
    });
  };
  ptx::MutationCount count;
  for (const ptx::Mutation& mutation : ptx::mutations_of(text_of_kernels())) {
    const auto program = ptx::parse(mutation.program);
    ASSERT_TRUE(program.ok()) << program.status().message();
    count.add(mutation, mutation.kernel == kFillKernel ? is_noticed(*program, fills)
                                                       : is_noticed(*program, changes));
  }
  EXPECT_EQ(count.shortfall(), "");
}

TEST(StoredRangeKernels, AreEmbeddedForEveryDriverForCuda12) {
  const std::string stored = ptx::text_of(ptx::kernel_files(XTTS_RANGE_KERNELS_PTX).front());
  EXPECT_THAT(stored, ::testing::HasSubstr("\n.version 8.0\n.target sm_75\n"));
  EXPECT_EQ(std::string(xtts_range_kernels_ptx), stored);
}

INSTANTIATE_TEST_SUITE_P(Kernels, RangeKernelsPtx,
                         ::testing::ValuesIn(ptx::kernel_files(XTTS_RANGE_KERNELS_PTX)),
                         ptx::name_of_file);

}  // namespace
}  // namespace xtts::cuda
