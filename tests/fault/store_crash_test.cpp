// Tests everything in src/store: the steps of two generations are interrupted at every call that
// changes the file system. After each interruption, the published cache is whole, the journal is
// true, and the same steps again end in the bytes of an undisturbed run.
#include <gtest/gtest.h>

#include "formats/manifest.hpp"
#include "store/journal_line.hpp"
#include "store_builder.hpp"
#include "support/fault_env.hpp"
#include "support/memory_env.hpp"
#include "support/sanitized.hpp"

namespace xtts::testing {
namespace {

using formats::StoreKind;

Files tree_of(MemoryEnv& env) {
  Files files;
  for (const std::string& path : env.all_files()) files[path] = env.contents(path);
  return files;
}

const Files& undisturbed(StoreKind store) {
  static std::map<StoreKind, Files> by_store;
  const auto [files, is_new] = by_store.try_emplace(store);
  if (!is_new) return files->second;
  MemoryEnv env;
  env.add_folder("/data");
  const Status status = build_both(env, store);
  EXPECT_TRUE(status.ok()) << status.message();
  return files->second = tree_of(env);
}

// The published generation, 0 where there is none. Everything that it names must be there, byte for
// byte.
std::uint64_t published_generation(MemoryEnv& env, StoreKind store) {
  const std::string path = store::manifest_path(std::string(kCache));
  if (!env.exists(path)) return 0;
  const auto manifest = formats::decode_manifest(env.contents(path));
  EXPECT_TRUE(manifest.ok()) << manifest.status().message();
  if (!manifest) return 0;
  for (const auto& [name, bytes] : files_of(store, manifest->generation)) {
    EXPECT_TRUE(env.contents(name) == bytes) << name << " is not whole";
  }
  return manifest->generation;
}

// Invariant 1: whatever stands under a published name is complete.
void expect_no_partial_shard(MemoryEnv& env, StoreKind store) {
  for (const auto& [path, bytes] : tree_of(env)) {
    if (!path.starts_with(join_path(kCache, "shards/"))) continue;
    ASSERT_TRUE(all_shards(store).contains(path)) << path;
    EXPECT_TRUE(all_shards(store).at(path) == bytes) << path << " is partial";
  }
}

// Every line that reads back right names a shard that is there, complete.
void expect_true_journal(MemoryEnv& env, StoreKind store) {
  const std::string text = env.contents(join_path(kCache, ".build/journal"));
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
    const auto line = store::decode_shard_line(std::string_view(text).substr(begin, end - begin));
    begin = end + 1;
    if (!line) continue;  // the head
    const auto& sealed = line->sealed.front();
    const std::string path = store::shard_path(std::string(kCache), sealed);
    ASSERT_TRUE(all_shards(store).contains(path));
    EXPECT_TRUE(env.contents(path) == all_shards(store).at(path)) << path;
  }
}

enum class Power : std::uint8_t { kStays, kIsCut };

struct Way {
  std::string name;
  Aftermath aftermath = Aftermath::kIsACrash;
  double torn_share = 0.0;
  Power power = Power::kStays;
  bool is_network = false;  // with a lease beside the lock
};

void PrintTo(const Way& way, std::ostream* out) {
  *out << way.name;
}

std::vector<StoreKind> stores() {
  if (kIsSanitized) return {StoreKind::kLmdb};
  return {StoreKind::kLmdb, StoreKind::kHdf5};
}

class StoreInterrupted : public ::testing::TestWithParam<std::tuple<StoreKind, Way>> {};
class StoreOf : public ::testing::TestWithParam<StoreKind> {};

std::string name_of_store(StoreKind store) {
  return store == StoreKind::kLmdb ? "Lmdb" : "Hdf5";
}

// Nothing more can be asked of the state that the fault left: `generation_max` were begun.
void expect_sound(MemoryEnv& env, StoreKind store, std::uint64_t generation_min) {
  const std::uint64_t generation = published_generation(env, store);
  EXPECT_GE(generation, generation_min) << "a generation whose build had succeeded is gone";
  expect_no_partial_shard(env, store);
  expect_true_journal(env, store);
}

TEST_P(StoreInterrupted, AtEveryCallAndGoesOnToTheSameBytes) {
  const auto& [store, way] = GetParam();
  std::uint64_t interrupted_count = 0;
  for (std::uint64_t call = 1;; ++call) {
    MemoryEnv memory;
    memory.add_folder("/data");
    if (way.is_network) memory.set_network();
    FaultEnv env(memory);
    env.set_fault(Fault{.at_call = call, .aftermath = way.aftermath, .torn_share = way.torn_share});
    const Status first = build_generation(env, store, 1);
    const Status second = first.ok() ? build_generation(env, store, 2) : first;
    if (!env.fault_happened()) break;
    SCOPED_TRACE("call " + std::to_string(call) + ": " + env.failed_call());
    ++interrupted_count;
    // A lock on a superseded index that cannot be had means that somebody reads it: no failure.
    const bool is_tolerated =
        way.aftermath == Aftermath::kGoesOn &&
        env.failed_call().starts_with(join_path("lock " + std::string(kCache), "index-"));
    EXPECT_EQ(second.code(), is_tolerated ? StatusCode::kOk : StatusCode::kResource)
        << second.message();
    EXPECT_TRUE(env.misuse().empty()) << env.misuse().front();

    if (way.power == Power::kIsCut) memory.forget_unsynced();
    expect_sound(memory, store, first.ok() ? 1 : 0);
    const Status again = build_both(memory, store);
    EXPECT_TRUE(again.ok()) << again.message();
    EXPECT_TRUE(tree_of(memory) == undisturbed(store));
    // And what the second run promised is safe too.
    memory.forget_unsynced();
    EXPECT_EQ(published_generation(memory, store), 2U);
    if (::testing::Test::HasFailure()) break;
  }
  // Two generations of sealing, journal, index, manifest, garbage and finish: a loop that ended
  // early proves nothing.
  EXPECT_GT(interrupted_count, 80U);
}

INSTANTIATE_TEST_SUITE_P(
    Ways, StoreInterrupted,
    ::testing::Combine(
        ::testing::ValuesIn(stores()),
        ::testing::Values(
            Way{.name = "Killed"}, Way{.name = "KilledInTheMiddleOfAWrite", .torn_share = 0.6},
            Way{.name = "PowerCut", .power = Power::kIsCut},
            Way{.name = "PowerCutInTheMiddleOfAWrite", .torn_share = 0.6, .power = Power::kIsCut},
            Way{.name = "FailsOnce", .aftermath = Aftermath::kGoesOn},
            Way{.name = "KilledOnANetwork", .is_network = true},
            Way{.name = "PowerCutOnANetwork", .power = Power::kIsCut, .is_network = true},
            Way{.name = "FailsOnceOnANetwork", .aftermath = Aftermath::kGoesOn, .is_network = true},
            Way{.name = "FailsOnceAndLosesPower",
                .aftermath = Aftermath::kGoesOn,
                .torn_share = 0.6,
                .power = Power::kIsCut})),
    [](const auto& way) {
      return name_of_store(std::get<0>(way.param)) + std::get<1>(way.param).name;
    });
INSTANTIATE_TEST_SUITE_P(Stores, StoreOf, ::testing::Values(StoreKind::kLmdb, StoreKind::kHdf5),
                         [](const auto& store) { return name_of_store(store.param); });

// No run of 77 calls gets through generation 1: each must stand on what the one before has sealed.
TEST_P(StoreOf, KilledAgainAndAgainEndsInTheSameBytes) {
  const StoreKind store = GetParam();
  for (const std::uint64_t calls_a_run : {72U, 74U, 77U}) {
    MemoryEnv memory;
    memory.add_folder("/data");
    bool done = false;
    int run_count = 0;
    for (; !done && run_count < 100; ++run_count) {
      FaultEnv env(memory);
      env.set_fault(Fault{.at_call = calls_a_run, .aftermath = Aftermath::kIsACrash});
      done = build_both(env, store).ok();
      memory.forget_unsynced();
      expect_sound(memory, store, 0);
    }
    EXPECT_TRUE(done) << calls_a_run << " calls a run";
    EXPECT_GT(run_count, 2);
    EXPECT_EQ(published_generation(memory, store), 2U);
    // The last power cut may have brought back files whose removal was not synced.
    EXPECT_TRUE(build_both(memory, store).ok());
    EXPECT_TRUE(tree_of(memory) == undisturbed(store));
  }
}

TEST_P(StoreOf, ADiskThatFillsUpAtAnyByteHarmsNothingAndCanGoOn) {
  const StoreKind store = GetParam();
  std::uint64_t total_bytes = 0;
  for (const auto& [path, bytes] : undisturbed(store)) total_bytes += bytes.size();
  std::uint64_t full_count = 0;
  for (std::uint64_t room_bytes = 0; room_bytes < 2 * total_bytes; room_bytes += 997) {
    MemoryEnv memory;
    memory.add_folder("/data");
    FaultEnv env(memory);
    env.set_room_bytes(room_bytes);
    const Status status = build_both(env, store);
    if (status.ok()) break;
    ++full_count;
    EXPECT_EQ(status.code(), StatusCode::kResource);
    expect_sound(memory, store, 0);
    env.set_room_bytes(std::nullopt);
    EXPECT_TRUE(build_both(env, store).ok());
    EXPECT_TRUE(tree_of(memory) == undisturbed(store));
    if (::testing::Test::HasFailure()) break;
  }
  EXPECT_GT(full_count, total_bytes / 997 / 2);
}

// The reader of generation 1 keeps all of it while generation 2 is made, whatever happens to the
// builder.
TEST_P(StoreOf, AReaderKeepsItsGenerationThroughEveryCrash) {
  const StoreKind store = GetParam();
  for (std::uint64_t call = 1;; ++call) {
    MemoryEnv memory;
    memory.add_folder("/data");
    ASSERT_TRUE(build_generation(memory, store, 1).ok());
    const auto manifest =
        formats::decode_manifest(memory.contents(store::manifest_path(std::string(kCache))));
    auto reader = memory.lock(join_path(kCache, formats::index_file_name(manifest->index_digest)),
                              LockKind::kShared);
    ASSERT_TRUE(reader.ok());

    FaultEnv env(memory);
    env.set_fault(Fault{.at_call = call, .aftermath = Aftermath::kIsACrash});
    (void)build_generation(env, store, 2);
    EXPECT_TRUE(build_generation(memory, store, 2).ok());
    for (const auto& [path, bytes] : files_of(store, 1)) {
      if (path == store::manifest_path(std::string(kCache))) continue;
      EXPECT_TRUE(memory.contents(path) == bytes) << path << ", call " << call;
    }
    reader->reset();
    EXPECT_TRUE(build_generation(memory, store, 2).ok());
    EXPECT_TRUE(tree_of(memory) == undisturbed(store)) << "garbage goes once the reader has gone";
    if (!env.fault_happened() || ::testing::Test::HasFailure()) break;
  }
}

}  // namespace
}  // namespace xtts::testing
