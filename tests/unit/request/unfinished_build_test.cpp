#include "request/unfinished_build.hpp"

#include <gtest/gtest.h>

namespace xtts::request {
namespace {

TEST(BuildCommand, NamesWhatIsNotTheDefault) {
  BuildOptions options;
  options.data = "my data";
  options.cache = "/cache";
  EXPECT_EQ(build_command(options), "xtts-precompute build 'my data' /cache");
  EXPECT_EQ(lasting_options(options), "");
  options.isa = "scalar";
  options.max_rejects = "3";
  options.max_gone = "100%";
  options.dtype = "float16";
  options.no_text = true;
  EXPECT_EQ(build_command(options),
            "xtts-precompute build 'my data' /cache --isa scalar --max-rejects 3 --max-gone 100% "
            "--dtype float16 --no-text");
}

// The command that goes on with an unfinished build names these options again.
TEST(BuildCommand, LimitsAndNumericsLast) {
  BuildOptions options;
  options.isa = "scalar";
  options.max_rejects = "3";
  options.max_dropped = "20%";
  options.max_gone = "100%";
  options.memory = "2G";
  EXPECT_EQ(lasting_options(options),
            " --isa scalar --max-rejects 3 --max-dropped 20% --max-gone 100%");
}

}  // namespace
}  // namespace xtts::request
