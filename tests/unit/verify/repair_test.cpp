// verify --repair, on caches that the real pipeline built: after it every file is what it was, to
// the byte, and what was sound was not touched.
#include "verify/repair.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "forged_cache.hpp"
#include "repair_support.hpp"
#include "request/verify_words.hpp"
#include "store/builder_lock.hpp"
#include "support/wav_file.hpp"

namespace xtts::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using verify::Level;
using verify::Report;

TEST(Repair, LeavesASoundCacheAlone) {
  MemoryEnv env;
  add_whole_cache(env);
  env.set_hook([](EnvOperation& operation) {
    EXPECT_NE(operation.call, EnvCall::kOpenForWrite) << operation.path;
    EXPECT_NE(operation.call, EnvCall::kRename) << operation.path;
    return Status();
  });
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok);
  EXPECT_THAT(report.repaired, IsEmpty());
}

TEST(Repair, MendsAFlippedByteAnywhereInAShard) {
  for (const std::string& name : shard_names()) {
    const std::string& bytes = whole(name);
    const std::size_t header = header_of(bytes);
    const std::size_t facts = facts_of(bytes);
    for (const std::size_t offset :
         {std::size_t{0}, std::size_t{5000}, header + 50, header + 1780, header + kHeaderBytes + 9,
          facts, facts + 90, bytes.size() - 1}) {
      SCOPED_TRACE(name + " at " + std::to_string(offset));
      MemoryEnv env;
      add_whole_cache(env);
      env.add_file(kCache + "/" + name, flipped(bytes, offset));
      expect_repaired(env, repaired(env), name);
    }
  }
}

TEST(Repair, MakesALostShardOfEveryColumnOfSoundAgain) {
  MemoryEnv env;
  add_repair_corpus(env);
  must_build(env, repair_request({"columns.wave=int16", "columns.energy=true"}));
  const Files before = files_below(env);
  for (const char* column : {"mel", "wave", "energy"}) {
    const Files shards = files_named(before, "shards/" + std::string(column) + "/");
    ASSERT_FALSE(shards.empty()) << column;
    for (const auto& [name, bytes] : shards) {
      SCOPED_TRACE(name);
      ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
      const Report report = repaired(env);
      EXPECT_TRUE(report.ok) << told(report);
      EXPECT_EQ(difference(before, files_below(env)), "");
    }
  }
}

// Two bytes at once, anywhere but in the manifest.
TEST(Repair, MendsFlippedBytesWhereverTheyLie) {
  constexpr std::uint32_t kSeed = 20240607;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  std::vector<std::string> names = shard_names();
  names.push_back(files_named(whole_cache(), "index-").begin()->first);
  for (int round = 0; round < 40; ++round) {
    const std::string& name = names[random() % names.size()];
    const std::string& bytes = whole(name);
    const std::size_t first = random() % bytes.size();
    const std::size_t second = random() % bytes.size();
    if (first == second) continue;
    SCOPED_TRACE(name + " at " + std::to_string(first) + " and " + std::to_string(second));
    MemoryEnv env;
    add_whole_cache(env);
    env.add_file(kCache + "/" + name, flipped(flipped(bytes, first), second));
    expect_repaired(env, repaired(env), name);
  }
}

TEST(Repair, MendsACutOrEmptyOrMissingShard) {
  for (const std::string& name : shard_names()) {
    const std::string& bytes = whole(name);
    for (const std::size_t size : {bytes.size() - 1, bytes.size() / 2, std::size_t{0}}) {
      SCOPED_TRACE(name + " cut to " + std::to_string(size));
      MemoryEnv env;
      add_whole_cache(env);
      env.add_file(kCache + "/" + name, bytes.substr(0, size));
      expect_repaired(env, repaired(env), name);
    }
    MemoryEnv env;
    add_whole_cache(env);
    ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
    expect_repaired(env, repaired(env), name);
  }
}

TEST(Repair, MendsALongerShard) {
  const std::string name = shard_names("mel").front();
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(kCache + "/" + name, whole(name) + "more");
  expect_repaired(env, repaired(env), name);
}

TEST(Repair, MakesEveryShardAgainWhenAllAreGone) {
  MemoryEnv env;
  add_whole_cache(env);
  for (const std::string& name : shard_names())
    ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(report.repaired.size(), shard_names().size());
  EXPECT_EQ(difference(whole_cache(), files_below(env)), "");
}

