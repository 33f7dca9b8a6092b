// Tests of columns that are normalized by the corpus' statistics, or by given numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "base/half.hpp"
#include "made_cache.hpp"

namespace xtts {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kChannels = 5;
const std::vector<double> kMeans = {-4.5, 0.1, 3.0, -11.5129, 0.0};
const std::vector<double> kDeviations = {2.25, 1.0, 0.3, 0.0, 7.0};  // one channel is constant

void set_statistics(formats::Manifest& manifest) {
  manifest.mel_statistics = formats::Statistics{40000, kMeans, kDeviations};
}

ColumnRequest normalized_mel() {
  return {.name = "mel", .normalize = Normalize::kCorpus};
}

float expected_value(float stored, std::size_t channel) {
  const auto mean = static_cast<float>(kMeans[channel]);
  const auto divisor = static_cast<float>(std::max(kDeviations[channel], 1e-5));
  return (stored - mean) / divisor;
}

// Expects the clip's frames from `first` on, as many as the row's length says, and then padding.
void expect_row(const BatchColumn& mel, std::uint32_t row, const std::vector<float>& stored,
                std::size_t first, float padding) {
  const auto floats = mel.as_floats();
  ASSERT_TRUE(floats.ok()) << floats.status().message();
  const std::size_t size = std::size_t{mel.shape[1]} * kChannels;
  const std::size_t true_size = static_cast<std::size_t>(mel.lengths[row]) * kChannels;
  for (std::size_t i = 0; i < size; ++i) {
    const float found = (*floats)[row * size + i];
    const float wanted =
        i < true_size ? expected_value(stored[first * kChannels + i], i % kChannels) : padding;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(found), std::bit_cast<std::uint32_t>(wanted))
        << "row " << row << ", value " << i << ": " << found << ", not " << wanted;
  }
}

// Checks each valid row of a whole epoch. Returns the number of rows.
template <typename CheckRow>
std::size_t check_epoch(Reader& reader, CheckRow check) {
  std::size_t count = 0;
  for (;;) {
    const auto batch = reader.next();
    EXPECT_TRUE(batch.ok()) << batch.status().message();
    if (!batch.ok() || !*batch) return count;
    const BatchColumn* const mel = (*batch)->find("mel");
    EXPECT_FALSE(mel->is_view);
    for (std::uint32_t row = 0; row < (*batch)->valid_count(); ++row) {
      check(**batch, *mel, row, (*batch)->positions()[row]);
      ++count;
    }
  }
}

std::size_t check_whole_epoch(Reader& reader, const MadeCache& cache, float padding) {
  return check_epoch(
      reader, [&](const Batch&, const BatchColumn& mel, std::uint32_t row, std::uint64_t position) {
        const auto& stored = cache.made().clips[position].mel;
        EXPECT_EQ(static_cast<std::size_t>(mel.lengths[row]) * kChannels, stored.size());
        expect_row(mel, row, stored, 0, padding);
      });
}

class PublicReaderNormalize : public ::testing::TestWithParam<formats::Layout> {
 protected:
  // The fill value of the cache's records.
  [[nodiscard]] float fill() const {
    return std::bit_cast<float>(cache_.made().manifest.find_column("mel")->fill_bits);
  }
  MadeCache cache_{{.layout = GetParam(), .clip_count = 61, .edit_manifest = set_statistics}};
};

TEST_P(PublicReaderNormalize, GivesWhatTheFormulaGivesInEveryBitAndLeavesPaddingAlone) {
  const Cache cache = cache_.open();
  for (const Shuffle shuffle : {Shuffle::kNone, Shuffle::kGlobal, Shuffle::kWindow}) {
    for (const std::optional<double> pad_value : {std::optional<double>(), std::optional(-7.5)}) {
      ColumnRequest request = normalized_mel();
      request.pad_value = pad_value;
      Reader reader = open_reader(cache, {.batch_size = 4,
                                          .shuffle = shuffle,
                                          .last_batch = LastBatch::kPad,
                                          .columns = {request}});
      EXPECT_EQ(check_whole_epoch(reader, cache_, pad_value ? -7.5F : fill()), 61U);
      EXPECT_EQ(reader.stats().batches_in_place, 0U);
    }
  }
}

TEST_P(PublicReaderNormalize, CropsAndBucketsAreOfTheSameNumbers) {
  const Cache cache = cache_.open();
  Reader crops =
      open_reader(cache, {.batch_size = 4, .columns = {normalized_mel()}, .crop_frames = 3});
  Reader plain =
      open_reader(cache, {.batch_size = 4, .columns = {{.name = "mel"}}, .crop_frames = 3});
  std::size_t crop_count = 0;
  for (;;) {
    const auto some = crops.next();
    const auto same = plain.next();
    ASSERT_TRUE(some.ok() && same.ok());
    if (!*some) break;
    const BatchColumn& raw = *(*same)->find("mel");
    const auto floats = *raw.as_floats();
    for (std::uint32_t row = 0; row < (*some)->valid_count(); ++row, ++crop_count) {
      const auto one = floats.subspan(row * 3 * kChannels, 3 * kChannels);
      expect_row(*(*some)->find("mel"), row, {one.begin(), one.end()}, 0, fill());
    }
  }
  EXPECT_GT(crop_count, 50U);
  Reader buckets =
      open_reader(cache, {.last_batch = LastBatch::kPad,
                          .columns = {normalized_mel()},
                          .buckets = {{.batch_size = 3, .frames_max = 9}, {.batch_size = 2}}});
  EXPECT_EQ(check_whole_epoch(buckets, cache_, fill()), 61U);
}

