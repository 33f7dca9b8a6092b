// The parser refuses all that it does not know, with the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/ptx/mutations.hpp"
#include "support/ptx/parser.hpp"
#include "support/ptx/test_kernel.hpp"

namespace xtts::testing::ptx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal_of(const std::string& line) {
  const auto program = parse(kernel_text(line + "\n"));
  EXPECT_FALSE(program.ok()) << line;
  EXPECT_EQ(program.status().code(), StatusCode::kUnsupported);
  return program.status().message();
}

TEST(PtxRefusals, UnknownInstructionsAndModifiers) {
  for (const char* const line : {"bar.arrive 0, 64;",
                                 "bar.sync.aligned 0;",
                                 "add.f32 %f1, %f2, %f3;",
                                 "add.rz.f32 %f1, %f2, %f3;",
                                 "add.rn.ftz.f32 %f1, %f2, %f3;",
                                 "mul.hi.u32 %r1, %r2, %r3;",
                                 "sqrt.approx.f32 %f1, %f2;",
                                 "div.full.f32 %f1, %f2, %f3;",
                                 "cvt.f32.f64 %f1, %fd1;",
                                 "cvt.rn.ftz.f32.f64 %f1, %fd1;",
                                 "cvt.rzi.s32.f32 %r1, %f1;",
                                 "cvt.rz.f32.s32 %f1, %r1;",
                                 "setp.lt.and.s32 %p1, %r1, %r2, %p2;",
                                 "setp.lo.u32 %p1, %r1, %r2;",
                                 "setp.lt.b32 %p1, %r1, %r2;",
                                 "ld.local.u32 %r1, [%rd1];",
                                 "ld.u32 %r1, [%rd1];",
                                 "ld.volatile.shared.u32 %r1, [%r1];",
                                 "atom.shared.add.u32 %r1, [%r1], %r2;",
                                 "ld.global.nc.u32 %r1, [%rd1];",
                                 "ld.volatile.global.u32 %r1, [%rd1];",
                                 "atom.global.add.u32 %r1, [%rd1], %r2;",
                                 "ld.global.pred %p1, [%rd1];",
                                 "ld.global.v3.u32 {%r1, %r2, %r3}, [%rd1];",
                                 "exit;",
                                 "bra.div $L;",
                                 "call f;"}) {
    EXPECT_THAT(refusal_of(line), AllOf(HasSubstr("line 14, '" + std::string(line) + "'"),
                                        HasSubstr("unknown instruction")));
  }
}

TEST(PtxRefusals, OperandsThatDoNotFit) {
  EXPECT_THAT(refusal_of("add.s32 %r1, %r2;"), HasSubstr("2 operands, not 3"));
  EXPECT_THAT(refusal_of("add.s32 %r1, %r2, %r3, %r4;"), HasSubstr("4 operands, not 3"));
  EXPECT_THAT(refusal_of("add.s32 %r1, %r2,;"), HasSubstr("an operand is missing"));
  EXPECT_THAT(refusal_of("add.s32 %r1, %rd2, %r3;"), HasSubstr("'%rd2' does not fit"));
  EXPECT_THAT(refusal_of("add.s32 %r1, %p2, %r3;"), HasSubstr("'%p2' does not fit"));
  EXPECT_THAT(refusal_of("add.s32 %r9, %r2, %r3;"), HasSubstr("unknown register '%r9'"));
  EXPECT_THAT(refusal_of("mov.u32 %r1, %laneid;"), HasSubstr("unknown register '%laneid'"));
  EXPECT_THAT(refusal_of("mov.u32 %tid.x, %r1;"), HasSubstr("'%tid.x' cannot be set"));
  EXPECT_THAT(refusal_of("mov.u32 %r1, name;"), HasSubstr("unknown operand 'name'"));
  EXPECT_THAT(refusal_of("mov.f32 %f1, 1;"), HasSubstr("unknown operand '1'"));
  EXPECT_THAT(refusal_of("mov.f64 %fd1, 0f3F800000;"), HasSubstr("unknown operand"));
  EXPECT_THAT(refusal_of("mov.u64 %rd1, 99999999999999999999;"), HasSubstr("unknown operand"));
  EXPECT_THAT(refusal_of("ld.global.u32 %r1, %rd1;"), HasSubstr("no [...]"));
  EXPECT_THAT(refusal_of("ld.global.u32 %r1, [%rd1+%rd2];"), HasSubstr("no number"));
  EXPECT_THAT(refusal_of("ld.global.v2.u32 {%r1}, [%rd1];"), HasSubstr("1 operands, not 2"));
  EXPECT_THAT(refusal_of("ld.global.u64 %r1, [%rd1];"), HasSubstr("'%r1' does not fit"));
  EXPECT_THAT(refusal_of("bra $L_nowhere;"), HasSubstr("unknown label '$L_nowhere'"));
  EXPECT_THAT(refusal_of("@%r1 bra $L;"), HasSubstr("'%r1' does not fit"));
  EXPECT_THAT(refusal_of("add.s32 %r1, %r2, %r3"), HasSubstr("does not end with ';'"));
  EXPECT_THAT(refusal_of("$L:\n$L:"), HasSubstr("was there already"));
}