TEST(Repair, RewritesTheRejectsFromTheIndex) {
  for (const std::string text : {"", "another text\n"}) {
    MemoryEnv env;
    add_whole_cache(env);
    env.add_file(kCache + "/rejects.jsonl", text);
    expect_repaired(env, repaired(env), "rejects.jsonl");
  }
}

TEST(Repair, TouchesNothingThatIsSound) {
  MemoryEnv env;
  add_whole_cache(env);
  const std::string damaged = shard_names("mel").front();
  env.add_file(kCache + "/" + damaged,
               flipped(whole(damaged), header_of(whole(damaged)) + kHeaderBytes));
  env.add_file(kCache + "/shards/mel/stray.lmdb", "nobody names it");
  std::map<std::string, FileFacts> before;
  for (const auto& [name, bytes] : files_below(env))
    before[name] = env.stat(kCache + "/" + name).value();
  EXPECT_TRUE(repaired(env).ok);
  for (const auto& [name, facts] : before) {
    if (name == damaged) continue;
    const auto after = env.stat(kCache + "/" + name);
    ASSERT_TRUE(after.ok()) << name;
    EXPECT_EQ(after->inode, facts.inode) << name;
    EXPECT_EQ(after->mtime_ns, facts.mtime_ns) << name;
  }
}

TEST(Repair, ComputesOnlyWhatIsLost) {
  MemoryEnv env;
  add_whole_cache(env);
  const std::string name = shard_names("mel").front();
  env.add_file(kCache + "/" + name, flipped(whole(name), header_of(whole(name)) + kHeaderBytes));
  OpenedSources opened(env);
  const Report report = repaired(env);
  ASSERT_EQ(report.repaired.size(), 1U);
  EXPECT_EQ(report.repaired.front().recomputed_count, 1U);
  EXPECT_EQ(opened.take(), std::set<std::string>{"wavs/clip-0000.wav"});
}

TEST(Repair, NeedsNoSourcesForTokensHeadersFactsAndStructure) {
  const std::string mel = shard_names("mel").front();
  const std::string tokens = shard_names("tokens").front();
  struct Damage {
    std::string name;
    std::size_t offset;
  };
  for (const Damage& damage :
       {Damage{mel, 40}, Damage{mel, header_of(whole(mel)) + 30},
        Damage{mel, facts_of(whole(mel)) + 200}, Damage{tokens, header_of(whole(tokens)) + 30},
        Damage{tokens, header_of(whole(tokens)) + kHeaderBytes + 5},
        Damage{tokens, facts_of(whole(tokens)) + 100}}) {
    SCOPED_TRACE(damage.name + " at " + std::to_string(damage.offset));
    MemoryEnv env;
    add_whole_cache(env);
    env.add_file(kCache + "/" + damage.name, flipped(whole(damage.name), damage.offset));
    expect_repaired(env, repaired(env, repair_options("")), damage.name);
  }
}

TEST(Repair, SaysOnceThatAShardNeedsTheSources) {
  MemoryEnv env;
  add_whole_cache(env);
  const std::string name = shard_names("mel").front();
  const std::string damaged = flipped(whole(name), header_of(whole(name)) + kHeaderBytes);
  env.add_file(kCache + "/" + name, damaged);
  const Report report = repaired(env, repair_options(""));
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.repaired, IsEmpty());
  ASSERT_EQ(report.findings.size(), 2U) << told(report);
  EXPECT_EQ(report.findings[1].clip, clip_name(0));
  EXPECT_THAT(told(report), HasSubstr("not mended, shard"));
  EXPECT_THAT(told(report), HasSubstr("give --data DATA, the folder of the sources"));
  EXPECT_EQ(env.contents(kCache + "/" + name), damaged);
}

// All records of a shard lack the same folder, so one line tells of it.
TEST(Repair, SaysOnceThatTheDataFolderIsGone) {
  MemoryEnv env;
  add_whole_cache(env);
  const std::string name = shard_names("mel").front();
  const std::string shard = whole(name);
  std::string damaged = shard;
  // Every 64th byte: no record is left whole.
  for (std::size_t at = header_of(shard) + kHeaderBytes; at < shard.size(); at += 64)
    damaged = flipped(damaged, at);
  env.add_file(kCache + "/" + name, damaged);
  const Report report = repaired(env, repair_options("/gone"));
  EXPECT_FALSE(report.ok);
  std::size_t told_count = 0;
  for (const Finding& finding : report.findings)
    told_count += finding.outcome == verify::Outcome::kNotRepaired ? 1 : 0;
  EXPECT_GT(report.findings.size(), 2U) << told(report);
  EXPECT_EQ(told_count, 1U) << told(report);
  EXPECT_THAT(told(report), HasSubstr("the data folder /gone is not there"));
}

