#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "capi_use.h"
#include "support/temp_folder.hpp"
#include "support/test_cache.hpp"
#include "xtts/xtts.h"

namespace xtts {
namespace {

using ::testing::HasSubstr;

class CApi : public ::testing::Test {
 protected:
  CApi() : made_(testing::make_test_cache({.clip_count = 30})) {
    for (const auto& [name, bytes] : made_.files) folder_.write(name, bytes);
    EXPECT_EQ(xtts_cache_open(folder_.path().c_str(), &cache_, &error_), XTTS_OK) << error_.message;
  }
  ~CApi() override { xtts_cache_close(cache_); }

  xtts_reader_options options() const {
    xtts_reader_options made;
    xtts_reader_options_init(&made, sizeof made);
    made.batch_size = 4;
    return made;
  }
  xtts_reader* open(const xtts_reader_options& options) {
    xtts_reader* reader = nullptr;
    EXPECT_EQ(xtts_reader_open(cache_, &options, &reader, &error_), XTTS_OK) << error_.message;
    return reader;
  }

  testing::TempFolder folder_;
  testing::TestCache made_;
  xtts_cache* cache_ = nullptr;
  xtts_error error_ = {};
};

TEST_F(CApi, IsUsedFromC) {
  capi_sums sums = {};
  char message[2048] = "";
  ASSERT_EQ(sum_from_c(folder_.path().c_str(), &sums, message), 0) << message;
  double mel = 0;
  std::int64_t tokens = 0;
  for (const testing::TestClip& clip : made_.clips) {
    mel = std::accumulate(clip.mel.begin(), clip.mel.end(), mel);
    tokens = std::accumulate(clip.tokens.begin(), clip.tokens.end(), tokens);
  }
  EXPECT_EQ(sums.sample_count, 30U);
  EXPECT_NEAR(sums.mel_sum, mel, 1e-9 * std::abs(mel) + 1e-9);
  EXPECT_EQ(sums.token_sum, tokens);
  EXPECT_EQ(sums.held_count, 4U);
}

TEST_F(CApi, ReadsOneRecord) {
  std::uint64_t position = 0;
  ASSERT_EQ(xtts_cache_find(cache_, made_.clips[7].id.c_str(), &position, &error_), XTTS_OK);
  EXPECT_EQ(position, 7U);
  xtts_record record;
  ASSERT_EQ(xtts_cache_read(cache_, "mel", position, &record, &error_), XTTS_OK);
  EXPECT_EQ(record.dtype, XTTS_FLOAT32);
  ASSERT_EQ(record.dimension_count, 2);
  EXPECT_EQ(static_cast<std::size_t>(record.shape[0] * record.shape[1]), made_.clips[7].mel.size());
  EXPECT_EQ(std::memcmp(record.data, made_.clips[7].mel.data(), record.data_bytes), 0);
  EXPECT_EQ(record.padding, -11.5);
  record.release(&record);
  EXPECT_EQ(record.release, nullptr);
}

TEST_F(CApi, CutsTextsToTheirBufferAndTellsTheirLength) {
  char id[4] = "";
  std::size_t length = 0;
  ASSERT_EQ(xtts_cache_id(cache_, 3, id, sizeof id, &length, &error_), XTTS_OK);
  EXPECT_EQ(std::string(id), made_.clips[3].id.substr(0, 3));
  EXPECT_EQ(length, made_.clips[3].id.size());
}

TEST_F(CApi, ErrorsCarryCodeAndWords) {
  xtts_cache* none = nullptr;
  EXPECT_EQ(xtts_cache_open("/no/such/cache", &none, &error_), XTTS_NOT_FOUND);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(error_.code, XTTS_NOT_FOUND);
  EXPECT_THAT(error_.message, HasSubstr("/no/such/cache"));
  EXPECT_EQ(xtts_cache_open(nullptr, &none, nullptr), XTTS_INVALID_ARGUMENT);
  std::uint64_t position = 0;
  EXPECT_EQ(xtts_cache_find(cache_, "nobody", &position, &error_), XTTS_NOT_FOUND);
  xtts_record record;
  EXPECT_EQ(xtts_cache_read(cache_, "wave", 0, &record, &error_), XTTS_NOT_FOUND);
  EXPECT_EQ(record.release, nullptr);
  xtts_reader_options wrong = options();
  wrong.shuffle = 17;
  xtts_reader* reader = nullptr;
  EXPECT_EQ(xtts_reader_open(cache_, &wrong, &reader, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("shuffle has no value 17"));
  wrong = {};
  EXPECT_EQ(xtts_reader_open(cache_, &wrong, &reader, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("xtts_reader_options_init"));
  EXPECT_EQ(reader, nullptr);
}

TEST_F(CApi, WeightsReachTheReader) {
  xtts_reader_options chosen = options();
  chosen.weight_by = XTTS_WEIGHT_BY_SPEAKER;
  chosen.draw_count = 100;
  xtts_reader* reader = open(chosen);
  EXPECT_EQ(xtts_reader_batches_per_epoch(reader), 25U);
  xtts_reader_close(reader);
  chosen.weight_by = 9;
  EXPECT_EQ(xtts_reader_open(cache_, &chosen, &reader, &error_), XTTS_INVALID_ARGUMENT);
}

TEST_F(CApi, BucketsAndTheirStateReachTheReader) {
  const xtts_bucket buckets[] = {{3, 8, 0}, {2, 0, 0}};
  xtts_reader_options chosen = options();
  chosen.buckets = buckets;
  chosen.bucket_count = 2;
  xtts_reader* reader = open(chosen);
  xtts_batch batch;
  ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK) << error_.message;
  ASSERT_LT(batch.bucket, 2U);
  EXPECT_EQ(batch.size, buckets[batch.bucket].batch_size);
  EXPECT_EQ(xtts_batch_find(&batch, "mel")->shape[1], batch.bucket == 0 ? 8 : 24);
  xtts_reader_state state;
  ASSERT_EQ(xtts_reader_get_state(reader, &state, &error_), XTTS_OK);
  EXPECT_EQ(state.bucket_count, 2U);
  EXPECT_EQ(state.bucket_samples_consumed[batch.bucket], batch.size);
  EXPECT_EQ(state.samples_consumed, batch.size);
  EXPECT_EQ(xtts_reader_load_state(reader, &state, &error_), XTTS_OK) << error_.message;
  state.bucket_count = 0;
  EXPECT_EQ(xtts_reader_load_state(reader, &state, &error_), XTTS_MISMATCH);
  batch.release(&batch);
  xtts_reader_close(reader);
}

TEST_F(CApi, CropsReachTheReader) {
  xtts_reader_options chosen = options();
  chosen.crop_frames = 5;
  xtts_reader* reader = open(chosen);
  xtts_batch batch;
  ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK) << error_.message;
  EXPECT_EQ(xtts_batch_find(&batch, "mel")->shape[1], 5);
  batch.release(&batch);
  xtts_reader_close(reader);
}

TEST_F(CApi, OpensSeveralCachesAsOneAndShowsRecordsInPlace) {
  const std::string path = folder_.path();
  const char* const paths[] = {path.c_str(), path.c_str()};
  xtts_cache* both = nullptr;
  ASSERT_EQ(xtts_caches_open(paths, 2, &both, &error_), XTTS_OK) << error_.message;
  EXPECT_EQ(xtts_cache_size(both), 60U);
  xtts_record record;
  ASSERT_EQ(xtts_cache_view(both, "mel", 37, &record, &error_), XTTS_OK) << error_.message;
  xtts_cache_close(both);
  EXPECT_EQ(std::memcmp(record.data, made_.clips[7].mel.data(), record.data_bytes), 0);
  record.release(&record);
  EXPECT_EQ(xtts_caches_open(paths, 0, &both, &error_), XTTS_INVALID_ARGUMENT);
}

TEST_F(CApi, ListThatCameOutEmptyIsNotAllClips) {
  const char* const none[] = {nullptr};
  xtts_reader* reader = nullptr;
  xtts_reader_options chosen = options();
  chosen.ids = none;
  EXPECT_EQ(xtts_reader_open(cache_, &chosen, &reader, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("ids is an empty list"));
  chosen = options();
  chosen.column_count = 2;
  EXPECT_EQ(xtts_reader_open(cache_, &chosen, &reader, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_THAT(error_.message, HasSubstr("columns is NULL"));
}

TEST_F(CApi, OptionsReachTheReader) {
  const std::string excluded = made_.clips[2].id;
  const char* const exclude[] = {excluded.c_str()};
  const xtts_column_request columns[] = {{"mel", XTTS_FLOAT16, 1, -1.0}};
  xtts_reader_options chosen = options();
  chosen.exclude = exclude;
  chosen.exclude_count = 1;
  chosen.columns = columns;
  chosen.column_count = 1;
  xtts_reader* reader = open(chosen);
  EXPECT_EQ(xtts_reader_sample_count(reader), 29U);
  EXPECT_EQ(xtts_reader_batches_per_epoch(reader), 7U);
  xtts_batch batch;
  ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK);
  ASSERT_EQ(batch.column_count, 1U);
  EXPECT_STREQ(batch.columns[0].name, "mel");
  EXPECT_EQ(batch.columns[0].dtype, XTTS_FLOAT16);
  EXPECT_EQ(xtts_batch_find(&batch, "tokens"), nullptr);
  batch.release(&batch);
  xtts_reader_close(reader);
}

TEST_F(CApi, ReadingIsOneOfItsValues) {
  xtts_reader_options chosen = options();
  EXPECT_EQ(chosen.reading, XTTS_READING_AUTO);
  chosen.reading = XTTS_READING_DIRECT;
  xtts_reader_close(open(chosen));
  chosen.reading = 3;
  xtts_reader* reader = nullptr;
  EXPECT_EQ(xtts_reader_open(cache_, &chosen, &reader, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_NE(std::string(error_.message).find("reading"), std::string::npos) << error_.message;
}

TEST_F(CApi, EpochThatLosesMoreThanMaxDamageFails) {
  const std::string shard = folder_.path() + "/" + made_.shard_name(0, 1);
  ASSERT_EQ(::unlink(shard.c_str()), 0);  // 4 of 30 clips
  xtts_reader_options chosen = options();
  EXPECT_EQ(chosen.max_damage, 0.05);
  chosen.shuffle = XTTS_SHUFFLE_NONE;
  chosen.last_batch = XTTS_LAST_PAD;
  chosen.on_damage = XTTS_DAMAGE_SKIP;
  xtts_reader* reader = open(chosen);
  xtts_batch batch;
  ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK);
  batch.release(&batch);
  EXPECT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_CORRUPT);
  EXPECT_THAT(error_.message, HasSubstr("4 of 30 clips"));
  xtts_reader_close(reader);

  chosen.max_damage = 0.2;
  reader = open(chosen);
  for (;;) {
    ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK) << error_.message;
    if (batch.release == nullptr) break;
    batch.release(&batch);
  }
  xtts_reader_stats stats = {};
  stats.struct_bytes = sizeof stats;
  ASSERT_EQ(xtts_reader_get_stats(reader, &stats, &error_), XTTS_OK);
  EXPECT_EQ(stats.left_out_count, 4U);
  EXPECT_EQ(stats.epoch_left_out_count, 4U);
  EXPECT_EQ(stats.epoch_sample_count, 30U);
  xtts_reader_close(reader);
  chosen.max_damage = 5;
  EXPECT_EQ(xtts_reader_open(cache_, &chosen, &reader, &error_), XTTS_INVALID_ARGUMENT);
}

TEST_F(CApi, TellsColumnsNamesAndClips) {
  ASSERT_EQ(xtts_cache_column_count(cache_), made_.manifest.columns.size());
  xtts_column_info column;
  ASSERT_EQ(xtts_cache_column(cache_, 0, &column, &error_), XTTS_OK);
  EXPECT_STREQ(column.name, "mel");
  EXPECT_EQ(column.dtype, XTTS_FLOAT32);
  ASSERT_EQ(column.dimension_count, 2);
  EXPECT_EQ(column.shape[0], 24);
  EXPECT_EQ(column.shape[1], 5);
  EXPECT_STREQ(column.axis, "frames");
  EXPECT_EQ(column.rows_per_frame, 1U);
  EXPECT_STREQ(column.version, "");
  EXPECT_EQ(xtts_cache_column(cache_, 9, &column, &error_), XTTS_NOT_FOUND);
  EXPECT_EQ(column.name, nullptr);

  ASSERT_EQ(xtts_cache_speaker_count(cache_), made_.manifest.speakers.size());
  for (std::size_t i = 0; i < made_.manifest.speakers.size(); ++i) {
    EXPECT_EQ(xtts_cache_speaker(cache_, i), made_.manifest.speakers[i]);
  }
  EXPECT_EQ(xtts_cache_speaker(cache_, 1000), nullptr);
  ASSERT_EQ(xtts_cache_language_count(cache_), made_.manifest.languages.size());
  EXPECT_EQ(xtts_cache_language(cache_, 1000), nullptr);
  EXPECT_EQ(xtts_cache_generation(cache_), made_.manifest.generation);
  EXPECT_EQ(xtts_cache_digest(cache_), made_.manifest.index_digest.to_hex());

  xtts_clip clip;
  ASSERT_EQ(xtts_cache_clip(cache_, 7, &clip, &error_), XTTS_OK) << error_.message;
  EXPECT_EQ(clip.id, made_.clips[7].id);
  EXPECT_EQ(clip.frame_count, made_.clips[7].mel.size() / 5);
  EXPECT_EQ(clip.token_count, made_.clips[7].tokens.size());
  EXPECT_NE(clip.text, nullptr);
  EXPECT_NE(clip.text_normalized, nullptr);
  clip.release(&clip);
  EXPECT_EQ(clip.release, nullptr);
  EXPECT_EQ(xtts_cache_clip(cache_, 70, &clip, &error_), XTTS_NOT_FOUND);
  EXPECT_EQ(clip.release, nullptr);
}

TEST_F(CApi, ReaderTellsInWordsAndLogs) {
  ASSERT_EQ(::unlink((folder_.path() + "/" + made_.shard_name(0, 1)).c_str()), 0);
  std::vector<std::string> told;
  xtts_reader_options chosen = options();
  chosen.log = [](void* context, std::int32_t level, const char* text) {
    static_cast<std::vector<std::string>*>(context)->push_back(std::to_string(level) + text);
  };
  chosen.log_context = &told;
  chosen.on_damage = XTTS_DAMAGE_SKIP;
  chosen.max_damage = 1;
  xtts_reader* reader = open(chosen);
  xtts_batch batch;
  for (;;) {
    ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK) << error_.message;
    if (batch.release == nullptr) break;
    batch.release(&batch);
  }
  xtts_reader_texts texts;
  ASSERT_EQ(xtts_reader_get_texts(reader, &texts, &error_), XTTS_OK);
  EXPECT_NE(std::string(texts.reading), "");
  EXPECT_NE(std::string(texts.storage), "");
  ASSERT_GE(texts.failure_count, 1U);
  EXPECT_THAT(texts.failures[0], HasSubstr("is missing"));
  EXPECT_THAT(told, ::testing::Contains("2" + std::string(texts.failures[0])));
  EXPECT_THAT(told, ::testing::Contains(HasSubstr("0reading: ")));
  xtts_reader_close(reader);
  texts.release(&texts);
  EXPECT_EQ(texts.release, nullptr);
}

TEST_F(CApi, InterruptAndTimeLimitEndACall) {
  xtts_reader* reader = open(options());
  xtts_batch batch;
  xtts_reader_interrupt(reader);
  EXPECT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_CANCELLED);
  EXPECT_EQ(batch.release, nullptr);
  ASSERT_EQ(xtts_reader_next_within(reader, 60'000, &batch, &error_), XTTS_OK) << error_.message;
  EXPECT_EQ(batch.valid_count, 4U);
  batch.release(&batch);
  std::uint32_t taken = 1;
  while (taken < 7) {
    const xtts_code code = xtts_reader_next_within(reader, 0, &batch, &error_);
    if (code == XTTS_CANCELLED) continue;
    ASSERT_EQ(code, XTTS_OK);
    batch.release(&batch);
    ++taken;
  }
  ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK);
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_EQ(xtts_reader_epoch(reader), 0U);
  ASSERT_EQ(xtts_reader_set_epoch(reader, 5, &error_), XTTS_OK);
  EXPECT_EQ(xtts_reader_epoch(reader), 5U);
  xtts_reader_close(reader);
}

TEST_F(CApi, NullIsRefusedOrGivesNothing) {
  EXPECT_EQ(xtts_cache_size(nullptr) + xtts_cache_generation(nullptr), 0U);
  EXPECT_EQ(xtts_cache_column_count(nullptr) + xtts_cache_speaker_count(nullptr) +
                xtts_cache_language_count(nullptr),
            0U);
  EXPECT_EQ(xtts_cache_recipe(nullptr), nullptr);
  EXPECT_EQ(xtts_cache_digest(nullptr), nullptr);
  EXPECT_EQ(xtts_cache_speaker(nullptr, 0), nullptr);
  EXPECT_EQ(xtts_batch_find(nullptr, "mel"), nullptr);
  EXPECT_EQ(xtts_reader_sample_count(nullptr) + xtts_reader_batches_per_epoch(nullptr) +
                xtts_reader_epoch(nullptr),
            0U);
  xtts_reader_interrupt(nullptr);
  xtts_reader_options_init(nullptr, sizeof(xtts_reader_options));
  xtts_batch batch;
  xtts_clip clip;
  xtts_reader_texts texts;
  xtts_reader_stats stats = {};
  xtts_reader_state state = {};
  EXPECT_EQ(xtts_reader_next(nullptr, &batch, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_EQ(xtts_reader_next_within(nullptr, 1, &batch, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_EQ(xtts_reader_set_epoch(nullptr, 1, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_EQ(xtts_reader_get_texts(nullptr, &texts, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_EQ(xtts_reader_get_stats(nullptr, &stats, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_EQ(xtts_reader_get_state(nullptr, &state, &error_), XTTS_INVALID_ARGUMENT);
  EXPECT_EQ(xtts_cache_clip(nullptr, 0, &clip, nullptr), XTTS_INVALID_ARGUMENT);
  EXPECT_EQ(xtts_cache_column(cache_, 0, nullptr, nullptr), XTTS_INVALID_ARGUMENT);
}

TEST_F(CApi, StructsOfOtherHeadersAreUnderstoodOrRefused) {
  struct Newer {
    xtts_reader_options known;
    std::uint64_t unknown;
  } newer;
  std::memset(static_cast<void*>(&newer), 0xAB, sizeof newer);
  xtts_reader_options_init(&newer.known, sizeof newer);
  EXPECT_EQ(newer.unknown, 0U);
  newer.known.batch_size = 4;
  xtts_reader_close(open(newer.known));
  newer.unknown = 1;
  xtts_reader* reader = nullptr;
  EXPECT_EQ(xtts_reader_open(cache_, &newer.known, &reader, &error_), XTTS_UNSUPPORTED);
  EXPECT_THAT(error_.message, HasSubstr("an option of a newer header is set"));

  xtts_reader_options cut = options();
  for (const std::size_t within : {offsetof(xtts_reader_options, split) + 3,
                                   offsetof(xtts_reader_options, rank) + 1, sizeof cut - 1}) {
    cut.struct_bytes = within;
    EXPECT_EQ(xtts_reader_open(cache_, &cut, &reader, &error_), XTTS_INVALID_ARGUMENT);
    EXPECT_THAT(error_.message, HasSubstr("ends within a field"));
  }
  cut.struct_bytes = SIZE_MAX;
  EXPECT_EQ(xtts_reader_open(cache_, &cut, &reader, &error_), XTTS_INVALID_ARGUMENT);

  reader = open(options());
  struct NewerStats {
    xtts_reader_stats known;
    std::uint64_t unknown;
  } stats;
  std::memset(static_cast<void*>(&stats), 0xAB, sizeof stats);
  stats.known.struct_bytes = sizeof stats;
  ASSERT_EQ(xtts_reader_get_stats(reader, &stats.known, &error_), XTTS_OK);
  EXPECT_EQ(stats.unknown, 0U);
  EXPECT_EQ(stats.known.struct_bytes, sizeof stats.known);
  stats.known.struct_bytes = offsetof(xtts_reader_stats, ms_std) + 2;
  EXPECT_EQ(xtts_reader_get_stats(reader, &stats.known, &error_), XTTS_INVALID_ARGUMENT);
  xtts_reader_close(reader);
}

// tests/python/test_reader_options.py tries each choice and switch.
TEST_F(CApi, NumbersThatNoFieldHasAreRefused) {
  const auto refused = [&](const xtts_reader_options& wrong) {
    xtts_reader* reader = nullptr;
    EXPECT_EQ(xtts_reader_open(cache_, &wrong, &reader, &error_), XTTS_INVALID_ARGUMENT);
    EXPECT_EQ(reader, nullptr);
    return std::string(error_.message);
  };
  constexpr std::int32_t kLeast = std::numeric_limits<std::int32_t>::min();
  xtts_reader_options wrong = options();
  wrong.weight_by = kLeast;
  EXPECT_EQ(refused(wrong), "weight_by has no value -2147483648");
  wrong = options();
  wrong.draw_count = 10;
  EXPECT_THAT(refused(wrong), HasSubstr("draw_count and temperature are for weights"));
  for (const xtts_column_request& column :
       {xtts_column_request{"mel", kLeast, 0, 0}, xtts_column_request{"mel", 99, 0, 0},
        xtts_column_request{"mel", 0, 7, 0}, xtts_column_request{"", 0, 0, 0},
        xtts_column_request{nullptr, 0, 0, 0}}) {
    wrong = options();
    wrong.columns = &column;
    wrong.column_count = 1;
    EXPECT_NE(refused(wrong), "");
  }
}

TEST_F(CApi, MessageIsCutBetweenTwoCharacters) {
  // 3 bytes a character: whatever stands before them, one of three lengths ends within one.
  for (std::size_t shift = 0; shift < 3; ++shift) {
    std::string name(shift, 'x');
    while (name.size() < 3000) name += "\xE2\x82\xAC";
    std::uint64_t position = 0;
    ASSERT_EQ(xtts_cache_find(cache_, name.c_str(), &position, &error_), XTTS_NOT_FOUND);
    const std::string message = error_.message;
    EXPECT_GT(message.size(), 2040U);
    EXPECT_LT(message.size(), sizeof error_.message);
    EXPECT_EQ(message.substr(message.size() - 3), "\xE2\x82\xAC");
  }
}

TEST_F(CApi, OptionsOfAnOlderHeaderKeepTheirMeaning) {
  xtts_reader_options older;
  std::memset(&older, 0xAB, sizeof older);
  const std::size_t older_bytes = offsetof(xtts_reader_options, where);
  xtts_reader_options_init(&older, older_bytes);
  older.batch_size = 5;
  xtts_reader* reader = open(older);
  EXPECT_EQ(xtts_reader_batches_per_epoch(reader), 6U);
  xtts_reader_close(reader);
}

TEST_F(CApi, StateIsBytesThatGoOn) {
  xtts_reader* reader = open(options());
  xtts_batch batch;
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK);
    batch.release(&batch);
  }
  xtts_reader_state state;
  ASSERT_EQ(xtts_reader_get_state(reader, &state, &error_), XTTS_OK);
  EXPECT_EQ(state.samples_consumed, 12U);
  ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK);
  const std::vector<std::uint64_t> expected(batch.positions, batch.positions + batch.valid_count);
  batch.release(&batch);
  xtts_reader* other = open(options());
  ASSERT_EQ(xtts_reader_load_state(other, &state, &error_), XTTS_OK);
  ASSERT_EQ(xtts_reader_next(other, &batch, &error_), XTTS_OK);
  EXPECT_EQ(std::vector<std::uint64_t>(batch.positions, batch.positions + batch.valid_count),
            expected);
  batch.release(&batch);
  std::memset(state.cache, 'x', sizeof state.cache);  // does not even end
  EXPECT_EQ(xtts_reader_load_state(other, &state, &error_), XTTS_MISMATCH);
  xtts_reader_stats stats = {};
  stats.struct_bytes = sizeof stats;
  ASSERT_EQ(xtts_reader_get_stats(reader, &stats, &error_), XTTS_OK);
  EXPECT_GE(stats.batch_count, 4U);
  xtts_reader_close(reader);
  xtts_reader_close(other);
}

TEST_F(CApi, NullIsClosedWithoutHarm) {
  xtts_cache_close(nullptr);
  xtts_reader_close(nullptr);
}

// The cache of these tests has no statistics: who has some gives them.
TEST_F(CApi, NormalizesByTheCorpusOrByGivenNumbers) {
  const std::vector<double> means = {1.0, -2.0, 0.5, 0.0, 3.0};
  const std::vector<double> deviations = {2.0, 0.5, 1.0, 4.0, 0.25};
  const testing::TestCache with = testing::make_test_cache(
      {.clip_count = 6, .edit_manifest = [&](formats::Manifest& manifest) {
         manifest.mel_statistics = formats::Statistics{77, means, deviations};
       }});
  testing::TempFolder folder;
  for (const auto& [name, bytes] : with.files) folder.write(name, bytes);
  xtts_cache* cache = nullptr;
  ASSERT_EQ(xtts_cache_open(folder.path().c_str(), &cache, &error_), XTTS_OK) << error_.message;
  xtts_statistics statistics;
  ASSERT_EQ(xtts_cache_statistics(cache, "mel", &statistics, &error_), XTTS_OK) << error_.message;
  ASSERT_EQ(statistics.channel_count, 5U);
  EXPECT_EQ(statistics.frame_count, 77U);
  EXPECT_EQ(statistics.is_baked, 0);
  const xtts_column_request columns[] = {{"mel", 0, 0, 0.0}};
  const xtts_normalize corpus = {"mel", XTTS_NORMALIZE_CORPUS, 0, nullptr, nullptr, 0};
  const xtts_normalize given = {"mel",
                                XTTS_NORMALIZE_GIVEN,
                                0,
                                statistics.means,
                                statistics.deviations,
                                statistics.channel_count};
  for (const xtts_normalize& wish : {corpus, given}) {
    xtts_reader_options wanted = options();
    wanted.batch_size = 6;
    wanted.shuffle = XTTS_SHUFFLE_NONE;
    wanted.columns = columns;
    wanted.column_count = 1;
    wanted.normalize = &wish;
    wanted.normalize_count = 1;
    xtts_reader* reader = nullptr;
    ASSERT_EQ(xtts_reader_open(cache, &wanted, &reader, &error_), XTTS_OK) << error_.message;
    xtts_batch batch;
    ASSERT_EQ(xtts_reader_next(reader, &batch, &error_), XTTS_OK);
    const xtts_batch_column* const mel = xtts_batch_find(&batch, "mel");
    const auto* const floats = static_cast<const float*>(mel->data);
    EXPECT_EQ(mel->is_view, 0);
    EXPECT_EQ(mel->device_kind, XTTS_DEVICE_CPU);
    EXPECT_EQ(mel->device_number, 0);
    EXPECT_EQ(xtts_batch_wait(&batch, &error_), XTTS_OK);
    EXPECT_EQ(xtts_batch_let_wait(&batch, 0, &error_), XTTS_OK);
    for (std::size_t row = 0; row < 6; ++row) {
      const auto& stored = with.clips[row].mel;
      for (std::size_t i = 0; i < stored.size(); ++i) {
        const auto mean = static_cast<float>(means[i % 5]);
        const auto deviation = static_cast<float>(deviations[i % 5]);
        ASSERT_EQ(floats[row * static_cast<std::size_t>(mel->shape[1]) * 5 + i],
                  (stored[i] - mean) / deviation);
      }
    }
    batch.release(&batch);
    EXPECT_EQ(xtts_batch_wait(&batch, &error_), XTTS_INVALID_ARGUMENT);
    EXPECT_EQ(xtts_batch_let_wait(&batch, 0, &error_), XTTS_INVALID_ARGUMENT);
    xtts_reader_close(reader);
  }
  xtts_cache_close(cache);
  EXPECT_EQ(statistics.means[1], -2.0);  // they outlive it
  statistics.release(&statistics);
  EXPECT_EQ(statistics.release, nullptr);
}

TEST_F(CApi, RefusesToNormalizeWhatIsNotThere) {
  const xtts_column_request columns[] = {{"mel", 0, 0, 0.0}};
  xtts_reader_options wanted = options();
  wanted.columns = columns;
  wanted.column_count = 1;
  const auto refused = [&](const xtts_normalize& wish) {
    wanted.normalize = &wish;
    wanted.normalize_count = 1;
    xtts_reader* reader = nullptr;
    EXPECT_NE(xtts_reader_open(cache_, &wanted, &reader, &error_), XTTS_OK);
    EXPECT_EQ(reader, nullptr);
    return std::string(error_.message);
  };
  const double one[] = {1.0};
  EXPECT_THAT(refused({"mell", XTTS_NORMALIZE_CORPUS, 0, nullptr, nullptr, 0}),
              HasSubstr("'mell', which is none of columns"));
  EXPECT_THAT(refused({nullptr, XTTS_NORMALIZE_CORPUS, 0, nullptr, nullptr, 0}),
              HasSubstr("which is none of columns"));
  EXPECT_THAT(refused({"mel", 3, 0, nullptr, nullptr, 0}), HasSubstr("has no value 3"));
  EXPECT_THAT(refused({"mel", XTTS_NORMALIZE_CORPUS, 0, nullptr, nullptr, 0}),
              HasSubstr("has no statistics"));
  EXPECT_THAT(refused({"mel", XTTS_NORMALIZE_GIVEN, 0, one, one, 1}),
              HasSubstr("it has 5 channels, and there are 1"));
  xtts_statistics statistics;
  EXPECT_EQ(xtts_cache_statistics(cache_, "mel", &statistics, &error_), XTTS_NOT_FOUND);
  EXPECT_EQ(statistics.release, nullptr);
  EXPECT_EQ(xtts_cache_statistics(cache_, nullptr, &statistics, &error_), XTTS_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace xtts
