// The rules for a thread's use of memory, and the words where it breaks one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "support/ptx/test_kernel.hpp"

namespace xtts::testing::ptx {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Use = MemoryRange::Use;

// Words 0 and 1 of the table are the addresses of two arrays.
class PtxMemory : public ::testing::Test {
 protected:
  std::string run_with(const std::string& body, Use first, Use second, std::uint32_t threads = 1,
                       std::uint32_t blocks = 1) {
    Launch launch;
    launch.block_x = threads;
    launch.grid_x = blocks;
    launch.steps_max = 1000;
    launch.memory = {range("first", first_, first), range("second", second_, second)};
    const std::string begin =
        "ld.param.u64 %rd0, [test_param_0];\nld.param.u64 %rd1, [test_param_0+8];\n"
        "mov.u32 %r1, %tid.x;\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd0, %rd2;\n"
        "mov.u32 %r2, 5;\n";
    return run_body(begin + body, {address_of(first_), address_of(second_)}, launch).message();
  }

  using Array = std::array<std::uint32_t, 4>;
  static std::uint64_t address_of(const Array& array) {
    return reinterpret_cast<std::uint64_t>(array.data());
  }
  static MemoryRange range(const char* name, const Array& array, Use use) {
    return {.name = name, .address = address_of(array), .size_bytes = sizeof array, .use = use};
  }

