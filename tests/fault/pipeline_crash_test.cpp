// Tests a whole build that is interrupted at every call that changes the file system. After each
// interruption, nothing is published, or a whole cache, and the journal is true. The same command
// again ends in the bytes of an undisturbed build. The tests have a first build and an update, in
// which a clip comes, one goes and a text is mended.
#include <gtest/gtest.h>

#include "build_support.hpp"
#include "store/cache_folder.hpp"
#include "store/journal_line.hpp"
#include "support/fault_env.hpp"
#include "support/sanitized.hpp"
#include "support/wav_file.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {
namespace {

constexpr std::uint32_t kClips = 10;  // shards of 8 and 2

pipeline::BuildRequest crash_request(const std::string& store = "lmdb") {
  auto request = request_for(recipe_of_small_shards({"storage.store=" + store}), 1);
  request.max_rejects.count = 1;
  return request;
}

std::string wav(std::uint32_t number) {
  return sound_path(number, kData + "/wavs");
}

void add_corpus(MemoryEnv& env) {
  for (std::uint32_t i = 0; i < kClips; ++i)
    env.add_file(wav(i), tone_wav(200.0 + 10.0 * i, {.seconds = 0.1}));
  env.add_file(wav(3), "no sound");
  add_list(env, kClips);
}

Files undisturbed_build(MemoryEnv& env, const std::string& store = "lmdb") {
  must_build(env, crash_request(store));
  EXPECT_EQ(damage_in(env), "");
  return files_below(env);
}

const Files& first_cache(const std::string& store = "lmdb") {
  static std::map<std::string, Files> by_store;
  const auto [files, is_new] = by_store.try_emplace(store);
  if (is_new) {
    MemoryEnv env;
    add_corpus(env);
    files->second = undisturbed_build(env, store);
  }
  return files->second;
}

void begin_first(MemoryEnv& env, const std::string& /*store*/) {
  add_corpus(env);
}

// The first cache, durable, and a corpus that has changed since.
void begin_update(MemoryEnv& env, const std::string& store) {
  const Files& cache = first_cache(store);
  add_corpus(env);
  for (const auto& [path, bytes] : cache) env.add_file(kCache + "/" + path, bytes);
  env.add_file(wav(kClips), tone_wav(900.0, {.seconds = 0.1}));
  add_list(env, kClips + 1, {{5, "Mended."}});
  ASSERT_TRUE(env.remove_file(wav(7)).ok());
  std::string list = env.contents(kData + "/metadata.csv");
  const auto line = list.find(clip_name(7));
  list.erase(line, list.find('\n', line) + 1 - line);
  env.add_file(kData + "/metadata.csv", list);
}

struct Scene {
  std::string name;
  void (*begin)(MemoryEnv&, const std::string& store) = begin_first;
  std::uint64_t generation_before = 0;
  Aftermath aftermath = Aftermath::kIsACrash;
  double torn_share = 0.0;
  bool power_is_cut = false;
  std::string store = "lmdb";
  bool is_network = false;  // with a lease beside the lock
};

void PrintTo(const Scene& scene, std::ostream* out) {
  *out << scene.name;
}

// None or whole, and never less than there was.
void expect_sound_publication(MemoryEnv& env, std::uint64_t generation_before) {
  if (!env.exists(kCache + "/manifest.json")) {
    EXPECT_EQ(generation_before, 0U) << "the published cache is gone";
    return;
  }
  const auto report = verify::verify_cache(env, kCache, {.level = verify::Level::kFull});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->ok) << damage_in(env);
  EXPECT_GE(open_cache(env)->manifest().generation, generation_before);
}

// What stands under a shard's name is whole, and each line of the journal names a shard that does.
void expect_whole_shards(MemoryEnv& env, const Files& undisturbed, const std::string& store) {
  const Files found = files_below(env);
  const auto is_whole = [&](const std::string& path) {
    const auto has_it = [&](const Files& files) {
      return files.contains(path) && files.at(path) == found.at(path);
    };
    return found.contains(path) && (has_it(undisturbed) || has_it(first_cache(store)));
  };
  for (const auto& [path, bytes] : files_named(found, "shards/"))
    EXPECT_TRUE(is_whole(path)) << path;
  std::istringstream journal(env.contents(kCache + "/.build/journal"));
  for (std::string text; std::getline(journal, text);) {
    const auto line = store::decode_shard_line(text);
    if (!line) continue;  // the head, or a torn line
    for (const store::SealedShard& shard : line->sealed) {
      const std::string path = store::shard_path(kCache, shard).substr(kCache.size() + 1);
      EXPECT_TRUE(is_whole(path)) << "the journal names " << path;
    }
  }
}

