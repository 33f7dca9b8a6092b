// A cuFile that tells its version, as NVIDIA's do. Those wait for ever where /proc/modules is
// missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "cufile/cufile.hpp"
#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cufile/fake_cufile.hpp"

namespace xtts::cufile {
namespace {

TEST(CuFileVersion, IsToldAndNothingIsStartedWhereItWouldWaitForEver) {
  testing::fake_cuda::reset();
  const auto gpu = cuda::Context::open(0);
  ASSERT_TRUE(gpu.ok()) << gpu.status().message();
  const auto library = CuFile::open(**gpu);
  const std::uint64_t starts = testing::fake_cufile::call_count("cuFileDriverOpen");
  if (::access("/proc/modules", R_OK) == 0) {
    ASSERT_TRUE(library.ok()) << library.status().message();
    EXPECT_EQ((*library)->name(), "cuFile 1.14");
    EXPECT_EQ(starts, 1U);
  } else {
    EXPECT_EQ(library.status().code(), StatusCode::kUnsupported);
    EXPECT_THAT(library.status().message(), ::testing::HasSubstr("/proc/modules"));
    EXPECT_EQ(starts, 0U);
  }
}

}  // namespace
}  // namespace xtts::cufile