TEST(Repair, LeavesAShardAloneWhoseSourceHasChanged) {
  MemoryEnv env;
  add_whole_cache(env);
  const std::string name = shard_names("mel").front();
  const std::string damaged = flipped(whole(name), header_of(whole(name)) + kHeaderBytes);
  env.add_file(kCache + "/" + name, damaged);
  env.add_file(sound_path(0, kData + "/wavs"), sound(8));
  const Report report = repaired(env);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(report.repaired, IsEmpty());
  EXPECT_THAT(told(report), HasSubstr("clip-0000 not mended, record: its source has changed"));
  EXPECT_EQ(env.contents(kCache + "/" + name), damaged);
  EXPECT_EQ(files_named(files_below(env), ".build").size(), 0U);
}

// The manifest names bytes that no source makes: as when other numerics round otherwise.
TEST(Repair, PutsNothingInPlaceThatIsNotWhatTheManifestNames) {
  MemoryEnv env;
  add_whole_cache(env);
  forge(env, kCache, {.position = 2, .change_rows = [](auto& rows) { rows[0] ^= std::byte{1}; }});
  const std::string name = files_named(files_below(env), "shards/mel/00000-").begin()->first;
  ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
  auto options = repair_options();
  for (const auto isa : {dsp::Isa::kBest, dsp::Isa::kScalar}) {
    options.sources.isa = isa;
    const Report report = repaired(env, options);
    EXPECT_FALSE(report.ok);
    EXPECT_THAT(report.repaired, IsEmpty());
    EXPECT_THAT(told(report), HasSubstr("other bytes: digest "));
    const bool is_other = isa != dsp::Isa::kBest && dsp::best_isa() != isa;
    EXPECT_EQ(told(report).find("other numerics") != std::string::npos, is_other);
    EXPECT_FALSE(env.exists(kCache + "/" + name));
  }
}

TEST(Repair, MendsShardsAndIndexOfTheHdf5Store) {
  MemoryEnv built;
  add_repair_corpus(built);
  must_build(built, repair_request({"storage.store=hdf5"}));
  const Files before = files_below(built);
  constexpr std::uint32_t kSeed = 20261122;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  std::mt19937 random(kSeed);
  for (const auto& [name, bytes] : before) {
    if (!name.starts_with("shards/") && !name.starts_with("index-")) continue;
    for (int round = 0; round < 8; ++round) {
      SCOPED_TRACE(name + ", round " + std::to_string(round));
      MemoryEnv env;
      add_repair_corpus(env);
      for (const auto& [path, contents] : before) env.add_file(kCache + "/" + path, contents);
      if (round == 0) {
        ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
      } else {
        env.add_file(kCache + "/" + name, flipped(bytes, random() % bytes.size()));
      }
      const Report report = repaired(env);
      EXPECT_TRUE(report.ok) << told(report);
      EXPECT_EQ(difference(before, files_below(env)), "");
    }
  }
}

TEST(Repair, MakesFactsOfHalfPrecisionAgain) {
  MemoryEnv env;
  add_repair_corpus(env);
  must_build(env, repair_request({"storage.dtype=float16"}));
  const Files before = files_below(env);
  const auto mel = files_named(before, "shards/mel/");
  const auto& [name, bytes] = *mel.begin();
  env.add_file(kCache + "/" + name, flipped(bytes, facts_of(bytes) + 200));
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

TEST(Repair, MendsPaddedRecordsAndSegments) {
  MemoryEnv env;
  env.add_file(kData + "/talk.wav", noise_wav(3, {.seconds = 4.0, .rate_hz = 44100}));
  env.add_file(kData + "/wav.scp", "talk talk.wav\n");
  env.add_file(kData + "/segments", "a talk 0.1 0.6\nb talk 1.0 1.7\nc talk 2.5 3.9\n");
  env.add_file(kData + "/text", "a One.\nb Two.\nc Three.\n");
  must_build(env, request_for(recipe_with({"corpus.layout=kaldi", "features.max_frames=128"})));
  const Files before = files_below(env);
  const auto mel = files_named(before, "shards/mel/");
  ASSERT_TRUE(env.remove_file(kCache + "/" + mel.begin()->first).ok());
  const Report report = repaired(env);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before, files_below(env)), "");
}

