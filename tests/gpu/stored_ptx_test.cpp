// The driver compiles the stored PTX, also in a build that has compiled kernels, too.
#include <gtest/gtest.h>

#include <cstddef>

#include "cuda/context.hpp"
#include "cuda/module.hpp"

// NOLINTBEGIN(readability-identifier-naming): symbols of assembler
extern "C" const std::byte xtts_range_kernels_ptx[];
extern "C" const std::byte xtts_frame_kernels_ptx[];
// NOLINTEND(readability-identifier-naming)

namespace xtts::cuda {
namespace {

void expect_loads(const std::byte* ptx) {
  const auto context = Context::open(0);
  ASSERT_TRUE(context.ok()) << context.status().message();
  const auto module = Module::load(*context, {.compiled = ptx, .ptx = ptx});
  EXPECT_TRUE(module.ok()) << module.status().message();
}

// Its name has "Cuda", so that it runs wherever tests of GPUs are chosen by that.
TEST(StoredPtxCuda, IsCompiledByTheDriver) {
  expect_loads(xtts_range_kernels_ptx);
  expect_loads(xtts_frame_kernels_ptx);
}

}  // namespace
}  // namespace xtts::cuda