TEST(PtxRefusals, UnknownDirectives) {
  for (const char* const line : {".extern .shared .align 4 .b8 memory[];", ".local .b32 x;",
                                 ".loc 1 2 3;", ".pragma \"enable_something\";"}) {
    EXPECT_THAT(refusal_of(line), HasSubstr("unknown directive"));
  }
  EXPECT_THAT(refusal_of(".reg .b128 %q<3>;"), HasSubstr("unknown kind of registers"));
  EXPECT_THAT(refusal_of(".reg .b32 %q;"), HasSubstr("unknown kind of registers"));
  EXPECT_THAT(refusal_of(".reg .b32 %q<x>;"), HasSubstr("unknown number of registers"));
}

TEST(PtxRefusals, UnknownSharedMemoryAndBarriers) {
  for (const char* const line :
       {".shared .b32 x;", ".shared .align 4 .b32 x[4];", ".shared .align 4 .b8 x;"}) {
    EXPECT_THAT(refusal_of(line), HasSubstr("unknown kind of shared memory"));
  }
  for (const char* const line : {".shared .align 0 .b8 x[4];", ".shared .align 32 .b8 x[4];",
                                 ".shared .align 4 .b8 x[];", ".shared .align 4 .b8 x[49153];"}) {
    EXPECT_THAT(refusal_of(line), HasSubstr("unknown size of shared memory"));
  }
  const std::string most = ".shared .align 4 .b8 x[49152];\n";
  EXPECT_THAT(refusal_of(most + ".shared .align 4 .b8 y[4];"), HasSubstr("too much shared memory"));
  EXPECT_THAT(refusal_of("ld.shared.u32 %r1, [%rs1];"), HasSubstr("'%rs1' does not fit"));
  EXPECT_THAT(refusal_of("ld.shared.u32 %r1, [x];"), HasSubstr("unknown operand 'x'"));
  EXPECT_THAT(refusal_of("bar.sync 1;"), HasSubstr("unknown barrier"));
  EXPECT_THAT(refusal_of("bar.sync 0, 64;"), HasSubstr("2 operands, not 1"));
}

std::string refusal_of_text(const std::string& text) {
  return parse(text).status().message();
}

TEST(PtxRefusals, WhatIsAroundTheKernels) {
  EXPECT_THAT(refusal_of_text(".address_size 32\n"), HasSubstr("unknown directive"));
  EXPECT_THAT(refusal_of_text(".func f(\n"), HasSubstr("line 1, '.func f('"));
  EXPECT_THAT(refusal_of_text(".global .b32 x;\n"), HasSubstr("unknown directive"));
  EXPECT_THAT(refusal_of_text(".visible .entry k(\n"), HasSubstr("ends within a kernel"));
  const std::string kernel = ".visible .entry k(\n";
  const std::string table = ".param .align 8 .b8 k_param_0[8]\n";
  EXPECT_THAT(refusal_of_text(kernel + ".param .u64 k_param_0\n"), HasSubstr("is no table"));
  EXPECT_THAT(refusal_of_text(kernel + ".param .align 8 .b8 k_param_1[8]\n"),
              HasSubstr("a second one"));
  EXPECT_THAT(refusal_of_text(kernel + table + ")\n.maxntid 256, 1, 1\n"), HasSubstr("no '{'"));
  const std::string whole = kernel + table + ")\n{\nret;\n}\n";
  EXPECT_EQ(refusal_of_text(whole), "");
  EXPECT_THAT(refusal_of_text(whole + whole), HasSubstr("a second kernel of the same name"));
}

TEST(PtxMutations, ChangeOneLineEach) {
  const std::string text = kernel_text(
      "// add.s32\n\tld.param.u32 %r1, [test_param_0+8];\n\tadd.s32 %r2, %r1, 1;\n"
      "setp.lt.s32 %p1, %r1, %r2;\n@%p1 bra $L;\n$L:\n");
  std::vector<std::string> found;
  for (const Mutation& mutation : mutations_of(text)) {
    EXPECT_EQ(mutation.kernel, "test");
    EXPECT_TRUE(parse(mutation.program).ok());
    found.push_back(std::to_string(mutation.line) + ": " + mutation.after);
  }
  EXPECT_THAT(found,
              ::testing::ElementsAre("15: ld.param.u32 %r1, [test_param_0+16];",
                                     "16: sub.s32 %r2, %r1, 1;", "17: setp.ge.s32 %p1, %r1, %r2;",
                                     "17: setp.le.s32 %p1, %r1, %r2;", "18: @!%p1 bra $L;"));
}

}  // namespace
}  // namespace xtts::testing::ptx