// A record's own padding stands in its block's header alone: in what is lost with it too.
TEST(Repair, MendsRecordsThatArePaddedEachInItsOwnWay) {
  MemoryEnv env;
  add_repair_corpus(env);
  must_build(env, repair_request({"features.pad=samples", "features.normalize.method=min_max",
                                  "features.too_long=truncate"}));
  const Files before = files_below(env);
  const auto mel = files_named(before, "shards/mel/");
  const auto& [name, bytes] = *mel.begin();
  for (const std::string& damaged :
       {std::string(), flipped(bytes, header_of(bytes) + 250), flipped(bytes, bytes.size() / 2)}) {
    env.add_file(kCache + "/" + name, damaged);
    const Report report = repaired(env);
    EXPECT_TRUE(report.ok) << told(report);
    EXPECT_EQ(difference(before, files_below(env)), "");
  }
}

TEST(Repair, MendsARecordAndTheFactsOfABlockOfMany) {
  MemoryEnv env;
  add_repair_corpus(env);
  auto build = request_for(
      recipe_with({"features.max_frames=64", "corpus.train_split=1", "corpus.validation_split=0"}));
  build.max_rejects.count = 1;
  must_build(env, build);
  const Files before = files_below(env);
  const auto mel = files_named(before, "shards/mel/");
  const auto& [name, bytes] = *mel.begin();
  const std::size_t record_bytes = 64 * 80 * sizeof(float);
  const std::size_t third = header_of(bytes) + kHeaderBytes + 2 * record_bytes;
  for (const bool facts_too : {false, true}) {
    std::string damaged = flipped(bytes, third + 9);
    if (facts_too) damaged = flipped(damaged, facts_of(damaged) + 300);
    env.add_file(kCache + "/" + name, damaged);
    OpenedSources opened(env);
    const Report report = repaired(env);
    EXPECT_TRUE(report.ok) << told(report);
    EXPECT_EQ(opened.take(), std::set<std::string>{"wavs/clip-0002.wav"});
    EXPECT_EQ(difference(before, files_below(env)), "");
  }
}

// A second generation: the first clip's record is a tombstone of the first shard.
class RepairOfAnUpdate : public ::testing::Test {
 protected:
  RepairOfAnUpdate() {
    add_whole_cache(env_);
    env_.add_file(sound_path(0, kData + "/wavs"), sound(8));
    must_build(env_, repair_request());
    before_ = files_below(env_);
    const auto view = open_cache(env_);
    EXPECT_EQ(view->tombstones()->size(), 1U);
    name_ = files_named(before_, "shards/mel/00000-").begin()->first;
  }
  void restore(const Files& files) {
    for (const auto& [name, bytes] : files_below(env_))
      ASSERT_TRUE(env_.remove_file(kCache + "/" + name).ok());
    for (const auto& [name, bytes] : files) env_.add_file(kCache + "/" + name, bytes);
  }

  // The same records for all clips, in a third generation without a dead one.
  void expect_renewed() {
    std::map<std::string, std::vector<std::byte>> records;
    {
      MemoryEnv sound_env;
      for (const auto& [name, bytes] : before_) sound_env.add_file(kCache + "/" + name, bytes);
      const auto view = open_cache(sound_env);
      for (const std::string& id : stored_ids(sound_env))
        records[id] = view->read_record("mel", **view->find(id))->bytes;
    }
    const Report report = repaired(env_);
    EXPECT_TRUE(report.ok) << told(report);
    EXPECT_THAT(report.findings, IsEmpty()) << told(report);
    ASSERT_EQ(report.repaired.size(), 1U);
    EXPECT_THAT(request::words_of(report.repaired.front()), HasSubstr("6 records that clips name"));
    EXPECT_EQ(damage_in(env_), "");
    const auto view = open_cache(env_);
    EXPECT_EQ(view->manifest().generation, 3U);
    EXPECT_THAT(*view->tombstones(), IsEmpty());
    EXPECT_FALSE(env_.exists(kCache + "/" + name_));
    for (const auto& [id, rows] : records) {
      const auto record = view->read_record("mel", **view->find(id));
      ASSERT_TRUE(record.ok()) << record.status().message();
      EXPECT_EQ(record->bytes, rows) << id;
    }
  }