  alignas(16) Array first_ = {1, 2, 3, 4};
  alignas(16) Array second_ = {};
};

TEST_F(PtxMemory, EachThreadHasItsOwnPlace) {
  EXPECT_EQ(run_with("st.global.u32 [%rd3], %r1;\n", Use::kWrite, Use::kRead, 4), "");
  EXPECT_EQ(first_, (Array{0, 1, 2, 3}));
}

TEST_F(PtxMemory, BlocksAndThreadsHaveTheirNumbers) {
  EXPECT_EQ(run_with("mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\n"
                     "mad.lo.s32 %r5, %r3, %r4, %r1;\nmul.wide.u32 %rd2, %r5, 4;\n"
                     "add.s64 %rd3, %rd0, %rd2;\nmov.u32 %r6, %nctaid.x;\n"
                     "mad.lo.s32 %r5, %r6, 100, %r5;\nst.global.u32 [%rd3], %r5;\n",
                     Use::kWrite, Use::kRead, 2, 2),
            "");
  EXPECT_EQ(first_, (Array{200, 201, 202, 203}));
}

TEST_F(PtxMemory, VectorsAndSmallValues) {
  EXPECT_EQ(run_with("ld.global.v2.u32 {%r3, %r4}, [%rd0+8];\n"
                     "st.global.v2.u32 [%rd1], {%r4, %r3};\nst.global.u8 [%rd1+9], %r2;\n",
                     Use::kRead, Use::kWrite),
            "");
  EXPECT_EQ(second_, (Array{4, 3, 0x500, 0}));
  first_[0] = 0xFFFFFF80;
  EXPECT_EQ(run_with("ld.global.s8 %r3, [%rd0];\nld.global.u8 %r4, [%rd0];\n"
                     "st.global.u32 [%rd1], %r3;\nst.global.u32 [%rd1+4], %r4;\n",
                     Use::kRead, Use::kWrite),
            "");
  EXPECT_EQ(second_[0], 0xFFFFFF80U);
  EXPECT_EQ(second_[1], 0x80U);
}

TEST_F(PtxMemory, AFaultNamesKernelInstructionThreadAndPlace) {
  EXPECT_THAT(
      run_with("setp.lt.u32 %p1, %r1, 3;\n@%p1 bra $L;\nst.global.u32 [%rd3+4], %r1;\n$L:\n",
               Use::kWrite, Use::kRead, 4, 2),
      AllOf(HasSubstr("test: line 22, 'st.global.u32 [%rd3+4], %r1;', thread 3 of block (0, 0): "
                      "writes 4 bytes at 0x"),
            HasSubstr("'")));
}

TEST_F(PtxMemory, WhatIsReadOnlyIsNotWritten) {
  EXPECT_THAT(run_with("st.global.u32 [%rd3], %r1;\n", Use::kRead, Use::kRead),
              HasSubstr("byte 0 of 'first', which it may not write"));
  EXPECT_THAT(run_with("ld.global.u32 %r3, [%rd0+4];\n", Use::kWrite, Use::kRead),
              HasSubstr("byte 4 of 'first', which it may not read"));
}

TEST_F(PtxMemory, MemoryOutsideOfTheRangesIsNotTouched) {
  EXPECT_THAT(run_with("mov.u64 %rd4, 64;\nld.global.u32 %r3, [%rd4];\n", Use::kRead, Use::kRead),
              HasSubstr("reads 4 bytes at 0x40, before all memory of the launch"));
  EXPECT_THAT(run_with("mov.u64 %rd4, -16;\nld.global.u32 %r3, [%rd4];\n", Use::kRead, Use::kRead),
              HasSubstr("behind the 16 bytes of '"));
  EXPECT_THAT(run_with("ld.global.u16 %r3, [%rd0+1];\n", Use::kRead, Use::kRead),
              HasSubstr("no multiple"));
  EXPECT_THAT(run_with("ld.global.v2.u32 {%r3, %r4}, [%rd0+4];\n", Use::kRead, Use::kRead),
              HasSubstr("no multiple"));
  EXPECT_THAT(run_with("ld.param.u64 %rd4, [test_param_0+64];\n", Use::kRead, Use::kRead),
              HasSubstr("byte 64 of its table, which has 64"));
  EXPECT_THAT(
      run_with("mov.u64 %rd4, test_param_0;\nld.global.u32 %r3, [%rd4];\n", Use::kRead, Use::kRead),
      HasSubstr("reads 4 bytes at 0x"));
}

TEST_F(PtxMemory, TwoThreadsDoNotShareAPlaceThatOneWrites) {
  const std::string write = "st.global.u32 [%rd0], %r2;\n";
  EXPECT_THAT(run_with(write, Use::kWrite, Use::kRead, 2),
              HasSubstr("byte 0 of 'first', which another thread wrote: 0x"));
  EXPECT_EQ(run_with(write + write, Use::kWrite, Use::kRead), "");  // one thread may, twice
  const std::string read_own = "ld.global.u32 %r3, [%rd3];\n";
  const std::string write_own = "st.global.u32 [%rd3], %r2;\n";
  EXPECT_EQ(run_with(read_own + write_own + read_own, Use::kReadAndWrite, Use::kRead, 4), "");
  EXPECT_THAT(
      run_with(write_own + "ld.global.u32 %r3, [%rd0];\n", Use::kReadAndWrite, Use::kRead, 2),
      HasSubstr("reads byte 0 of 'first', which another thread wrote"));
  EXPECT_THAT(
      run_with("ld.global.u32 %r3, [%rd0+4];\n" + write_own, Use::kReadAndWrite, Use::kRead, 2),
      HasSubstr("writes byte 4 of 'first', which another thread read"));
}

TEST_F(PtxMemory, AFlagTakesOneValueFromAllThreads) {
  EXPECT_EQ(run_with("st.global.u32 [%rd0], %r2;\n", Use::kFlag, Use::kRead, 3), "");
  EXPECT_EQ(first_[0], 5U);
  EXPECT_THAT(run_with("st.global.u32 [%rd0], %r1;\n", Use::kFlag, Use::kRead, 3),
              HasSubstr("which another thread wrote"));
}

TEST_F(PtxMemory, AThreadEndsAndKnowsItsRegisters) {
  EXPECT_THAT(run_with("$L_again:\nbra.uni $L_again;\n", Use::kRead, Use::kRead),
              HasSubstr("does not end after 1000 steps"));
  EXPECT_THAT(run_with("add.s32 %r3, %r4, 1;\n", Use::kRead, Use::kRead),
              HasSubstr("reads a register that it has not set"));
  EXPECT_THAT(run_with("mov.u32 %r3, 0;\ndiv.s32 %r3, %r1, %r3;\n", Use::kRead, Use::kRead),
              HasSubstr("divides by 0"));
  // The registers that the thread before has set are gone.
  EXPECT_THAT(run_with("setp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u32 %r3, 1;\nadd.s32 %r4, %r3, 1;\n",
                       Use::kRead, Use::kRead, 2),
              HasSubstr("thread 1 of block (0, 0): reads a register that it has not set"));
}

// Each thread writes its number to `sums`, and reads its neighbour's.
std::string swap_by_shared(const std::string& barrier) {
  return ".shared .align 4 .b8 before[4];\n.shared .align 8 .b8 sums[16];\n"
         "mov.u32 %r3, sums;\nshl.b32 %r4, %r1, 2;\nadd.s32 %r5, %r3, %r4;\n"
         "st.shared.u32 [%r5], %r1;\n" +
         barrier +
         "xor.b32 %r6, %r1, 1;\nshl.b32 %r4, %r6, 2;\nadd.s32 %r5, %r3, %r4;\n"
         "ld.shared.u32 %r7, [%r5];\nst.global.u32 [%rd3], %r7;\n";
}

TEST_F(PtxMemory, ABarrierOrdersWhatABlockShares) {
  EXPECT_EQ(run_with(swap_by_shared("bar.sync 0;\n"), Use::kWrite, Use::kRead, 4), "");
  EXPECT_EQ(first_, (Array{1, 0, 3, 2}));
  EXPECT_THAT(run_with(swap_by_shared(""), Use::kWrite, Use::kRead, 4),
              AllOf(HasSubstr("thread 0 of block (0, 0)"),
                    HasSubstr("byte 4 of 'sums', which no thread has written")));
  // A write after a read needs a barrier, too.
  const std::string again = swap_by_shared("bar.sync 0;\n") + "st.shared.u32 [sums+12], %r1;\n";
  EXPECT_THAT(run_with(again, Use::kWrite, Use::kRead, 4),
              HasSubstr("writes byte 12 of 'sums', which another thread"));
}

TEST_F(PtxMemory, SharedMemoryIsThatOfOneBlock) {
  const std::string write_in_first =
      ".shared .align 4 .b8 sums[8];\nmov.u32 %r3, %ctaid.x;\nsetp.ne.u32 %p1, %r3, 0;\n"
      "@%p1 bra $L;\nst.shared.u32 [sums], %r1;\n$L:\nld.shared.u32 %r4, [sums];\n";
  EXPECT_EQ(run_with(write_in_first, Use::kRead, Use::kRead), "");
  EXPECT_THAT(run_with(write_in_first, Use::kRead, Use::kRead, 1, 2),
              AllOf(HasSubstr("block (1, 0)"), HasSubstr("which no thread has written")));
  EXPECT_THAT(run_with(".shared .align 4 .b8 sums[8];\nst.shared.u32 [sums+8], %r1;\n", Use::kRead,
                       Use::kRead),
              HasSubstr("behind the 8 bytes of 'sums'"));
  EXPECT_THAT(run_with(".shared .align 4 .b8 sums[8];\nst.shared.u32 [sums+-4], %r1;\n", Use::kRead,
                       Use::kRead),
              HasSubstr("before all memory"));
  EXPECT_THAT(run_with("st.shared.u32 [%rd0], %r1;\n", Use::kWrite, Use::kRead),
              HasSubstr("before all memory"));
}

TEST_F(PtxMemory, ABarrierDoesNotOrderOtherMemory) {
  EXPECT_THAT(run_with("st.global.u32 [%rd3], %r1;\nbar.sync 0;\nld.global.u32 %r3, [%rd0];\n",
                       Use::kReadAndWrite, Use::kRead, 2),
              HasSubstr("reads byte 0 of 'first', which another thread wrote"));
}

TEST_F(PtxMemory, AllThreadsOfABlockComeToABarrier) {
  const std::string last = "setp.eq.u32 %p1, %r1, 3;\n";
  EXPECT_THAT(run_with(last + "@%p1 bar.sync 0;\n", Use::kRead, Use::kRead, 4),
              AllOf(HasSubstr("'@%p1 bar.sync 0;', thread 3 of"),
                    HasSubstr("not all threads of the block come here")));
  EXPECT_THAT(run_with(last + "@!%p1 bar.sync 0;\n", Use::kRead, Use::kRead, 4),
              AllOf(HasSubstr("thread 0 of"), HasSubstr("not all threads")));
  EXPECT_THAT(run_with(last + "@%p1 bar.sync 0;\n@!%p1 bar.sync 0;\n", Use::kRead, Use::kRead, 4),
              HasSubstr("not all threads"));
  EXPECT_EQ(run_with("bar.sync 0;\nbar.sync 0;\n", Use::kRead, Use::kRead, 4, 2), "");
}

TEST_F(PtxMemory, RangesLieApart) {
  Launch launch;
  launch.memory = {range("first", first_, Use::kRead), range("again", first_, Use::kRead)};
  EXPECT_THAT(run_body("", {}, launch).message(), HasSubstr("overlap"));
}

TEST_F(PtxMemory, ALaunchFitsItsKernel) {
  const Words table = {};
  EXPECT_THAT(run({}, {.kernel = "test"}).message(), HasSubstr("no kernel 'test'"));
  const auto program = Program{{"test", Kernel{.name = "test", .table_bytes = 8}}};
  EXPECT_THAT(run(program, {.kernel = "test", .table = std::as_bytes(std::span(table))}).message(),
              HasSubstr("its table has 8 bytes, the launch's 64"));
}

}  // namespace
}  // namespace xtts::testing::ptx