class BuildInterrupted : public ::testing::TestWithParam<Scene> {
 protected:
  static Files expected() {
    MemoryEnv env;
    GetParam().begin(env, GetParam().store);
    return undisturbed_build(env, GetParam().store);
  }
};

TEST_P(BuildInterrupted, AtEveryCallAndGoesOnToTheSameBytes) {
  const Scene& scene = GetParam();
  const Files undisturbed = expected();
  std::uint64_t interrupted_count = 0;
  for (std::uint64_t call = 1; !::testing::Test::HasFailure(); call += kCallStep) {
    MemoryEnv memory;
    if (scene.is_network) memory.set_network();
    scene.begin(memory, scene.store);
    FaultEnv env(memory);
    env.set_fault(
        Fault{.at_call = call, .aftermath = scene.aftermath, .torn_share = scene.torn_share});
    const Status status = run_build(env, crash_request(scene.store)).status();
    if (!env.fault_happened()) break;
    SCOPED_TRACE("call " + std::to_string(call) + ": " + env.failed_call());
    ++interrupted_count;
    // A lock on a superseded index that cannot be had means that somebody reads it: no failure.
    const bool is_tolerated = scene.aftermath == Aftermath::kGoesOn &&
                              env.failed_call().starts_with("lock " + kCache + "/index-");
    EXPECT_EQ(status.code(), is_tolerated ? StatusCode::kOk : StatusCode::kResource)
        << status.message();
    EXPECT_TRUE(env.misuse().empty()) << env.misuse().front();

    if (scene.power_is_cut) memory.forget_unsynced();
    expect_sound_publication(memory, scene.generation_before);
    expect_whole_shards(memory, undisturbed, scene.store);
    must_build(memory, crash_request(scene.store));
    EXPECT_EQ(difference(undisturbed, files_below(memory)), "");
    // And what the second run promised is safe too.
    memory.forget_unsynced();
    expect_sound_publication(memory, scene.generation_before + 1);
  }
  EXPECT_GT(interrupted_count * kCallStep, 40U) << "a loop that ended early proves nothing";
}

INSTANTIATE_TEST_SUITE_P(
    Scenes, BuildInterrupted,
    ::testing::Values(
        Scene{.name = "FirstKilledInTheMiddleOfAWrite", .torn_share = 0.6},
        Scene{.name = "FirstLosesPower", .power_is_cut = true},
        Scene{.name = "FirstFailsOnce", .aftermath = Aftermath::kGoesOn, .torn_share = 0.6},
        Scene{.name = "FirstOfHdf5KilledInTheMiddleOfAWrite", .torn_share = 0.6, .store = "hdf5"},
        Scene{.name = "FirstOfHdf5LosesPower", .power_is_cut = true, .store = "hdf5"},
        Scene{.name = "FirstOfHdf5FailsOnce",
              .aftermath = Aftermath::kGoesOn,
              .torn_share = 0.6,
              .store = "hdf5"},
        Scene{.name = "FirstOfHdf5OnANetworkIsKilled", .store = "hdf5", .is_network = true},
        Scene{.name = "UpdateKilledInTheMiddleOfAWrite",
              .begin = begin_update,
              .generation_before = 1,
              .torn_share = 0.6},
        Scene{.name = "UpdateLosesPower",
              .begin = begin_update,
              .generation_before = 1,
              .power_is_cut = true},
        Scene{.name = "UpdateFailsOnce",
              .begin = begin_update,
              .generation_before = 1,
              .aftermath = Aftermath::kGoesOn,
              .torn_share = 0.6},
        Scene{.name = "UpdateFailsOnceAndLosesPower",
              .begin = begin_update,
              .generation_before = 1,
              .aftermath = Aftermath::kGoesOn,
              .torn_share = 0.6,
              .power_is_cut = true},
        Scene{.name = "UpdateOfHdf5LosesPower",
              .begin = begin_update,
              .generation_before = 1,
              .power_is_cut = true,
              .store = "hdf5"},
        Scene{.name = "UpdateOnANetworkLosesPower",
              .begin = begin_update,
              .generation_before = 1,
              .power_is_cut = true,
              .is_network = true},
        Scene{.name = "FirstOnANetworkIsKilled", .is_network = true},
        Scene{.name = "FirstOnANetworkFailsOnce",
              .aftermath = Aftermath::kGoesOn,
              .is_network = true}),
    [](const auto& scene) { return scene.param.name; });