  MemoryEnv env_;
  Files before_;
  std::string name_;
};

TEST_F(RepairOfAnUpdate, KeepsTheTombstonesThatAreSound) {
  const std::string& bytes = before_.at(name_);
  const std::size_t second = bytes.find("XTTSBLK1", header_of(bytes) + 1);  // a record a block
  env_.add_file(kCache + "/" + name_, flipped(bytes, second + kHeaderBytes + 4));
  const Report report = repaired(env_);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before_, files_below(env_)), "");
}

// Nobody can make the dead record again; what clips name is published without it.
TEST_F(RepairOfAnUpdate, LeavesADamagedTombstoneBehind) {
  const std::string& bytes = before_.at(name_);
  for (const std::string& damaged :
       {flipped(bytes, header_of(bytes) + kHeaderBytes + 4), flipped(bytes, header_of(bytes) + 30),
        bytes.substr(0, bytes.size() / 2), std::string()}) {
    SCOPED_TRACE(std::to_string(damaged.size()) + " bytes");
    restore(before_);
    if (damaged.empty()) {
      ASSERT_TRUE(env_.remove_file(kCache + "/" + name_).ok());
    } else {
      env_.add_file(kCache + "/" + name_, damaged);
    }
    expect_renewed();
  }
}

TEST_F(RepairOfAnUpdate, TellsTheBuilderOfALostShard) {
  ASSERT_TRUE(env_.remove_file(kCache + "/" + name_).ok());
  const auto refused = run_build(env_, repair_request());
  EXPECT_EQ(refused.status().code(), StatusCode::kCorrupt);
  EXPECT_THAT(refused.status().message(), HasSubstr("verify /cache --repair --data /data'"));
  expect_renewed();
  EXPECT_TRUE(must_build(env_, repair_request()).unchanged);
  env_.add_file(sound_path(1, kData + "/wavs"), sound(9));
  EXPECT_EQ(must_build(env_, repair_request()).generation, 4U);
  EXPECT_EQ(damage_in(env_), "");
}

// A live record whose source is gone as well: nothing is published, and the clip is named.
TEST_F(RepairOfAnUpdate, LeavesAShardAloneWhoseLiveRecordIsLost) {
  ASSERT_TRUE(env_.remove_file(kCache + "/" + name_).ok());
  env_.add_file(sound_path(1, kData + "/wavs"), sound(9));
  const Report report = repaired(env_);
  EXPECT_FALSE(report.ok);
  EXPECT_THAT(told(report),
              HasSubstr(clip_name(1) + " not mended, record: its source has changed"));
  EXPECT_EQ(open_cache(env_)->manifest().generation, 2U);
}

// A clip whose record is lost and whose source is gone, once that is allowed.
TEST_F(RepairOfAnUpdate, LeavesOutAClipThatNothingMakesAgain) {
  ASSERT_TRUE(env_.remove_file(kCache + "/" + name_).ok());
  env_.add_file(sound_path(1, kData + "/wavs"), sound(9));
  ASSERT_TRUE(env_.remove_file(sound_path(2, kData + "/wavs")).ok());
  auto options = repair_options();
  options.max_gone = 0.2;  // two clips of nine are more
  EXPECT_FALSE(repaired(env_, options).ok);
  EXPECT_EQ(open_cache(env_)->manifest().generation, 2U);
  options.max_gone = 0.25;
  const Report report = repaired(env_, options);
  EXPECT_TRUE(report.ok) << told(report);
  std::string mended;
  for (const auto& file : report.repaired) mended += request::words_of(file) + "\n";
  EXPECT_THAT(mended, HasSubstr("without " + clip_name(1) + ": its source has changed"));
  EXPECT_THAT(mended, HasSubstr("without " + clip_name(2) + ": DATA has no such clip"));
  EXPECT_EQ(damage_in(env_), "");
  const auto ids = stored_ids(env_);
  EXPECT_EQ(ids.size(), 7U);
  const auto counts = open_cache(env_)->manifest().counts;
  EXPECT_EQ(counts.records, 7U);
  EXPECT_EQ(counts.planned, kRepairClips - 2);
  // The one that has another source now is taken up again.
  auto request = repair_request();
  request.max_rejects.count = 2;
  const auto built = must_build(env_, request);
  EXPECT_EQ(built.computed_count, 1U);
  EXPECT_EQ(stored_ids(env_).size(), 8U);
  EXPECT_EQ(damage_in(env_), "");
}

