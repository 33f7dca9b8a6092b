// Tests of the words for options that do nothing. The rules for wrong values are tested with the
// public reader.
#include "loader/option_rules.hpp"

#include <gtest/gtest.h>

namespace xtts::loader {
namespace {

TEST(IdleOptions, AreNamedWhereTheyDoNothing) {
  EXPECT_EQ(idle_options({}, false), "");
  EXPECT_EQ(idle_options({.shuffle = Shuffle::kWindow, .stretch_samples = 8}, false), "");
  EXPECT_NE(idle_options({.stretch_samples = 8}, false), "");
  EXPECT_EQ(idle_options({.device = "cuda:0", .device_memory_bytes = 1}, true), "");
  EXPECT_EQ(idle_options({.device = "auto", .device_memory_bytes = 1}, false), "");
  EXPECT_EQ(idle_options({.device_memory_bytes = 1, .data_device_memory_bytes = 1}, false),
            "data_device_memory does nothing without data_device; "
            "device_memory does nothing for batches on the CPU");
}

}  // namespace
}  // namespace xtts::loader