TEST_P(PublicReaderNormalize, AnotherDtypeIsRoundedFromTheNormalizedNumbers) {
  ColumnRequest request = normalized_mel();
  request.dtype = DType::kBFloat16;
  Reader reader = open_reader(cache_.open(),
                              {.batch_size = 1, .shuffle = Shuffle::kNone, .columns = {request}});
  const auto check = [&](const Batch&, const BatchColumn& mel, std::uint32_t row,
                         std::uint64_t position) {
    ASSERT_EQ(mel.dtype, DType::kBFloat16);
    const auto* const halves = reinterpret_cast<const std::uint16_t*>(mel.bytes.data());
    const auto& stored = cache_.made().clips[position].mel;
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const std::uint16_t wanted = to_bfloat16(expected_value(stored[i], i % kChannels));
      ASSERT_EQ(halves[row * std::size_t{mel.shape[1]} * kChannels + i], wanted);
    }
  };
  EXPECT_EQ(check_epoch(reader, check), 61U);
}

TEST_P(PublicReaderNormalize, GivenNumbersNeedNoStatistics) {
  const MadeCache cache({.layout = GetParam(), .clip_count = 9});
  const ColumnRequest request{
      .name = "mel", .normalize = Normalize::kGiven, .means = kMeans, .deviations = kDeviations};
  Reader reader =
      open_reader(cache.open(), {.batch_size = 3, .shuffle = Shuffle::kNone, .columns = {request}});
  const float own = std::bit_cast<float>(cache.made().manifest.find_column("mel")->fill_bits);
  EXPECT_EQ(check_whole_epoch(reader, cache, own), 9U);
}

INSTANTIATE_TEST_SUITE_P(Layouts, PublicReaderNormalize,
                         ::testing::Values(formats::Layout::kPadded, formats::Layout::kPacked),
                         [](const auto& instance) {
                           return instance.param == formats::Layout::kPadded ? "Padded" : "Packed";
                         });

// Rows of 80 channels do not fill a piece of 32 KiB evenly, so pieces begin within a row.
TEST(PublicReaderNormalization, OfLongRecordsAndPastThePageCacheIsTheSame) {
  const auto statistics = [](formats::Manifest& manifest) {
    std::vector<double> means(80);
    std::vector<double> deviations(80);
    for (std::size_t i = 0; i < 80; ++i) {
      means[i] = -0.1 * static_cast<double>(i);
      deviations[i] = 0.5 + 0.01 * static_cast<double>(i);
    }
    manifest.mel_statistics = formats::Statistics{1, means, deviations};
  };
  const MadeCache made(
      {.clip_count = 21, .frames_max = 517, .channel_count = 80, .edit_manifest = statistics});
  const Cache cache = made.open();
  const auto numbers = *cache.statistics("mel");
  for (const Reading reading : {Reading::kMapped, Reading::kDirect}) {
    Reader reader =
        open_reader(cache, {.batch_size = 4, .columns = {normalized_mel()}, .reading = reading});
    check_epoch(reader, [&](const Batch&, const BatchColumn& mel, std::uint32_t row,
                            std::uint64_t position) {
      const auto& stored = made.made().clips[position].mel;
      const auto floats = mel.as_floats()->subspan(row * std::size_t{517} * 80, stored.size());
      for (std::size_t i = 0; i < stored.size(); ++i) {
        const auto mean = static_cast<float>(numbers.mean[i % 80]);
        const auto divisor = static_cast<float>(numbers.deviation[i % 80]);
        ASSERT_EQ(floats[i], (stored[i] - mean) / divisor) << i;
      }
    });
  }
}

TEST(PublicReaderNormalization, StatisticsAreThoseOfTheManifest) {
  const MadeCache made({.clip_count = 3, .edit_manifest = set_statistics});
  const Cache cache = made.open();
  const auto statistics = cache.statistics("mel");
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->frame_count, 40000U);
  EXPECT_EQ(statistics->mean, kMeans);
  EXPECT_EQ(statistics->deviation, kDeviations);
  EXPECT_FALSE(statistics->is_baked);
  EXPECT_EQ(cache.statistics("tokens").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(cache.statistics("pitch").status().code(), StatusCode::kNotFound);
}

