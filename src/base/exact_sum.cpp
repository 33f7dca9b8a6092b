#include "base/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/formatted.hpp"

namespace xtts {
namespace {

constexpr int kLimbBits = 32;
constexpr int kSmallestExponent = -1074;  // of a double's last bit
constexpr int kMantissaBits = 53;
// An addition changes a limb by less than 2^32; so many fit into 63 bits.
constexpr std::uint32_t kUnsettledMax = std::uint32_t{1} << 30U;

constexpr std::int64_t kLow32 = 0xFFFFFFFF;

template <typename Limbs>
bool has_bit(const Limbs& limbs, int bit) {
  return (limbs[static_cast<std::size_t>(bit / kLimbBits)] >> (bit % kLimbBits) & 1) != 0;
}

// -1 where no bit is set.
template <typename Limbs>
int highest_bit(const Limbs& limbs) {
  for (std::size_t i = limbs.size(); i-- > 0;) {
    if (limbs[i] == 0) continue;
    return static_cast<int>(i) * kLimbBits + kLimbBits - 1 -
           std::countl_zero(static_cast<std::uint32_t>(limbs[i]));
  }
  return -1;
}

template <typename Limbs>
int lowest_bit(const Limbs& limbs) {
  for (std::size_t i = 0; i < limbs.size(); ++i) {
    if (limbs[i] == 0) continue;
    return static_cast<int>(i) * kLimbBits + std::countr_zero(static_cast<std::uint32_t>(limbs[i]));
  }
  return -1;
}

template <typename Limbs>
std::uint64_t bits_between(const Limbs& limbs, int low, int high) {
  std::uint64_t bits = 0;
  for (int bit = high; bit >= low; --bit) bits = bits << 1U | (has_bit(limbs, bit) ? 1U : 0U);
  return bits;
}

std::optional<int> digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  return std::nullopt;
}

}  // namespace

void ExactSum::add(double value) noexcept {
  if (!std::isfinite(value)) {
    is_finite_ = false;
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto exponent = static_cast<int>(bits >> 52U & 0x7FFU);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << 52U) - 1);
  if (exponent != 0) mantissa |= std::uint64_t{1} << 52U;
  const auto shift = static_cast<unsigned>(exponent == 0 ? 0 : exponent - 1);
  __extension__ using Wide = unsigned __int128;
  Wide shifted = static_cast<Wide>(mantissa) << (shift % kLimbBits);
  for (std::size_t limb = shift / kLimbBits; shifted != 0; ++limb, shifted >>= kLimbBits) {
    const auto part = static_cast<std::int64_t>(shifted & 0xFFFFFFFFU);
    limbs_[limb] += value < 0 ? -part : part;
  }
  if (++unsettled_count_ == kUnsettledMax) settle();
}

void ExactSum::add(const ExactSum& other) noexcept {
  is_finite_ = is_finite_ && other.is_finite_;
  ExactSum settled = other;
  settled.settle();
  for (std::size_t i = 0; i < kLimbs; ++i) limbs_[i] += settled.limbs_[i];
  if (++unsettled_count_ == kUnsettledMax) settle();
}

// Carries what a limb holds beyond 32 bits into the next. The last limb has the sign.
void ExactSum::settle() noexcept {
  for (std::size_t i = 0; i + 1 < kLimbs; ++i) {
    limbs_[i + 1] += limbs_[i] >> kLimbBits;
    limbs_[i] &= kLow32;
  }
  unsettled_count_ = 0;
}

ExactSum::Magnitude ExactSum::magnitude() const noexcept {
  ExactSum settled = *this;
  settled.settle();
  Magnitude found{.is_negative = settled.limbs_.back() < 0};
  if (found.is_negative) {
    for (std::int64_t& limb : settled.limbs_) limb = -limb;
    settled.settle();
  }
  found.limbs = settled.limbs_;
  return found;
}

double ExactSum::rounded() const noexcept {
  if (!is_finite_) return std::numeric_limits<double>::quiet_NaN();
  const Magnitude sum = magnitude();
  const int high = highest_bit(sum.limbs);
  if (high < 0) return 0.0;
  const int low = std::max(high - kMantissaBits + 1, 0);
  std::uint64_t mantissa = bits_between(sum.limbs, low, high);
  const bool is_half_or_more = low > 0 && has_bit(sum.limbs, low - 1);
  const bool is_odd = (mantissa & 1U) != 0;
  if (is_half_or_more && (is_odd || lowest_bit(sum.limbs) < low - 1)) ++mantissa;
  const double rounded = std::ldexp(static_cast<double>(mantissa), low + kSmallestExponent);
  return sum.is_negative ? -rounded : rounded;
}

std::string ExactSum::to_text() const {
  if (!is_finite_) return {};
  const Magnitude sum = magnitude();
  const int low = lowest_bit(sum.limbs);
  if (low < 0) return "0x0p0";
  const int high = highest_bit(sum.limbs);
  std::string digits;
  for (int bit = low; bit <= high; bit += 4)
    digits.insert(digits.begin(),
                  "0123456789abcdef"[bits_between(sum.limbs, bit, std::min(bit + 3, high))]);
  return formatted("{}0x{}p{}", sum.is_negative ? "-" : "", digits, low + kSmallestExponent);
}

std::optional<ExactSum> ExactSum::parse(std::string_view text) {
  const std::string_view whole = text;
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t power = text.find('p');
  if (!text.starts_with("0x") || power == std::string_view::npos) return std::nullopt;
  int exponent = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + power + 1, end, exponent);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  const std::string_view digits = text.substr(2, power - 2);
  constexpr int kBits = static_cast<int>(kLimbs) * kLimbBits;
  int bit = exponent - kSmallestExponent;
  const auto length = static_cast<std::int64_t>(digits.size()) * 4;
  if (bit < 0 || bit >= kBits || length + bit > kBits) return std::nullopt;
  ExactSum sum;
  for (std::size_t i = digits.size(); i-- > 0; bit += 4) {
    const auto value = digit_value(digits[i]);
    if (!value) return std::nullopt;
    // A digit may reach into the next limb; settle() carries it there.
    const std::int64_t part = std::int64_t{*value} << (bit % kLimbBits);
    sum.limbs_[static_cast<std::size_t>(bit / kLimbBits)] += is_negative ? -part : part;
  }
  sum.settle();
  if (sum.to_text() != whole) return std::nullopt;
  return sum;
}

}  // namespace xtts
