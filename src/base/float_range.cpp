#include "base/float_range.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>

namespace xtts {
namespace {

// Magnitudes are compared by their bits, as integers: this keeps the order of the numbers, with
// infinity above all of them and every NaN above infinity.
constexpr std::int32_t kMagnitude = 0x7FFFFFFF;
constexpr std::int32_t kInfinity = 0x7F800000;

// Magnitudes up to these bits become 0: half.hpp rounds ties to the even neighbour, here 0.
std::int32_t vanishing_bits(DType to) {
  switch (to) {
    case DType::kFloat16:
      return 0x33000000;  // 2^-25
    case DType::kBFloat16:
      return 0x00008000;  // 2^-134
    default:
      return 0;
  }
}

typedef std::int32_t Integers4 __attribute__((vector_size(16)));

constexpr std::size_t kVectors = 4;
constexpr std::size_t kStep = kVectors * 4;
// Each lane adds at most one per step. The counts are summed up long before a lane overflows.
constexpr std::size_t kPieceFloats = std::size_t{1} << 24U;

struct Seen {
  std::int32_t largest = 0;
  std::uint64_t vanishing_count = 0;
};

void look_at(std::int32_t magnitude, std::int32_t limit, Seen& seen) {
  seen.largest = std::max(seen.largest, magnitude);
  if (magnitude != 0 && magnitude <= limit) ++seen.vanishing_count;
}

template <typename Bits>
struct Wide {
  typedef Bits Vector __attribute__((vector_size(16)));
};

// Counts numbers whose exponent bits are all set: NaN and infinity.
template <typename Bits>
std::uint64_t count_full_exponents(std::span<const std::byte> bytes, Bits exponent) {
  using Vector = typename Wide<Bits>::Vector;
  constexpr std::size_t kVectorBytes = sizeof(Vector);
  std::uint64_t count = 0;
  std::size_t at = 0;
  while (at + kVectors * kVectorBytes <= bytes.size()) {
    // A lane of 16 bits counts to 65,535.
    const std::size_t end = std::min(bytes.size(), at + 65'535 * kVectors * kVectorBytes);
    Vector found[kVectors] = {};
    for (; at + kVectors * kVectorBytes <= end; at += kVectors * kVectorBytes) {
      for (std::size_t j = 0; j < kVectors; ++j) {
        Vector bits;
        std::memcpy(&bits, bytes.data() + at + j * kVectorBytes, kVectorBytes);
        // A mask of a true comparison is -1.
        found[j] -= reinterpret_cast<Vector>((bits & exponent) == exponent);
      }
    }
    for (const Vector& lanes : found) {
      for (std::size_t lane = 0; lane < kVectorBytes / sizeof(Bits); ++lane) count += lanes[lane];
    }
  }
  for (; at + sizeof(Bits) <= bytes.size(); at += sizeof(Bits)) {
    Bits bits = 0;
    std::memcpy(&bits, bytes.data() + at, sizeof bits);
    count += (bits & exponent) == exponent ? 1U : 0U;
  }
  return count;
}

template <bool kCounts>
std::size_t look_at_vectors(std::span<const float> numbers, std::int32_t limit, Seen& seen) {
  Integers4 largest[kVectors] = {};
  Integers4 vanishing[kVectors] = {};
  std::size_t i = 0;
  for (; i + kStep <= numbers.size(); i += kStep) {
    for (std::size_t j = 0; j < kVectors; ++j) {
      Integers4 magnitude;
      std::memcpy(&magnitude, numbers.data() + i + 4 * j, sizeof magnitude);
      magnitude &= kMagnitude;
      largest[j] = magnitude > largest[j] ? magnitude : largest[j];
      if constexpr (kCounts) vanishing[j] -= (magnitude <= limit) & (magnitude > 0);
    }
  }
  for (std::size_t j = 0; j < kVectors; ++j) {
    for (int lane = 0; lane < 4; ++lane) {
      seen.largest = std::max(seen.largest, largest[j][lane]);
      // A mask of a true comparison is -1; this turns the sum into a count.
      seen.vanishing_count += static_cast<std::uint64_t>(vanishing[j][lane]);
    }
  }
  return i;
}

}  // namespace

bool FloatRange::is_finite() const noexcept {
  return (std::bit_cast<std::int32_t>(largest) & kMagnitude) < kInfinity;
}

float largest_that_fits(DType to) noexcept {
  switch (to) {
    case DType::kFloat16:
      return std::bit_cast<float>(0x477FEFFF);  // below 65,520
    case DType::kBFloat16:
      return std::bit_cast<float>(0x7F7F7FFF);
    default:
      return std::numeric_limits<float>::max();
  }
}

FloatRange range_of(std::span<const float> numbers, DType to, RangePath path) noexcept {
  const std::int32_t limit = vanishing_bits(to);
  Seen seen;
  while (!numbers.empty()) {
    const auto piece = numbers.first(std::min(numbers.size(), kPieceFloats));
    std::size_t i = 0;
    if (path != RangePath::kScalar) {
      i = limit == 0 ? look_at_vectors<false>(piece, limit, seen)
                     : look_at_vectors<true>(piece, limit, seen);
    }
    for (; i < piece.size(); ++i)
      look_at(std::bit_cast<std::int32_t>(piece[i]) & kMagnitude, limit, seen);
    numbers = numbers.subspan(piece.size());
  }
  return {std::bit_cast<float>(seen.largest), seen.vanishing_count};
}

std::uint64_t count_nonfinite(std::span<const std::byte> bytes, DType dtype) noexcept {
  switch (dtype) {
    case DType::kFloat32:
      return count_full_exponents<std::uint32_t>(bytes, 0x7F800000U);
    case DType::kFloat16:
      return count_full_exponents<std::uint16_t>(bytes, 0x7C00U);
    case DType::kBFloat16:
      return count_full_exponents<std::uint16_t>(bytes, 0x7F80U);
    default:
      return 0;
  }
}

}  // namespace xtts