// merge joins parts of one plan.
TEST(Repair, LeavesNoClipOutOfAPartition) {
  MemoryEnv env;
  add_repair_corpus(env);
  auto request = repair_request();
  request.partition = pipeline::PartitionChoice{.index = 1, .count = 1};
  must_build(env, request);
  const std::string name = files_named(files_below(env), "shards/mel/00000-").begin()->first;
  ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
  ASSERT_TRUE(env.remove_file(sound_path(0, kData + "/wavs")).ok());
  auto options = repair_options();
  options.max_gone = 1.0;
  const Report report = repaired(env, options);
  EXPECT_FALSE(report.ok);
  EXPECT_EQ(request::command_of(*report.remedy),
            "xtts-precompute build /data /cache --partition 1/1 --max-rejects 1 --overwrite");
}

// All clips of the first shard are recomputed: it holds dead records alone, and goes.
TEST_F(RepairOfAnUpdate, LetsAShardGoThatHoldsNothingAlive) {
  for (std::uint32_t i = 1; i < kClipsPerSmallShard; ++i)
    if (i != 3) env_.add_file(sound_path(i, kData + "/wavs"), sound(20 + i));
  must_build(env_, repair_request());
  before_ = files_below(env_);
  ASSERT_TRUE(env_.exists(kCache + "/" + name_));
  ASSERT_TRUE(env_.remove_file(kCache + "/" + name_).ok());
  const auto shards = shard_count(env_);
  const Report report = repaired(env_);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(damage_in(env_), "");
  EXPECT_EQ(shard_count(env_), shards - 1);
  env_.add_file(sound_path(9, kData + "/wavs"), sound(40));
  must_build(env_, repair_request());
  EXPECT_EQ(damage_in(env_), "");
}

TEST_F(RepairOfAnUpdate, MakesAShardOfTheSecondGenerationAgain) {
  const std::string name = files_named(before_, "shards/mel/00002-").begin()->first;
  ASSERT_TRUE(env_.remove_file(kCache + "/" + name).ok());
  const Report report = repaired(env_);
  EXPECT_TRUE(report.ok) << told(report);
  EXPECT_EQ(difference(before_, files_below(env_)), "");
}

TEST(Repair, DoesNotDisturbAReader) {
  MemoryEnv env;
  add_whole_cache(env);
  const auto view = open_cache(env);
  const auto before = view->read_record("mel", 6);
  ASSERT_TRUE(before.ok());
  const std::string name = shard_names("mel").front();
  env.add_file(kCache + "/" + name, flipped(whole(name), header_of(whole(name)) + kHeaderBytes));
  EXPECT_TRUE(repaired(env).ok);
  const auto after = view->read_record("mel", 6);
  ASSERT_TRUE(after.ok()) << after.status().message();
  EXPECT_EQ(after->bytes, before->bytes);
  EXPECT_TRUE(open_cache(env)->read_record("mel", 0).ok());
}

TEST(Repair, WaitsForNoBuilder) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(kCache + "/rejects.jsonl", "");
  const auto lock = store::BuilderLock::take(env, kCache);
  ASSERT_TRUE(lock.ok());
  const auto report = verify::verify_cache(env, kCache, repair_options());
  EXPECT_EQ(report.status().code(), StatusCode::kBusy);
}

TEST(Repair, KeepsTheJournalOfAnUnfinishedBuild) {
  MemoryEnv env;
  add_whole_cache(env);
  env.add_file(kCache + "/.build/xtts-precompute", "the mark of ours");
  env.add_file(kCache + "/.build/journal", "a journal");
  const std::string name = shard_names("tokens").front();
  ASSERT_TRUE(env.remove_file(kCache + "/" + name).ok());
  EXPECT_TRUE(repaired(env).ok);
  EXPECT_EQ(env.contents(kCache + "/.build/journal"), "a journal");
}

TEST(Repair, RefusesTheQuickLevel) {
  MemoryEnv env;
  add_whole_cache(env);
  auto options = repair_options();
  options.level = Level::kQuick;
  EXPECT_EQ(verify::verify_cache(env, kCache, options).status().code(),
            StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts::testing
