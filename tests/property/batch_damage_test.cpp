// The batches' side of damage: bytes of every file of a small cache flipped, every file cut, before
// it is opened and while batches are made of it, reads that fail. Each batch is the right one or a
// typed refusal; wrong numbers are never handed out, and nothing dies. On real files, which are
// mapped.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <tuple>

#include "loader/loader.hpp"
#include "loader/stored_source.hpp"
#include "reader/cache_set.hpp"
#include "storages_on_devices.hpp"
#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

bool is_typed(const Status& status) {
  return status.code() == StatusCode::kCorrupt || status.code() == StatusCode::kNotFound ||
         status.code() == StatusCode::kUnsupported || status.code() == StatusCode::kResource ||
         status.code() == StatusCode::kSourceIo;
}

class BatchDamage : public ::testing::TestWithParam<std::tuple<Storage, DeviceChoice>> {
 protected:
  BatchDamage()
      : cache_(make_test_cache({.store = storage().store,
                                .layout = storage().layout,
                                .clip_count = 6,
                                .clips_per_block = 2,
                                .make_shard = make_real_shards(storage().store)})) {
    for (const auto& [name, bytes] : cache_.files) folder_.write(name, bytes);
  }

  [[nodiscard]] static const Storage& storage() { return std::get<Storage>(GetParam()); }
  [[nodiscard]] std::string path_of(const std::string& name) const {
    return folder_.path() + "/" + name;
  }

  // Is each row what its clip was made from?
  [[nodiscard]] bool is_true(const loader::BatchSlot& slot) const {
    if (!slot.finished.uploaded->wait().ok()) return false;
    for (std::size_t i = 0; i < slot.clips.layout->columns.size(); ++i) {
      const loader::ColumnLayout& column = slot.clips.layout->columns[i];
      const std::size_t array_bytes = column.record_bytes * slot.clips.layout->batch_size;
      const auto array = read_from(slot.memory->device(), {slot.column_data(i), array_bytes});
      for (std::size_t row = 0; row < slot.clips.positions.size(); ++row) {
        if (slot.clips.positions[row] >= cache_.clips.size()) return false;
        const TestClip& clip = cache_.clips[slot.clips.positions[row]];
        const auto wanted = column.column->spec.name == "mel"
                                ? std::as_bytes(std::span(clip.mel))
                                : std::as_bytes(std::span(clip.tokens));
        const std::span<const std::byte> found(array.data() + row * column.record_bytes,
                                               wanted.size());
        if (!std::ranges::equal(found, wanted)) {
          return false;
        }
      }
    }
    return true;
  }

  struct Outcome {
    std::size_t batch_count = 0;
    std::size_t refused_count = 0;
    std::string falsehood;
  };

  void take_all(loader::Loader& loader, Outcome& outcome) const {
    for (;;) {
      const auto lease = loader.next();
      if (!lease.ok()) {
        ++outcome.refused_count;
        if (!is_typed(lease.status())) outcome.falsehood = lease.status().message();
        continue;
      }
      if (!*lease) return;
      ++outcome.batch_count;
      if (!is_true(***lease)) outcome.falsehood = "a batch holds other numbers";
    }
  }

  [[nodiscard]] Outcome read_batches(Env& env, const std::string& folder, Shuffle shuffle) const {
    Outcome outcome;
    auto view = reader::CacheSet::open(env, std::span(&folder, 1));
    if (!view.ok()) {
      outcome.refused_count = 1;
      if (!is_typed(view.status())) outcome.falsehood = view.status().message();
      return outcome;
    }
    auto loader = loader::Loader::open(std::make_shared<loader::StoredSource>(*view),
                                       {.batch_size = 2,
                                        .shuffle = shuffle,
                                        .last_batch = LastBatch::kPad,
                                        .device = device_.name()});
    if (!loader.ok()) {
      outcome.refused_count = 1;
      if (!is_typed(loader.status())) outcome.falsehood = loader.status().message();
      return outcome;
    }
    take_all(**loader, outcome);
    return outcome;
  }

  DeviceUnderTest device_{std::get<DeviceChoice>(GetParam())};
  TempFolder folder_;
  TestCache cache_;
};

TEST_P(BatchDamage, IsNoneInASoundCache) {
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal}) {
    const Outcome outcome = read_batches(Env::real(), folder_.path(), shuffle);
    EXPECT_EQ(outcome.falsehood, "");
    EXPECT_EQ(outcome.refused_count, 0U);
    EXPECT_EQ(outcome.batch_count, 3U);
  }
}

