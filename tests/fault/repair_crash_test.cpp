// A repair that is stopped at every call that changes the file system: what was readable before is
// readable after, and a second repair ends in the bytes of a cache that was never damaged.
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "formats/block.hpp"
#include "support/fault_env.hpp"
#include "support/sanitized.hpp"
#include "support/wav_file.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 10;  // shards of 8 and 2

void add_corpus(MemoryEnv& env) {
  for (std::uint32_t i = 0; i < kClips; ++i) {
    env.add_file(sound_path(i, kData + "/wavs"), tone_wav(200.0 + 10.0 * i, {.seconds = 0.1}));
  }
  add_list(env, kClips);
}

const Files& whole_cache() {
  static const Files files = [] {
    MemoryEnv env;
    add_corpus(env);
    must_build(env, request_for(recipe_of_small_shards(), 1));
    return files_below(env);
  }();
  return files;
}

// One record of the first mel shard, all of the tokens, and the rejects.
void add_damaged_cache(MemoryEnv& env) {
  add_corpus(env);
  for (const auto& [name, bytes] : whole_cache()) env.add_file(kCache + "/" + name, bytes);
  const auto mel = files_named(whole_cache(), "shards/mel/00000-");
  std::string bytes = mel.begin()->second;
  bytes[bytes.find("XTTSBLK1") + formats::kBlockHeaderBytes + 4] ^= 1;
  env.add_file(kCache + "/" + mel.begin()->first, bytes);
  const auto tokens = files_named(whole_cache(), "shards/tokens/");
  env.add_file(kCache + "/" + tokens.begin()->first, tokens.begin()->second.substr(0, 9000));
  env.add_file(kCache + "/rejects.jsonl", "something else\n");
}

// The lost file is made of the files around it.
void add_cache_without(MemoryEnv& env, const std::string& lost) {
  add_corpus(env);
  for (const auto& [name, bytes] : whole_cache()) {
    if (!name.starts_with(lost)) env.add_file(kCache + "/" + name, bytes);
  }
}

// A shard with a record that no clip names any more is lost.
const Files& updated_cache() {
  static const Files files = [] {
    MemoryEnv env;
    add_corpus(env);
    for (const auto& [name, bytes] : whole_cache()) env.add_file(kCache + "/" + name, bytes);
    env.add_file(sound_path(0, kData + "/wavs"), tone_wav(900.0, {.seconds = 0.1}));
    must_build(env, request_for(recipe_of_small_shards(), 1));
    return files_below(env);
  }();
  return files;
}

void add_updated_cache(MemoryEnv& env) {
  add_corpus(env);
  env.add_file(sound_path(0, kData + "/wavs"), tone_wav(900.0, {.seconds = 0.1}));
  for (const auto& [name, bytes] : updated_cache())
    if (!name.starts_with("shards/mel/00000-")) env.add_file(kCache + "/" + name, bytes);
}

Result<verify::Report> repair(Env& env) {
  verify::Options options;
  options.repair = true;
  options.sources.data.path = kData;
  options.sources.make_decoder = in_this_process();
  return verify::verify_cache(env, kCache, options);
}

void expect_others_readable(MemoryEnv& env) {
  const auto view = open_cache(env);
  ASSERT_NE(view, nullptr);
  for (std::uint64_t position = 1; position < kClips; ++position) {
    const auto record = view->read_record("mel", position);
    EXPECT_TRUE(record.ok()) << position << ": " << record.status().message();
  }
}

struct Scene {
  std::string name;
  std::string lost = {};  // how its name begins; empty: shards and rejects are damaged
  Aftermath aftermath = Aftermath::kIsACrash;
  double torn_share = 0.0;
  bool power_is_cut = false;
};

void PrintTo(const Scene& scene, std::ostream* out) {
  *out << scene.name;
}

class RepairInterrupted : public ::testing::TestWithParam<Scene> {};

