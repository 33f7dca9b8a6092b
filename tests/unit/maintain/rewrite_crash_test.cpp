// Tests compact, convert, merge and add_column, interrupted at every call that changes the file
// system, with and without loss of what was not synced. Afterwards the old cache or the new one is
// there, whole. The same command again ends in the bytes of an undisturbed one.
#include <gtest/gtest.h>

#include "grown_cache.hpp"
#include "maintain/column_addition.hpp"
#include "maintain/merge.hpp"
#include "maintain/rewrite.hpp"
#include "support/fault_env.hpp"
#include "support/sanitized.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {
namespace {

const std::string kNew = "/new";

struct Rewrite {
  std::string name;
  Status (*run)(Env&);
  std::string target;
  bool power_is_cut = false;
  Aftermath aftermath = Aftermath::kIsACrash;
};

void PrintTo(const Rewrite& rewrite, std::ostream* out) {
  *out << rewrite.name;
}

Status run_compact(Env& env) {
  return maintain::compact(env, {.cache = kCache}).status();
}

Status run_convert(Env& env) {
  return maintain::convert(
             env, {.from = kCache,
                   .to = kNew,
                   .storage = {.layout = formats::Layout::kPacked, .dtype = DType::kFloat16}})
      .status();
}

Status run_merge(Env& env) {
  return maintain::merge(env, {.to = kNew, .parts = {"/part-1", "/part-2"}}).status();
}

// One shard, and what it is given before it is sealed.
Status run_add_column(Env& env) {
  auto addition = maintain::ColumnAddition::open(
      env, kCache, {.name = "voice", .axis = formats::Axis::kFixed, .row_shape = {64}}, {});
  if (!addition) return addition.status();
  const std::vector<std::byte> rows(64 * sizeof(float), std::byte{63});
  while ((*addition)->done_count() < (*addition)->to_make().size()) {
    if (Status status = (*addition)->put(rows); !status.ok()) return status;
  }
  return (*addition)->finish().status();
}

// The grown cache, and two parts of a smaller one, durable.
void begin(MemoryEnv& env) {
  static const std::map<std::string, Files> folders = [] {
    MemoryEnv built;
    build_grown(built);
    std::map<std::string, Files> made = {{kCache, files_below(built)}};
    add_listed_sounds(built, 12);
    for (std::uint32_t index = 1; index <= 2; ++index) {
      auto part = grown_request();
      part.options.cache = "/part-" + std::to_string(index);
      part.partition = {.index = index, .count = 2};
      must_build(built, part);
      made[part.options.cache] = files_below(built, part.options.cache);
    }
    return made;
  }();
  for (const auto& [folder, files] : folders) {
    for (const auto& [path, bytes] : files) env.add_file(folder + "/" + path, bytes);
  }
}

// Notes are no damage: the copy of the rejects comes after the manifest.
bool is_sound(Env& env, const std::string& cache) {
  const auto report = verify::verify_cache(env, cache, {.level = verify::Level::kFull});
  return report.ok() && report->ok;
}

class RewriteInterrupted : public ::testing::TestWithParam<Rewrite> {};

TEST_P(RewriteInterrupted, AtEveryCallLeavesOneCacheWholeAndGoesOn) {
  const Rewrite& rewrite = GetParam();
  MemoryEnv undisturbed;
  begin(undisturbed);
  ASSERT_TRUE(rewrite.run(undisturbed).ok());
  const Files expected = files_below(undisturbed, rewrite.target);

  std::uint64_t interrupted_count = 0;
  for (std::uint64_t call = 1; !::testing::Test::HasFailure(); call += kCallStep) {
    MemoryEnv memory;
    begin(memory);
    FaultEnv env(memory);
    env.set_fault(Fault{.at_call = call, .aftermath = rewrite.aftermath, .torn_share = 0.6});
    const Status status = rewrite.run(env);
    if (!env.fault_happened()) break;
    SCOPED_TRACE("call " + std::to_string(call) + ": " + env.failed_call());
    ++interrupted_count;
    EXPECT_TRUE(env.misuse().empty()) << env.misuse().front();
    if (rewrite.power_is_cut) memory.forget_unsynced();
    EXPECT_TRUE(is_sound(memory, kCache)) << damage_in(memory);
    if (memory.exists(rewrite.target + "/manifest.json")) {
      EXPECT_TRUE(is_sound(memory, rewrite.target)) << damage_in(memory, rewrite.target);
    }

    // A lock that cannot be had means that somebody reads the older generation: no failure.
    if (!status.ok() || env.failed_call().starts_with("lock ")) {
      const Status again = rewrite.run(memory);
      ASSERT_TRUE(again.ok()) << again.message();
    }
    // The same command ends where it would have ended, and leaves nothing else. The copy of the
    // rejects for people is the next build's to mend.
    Files wanted = expected;
    Files found = files_below(memory, rewrite.target);
    for (Files* files : {&wanted, &found}) {
      files->erase("sources.bin");
      files->erase("rejects.jsonl");
    }
    EXPECT_EQ(difference(wanted, found), "");
  }
  EXPECT_GT(interrupted_count * kCallStep, 20U) << "a loop that ended early proves nothing";
  std::cout << rewrite.name << ": interrupted at " << interrupted_count << " calls\n";
}

std::vector<Rewrite> rewrites() {
  std::vector<Rewrite> all;
  for (const Rewrite& one : {Rewrite{"Compact", run_compact, kCache},
                             {"Convert", run_convert, kNew},
                             {"AddColumn", run_add_column, kCache},
                             {"Merge", run_merge, kNew}}) {
    all.push_back(one);
    all.back().name += "Killed";
    if (kIsSanitized) continue;
    all.push_back(one);
    all.back().name += "LosesPower";
    all.back().power_is_cut = true;
    all.push_back(one);
    all.back().name += "FailsOnce";
    all.back().aftermath = Aftermath::kGoesOn;
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Commands, RewriteInterrupted, ::testing::ValuesIn(rewrites()),
                         [](const auto& instance) { return instance.param.name; });

}  // namespace
}  // namespace xtts::testing
