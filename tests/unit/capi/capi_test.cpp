#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstring>
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
