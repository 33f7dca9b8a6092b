#include "support/ptx/arithmetic.hpp"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <type_traits>
#include <utility>

#include "support/ptx/fault.hpp"

namespace xtts::testing::ptx {
namespace {

using Operands = std::array<std::uint64_t, kArithmeticOperandsMax>;
using Table = std::map<std::string, Arithmetic, std::less<>>;

template <typename T>
constexpr Type type_of() {
  if constexpr (std::same_as<T, bool>) return {Kind::kPredicate, 1};
  if constexpr (std::floating_point<T>) return {Kind::kFloat, sizeof(T)};
  return {std::is_signed_v<T> ? Kind::kSigned : Kind::kUnsigned, sizeof(T)};
}

template <typename T>
T from_bits(std::uint64_t bits) {
  if constexpr (std::same_as<T, bool>) {
    return (bits & 1U) != 0;
  } else if constexpr (std::same_as<T, float>) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  } else if constexpr (std::same_as<T, double>) {
    return std::bit_cast<double>(bits);
  } else {
    return static_cast<T>(bits);
  }
}

template <typename T>
std::uint64_t to_bits(T value) {
  if constexpr (std::same_as<T, float>) return std::bit_cast<std::uint32_t>(value);
  if constexpr (std::same_as<T, double>) return std::bit_cast<std::uint64_t>(value);
  if constexpr (std::is_signed_v<T>) {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }
  return static_cast<std::uint64_t>(value);
}

// Calls a function of plain values by the bits of registers.
template <auto kFunction>
struct Call;
template <typename R, typename... T, R (*kFunction)(T...)>
struct Call<kFunction> {
  static std::uint64_t run(const Operands& operands) {
    return [&]<std::size_t... kIndex>(std::index_sequence<kIndex...>) {
      return to_bits(kFunction(from_bits<T>(operands[kIndex])...));
    }
    (std::index_sequence_for<T...>());
  }
  static constexpr Arithmetic kArithmetic = {.run = run,
                                             .result = type_of<R>(),
                                             .operands = {type_of<T>()...},
                                             .operand_count = sizeof...(T)};
};

template <auto kFunction>
void define(Table& table, const std::string& name) {
  table.emplace(name, Call<kFunction>::kArithmetic);
}

// The arithmetic of integers. It wraps, as unsigned numbers do.
template <typename T>
using Unsigned = std::make_unsigned_t<T>;
template <typename T>
using Wide =
    std::conditional_t<sizeof(T) == 2,
                       std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

template <typename T>
T wrapped(std::uint64_t value) {
  return static_cast<T>(static_cast<Unsigned<T>>(value));
}
template <typename T>
std::uint64_t raw(T value) {
  return static_cast<Unsigned<T>>(value);
}

template <typename T>
T plus(T x, T y) {
  return wrapped<T>(raw(x) + raw(y));
}
template <typename T>
T minus(T x, T y) {
  return wrapped<T>(raw(x) - raw(y));
}
template <typename T>
T times(T x, T y) {
  return wrapped<T>(raw(x) * raw(y));
}
template <typename T>
T times_plus(T x, T y, T z) {
  return wrapped<T>(raw(x) * raw(y) + raw(z));
}
template <typename T>
Wide<T> times_wide(T x, T y) {
  return static_cast<Wide<T>>(static_cast<Wide<T>>(x) * static_cast<Wide<T>>(y));
}
template <typename T>
T negated(T x) {
  return wrapped<T>(0 - raw(x));
}
template <typename T>
T smaller(T x, T y) {
  return x < y ? x : y;
}
template <typename T>
T larger(T x, T y) {
  return x > y ? x : y;
}
template <typename T>
void check_divisor(T x, T y) {
  if (y == 0) throw Fault("divides by 0");
  if constexpr (std::is_signed_v<T>) {
    if (y == -1 && x == std::numeric_limits<T>::min())
      throw Fault("divides the least number by -1");
  }
}
template <typename T>
T quotient(T x, T y) {
  check_divisor(x, y);
  return static_cast<T>(x / y);
}
template <typename T>
T remainder_of(T x, T y) {
  check_divisor(x, y);
  return static_cast<T>(x % y);
}

// A shift by the width or more leaves nothing, or copies of the sign.
template <typename T>
T shifted_left(T x, std::uint32_t by) {
  return by >= 8 * sizeof(T) ? T{0} : wrapped<T>(raw(x) << by);
}
template <typename T>
T shifted_right(T x, std::uint32_t by) {
  constexpr std::uint32_t kMost = 8 * sizeof(T) - 1;
  if (by > kMost) return x < 0 ? static_cast<T>(-1) : T{0};
  return static_cast<T>(x >> by);
}

// Bits, and predicates.
template <typename T>
T both(T x, T y) {
  return static_cast<T>(x & y);
}
template <typename T>
T either(T x, T y) {
  return static_cast<T>(x | y);
}
template <typename T>
T one_of(T x, T y) {
  return static_cast<T>(x ^ y);
}
template <typename T>
T inverted(T x) {
  if constexpr (std::same_as<T, bool>) {
    return !x;
  } else {
    return static_cast<T>(~x);
  }
}

// The lower `count` bits of x, in y from bit `from` on. What lies over the width is cut off.
template <typename T>
T inserted(T x, T y, std::uint32_t from, std::uint32_t count) {
  constexpr std::uint32_t kWidth = 8 * sizeof(T);
  const std::uint32_t length = count & 0xFFU;
  const T all = static_cast<T>(~T{0});
  const T low = length >= kWidth ? all : static_cast<T>(shifted_left<T>(1, length) - 1);
  const T mask = shifted_left<T>(low, from & 0xFFU);
  return static_cast<T>((y & ~mask) | (shifted_left<T>(x, from & 0xFFU) & mask));
}

// The arithmetic of floats, rounded to nearest.
template <typename T>
T with_ptx_nan(T value) {
  if (value == value) return value;
  if constexpr (sizeof(T) == sizeof(float)) return std::bit_cast<float>(0x7FFFFFFFU);
  if constexpr (sizeof(T) == sizeof(double)) return std::bit_cast<double>(~std::uint64_t{0} >> 1U);
}
template <typename T>
T float_plus(T x, T y) {
  return with_ptx_nan(x + y);
}
template <typename T>
T float_minus(T x, T y) {
  return with_ptx_nan(x - y);
}
template <typename T>
T float_times(T x, T y) {
  return with_ptx_nan(x * y);
}
template <typename T>
T fused(T x, T y, T z) {
  return with_ptx_nan(std::fma(x, y, z));
}
template <typename T>
T float_quotient(T x, T y) {
  return with_ptx_nan(x / y);
}
template <typename T>
T root(T x) {
  return with_ptx_nan(std::sqrt(x));
}
template <typename T>
T float_negated(T x) {
  return -x;
}
template <typename T>
T magnitude(T x) {
  return std::abs(x);
}

template <typename T>
T same(T x) {
  return x;
}
template <typename T>
T selected(T x, T y, bool is_first) {
  return is_first ? x : y;
}

// Comparisons. Those of floats that are ordered are false for a NaN; the others are true.
template <typename T>
bool is_equal(T x, T y) {
  return x == y;
}
template <typename T>
bool is_unequal(T x, T y) {
  return x < y || x > y;
}
template <typename T>
bool is_less(T x, T y) {
  return x < y;
}
template <typename T>
bool is_at_most(T x, T y) {
  return x <= y;
}
template <typename T>
bool is_more(T x, T y) {
  return x > y;
}
template <typename T>
bool is_at_least(T x, T y) {
  return x >= y;
}
template <typename T>
bool is_unordered(T x, T y) {
  return x != x || y != y;
}
template <typename T>
bool is_ordered(T x, T y) {
  return !is_unordered(x, y);
}
template <typename T, bool (*kCompare)(T, T)>
bool or_unordered(T x, T y) {
  return is_unordered(x, y) || kCompare(x, y);
}

// Conversions.
template <typename To, typename From>
To converted(From x) {
  return static_cast<To>(x);
}
double widened(float x) {
  return with_ptx_nan(static_cast<double>(x));
}
// The host rounds to nearest. The other modes take a neighbour of its result, where that lies on
// the wrong side.
enum class Rounding : std::uint8_t { kNearest, kZero, kDown, kUp };
template <Rounding kRounding>
float narrowed(double x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float nearest = with_ptx_nan(static_cast<float>(x));
  const auto found = static_cast<double>(nearest);
  const bool is_down = kRounding == Rounding::kDown || (kRounding == Rounding::kZero && x > 0);
  const bool is_up = kRounding == Rounding::kUp || (kRounding == Rounding::kZero && x < 0);
  if (is_down && found > x) return std::nextafter(nearest, -kInfinity);
  if (is_up && found < x) return std::nextafter(nearest, kInfinity);
  return nearest;
}

template <typename T>
void define_bits(Table& table, const std::string& type) {
  define<both<T>>(table, "and." + type);
  define<either<T>>(table, "or." + type);
  define<one_of<T>>(table, "xor." + type);
  define<inverted<T>>(table, "not." + type);
  define<same<T>>(table, "mov." + type);
}

template <typename T>
void define_comparisons(Table& table, const std::string& type) {
  define<is_equal<T>>(table, "setp.eq." + type);
  define<is_unequal<T>>(table, "setp.ne." + type);
  define<is_less<T>>(table, "setp.lt." + type);
  define<is_at_most<T>>(table, "setp.le." + type);
  define<is_more<T>>(table, "setp.gt." + type);
  define<is_at_least<T>>(table, "setp.ge." + type);
}

// Of every type but predicates; .b types have these alone, and `define_bits`.
template <typename T>
void define_choices(Table& table, const std::string& type) {
  define<same<T>>(table, "mov." + type);
  define<selected<T>>(table, "selp." + type);
}

template <typename T>
void define_integers(Table& table, const std::string& type) {
  define_choices<T>(table, type);
  define_comparisons<T>(table, type);
  define<plus<T>>(table, "add." + type);
  define<minus<T>>(table, "sub." + type);
  define<times<T>>(table, "mul.lo." + type);
  define<times_plus<T>>(table, "mad.lo." + type);
  define<quotient<T>>(table, "div." + type);
  define<remainder_of<T>>(table, "rem." + type);
  define<smaller<T>>(table, "min." + type);
  define<larger<T>>(table, "max." + type);
  define<shifted_right<T>>(table, "shr." + type);
  if constexpr (sizeof(T) < 8) define<times_wide<T>>(table, "mul.wide." + type);
  if constexpr (std::is_signed_v<T>) define<negated<T>>(table, "neg." + type);
}

template <typename T>
void define_untyped(Table& table, const std::string& type) {
  define_bits<T>(table, type);
  define_choices<T>(table, type);
  define<shifted_left<T>>(table, "shl." + type);
  define<shifted_right<T>>(table, "shr." + type);
  define<is_equal<T>>(table, "setp.eq." + type);
  define<is_unequal<T>>(table, "setp.ne." + type);
}

// No "add.f32": without a rounding mode, a later compiler may fuse it with a multiplication.
template <typename T>
void define_floats(Table& table, const std::string& type) {
  define_choices<T>(table, type);
  define_comparisons<T>(table, type);
  define<or_unordered<T, is_equal<T>>>(table, "setp.equ." + type);
  define<or_unordered<T, is_unequal<T>>>(table, "setp.neu." + type);
  define<or_unordered<T, is_less<T>>>(table, "setp.ltu." + type);
  define<or_unordered<T, is_at_most<T>>>(table, "setp.leu." + type);
  define<or_unordered<T, is_more<T>>>(table, "setp.gtu." + type);
  define<or_unordered<T, is_at_least<T>>>(table, "setp.geu." + type);
  define<is_ordered<T>>(table, "setp.num." + type);
  define<is_unordered<T>>(table, "setp.nan." + type);
  define<float_plus<T>>(table, "add.rn." + type);
  define<float_minus<T>>(table, "sub.rn." + type);
  define<float_times<T>>(table, "mul.rn." + type);
  define<fused<T>>(table, "fma.rn." + type);
  define<float_quotient<T>>(table, "div.rn." + type);
  define<root<T>>(table, "sqrt.rn." + type);
  define<float_negated<T>>(table, "neg." + type);
  define<magnitude<T>>(table, "abs." + type);
}

template <auto kFunction>
void define_conversion(Table& table, const std::string& name) {
  define<kFunction>(table, "cvt." + name);
  table.at("cvt." + name).fits_larger_registers = true;
}

template <typename From>
void define_conversions_from(Table& table, const std::string& from) {
  define_conversion<converted<std::uint8_t, From>>(table, "u8." + from);
  define_conversion<converted<std::uint16_t, From>>(table, "u16." + from);
  define_conversion<converted<std::uint32_t, From>>(table, "u32." + from);
  define_conversion<converted<std::uint64_t, From>>(table, "u64." + from);
  define_conversion<converted<std::int8_t, From>>(table, "s8." + from);
  define_conversion<converted<std::int16_t, From>>(table, "s16." + from);
  define_conversion<converted<std::int32_t, From>>(table, "s32." + from);
  define_conversion<converted<std::int64_t, From>>(table, "s64." + from);
  define_conversion<converted<float, From>>(table, "rn.f32." + from);
  define_conversion<converted<double, From>>(table, "rn.f64." + from);
}

Table make_table() {
  Table table;
  define_bits<bool>(table, "pred");
  define_untyped<std::uint16_t>(table, "b16");
  define_untyped<std::uint32_t>(table, "b32");
  define_untyped<std::uint64_t>(table, "b64");
  define<inserted<std::uint32_t>>(table, "bfi.b32");
  define<inserted<std::uint64_t>>(table, "bfi.b64");
  define_integers<std::uint16_t>(table, "u16");
  define_integers<std::uint32_t>(table, "u32");
  define_integers<std::uint64_t>(table, "u64");
  define_integers<std::int16_t>(table, "s16");
  define_integers<std::int32_t>(table, "s32");
  define_integers<std::int64_t>(table, "s64");
  define_floats<float>(table, "f32");
  define_floats<double>(table, "f64");
  define_conversions_from<std::uint8_t>(table, "u8");
  define_conversions_from<std::uint16_t>(table, "u16");
  define_conversions_from<std::uint32_t>(table, "u32");
  define_conversions_from<std::uint64_t>(table, "u64");
  define_conversions_from<std::int8_t>(table, "s8");
  define_conversions_from<std::int16_t>(table, "s16");
  define_conversions_from<std::int32_t>(table, "s32");
  define_conversions_from<std::int64_t>(table, "s64");
  define_conversion<widened>(table, "f64.f32");
  define_conversion<narrowed<Rounding::kNearest>>(table, "rn.f32.f64");
  define_conversion<narrowed<Rounding::kZero>>(table, "rz.f32.f64");
  define_conversion<narrowed<Rounding::kDown>>(table, "rm.f32.f64");
  define_conversion<narrowed<Rounding::kUp>>(table, "rp.f32.f64");
  define<same<std::uint64_t>>(table, "cvta.to.global.u64");  // addresses are those of the host
  return table;
}

}  // namespace

const Arithmetic* find_arithmetic(std::string_view name) {
  static const Table table = make_table();
  const auto found = table.find(name);
  return found == table.end() ? nullptr : &found->second;
}

}  // namespace xtts::testing::ptx