TEST(Build, ADiskThatFillsUpAtAnyPlaceHarmsNothingAndCanGoOn) {
  for (const std::string store : {"lmdb", "hdf5"}) {
    std::uint64_t total_bytes = 0;
    for (const auto& [path, bytes] : first_cache(store)) total_bytes += bytes.size();
    const std::uint64_t step_bytes = total_bytes / 24 + 1;
    std::uint64_t full_count = 0;
    for (std::uint64_t room_bytes = 0; !::testing::Test::HasFailure(); room_bytes += step_bytes) {
      MemoryEnv memory;
      add_corpus(memory);
      FaultEnv env(memory);
      env.set_room_bytes(room_bytes);
      const Status status = run_build(env, crash_request(store)).status();
      if (status.ok()) break;
      SCOPED_TRACE(store + ", room for " + std::to_string(room_bytes));
      ++full_count;
      EXPECT_EQ(status.code(), StatusCode::kResource) << status.message();
      expect_sound_publication(memory, 0);
      expect_whole_shards(memory, first_cache(store), store);
      env.set_room_bytes(std::nullopt);
      must_build(env, crash_request(store));
      EXPECT_EQ(difference(first_cache(store), files_below(memory)), "");
    }
    EXPECT_GE(full_count, 20U);
  }
}

// No run of 72 calls gets through: each must stand on what the ones before have sealed.
TEST(Build, KilledAgainAndAgainEndsInTheSameBytes) {
  for (const std::uint64_t calls_a_run : {60U, 66U, 72U}) {
    MemoryEnv memory;
    add_corpus(memory);
    bool is_done = false;
    int run_count = 0;
    for (; !is_done && run_count < 100; ++run_count) {
      FaultEnv env(memory);
      env.set_fault(Fault{.at_call = calls_a_run, .aftermath = Aftermath::kIsACrash});
      is_done = run_build(env, crash_request()).ok();
      memory.forget_unsynced();
      expect_sound_publication(memory, 0);
      expect_whole_shards(memory, first_cache(), "lmdb");
    }
    EXPECT_TRUE(is_done) << calls_a_run << " calls a run";
    EXPECT_GT(run_count, 2);
    // The last power cut may have brought back files whose removal was not synced.
    must_build(memory, crash_request());
    EXPECT_EQ(difference(first_cache(), files_below(memory)), "");
  }
}

TEST(Build, AReaderKeepsItsGenerationThroughEveryCrashOfAnUpdate) {
  bool is_interrupted = true;
  for (std::uint64_t call = 1; is_interrupted && !::testing::Test::HasFailure();
       call += kCallStep) {
    MemoryEnv memory;
    begin_update(memory, "lmdb");
    auto reader = open_cache(memory);
    FaultEnv env(memory);
    env.set_fault(Fault{.at_call = call, .aftermath = Aftermath::kIsACrash});
    (void)run_build(env, crash_request());
    is_interrupted = env.fault_happened();
    must_build(memory, crash_request());
    const Files found = files_below(memory);
    for (const std::string kept : {"shards/", "index-"}) {
      for (const auto& [path, bytes] : files_named(first_cache(), kept))
        EXPECT_TRUE(found.contains(path) && found.at(path) == bytes) << path << ", call " << call;
    }
    reader.reset();
    must_build(memory, crash_request());
    EXPECT_TRUE(files_named(files_below(memory), "index-").size() == 1U)
        << "garbage goes once the reader has gone";
  }
}

}  // namespace
}  // namespace xtts::testing
