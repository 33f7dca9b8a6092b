// The arithmetic of the kernels, written once: CUDA compiles it for devices, C++ for tests on the
// host. Each function does one piece of work, of `index` in [0, count).
//
// Half floats and normalization are those of base/half.hpp and base/channel_norm.hpp, in every bit.
#pragma once

#include <cstdint>

#include "base/half.hpp"
#include "base/host_device.hpp"
#include "cuda/kernels/range_tables.hpp"
#include "xtts/dtype.hpp"

namespace xtts::cuda {

// The range's piece of work: one 8-byte word at a multiple of 8, or one of the elements before the
// first and behind the last such word.
struct FillPlan {
  std::uint64_t head_bytes;  // before the first whole word
  std::uint64_t word_count;
  std::uint64_t tail_bytes;
  std::uint64_t word;  // the pattern, repeated in 8 bytes
};

XTTS_ON_BOTH inline FillPlan plan_fill(const FillRange& range) {
  FillPlan plan{};
  const std::uint64_t skew = range.address % 8;
  plan.head_bytes = skew == 0 ? 0 : 8 - skew;
  if (plan.head_bytes > range.size_bytes) plan.head_bytes = range.size_bytes;
  plan.word_count = (range.size_bytes - plan.head_bytes) / 8;
  plan.tail_bytes = range.size_bytes - plan.head_bytes - 8 * plan.word_count;
  const std::uint64_t element_bits = 8 * range.element_bytes;
  const std::uint64_t mask =
      element_bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << element_bits) - 1;
  for (std::uint64_t shift = 0; shift < 64; shift += element_bits) {
    plan.word |= (range.bits & mask) << shift;
  }
  return plan;
}

XTTS_ON_BOTH inline std::uint64_t fill_piece_count(const FillPlan& plan) {
  return plan.word_count + plan.head_bytes + plan.tail_bytes;
}

// `memory` is the range's address, as a pointer that may be written to. An element never crosses
// the border between head and words, because both begin at multiples of it.
XTTS_ON_BOTH inline void fill_piece(const FillPlan& plan, unsigned char* memory,
                                    std::uint64_t index) {
  if (index < plan.word_count) {
    reinterpret_cast<std::uint64_t*>(memory + plan.head_bytes)[index] = plan.word;
    return;
  }
  const std::uint64_t byte = index - plan.word_count;
  const std::uint64_t offset = byte < plan.head_bytes ? byte : 8 * plan.word_count + byte;
  // The head ends on a multiple of 8, so its bytes are the pattern's last ones.
  const std::uint64_t place =
      byte < plan.head_bytes ? (8 - plan.head_bytes + byte) % 8 : (byte - plan.head_bytes) % 8;
  memory[offset] = static_cast<unsigned char>(plan.word >> (8 * place));
}

XTTS_ON_BOTH inline float load_float(const unsigned char* memory, std::uint64_t index,
                                     std::uint64_t type) {
  if (type == static_cast<std::uint64_t>(DType::kFloat16)) {
    return from_float16(reinterpret_cast<const std::uint16_t*>(memory)[index]);
  }
  if (type == static_cast<std::uint64_t>(DType::kBFloat16)) {
    return from_bfloat16(reinterpret_cast<const std::uint16_t*>(memory)[index]);
  }
  return reinterpret_cast<const float*>(memory)[index];
}

XTTS_ON_BOTH inline void store_float(unsigned char* memory, std::uint64_t index, std::uint64_t type,
                                     float value) {
  if (type == static_cast<std::uint64_t>(DType::kFloat16)) {
    reinterpret_cast<std::uint16_t*>(memory)[index] = to_float16(value);
  } else if (type == static_cast<std::uint64_t>(DType::kBFloat16)) {
    reinterpret_cast<std::uint16_t*>(memory)[index] = to_bfloat16(value);
  } else {
    reinterpret_cast<float*>(memory)[index] = value;
  }
}

XTTS_ON_BOTH inline void change_value(const ChangeTable& table, const unsigned char* from,
                                      unsigned char* to, const float* means, const float* divisors,
                                      std::uint64_t index) {
  float value = load_float(from, index, table.from_type);
  if (table.channel_count != 0) {
    const std::uint64_t channel = index % table.channel_count;
    value = (value - means[channel]) / divisors[channel];
  }
  store_float(to, index, table.to_type, value);
}

}  // namespace xtts::cuda
