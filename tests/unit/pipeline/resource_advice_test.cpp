// The words of a build when the disk is full or CACHE cannot be written.
#include "pipeline/resource_advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "pipeline/build_plan.hpp"

namespace xtts::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint64_t kKib = 1024;

// A disk on which nothing fits any more once `path_part` is written to.
void fill_disk_at(MemoryEnv& env, std::string path_part, std::uint64_t free_bytes) {
  env.set_free_bytes(free_bytes);
  env.set_hook([path_part = std::move(path_part)](EnvOperation& operation) {
    const bool hit =
        operation.call == EnvCall::kAppend && operation.path.find(path_part) != std::string::npos;
    return hit ? Status(StatusCode::kResource, "writing " + operation.path + ": No space left")
               : Status();
  });
}

TEST(ResourceAdvice, TellsBytesNeededBytesFreeAndWhatToDo) {
  for (const std::string layout : {"padded", "packed"}) {
    MemoryEnv env;
    add_listed_sounds(env, 10);
    fill_disk_at(env, "/.build/mel-0", 3 * kKib);
    const Status status =
        run_build(env, request_for(recipe_with({"storage.layout=" + layout}))).status();
    EXPECT_EQ(status.code(), StatusCode::kResource);
    EXPECT_THAT(status.message(), AllOf(HasSubstr("No space left"), HasSubstr("3.0 KiB free"),
                                        HasSubstr("needs about"), HasSubstr("run again")))
        << layout;
  }
}

TEST(ResourceAdvice, SaysNothingOfSpaceWhereThereIsEnough) {
  MemoryEnv env;
  add_listed_sounds(env, 10);
  fill_disk_at(env, "/.build/mel-0", std::uint64_t{1} << 40U);
  const Status status = run_build(env, request_for(recipe_with())).status();
  EXPECT_THAT(status.message(), AllOf(HasSubstr("No space left"), Not(HasSubstr("needs about"))));
}

TEST(ResourceAdvice, OfACacheThatCannotBeWrittenNamesTheWaysOut) {
  MemoryEnv env;
  add_listed_sounds(env, 2);
  env.set_hook([](EnvOperation& operation) {
    return operation.call == EnvCall::kCreateDirectories
               ? Status(StatusCode::kResource, "creating folder: Read-only file system")
               : Status();
  });
  const Status status = run_build(env, request_for(recipe_with())).status();
  EXPECT_EQ(status.code(), StatusCode::kResource);
  EXPECT_THAT(status.message(),
              AllOf(HasSubstr("Read-only file system"), HasSubstr("name another CACHE")));
}

// The estimate, before anything is there, against what the build then writes.
TEST(ResourceAdvice, EstimatesTheBytesOfAWholeBuild) {
  for (const std::string storage : {"padded", "packed"}) {
    MemoryEnv env;
    add_listed_sounds(env, 100);
    const auto request = request_for(recipe_with({"storage.layout=" + storage}));
    const auto plan = pipeline::make_plan({.env = env, .build = request, .recipe = request.recipe});
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const std::uint64_t needed = pipeline::bytes_left_to_write(env, *plan, request, {}, nullptr, 0);
    must_build(env, request);
    std::uint64_t written = 0;
    for (const auto& [path, bytes] : files_below(env)) written += bytes.size();
    EXPECT_GT(needed, written / 2) << storage;
    EXPECT_LT(needed, written * 2) << storage;
  }
}

TEST(ResourceAdvice, LeavesOutWhatIsSealed) {
  MemoryEnv env;
  add_listed_sounds(env, 20);  // shards of 8
  auto request = request_for(recipe_of_small_shards());
  TestObserver observer;
  observer.cancel_at = 19;
  ASSERT_EQ(pipeline::build(env, request, observer).status().code(), StatusCode::kCancelled);
  const auto plan = pipeline::make_plan({.env = env, .build = request, .recipe = request.recipe});
  ASSERT_TRUE(plan.ok());
  const auto left = [&](const std::string& cache) {
    request.options.cache = cache;
    return pipeline::bytes_left_to_write(env, *plan, request, {}, nullptr, 0);
  };
  std::uint64_t sealed = 0;
  for (const auto& [path, bytes] : files_named(files_below(env), "shards/mel/"))
    sealed += bytes.size();
  ASSERT_GT(sealed, 0U);
  EXPECT_EQ(left("/elsewhere") - left(kCache), sealed);
}

}  // namespace
}  // namespace xtts::testing
