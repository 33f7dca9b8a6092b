// ExactSum adds doubles without rounding. So the order of adding and any grouping give the same
// sum, and the same bits when it is rounded at last: parts that were summed apart have the sums of
// the whole.
//
// A fixed-point number of 2,176 bits reaches from the smallest double to 2^64 times the largest.
// A value type without synchronisation. Cost: some 5 ns an addition; 560 bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace xtts {

class ExactSum {
 public:
  // A number that is not finite makes the sum so for good.
  void add(double value) noexcept;
  void add(const ExactSum& other) noexcept;

  // The nearest double, ties to even; NaN if a number was not finite.
  [[nodiscard]] double rounded() const noexcept;

  // The sum in full, as hexadecimal digits times a power of two: "-0x1bp-4". The digits end in a
  // set bit, so equal sums have equal texts; zero is "0x0p0". Empty: not finite. (Python's
  // float.fromhex() reads such a text, and rounds it.)
  [[nodiscard]] std::string to_text() const;
  // Nothing where no sum has this text.
  [[nodiscard]] static std::optional<ExactSum> parse(std::string_view text);

 private:
  static constexpr std::size_t kLimbs = 68;
  using Limbs = std::array<std::int64_t, kLimbs>;
  struct Magnitude {
    bool is_negative = false;
    Limbs limbs{};  // each below 2^32
  };
  void settle() noexcept;
  [[nodiscard]] Magnitude magnitude() const noexcept;

  Limbs limbs_{};  // in units of 2^(32 i - 1074); a limb may hold more than 32 bits until settled
  std::uint32_t unsettled_count_ = 0;
  bool is_finite_ = true;
};

}  // namespace xtts