TEST_P(RepairInterrupted, AtEveryCallAndEndsWithTheSameBytes) {
  const Scene& scene = GetParam();
  std::uint64_t interrupted_count = 0;
  for (std::uint64_t call = 1; !::testing::Test::HasFailure(); call += kCallStep) {
    MemoryEnv memory;
    scene.lost.empty() ? add_damaged_cache(memory) : add_cache_without(memory, scene.lost);
    FaultEnv env(memory);
    env.set_fault(
        Fault{.at_call = call, .aftermath = scene.aftermath, .torn_share = scene.torn_share});
    (void)repair(env);
    if (!env.fault_happened()) break;
    SCOPED_TRACE("call " + std::to_string(call) + ": " + env.failed_call());
    ++interrupted_count;
    EXPECT_TRUE(env.misuse().empty()) << env.misuse().front();
    if (scene.power_is_cut) memory.forget_unsynced();
    if (scene.lost.empty()) expect_others_readable(memory);

    const auto again = repair(memory);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(again->ok);
    memory.forget_unsynced();  // what it promised is safe
    EXPECT_EQ(damage_in(memory), "");
    Files files = files_below(memory);
    std::erase_if(files, [](const auto& file) { return file.first.starts_with(".build/"); });
    EXPECT_EQ(difference(whole_cache(), files), "");
  }
  EXPECT_GT(interrupted_count * kCallStep, 15U) << "a loop that ended early proves nothing";
  std::cout << scene.name << ": interrupted at " << interrupted_count << " calls\n";
}

// Every step of a renewal: the next one ends in the bytes of a repair that nothing stopped.
class RenewalInterrupted : public ::testing::TestWithParam<bool> {};

TEST_P(RenewalInterrupted, AtEveryCallAndEndsWithTheSameBytes) {
  const bool power_is_cut = GetParam();
  MemoryEnv undisturbed;
  add_updated_cache(undisturbed);
  ASSERT_TRUE(repair(undisturbed)->ok);
  const Files expected = files_below(undisturbed);
  std::uint64_t interrupted_count = 0;
  for (std::uint64_t call = 1; !HasFailure(); call += kCallStep) {
    MemoryEnv memory;
    add_updated_cache(memory);
    FaultEnv env(memory);
    env.set_fault(Fault{.at_call = call, .aftermath = Aftermath::kIsACrash, .torn_share = 0.6});
    (void)repair(env);
    if (!env.fault_happened()) break;
    SCOPED_TRACE("call " + std::to_string(call) + ": " + env.failed_call());
    ++interrupted_count;
    if (power_is_cut) memory.forget_unsynced();
    ASSERT_NE(open_cache(memory), nullptr);
    const auto again = repair(memory);
    ASSERT_TRUE(again.ok()) << again.status().message();
    EXPECT_TRUE(again->ok);
    memory.forget_unsynced();
    EXPECT_EQ(damage_in(memory), "");
    // The next build collects the files that a crash right after publishing has left behind.
    auto view = open_cache(memory);
    EXPECT_EQ(view->manifest().generation, 3U);
    view.reset();
    EXPECT_TRUE(must_build(memory, request_for(recipe_of_small_shards(), 1)).unchanged);
    Files files = published_files(memory);
    Files wanted = expected;
    wanted.erase("sources.bin");
    EXPECT_EQ(difference(wanted, files), "");
  }
  EXPECT_GT(interrupted_count * kCallStep, 20U) << "a loop that ended early proves nothing";
  std::cout << "interrupted at " << interrupted_count << " calls\n";
}

INSTANTIATE_TEST_SUITE_P(Power, RenewalInterrupted, ::testing::Bool());

INSTANTIATE_TEST_SUITE_P(
    Scenes, RepairInterrupted,
    ::testing::Values(
        Scene{.name = "KilledInTheMiddleOfAWrite", .torn_share = 0.6},
        Scene{.name = "LosesPower", .power_is_cut = true},
        Scene{.name = "FailsOnce", .aftermath = Aftermath::kGoesOn, .torn_share = 0.6},
        Scene{.name = "OfTheIndexKilled", .lost = "index-", .torn_share = 0.6},
        Scene{.name = "OfTheIndexLosesPower", .lost = "index-", .power_is_cut = true},
        Scene{.name = "OfTheManifestKilled", .lost = "manifest.json", .torn_share = 0.6},
        Scene{.name = "OfTheManifestLosesPower", .lost = "manifest.json", .power_is_cut = true}),
    [](const auto& scene) { return scene.param.name; });

}  // namespace
}  // namespace xtts::testing
