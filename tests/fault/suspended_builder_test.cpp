// A builder that is suspended before any of its calls that change the file system, for so long that
// a builder of another host takes the cache over, builds it anew and publishes. When the first one
// wakes it ends, and what the second has published is whole.
//
// The hook runs the second builder inside the first one's call: exactly between its last look at
// the lease and the call.
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "store/cache_folder.hpp"
#include "support/sanitized.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 10;  // shards of 8 and 2
const std::string kOtherData = "/other";

const Files& whole_cache() {
  static const Files files = [] {
    MemoryEnv env;
    add_sounds(env, kClips);
    must_build(env, request_for(recipe_of_small_shards(), 1));
    return files_below(env);
  }();
  return files;
}

bool changes_files(const EnvOperation& operation) {
  switch (operation.call) {
    case EnvCall::kOpenForWrite:
    case EnvCall::kCreateDirectories:
    case EnvCall::kRename:
    case EnvCall::kLink:
    case EnvCall::kRemoveFile:
    case EnvCall::kRemoveDirectory:
      return true;
    default:
      return false;
  }
}

struct Scene {
  std::string name;
  bool first_overwrites = false;
  std::string second_data = kData;
};

void PrintTo(const Scene& scene, std::ostream* out) {
  *out << scene.name;
}

class BuilderSuspended : public ::testing::TestWithParam<Scene> {};

TEST_P(BuilderSuspended, BeforeAnyCallLeavesTheOthersCacheWhole) {
  const Scene& scene = GetParam();
  std::uint64_t suspended_count = 0;
  bool was_suspended = true;
  for (std::uint64_t call = 1; was_suspended && !HasFailure(); call += kCallStep) {
    MemoryEnv here;
    here.set_network();
    const auto there = here.other_host("there");
    add_sounds(here, kClips);
    add_sounds(here, kClips / 2, kOtherData);
    for (const auto& [name, bytes] : whole_cache()) here.add_file(kCache + "/" + name, bytes);
    here.add_file(sound_path(0), sound(77));  // so that the first builder has work
    auto first = request_for(recipe_of_small_shards(), 1);
    first.options.overwrite = scene.first_overwrites;
    auto second = request_for(recipe_of_small_shards(), 1);
    second.data.path = scene.second_data;
    second.options.overwrite = true;

    std::atomic<std::uint64_t> count = 0;
    std::atomic<bool> is_second_running = false;
    std::string suspended_before;
    was_suspended = false;
    here.set_hook([&](EnvOperation& operation) {
      if (is_second_running || !changes_files(operation) || ++count != call) return Status();
      is_second_running = true;
      was_suspended = true;
      suspended_before = operation.path;
      const auto report = run_build(here, second);
      EXPECT_TRUE(report.ok()) << report.status().message();
      return Status();
    });
    const auto report = run_build(*there, first);
    here.set_hook({});
    if (!was_suspended) break;
    ++suspended_count;
    SCOPED_TRACE("suspended before call " + std::to_string(call) + ", of " + suspended_before +
                 (report.ok() ? std::string() : "; it ended: " + report.status().message()));
    if (!report.ok() && report.status().code() != StatusCode::kBusy) {
      ADD_FAILURE() << "does not say that another has taken over";
    }
    EXPECT_EQ(damage_in(here), "");
    const std::size_t expected = scene.second_data == kData ? kClips : kClips / 2;
    // A first one that had not begun when the second ended is a builder like any other.
    if (!report.ok() || scene.second_data == kData) {
      EXPECT_EQ(stored_ids(here).size(), expected);
    }
  }
  EXPECT_GT(suspended_count * kCallStep, 20U) << "a loop that ended early proves nothing";
  std::cout << scene.name << ": suspended before " << suspended_count << " calls\n";
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, BuilderSuspended,
    ::testing::Values(Scene{.name = "InAnUpdate"},
                      Scene{.name = "InAnUpdateBesideOtherData", .second_data = kOtherData},
                      Scene{.name = "WhileItOverwrites", .first_overwrites = true},
                      Scene{.name = "WhileItOverwritesBesideOtherData",
                            .first_overwrites = true,
                            .second_data = kOtherData}),
    [](const auto& scene) { return scene.param.name; });

}  // namespace
}  // namespace xtts::testing
