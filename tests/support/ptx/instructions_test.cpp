// Known answers of single instructions: what NVIDIA's PTX ISA says of the odd cases.
#include <gtest/gtest.h>

#include <bit>
#include <limits>

#include "support/ptx/test_kernel.hpp"

namespace xtts::testing::ptx {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kDoubleNan = std::numeric_limits<double>::quiet_NaN();

constexpr std::uint64_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
constexpr std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
constexpr std::uint64_t u32(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint64_t u64(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

TEST(PtxInstructions, ComparisonsOfNanAreFalseUnlessTheyAreUnordered) {
  for (const char* const compare : {"eq", "ne", "lt", "le", "gt", "ge", "num"}) {
    const std::string line = std::string("setp.") + compare + ".f32 %p4, %f1, %f2;";
    EXPECT_EQ(result_of(line, bits_of(kNan), bits_of(1.0F)), 0U) << compare;
    EXPECT_EQ(result_of(line, bits_of(1.0F), bits_of(kNan)), 0U) << compare;
  }
  for (const char* const compare : {"equ", "neu", "ltu", "leu", "gtu", "geu", "nan"}) {
    const std::string line = std::string("setp.") + compare + ".f64 %p4, %fd1, %fd2;";
    EXPECT_EQ(result_of(line, bits_of(kDoubleNan), bits_of(1.0)), 1U) << compare;
    EXPECT_EQ(result_of(line, bits_of(1.0), bits_of(kDoubleNan)), 1U) << compare;
  }
}

// "less", "equal" and "more", as digits of 1 and 0.
std::string answers(const std::string& compare, const std::string& type, const std::string& name,
                    std::uint64_t low, std::uint64_t high) {
  const std::string line = "setp." + compare + "." + type + " %p4, " + name + "1, " + name + "2;";
  return std::to_string(result_of(line, low, high)) + std::to_string(result_of(line, low, low)) +
         std::to_string(result_of(line, high, low));
}

TEST(PtxInstructions, ComparisonsOfNumbers) {
  const std::pair<const char*, const char*> wanted[] = {
      {"eq", "010"}, {"ne", "101"}, {"lt", "100"}, {"le", "110"}, {"gt", "001"}, {"ge", "011"}};
  for (const auto& [compare, is_true] : wanted) {
    const std::string unordered = std::string(compare) + "u";
    EXPECT_EQ(answers(compare, "f32", "%f", bits_of(-kInfinity), bits_of(2.0F)), is_true);
    EXPECT_EQ(answers(unordered, "f32", "%f", bits_of(-1.0F), bits_of(2.0F)), is_true);
    EXPECT_EQ(answers(compare, "f64", "%fd", bits_of(1.0), bits_of(2.0)), is_true);
    EXPECT_EQ(answers(compare, "s32", "%r", u32(-1), 1), is_true);
    EXPECT_EQ(answers(compare, "u32", "%r", 1, u32(-1)), is_true);
    EXPECT_EQ(answers(compare, "s64", "%rd", u64(-1), 1), is_true);
    EXPECT_EQ(answers(compare, "u64", "%rd", 1, u64(-1)), is_true);
    EXPECT_EQ(answers(compare, "s16", "%rs", 0xFFFF, 1), is_true);
    EXPECT_EQ(answers(compare, "u16", "%rs", 1, 0xFFFF), is_true);
  }
  EXPECT_EQ(result_of("setp.eq.f32 %p4, %f1, %f2;", bits_of(0.0F), bits_of(-0.0F)), 1U);
}

// The fourth operand needs no register.
TEST(PtxInstructions, BitsAreInserted) {
  const auto inserted = [](const char* count, std::uint64_t from) {
    return result_of("bfi.b32 %r4, %r1, %r2, %r3, " + std::string(count) + ";", 0xABCD, 0x12345678,
                     from);
  };
  EXPECT_EQ(inserted("8", 8), 0x1234CD78U);
  EXPECT_EQ(inserted("0", 8), 0x12345678U);
  EXPECT_EQ(inserted("16", 24), 0xCD345678U);
  EXPECT_EQ(inserted("16", 32), 0x12345678U);
  EXPECT_EQ(inserted("32", 0), 0xABCDU);
  EXPECT_EQ(inserted("32", 16), 0xABCD5678U);
  EXPECT_EQ(result_of("bfi.b64 %rd4, %rd1, %rd2, 32, 32;", 0x5566778899AABBCCU, u64(-1)),
            0x99AABBCCFFFFFFFFU);
  EXPECT_EQ(result_of("bfi.b64 %rd4, %rd1, %rd2, 8, 64;", u64(-1), 0x55), 0xFFFFFFFFFFFFFF55U);
}

// (1 + e)^2 - 1 is 2 e + e^2: the product's last bits are lost, unless it is not rounded.
TEST(PtxInstructions, FmaRoundsOnce) {
  const float x = 1.0F + 0x1p-23F;
  EXPECT_EQ(result_of("fma.rn.f32 %f4, %f1, %f1, %f3;", bits_of(x), 0, bits_of(-1.0F)),
            bits_of(0x1p-22F + 0x1p-46F));
  EXPECT_EQ(result_of("mul.rn.f32 %f4, %f1, %f1;", bits_of(x)), bits_of(1.0F + 0x1p-22F));
  const double y = 1.0 + 0x1p-52;
  EXPECT_EQ(result_of("fma.rn.f64 %fd4, %fd1, %fd1, %fd3;", bits_of(y), 0, bits_of(-1.0)),
            bits_of(0x1p-51 + 0x1p-104));
}

TEST(PtxInstructions, FloatsRoundToNearestAndKeepSubnormals) {
  EXPECT_EQ(result_of("add.rn.f32 %f4, %f1, %f2;", bits_of(1.0F), bits_of(0x1p-24F)),
            bits_of(1.0F));
  EXPECT_EQ(result_of("sub.rn.f32 %f4, %f1, %f2;", bits_of(1.0F), bits_of(0x1p-24F)),
            bits_of(1.0F - 0x1p-24F));
  EXPECT_EQ(result_of("add.rn.f32 %f4, %f1, %f2;", 1, 2), 3U);  // subnormals
  EXPECT_EQ(result_of("mul.rn.f32 %f4, %f1, %f2;", 3, bits_of(0.5F)), 2U);
  EXPECT_EQ(result_of("div.rn.f32 %f4, %f1, %f2;", bits_of(1.0F), bits_of(3.0F)), 0x3EAAAAABU);
  EXPECT_EQ(result_of("div.rn.f32 %f4, %f1, %f2;", bits_of(1.0F), bits_of(-0.0F)),
            bits_of(-kInfinity));
  EXPECT_EQ(result_of("sqrt.rn.f32 %f4, %f1;", bits_of(2.0F)), 0x3FB504F3U);
  EXPECT_EQ(result_of("sqrt.rn.f32 %f4, %f1;", 1), bits_of(0x1.6A09E6p-75F));
  EXPECT_EQ(result_of("sqrt.rn.f64 %fd4, %fd1;", bits_of(2.0)), 0x3FF6A09E667F3BCDU);
  EXPECT_EQ(result_of("neg.f32 %f4, %f1;", bits_of(0.0F)), bits_of(-0.0F));
  EXPECT_EQ(result_of("abs.f64 %fd4, %fd1;", bits_of(-1.5)), bits_of(1.5));
}

TEST(PtxInstructions, ANanOfArithmeticIsPtxsOwn) {
  EXPECT_EQ(result_of("sub.rn.f32 %f4, %f1, %f2;", bits_of(kInfinity), bits_of(kInfinity)),
            0x7FFFFFFFU);
  EXPECT_EQ(result_of("add.rn.f32 %f4, %f1, %f2;", 0xFFC12345, bits_of(1.0F)), 0x7FFFFFFFU);
  EXPECT_EQ(result_of("sqrt.rn.f32 %f4, %f1;", bits_of(-1.0F)), 0x7FFFFFFFU);
  EXPECT_EQ(result_of("cvt.rn.f32.f64 %f4, %fd1;", bits_of(kDoubleNan)), 0x7FFFFFFFU);
  EXPECT_EQ(result_of("mov.f32 %f4, %f1;", 0xFFC12345), 0xFFC12345U);  // no arithmetic
}

TEST(PtxInstructions, NarrowingRoundsAsItsModeSays) {
  const auto narrowed = [](const char* mode, double value) {
    const std::string line = std::string("cvt.") + mode + ".f32.f64 %f4, %fd1;";
    return std::bit_cast<float>(static_cast<std::uint32_t>(result_of(line, bits_of(value))));
  };
  const float next = 1.0F + 0x1p-23F;
  for (const double sign : {1.0, -1.0}) {
    const auto side = static_cast<float>(sign);
    const double above = sign * (1.0 + 0x1p-40);
    const double below_next = sign * (1.0 + 0x1p-23 - 0x1p-40);
    EXPECT_EQ(narrowed("rn", above), side);
    EXPECT_EQ(narrowed("rn", below_next), side * next);
    EXPECT_EQ(narrowed("rz", above), side);
    EXPECT_EQ(narrowed("rz", below_next), side);
    EXPECT_EQ(narrowed("rm", above), sign > 0 ? 1.0F : -next);
    EXPECT_EQ(narrowed("rp", above), sign > 0 ? next : -1.0F);
  }
  EXPECT_EQ(narrowed("rn", 1.0 + 0x1p-24), 1.0F);  // a tie, to the even one
  EXPECT_EQ(narrowed("rn", 1.0 + 0x1p-23 + 0x1p-24), 1.0F + 0x1p-22F);
  EXPECT_EQ(narrowed("rn", 1e300), kInfinity);
  EXPECT_EQ(narrowed("rz", 1e300), std::numeric_limits<float>::max());
  EXPECT_EQ(narrowed("rp", -1e300), -std::numeric_limits<float>::max());
  EXPECT_EQ(narrowed("rp", 1e-300), std::numeric_limits<float>::denorm_min());
  EXPECT_EQ(narrowed("rz", kInfinity), kInfinity);
}

TEST(PtxInstructions, ConversionsOfIntegers) {
  EXPECT_EQ(result_of("cvt.rn.f32.s32 %f4, %r1;", u32(-3)), bits_of(-3.0F));
  EXPECT_EQ(result_of("cvt.rn.f32.u32 %f4, %r1;", u32(-1)), bits_of(0x1p32F));
  EXPECT_EQ(result_of("cvt.rn.f32.u64 %f4, %rd1;", u64(-1)), bits_of(0x1p64F));
  EXPECT_EQ(result_of("cvt.rn.f32.u32 %f4, %r1;", 0x1000001), bits_of(0x1p24F));  // a tie
  EXPECT_EQ(result_of("cvt.rn.f64.u32 %fd4, %r1;", u32(-1)), bits_of(4294967295.0));
  EXPECT_EQ(result_of("cvt.f64.f32 %fd4, %f1;", 1), bits_of(0x1p-149));
  EXPECT_EQ(result_of("cvt.u64.u32 %rd4, %r1;", u32(-2)), 0xFFFFFFFEU);
  EXPECT_EQ(result_of("cvt.s64.s32 %rd4, %r1;", u32(-2)), u64(-2));
  EXPECT_EQ(result_of("cvt.u32.u64 %r4, %rd1;", 0x1'2345'6789), 0x2345'6789U);
  EXPECT_EQ(result_of("cvt.s32.s8 %r4, %r1;", 0x180), u32(-128));
  EXPECT_EQ(result_of("cvt.u32.u16 %r4, %rs1;", 0xFFFE), 0xFFFEU);
}

TEST(PtxInstructions, ShiftsByTheWidthOrMoreLeaveNothingButTheSign) {
  for (const std::uint64_t by : {32U, 33U, 64U, 0xFFFFFFFFU}) {
    EXPECT_EQ(result_of("shl.b32 %r4, %r1, %r2;", 0x80000001, by), 0U) << by;
    EXPECT_EQ(result_of("shr.u32 %r4, %r1, %r2;", 0x80000001, by), 0U) << by;
    EXPECT_EQ(result_of("shr.s32 %r4, %r1, %r2;", 0x80000001, by), 0xFFFFFFFFU) << by;
    EXPECT_EQ(result_of("shr.s32 %r4, %r1, %r2;", 0x70000001, by), 0U) << by;
  }
  EXPECT_EQ(result_of("shl.b32 %r4, %r1, %r2;", 3, 31), 0x80000000U);
  EXPECT_EQ(result_of("shr.s32 %r4, %r1, %r2;", 0x80000000, 31), 0xFFFFFFFFU);
  EXPECT_EQ(result_of("shr.u32 %r4, %r1, %r2;", 0x80000000, 31), 1U);
  EXPECT_EQ(result_of("shl.b64 %rd4, %rd1, %r2;", 1, 63), 0x8000000000000000U);
  EXPECT_EQ(result_of("shl.b64 %rd4, %rd1, %r2;", 1, 64), 0U);
  EXPECT_EQ(result_of("shr.s64 %rd4, %rd1, 70;", u64(-5)), u64(-1));
  EXPECT_EQ(result_of("shr.u16 %rs4, %rs1, %r2;", 0x8000, 15), 1U);
  EXPECT_EQ(result_of("shr.u16 %rs4, %rs1, %r2;", 0x8000, 16), 0U);
}

TEST(PtxInstructions, IntegersWrapAndKnowTheirSign) {
  EXPECT_EQ(result_of("add.s32 %r4, %r1, %r2;", 0x7FFFFFFF, 1), 0x80000000U);
  EXPECT_EQ(result_of("sub.s64 %rd4, %rd1, %rd2;", 0, 1), u64(-1));
  EXPECT_EQ(result_of("add.s16 %rs4, %rs1, -1;", 0), 0xFFFFU);
  EXPECT_EQ(result_of("mul.lo.s32 %r4, %r1, %r2;", 0x10000, 0x10001), 0x10000U);
  EXPECT_EQ(result_of("mad.lo.s32 %r4, %r1, %r2, %r3;", u32(-2), 3, 5), u32(-1));
  EXPECT_EQ(result_of("mul.wide.u32 %rd4, %r1, %r2;", u32(-1), 2), 0x1FFFFFFFEU);
  EXPECT_EQ(result_of("mul.wide.s32 %rd4, %r1, %r2;", u32(-1), 2), u64(-2));
  EXPECT_EQ(result_of("mul.wide.s16 %r4, %rs1, %rs2;", 0xFFFF, 2), u32(-2));
  EXPECT_EQ(result_of("div.s32 %r4, %r1, %r2;", u32(-7), 2), u32(-3));
  EXPECT_EQ(result_of("div.u32 %r4, %r1, %r2;", u32(-7), 2), 0x7FFFFFFCU);
  EXPECT_EQ(result_of("rem.s64 %rd4, %rd1, %rd2;", u64(-7), 3), u64(-1));
  EXPECT_EQ(result_of("rem.u64 %rd4, %rd1, %rd2;", u64(-7), 10), 9U);
  EXPECT_EQ(result_of("min.s32 %r4, %r1, %r2;", u32(-1), 1), u32(-1));
  EXPECT_EQ(result_of("max.u32 %r4, %r1, %r2;", u32(-1), 1), u32(-1));
  EXPECT_EQ(result_of("neg.s32 %r4, %r1;", 5), u32(-5));
}

TEST(PtxInstructions, BitsPredicatesAndChoices) {
  EXPECT_EQ(result_of("and.b32 %r4, %r1, %r2;", 0b1100, 0b1010), 0b1000U);
  EXPECT_EQ(result_of("or.b64 %rd4, %rd1, %rd2;", 0b1100, 0b1010), 0b1110U);
  EXPECT_EQ(result_of("xor.b16 %rs4, %rs1, %rs2;", 0b1100, 0b1010), 0b0110U);
  EXPECT_EQ(result_of("not.b32 %r4, %r1;", 1), 0xFFFFFFFEU);
  EXPECT_EQ(result_of("and.b64 %rd4, %rd1, -8;", 0xFF), 0xF8U);
  EXPECT_EQ(result_of("mov.f32 %f4, 0f3F800000;", 0), bits_of(1.0F));
  EXPECT_EQ(result_of("mov.f64 %fd4, 0dBFF0000000000000;", 0), bits_of(-1.0));
  EXPECT_EQ(result_of("and.pred %p4, %p1, %p2;", 1, 0), 0U);
  EXPECT_EQ(result_of("or.pred %p4, %p1, %p2;", 1, 0), 1U);
  EXPECT_EQ(result_of("xor.pred %p4, %p1, %p2;", 1, 1), 0U);
  EXPECT_EQ(result_of("not.pred %p4, %p1;", 1), 0U);
  EXPECT_EQ(result_of("mov.pred %p4, -1;", 0), 1U);
  EXPECT_EQ(result_of("selp.b32 %r4, %r1, %r2, %p3;", 7, 8, 1), 7U);
  EXPECT_EQ(result_of("selp.f32 %f4, %f1, %f2, %p3;", 7, 8, 0), 8U);
}

TEST(PtxInstructions, GuardsAndBranches) {
  const std::string guarded = "mov.u32 %r4, 1;\n@%p1 mov.u32 %r4, 2;\n@!%p1 add.s32 %r4, %r4, 8;";
  EXPECT_EQ(result_of(guarded, 1), 2U);
  EXPECT_EQ(result_of(guarded, 0), 9U);
  const std::string loop =
      "mov.u32 %r4, 0;\n$L_again:\nadd.s32 %r4, %r4, 3;\nsub.s32 %r1, %r1, 1;\n"
      "setp.ne.s32 %p5, %r1, 0;\n@%p5 bra $L_again;\nbra.uni $L_end;\nmov.u32 %r4, 0;\n$L_end:";
  EXPECT_EQ(result_of(loop, 5), 15U);
}

}  // namespace
}  // namespace xtts::testing::ptx
