// Tests of the kernels' arithmetic, on the host, from the same source that CUDA compiles: it equals
// that of the CPU's device in every bit.
#include "cuda/kernels/range_work.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "base/channel_norm.hpp"
#include "base/convert_floats.hpp"

namespace xtts::cuda {
namespace {

void run_fill(const FillRange& range) {
  auto* const memory = std::bit_cast<unsigned char*>(range.address);
  const FillPlan plan = plan_fill(range);
  for (std::uint64_t i = fill_piece_count(plan); i-- > 0;) fill_piece(plan, memory, i);
}

TEST(RangeWork, FillsEveryElementAtEveryPlace) {
  constexpr std::uint64_t kBits = 0x8877665544332211U;
  constexpr unsigned char kUntouched = 0xEE;
  alignas(8) std::array<unsigned char, 96> memory{};
  for (const std::size_t element : {1U, 2U, 4U, 8U}) {
    for (std::size_t begin = 8; begin < 24; begin += element) {
      for (std::size_t count = 0; count <= 40 / element; ++count) {
        memory.fill(kUntouched);
        run_fill({.address = std::bit_cast<std::uint64_t>(memory.data() + begin),
                  .size_bytes = count * element,
                  .bits = kBits,
                  .element_bytes = element});
        for (std::size_t i = 0; i < memory.size(); ++i) {
          const bool is_filled = i >= begin && i < begin + count * element;
          const auto wanted = static_cast<unsigned char>(kBits >> (8 * ((i - begin) % element)));
          ASSERT_EQ(memory[i], is_filled ? wanted : kUntouched)
              << "element " << element << ", begin " << begin << ", count " << count << ", byte "
              << i;
        }
      }
    }
  }
}

std::vector<std::byte> change_all(const std::vector<std::byte>& in, DType from, DType to,
                                  const ChannelNorm* norm) {
  const std::size_t count = in.size() / size_bytes(from);
  std::vector<std::byte> out(count * size_bytes(to));
  ChangeTable table{};
  table.from_type = static_cast<std::uint64_t>(from);
  table.to_type = static_cast<std::uint64_t>(to);
  table.channel_count = norm == nullptr ? 0 : norm->channel_count();
  for (std::size_t i = 0; i < count; ++i) {
    change_value(table, reinterpret_cast<const unsigned char*>(in.data()),
                 reinterpret_cast<unsigned char*>(out.data()),
                 norm == nullptr ? nullptr : norm->means().data(),
                 norm == nullptr ? nullptr : norm->divisors().data(), i);
  }
  return out;
}

std::vector<std::byte> all_halves() {
  std::vector<std::byte> bytes(2 * 65'536);
  for (std::uint32_t i = 0; i < 65'536; ++i) {
    const auto half = static_cast<std::uint16_t>(i);
    std::memcpy(bytes.data() + 2 * i, &half, sizeof half);
  }
  return bytes;
}

TEST(RangeWork, WidensAllHalvesAsTheHostDoes) {
  for (const DType from : {DType::kFloat16, DType::kBFloat16}) {
    std::vector<std::byte> wanted(4 * 65'536);
    convert_floats(all_halves(), from, wanted, DType::kFloat32);
    EXPECT_EQ(change_all(all_halves(), from, DType::kFloat32, nullptr), wanted);
  }
}

TEST(RangeWork, NormalizesAsTheHostDoes) {
  std::mt19937 random(27);
  std::normal_distribution<double> normal(-4.0, 2.0);
  std::vector<double> means(80);
  std::vector<double> deviations(80);
  for (std::size_t i = 0; i < 80; ++i) {
    means[i] = normal(random);
    deviations[i] = i == 7 ? 0.0 : std::abs(normal(random));
  }
  const auto norm = ChannelNorm::create(means, deviations);
  ASSERT_TRUE(norm.ok());
  std::vector<float> floats(80 * 97);
  for (float& value : floats) value = static_cast<float>(normal(random));
  std::vector<std::byte> stored(floats.size() * sizeof(float));
  std::memcpy(stored.data(), floats.data(), stored.size());
  const auto compare = [&](const std::vector<std::byte>& in, DType from, DType to) {
    std::vector<std::byte> wanted(in.size() / size_bytes(from) * size_bytes(to));
    norm->apply(in, from, wanted, to);
    EXPECT_EQ(change_all(in, from, to, &*norm), wanted) << to_string(from) << " " << to_string(to);
  };
  compare(stored, DType::kFloat32, DType::kFloat32);
  std::vector<std::byte> halves(floats.size() * 2);
  for (const DType half : {DType::kFloat16, DType::kBFloat16}) {
    narrow_floats(floats, half, halves);
    compare(halves, half, DType::kFloat32);
    compare(halves, half, half);
  }
}

}  // namespace
}  // namespace xtts::cuda