// Opening a cache anew for each byte takes minutes: some are taken, others in each run;
// XTTS_EVERY_BYTE takes them all.
TEST_P(BatchDamage, OfAnyByteOfAnyFileIsRefusedOrDoesNotMatter) {
  const bool every_byte = std::getenv("XTTS_EVERY_BYTE") != nullptr;
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const auto& [name, bytes] : cache_.files) {
    const auto step_max = every_byte ? 1U : std::max(static_cast<unsigned>(bytes.size() / 100), 1U);
    std::fstream file(path_of(name), std::ios::in | std::ios::out | std::ios::binary);
    const auto put = [&](std::size_t offset, char byte) {
      file.seekp(static_cast<std::streamoff>(offset));
      file.put(byte);
      file.flush();
    };
    for (std::size_t offset = random() % step_max; offset < bytes.size();
         offset += 1 + random() % step_max) {
      put(offset, static_cast<char>(bytes[offset] ^ (1 << random() % 8)));
      const auto shuffle = random() % 2 == 0 ? Shuffle::kNone : Shuffle::kGlobal;
      const Outcome outcome = read_batches(Env::real(), folder_.path(), shuffle);
      ASSERT_EQ(outcome.falsehood, "") << name << " byte " << offset;
      put(offset, bytes[offset]);
    }
  }
}

// A cut shard's sound records come; a cut that hits none of them does not matter.
TEST_P(BatchDamage, OfLengthIsRefusedOrDoesNotMatter) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  for (const auto& [name, bytes] : cache_.files) {
    if (name == "rejects.jsonl") continue;  // nobody reads it
    for (int i = 0; i < 8; ++i) {
      const std::size_t cut = i == 0 ? bytes.size() - 1 : random() % bytes.size();
      SCOPED_TRACE(name + " cut to " + std::to_string(cut));
      std::filesystem::resize_file(path_of(name), cut);
      const Outcome outcome = read_batches(Env::real(), folder_.path(), Shuffle::kGlobal);
      ASSERT_EQ(outcome.falsehood, "");
      if (name.starts_with("shards/")) {
        ASSERT_EQ(outcome.refused_count + outcome.batch_count, 3U);
      } else {
        ASSERT_GT(outcome.refused_count, 0U);
      }
      folder_.write(name, bytes);
    }
  }
}

TEST_P(BatchDamage, OfLengthWhileBatchesAreMadeIsATypedErrorAndTheProcessLives) {
  for (const auto& [name, bytes] : cache_.files) {
    if (!name.starts_with("shards/")) continue;
    SCOPED_TRACE(name);
    for (const bool was_read_before : {false, true}) {
      const auto view = reader::CacheSet::open(Env::real(), std::span(&folder_.path(), 1));
      ASSERT_TRUE(view.ok());
      auto loader = loader::Loader::open(std::make_shared<loader::StoredSource>(*view),
                                         {.batch_size = 2, .device = device_.name()});
      ASSERT_TRUE(loader.ok());
      Outcome before;
      if (was_read_before) take_all(**loader, before);
      EXPECT_EQ(before.refused_count, 0U);
      std::filesystem::resize_file(path_of(name), bytes.size() / 3);
      Outcome after;
      (*loader)->set_epoch(7);  // batches of epoch 1 were filled before
      take_all(**loader, after);
      EXPECT_EQ(after.falsehood, "");
      if (was_read_before) {
        EXPECT_GT(after.refused_count, 0U);
      }
      folder_.write(name, bytes);
    }
  }
}

// A disk that fails once, on a file system that cannot map: every reading call in turn. What is
// read again and found sound is no failure.
TEST_P(BatchDamage, OfReadsIsATypedError) {
  MemoryEnv env;
  cache_.add_to(env, "/cache");
  for (std::uint64_t failing = 1;; ++failing) {
    std::atomic<std::uint64_t> call_count = 0;
    env.set_hook([&](EnvOperation& operation) {
      if (operation.call != EnvCall::kRead || ++call_count != failing) return Status();
      return Status(StatusCode::kResource, "EIO");
    });
    const Outcome outcome = read_batches(env, "/cache", Shuffle::kGlobal);
    ASSERT_EQ(outcome.falsehood, "") << "read " << failing;
    if (call_count < failing) {
      EXPECT_EQ(outcome.refused_count, 0U);
      EXPECT_GT(failing, 20U);
      break;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Storages, BatchDamage, ::testing::ValuesIn(storages_on_devices()),
                         [](const auto& choice) {
                           return std::get<Storage>(choice.param).name() +
                                  name_of(std::get<DeviceChoice>(choice.param));
                         });

}  // namespace
}  // namespace xtts::testing