TEST(PublicReaderNormalization, OfABakedCacheIsAlreadyThere) {
  const MadeCache made({.clip_count = 8, .edit_manifest = [](formats::Manifest& manifest) {
                          set_statistics(manifest);
                          manifest.features["baked"] = {{"dtype", "float32"}};
                        }});
  const Cache cache = made.open();
  EXPECT_TRUE(cache.statistics("mel")->is_baked);
  Reader reader = open_reader(
      cache, {.batch_size = 2, .shuffle = Shuffle::kNone, .columns = {normalized_mel()}});
  const auto batch = reader.next();
  ASSERT_TRUE(batch.ok() && *batch);
  const BatchColumn& mel = *(*batch)->find("mel");
  EXPECT_TRUE(mel.is_view) << "a baked cache is handed out in place";
  const auto& stored = made.made().clips[0].mel;
  EXPECT_TRUE(std::ranges::equal(mel.as_floats()->first(stored.size()), stored));
}

TEST(PublicReaderNormalization, ThatCannotBeIsRefusedInWords) {
  const MadeCache made({.clip_count = 3, .edit_manifest = set_statistics});
  const MadeCache without({.clip_count = 3, .edit_manifest = [](formats::Manifest& manifest) {
                             manifest.mel_statistics.reset();
                           }});
  const MadeCache fewer({.clip_count = 3, .edit_manifest = [](formats::Manifest& manifest) {
                           manifest.mel_statistics = formats::Statistics{1, {0.0}, {1.0}};
                         }});
  const auto refused = [](const MadeCache& cache, const ColumnRequest& request) {
    const auto reader = Reader::open(cache.open(), {.batch_size = 1, .columns = {request}});
    EXPECT_FALSE(reader.ok());
    return reader.status().message();
  };
  EXPECT_THAT(refused(without, normalized_mel()), HasSubstr("has no statistics"));
  EXPECT_THAT(refused(fewer, normalized_mel()), HasSubstr("it has 5 channels, and there are 1"));
  EXPECT_THAT(refused(made, {.name = "tokens", .normalize = Normalize::kCorpus}),
              HasSubstr("it holds int32"));
  EXPECT_THAT(refused(made, {.name = "mel", .means = kMeans, .deviations = kDeviations}),
              HasSubstr("normalize does not ask for given ones"));
  EXPECT_THAT(refused(made, {.name = "mel",
                             .normalize = Normalize::kGiven,
                             .means = kMeans,
                             .deviations = {1, 1, 1, 1, -1}}),
              HasSubstr("deviation of channel 4"));
}

// The padding of such records is features, so one number cannot stand for all channels.
TEST(PublicReaderNormalization, OfPaddedSamplesNeedsAPadValue) {
  const MadeCache made({.clip_count = 9, .edit_manifest = [](formats::Manifest& manifest) {
                          set_statistics(manifest);
                          manifest.features["pad"] = "samples";
                        }});
  const auto refused = Reader::open(made.open(), {.batch_size = 3, .columns = {normalized_mel()}});
  ASSERT_EQ(refused.status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(refused.status().message(), HasSubstr("give a pad_value"));
  ColumnRequest request = normalized_mel();
  request.pad_value = 0.0;
  Reader reader = open_reader(made.open(), {.batch_size = 3, .columns = {request}});
  EXPECT_EQ(check_whole_epoch(reader, made, 0.0F), 9U);
}

TEST(PublicReaderNormalization, OfSeveralCachesNeedsStatisticsThatAreOne) {
  const MadeCache first({.clip_count = 8, .dataset = "a", .edit_manifest = set_statistics});
  const MadeCache same({.clip_count = 5, .dataset = "b", .edit_manifest = set_statistics});
  const MadeCache other({.clip_count = 5, .dataset = "c", .edit_manifest = [](auto& manifest) {
                           set_statistics(manifest);
                           manifest.mel_statistics->mean[2] += 1e-9;
                         }});
  const auto both = Cache::open({first.path(), same.path()});
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->statistics("mel")->mean, kMeans);
  Reader reader = open_reader(*both, {.batch_size = 13, .columns = {normalized_mel()}});
  EXPECT_EQ(check_epoch(reader,
                        [&](const Batch&, const BatchColumn& mel, std::uint32_t row,
                            std::uint64_t position) {
                          const auto& clip = position < 8 ? first.made().clips[position]
                                                          : same.made().clips[position - 8];
                          const auto& manifest = first.made().manifest;
                          expect_row(mel, row, clip.mel, 0,
                                     std::bit_cast<float>(manifest.find_column("mel")->fill_bits));
                        }),
            13U);
  const auto unlike = Cache::open({first.path(), other.path()});
  ASSERT_TRUE(unlike.ok());
  EXPECT_EQ(unlike->statistics("mel").status().code(), StatusCode::kMismatch);
  const auto refused = Reader::open(*unlike, {.batch_size = 1, .columns = {normalized_mel()}});
  ASSERT_EQ(refused.status().code(), StatusCode::kMismatch);
  EXPECT_THAT(refused.status().message(), HasSubstr(other.path()));
  EXPECT_THAT(refused.status().message(), HasSubstr("give means and deviations"));
  const auto given = Reader::open(*unlike, {.batch_size = 1,
                                            .columns = {{.name = "mel",
                                                         .normalize = Normalize::kGiven,
                                                         .means = kMeans,
                                                         .deviations = kDeviations}}});
  EXPECT_TRUE(given.ok()) << given.status().message();
}

}  // namespace
}  // namespace xtts
