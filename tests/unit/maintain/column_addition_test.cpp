// A column added to a published cache: what was there stays, what is missing is made, and an
// interrupted addition goes on.
#include "maintain/column_addition.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "formats/clip_id.hpp"
#include "grown_cache.hpp"
#include "maintain/rewrite.hpp"
#include "query/fields.hpp"
#include "reader/index_reader.hpp"
#include "request/verify_words.hpp"
#include "verify/verify.hpp"

namespace xtts::testing {
namespace {

using formats::Axis;
using maintain::AdditionReport;
using maintain::ColumnAddition;
using maintain::NewColumn;
using ::testing::HasSubstr;

constexpr std::uint32_t kAddedClips = 20;

// A record of 16 MiB may be: shards of eight clips.
NewColumn pitch(const std::string& version = "1") {
  return {.name = "pitch", .version = version, .axis = Axis::kFrames, .row_shape = {80}};
}

// Numbers that tell clip and row.
std::vector<float> rows_of(const std::string& id, std::uint32_t rows, std::size_t row_values,
                           float offset = 0.0F) {
  std::vector<float> values(rows * row_values);
  const auto seed = static_cast<float>(check64(as_bytes(id)) % 1000);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = seed + offset + static_cast<float>(i) / 1024.0F;
  return values;
}

Status put_until(ColumnAddition& addition, std::size_t row_values, std::uint64_t end,
                 float offset = 0.0F) {
  while (addition.done_count() < std::min<std::uint64_t>(end, addition.to_make().size())) {
    const std::uint64_t position = addition.to_make()[addition.done_count()];
    const auto length = addition.length_of(position);
    const auto id = formats::full_id(*addition.view().details(position));
    const auto values = rows_of(id, *length, row_values, offset);
    const Status status = addition.put(std::as_bytes(std::span(values)));
    if (!status.ok()) return status;
  }
  return {};
}

Result<AdditionReport> add(MemoryEnv& env, const NewColumn& column, float offset = 0.0F) {
  auto addition = ColumnAddition::open(env, kCache, column, {});
  if (!addition) return addition.status();
  std::size_t row_values = 1;
  for (const std::uint32_t size : column.row_shape) row_values *= size;
  if (column.axis == Axis::kFixed) row_values /= column.row_shape.front();
  const Status status = put_until(**addition, row_values, UINT64_MAX, offset);
  if (!status.ok()) return status;
  return (*addition)->finish();
}

void expect_pitch_of_all(MemoryEnv& env, float offset = 0.0F, const std::string& cache = kCache) {
  const auto view = open_cache(env, cache);
  for (std::uint64_t position = 0; position < view->size(); ++position) {
    const std::string id = formats::full_id(*view->details(position));
    const auto record = view->read_record("pitch", position);
    ASSERT_TRUE(record.ok()) << record.status().message();
    const auto expected = rows_of(id, view->plan_row(position)->mel_len, 80, offset);
    const auto bytes = std::as_bytes(std::span(expected));
    EXPECT_TRUE(std::ranges::equal(record->bytes, bytes)) << id;
  }
  EXPECT_EQ(damage_in(env, cache), "");
}

class AddColumn : public ::testing::Test {
 protected:
  void SetUp() override {
    add_listed_sounds(env_, kAddedClips);
    must_build(env_, request());
  }
  static pipeline::BuildRequest request() { return request_for(recipe_of_small_shards()); }

  MemoryEnv env_;
};

TEST_F(AddColumn, RefusesNamesThatMeanSomethingElse) {
  const Files before = files_below(env_);
  std::vector<std::string> names = {"mel", "tokens", "headers", "mel_len", "words_len", "_core"};
  for (const std::string_view name : maintain::reserved_column_names()) names.emplace_back(name);
  for (const query::Field& field : query::fields()) names.emplace_back(field.name);
  for (const std::string& name : names) {
    NewColumn column = pitch();
    column.name = name;
    const auto refused = ColumnAddition::open(env_, kCache, column, {});
    EXPECT_EQ(refused.status().code(), StatusCode::kInvalidArgument) << name;
    EXPECT_THAT(refused.status().message(), HasSubstr("'" + name + "'")) << name;
  }
  EXPECT_EQ(difference(before, files_below(env_)), "");
}

// NaN for frames without a voice is somebody's convention, and a defect of somebody else's
// function.
TEST_F(AddColumn, RefusesWhatIsNotFiniteUnlessItMeansSomething) {
  NewColumn column = {.name = "voice", .axis = Axis::kFixed, .row_shape = {4}};
  {
    auto addition = ColumnAddition::open(env_, kCache, column, {});
    ASSERT_TRUE(addition.ok()) << addition.status().message();
    std::vector<float> values = {1.0F, 0.0F, 2.0F, 3.0F};
    const auto put = [&] { return (*addition)->put(std::as_bytes(std::span(values))); };
    for (const float odd :
         {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
      values[1] = odd;
      const Status refused = put();
      EXPECT_EQ(refused.code(), StatusCode::kInvalidArgument);
      EXPECT_THAT(refused.message(), HasSubstr("clip 'clip-0"));
      EXPECT_THAT(refused.message(), HasSubstr("has 1 value that is NaN or infinite"));
      EXPECT_EQ((*addition)->done_count(), 0U);
    }
  }
  column.allow_nonfinite = true;
  auto addition = ColumnAddition::open(env_, kCache, column, {});
  ASSERT_TRUE(addition.ok()) << addition.status().message();
  const std::vector<float> values = {std::numeric_limits<float>::quiet_NaN(), 1.0F, 2.0F, 3.0F};
  while ((*addition)->done_count() < (*addition)->to_make().size())
    ASSERT_TRUE((*addition)->put(std::as_bytes(std::span(values))).ok());
  ASSERT_TRUE((*addition)->finish().ok());
  const auto record = open_cache(env_)->read_record("voice", 0);
  ASSERT_TRUE(record.ok());
  EXPECT_TRUE(std::ranges::equal(record->bytes, std::as_bytes(std::span(values))));
  EXPECT_EQ(damage_in(env_), "");
}

TEST_F(AddColumn, StandsBesideWhatIsThere) {
  const Files before = files_below(env_);
  const auto report = add(env_, pitch());
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->added_count, kAddedClips);
  EXPECT_EQ(report->generation, 2U);
  expect_pitch_of_all(env_);
  const Files after = files_below(env_);
  for (const auto& [name, bytes] : files_named(before, "shards/")) EXPECT_EQ(after.at(name), bytes);
  EXPECT_EQ(files_named(after, "shards/pitch/").size(), 3U);
  EXPECT_FALSE(env_.exists(kCache + "/.build"));
}

TEST_F(AddColumn, OnceMoreChangesNothing) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  const Files before = files_below(env_);
  const auto report = add(env_, pitch());
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->unchanged);
  EXPECT_EQ(difference(before, files_below(env_)), "");
}

TEST_F(AddColumn, AnotherVersionTakesItsPlace) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  const auto report = add(env_, pitch("2"), 0.5F);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->added_count, kAddedClips);
  expect_pitch_of_all(env_, 0.5F);
  EXPECT_EQ(open_cache(env_)->manifest().columns.size(), 3U);
  EXPECT_EQ(files_named(files_below(env_), "shards/pitch/").size(), 3U);
}

TEST_F(AddColumn, SeveralStandOneBehindTheOther) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  ASSERT_TRUE(
      add(env_, {.name = "voice", .version = "a", .axis = Axis::kFixed, .row_shape = {256}}).ok());
  ASSERT_TRUE(add(env_, {.name = "durations", .version = "a", .axis = Axis::kTokens}).ok());
  ASSERT_TRUE(add(env_, pitch("2"), 0.25F).ok());
  expect_pitch_of_all(env_, 0.25F);
  const auto view = open_cache(env_);
  EXPECT_EQ(view->read_record("voice", 3)->shape, std::vector<std::uint32_t>{256});
  EXPECT_EQ(view->read_record("durations", 3)->shape,
            std::vector<std::uint32_t>{view->plan_row(3)->text_len});
}

TEST_F(AddColumn, ClipsMayHaveAsManyRowsAsTheyHave) {
  const NewColumn codes = {
      .name = "codes", .axis = Axis::kOwn, .dtype = DType::kInt16, .row_shape = {9, 4}};
  {
    const auto addition = ColumnAddition::open(env_, kCache, codes, {});
    ASSERT_TRUE(addition.ok()) << addition.status().message();
    for (std::size_t clip = 0; clip < kAddedClips; ++clip)
      ASSERT_TRUE((*addition)->put(std::vector<std::byte>(clip % 10 * 8)).ok());
    ASSERT_TRUE((*addition)->finish().ok());
  }
  const auto view = open_cache(env_);
  for (std::uint32_t clip = 0; clip < kAddedClips; ++clip) {
    EXPECT_EQ(view->read_record("codes", clip)->shape, (std::vector<std::uint32_t>{clip % 10, 4}));
  }
  EXPECT_EQ(damage_in(env_), "");
  NewColumn other = codes;
  other.version = "2";
  const auto addition = ColumnAddition::open(env_, kCache, other, {});
  EXPECT_THAT((*addition)->put(std::vector<std::byte>(10 * 8)).message(),
              HasSubstr("needs at most 9 rows of 8 bytes"));
  EXPECT_FALSE((*addition)->put(std::vector<std::byte>(7)).ok());
}

TEST_F(AddColumn, InterruptedItGoesOnToTheSameBytes) {
  MemoryEnv undisturbed;
  add_listed_sounds(undisturbed, kAddedClips);
  must_build(undisturbed, request());
  ASSERT_TRUE(add(undisturbed, pitch()).ok());
  for (const std::uint64_t stop : {1U, 8U, 9U, 17U}) {
    SCOPED_TRACE(stop);
    MemoryEnv env;
    add_listed_sounds(env, kAddedClips);
    must_build(env, request());
    {
      const auto addition = ColumnAddition::open(env, kCache, pitch(), {});
      ASSERT_TRUE(addition.ok());
      ASSERT_TRUE(put_until(**addition, 80, stop).ok());
    }
    EXPECT_EQ(open_cache(env)->manifest().find_column("pitch"), nullptr);
    {
      const auto again = ColumnAddition::open(env, kCache, pitch(), {});
      EXPECT_EQ((*again)->done_count(), stop) << "nothing is asked for twice";
    }
    ASSERT_TRUE(add(env, pitch()).ok());
    EXPECT_EQ(difference(files_below(undisturbed), files_below(env)), "");
  }
}

TEST_F(AddColumn, WhatACrashHasTornIsAskedForAgain) {
  {
    const auto addition = ColumnAddition::open(env_, kCache, pitch(), {});
    ASSERT_TRUE(put_until(**addition, 80, 11).ok());
  }
  const std::string spool = kCache + "/.build/records-1";
  auto bytes = files_below(env_).at(".build/records-1");
  bytes.back() ^= 1;
  ASSERT_TRUE(replace_file(env_, spool, as_bytes(std::string_view(bytes))).ok());
  {
    const auto again = ColumnAddition::open(env_, kCache, pitch(), {});
    EXPECT_EQ((*again)->done_count(), 10U);
  }
  ASSERT_TRUE(add(env_, pitch()).ok());
  expect_pitch_of_all(env_);
  EXPECT_FALSE(env_.exists(kCache + "/.build"));
}

// The command to paste allows what the last build left out: two clips of 20.
TEST_F(AddColumn, GivenUpByAPrintedBuildHasTheLimitsOfTheLastOne) {
  env_.add_file(listed_wav(3), "no sound");
  env_.add_file(listed_wav(7), "no sound");
  auto tolerant = request();
  tolerant.max_rejects.count = 2;
  must_build(env_, tolerant);
  {
    const auto addition = ColumnAddition::open(env_, kCache, pitch(), {});
    ASSERT_TRUE(put_until(**addition, 80, 11).ok());
  }
  const auto refused = maintain::compact(env_, {.cache = kCache});
  EXPECT_THAT(
      refused.status().message(),
      HasSubstr("\n  xtts-precompute build /data /cache --max-rejects 2 --discard-unfinished"));
}

TEST_F(AddColumn, AnotherVersionBeginsAnew) {
  {
    const auto addition = ColumnAddition::open(env_, kCache, pitch(), {});
    ASSERT_TRUE(put_until(**addition, 80, 11).ok());
  }
  ASSERT_TRUE(add(env_, pitch("2"), 0.5F).ok());
  expect_pitch_of_all(env_, 0.5F);
}

TEST_F(AddColumn, RefusesWhatDoesNotFit) {
  const auto message = [&](const NewColumn& column) {
    const auto opened = ColumnAddition::open(env_, kCache, column, {});
    return opened.ok() ? "" : opened.status().message();
  };
  EXPECT_THAT(message({.name = "mel"}), HasSubstr("a column that a build makes"));
  EXPECT_THAT(message({.name = "tokens"}), HasSubstr("a column that a build makes"));
  EXPECT_THAT(message({.name = "ids"}), HasSubstr("a name that shards use themselves"));
  EXPECT_THAT(message({.name = "a/b"}), HasSubstr("add_column: "));
  EXPECT_THAT(message({.name = "huge", .row_shape = {1U << 20U}}), HasSubstr("add_column: "));
  const auto addition = ColumnAddition::open(env_, kCache, pitch(), {});
  ASSERT_TRUE(addition.ok());
  const Status wrong = (*addition)->put(std::vector<std::byte>(320));
  EXPECT_THAT(wrong.message(), HasSubstr("clip clip-0000 needs"));
  EXPECT_EQ((*addition)->finish().status().code(), StatusCode::kInvalidArgument);
}

TEST_F(AddColumn, ThatNeverPutARecordLeavesNothingBehind) {
  const Files before = files_below(env_);
  {
    const auto addition = ColumnAddition::open(env_, kCache, pitch(), {});
    ASSERT_TRUE(addition.ok());
    EXPECT_FALSE((*addition)->put(std::vector<std::byte>(320)).ok());
  }
  EXPECT_EQ(difference(before, files_below(env_)), "");
  EXPECT_TRUE(add(env_, {.name = "voice", .axis = Axis::kFixed, .row_shape = {4}}).ok());
}

TEST_F(AddColumn, DamageOfItIsToldWithWhatMendsIt) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  const auto shards = files_named(files_below(env_), "shards/pitch/");
  const std::string path = kCache + "/" + shards.begin()->first;
  std::string bytes = shards.begin()->second;
  const auto rows = rows_of(formats::full_id(*open_cache(env_)->details(0)), 1, 80);
  const std::string first(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(float));
  ASSERT_NE(bytes.find(first), std::string::npos);
  bytes[bytes.find(first)] ^= 1;
  ASSERT_TRUE(replace_file(env_, path, as_bytes(std::string_view(bytes))).ok());
  const auto report = verify::verify_cache(env_, kCache, {.level = verify::Level::kFull});
  ASSERT_EQ(report->findings.size(), 1U);
  ASSERT_TRUE(report->remedy);
  EXPECT_EQ(request::command_of(*report->remedy),
            "xtts_precompute.open('/cache').add_column('pitch', FUNCTION, version='ANOTHER')");
}

TEST_F(AddColumn, LeavesAnUnfinishedBuildAlone) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  add_listed_sounds(env_, kAddedClips + 12);
  TestObserver observer;
  observer.cancel_at = 9;
  ASSERT_EQ(pipeline::build(env_, request(), observer).status().code(), StatusCode::kCancelled);
  auto column = pitch();  // nothing is to be made of it
  for (const std::string name : {"pitch", "other"}) {
    column.name = name;
    const auto refused = ColumnAddition::open(env_, kCache, column, {});
    EXPECT_EQ(refused.status().code(), StatusCode::kMismatch) << name;
  }
  TestObserver again;
  ASSERT_TRUE(pipeline::build(env_, request(), again).ok());
  EXPECT_EQ(again.preview()->sealed_count, 8U);
}

TEST_F(AddColumn, AnUpdateLeavesHolesThatTheNextAdditionFills) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  add_listed_sounds(env_, kAddedClips + 3);
  add_list(env_, kAddedClips + 3, {{5, "Mended."}});
  must_build(env_, request());
  EXPECT_EQ(damage_in(env_), "");
  auto view = open_cache(env_);
  EXPECT_EQ(view->manifest().find_column("pitch")->missing_count, 4U) << "three new, one mended";
  EXPECT_TRUE(view->read_record("pitch", 0).ok());
  const auto missing = view->read_record("pitch", kAddedClips);
  EXPECT_EQ(missing.status().code(), StatusCode::kNotFound);
  EXPECT_THAT(missing.status().message(), HasSubstr("add_column again"));
  view.reset();
  const auto report = add(env_, pitch());
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->added_count, 4U);
  expect_pitch_of_all(env_);
}

TEST_F(AddColumn, AClipThatGoesTakesItsRecordWithIt) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  ASSERT_TRUE(env_.remove_file(sound_path(4, kData + "/wavs")).ok());
  must_build(env_, request());
  EXPECT_EQ(open_cache(env_)->size(), kAddedClips - 1);
  expect_pitch_of_all(env_);
}

TEST_F(AddColumn, IsCarriedByCompactAndConvert) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  add_listed_sounds(env_, kAddedClips + 1);
  must_build(env_, request());
  ASSERT_TRUE(maintain::compact(env_, {.cache = kCache}).ok());
  EXPECT_EQ(open_cache(env_)->manifest().find_column("pitch")->missing_count, 1U);
  EXPECT_EQ(damage_in(env_), "");
  ASSERT_TRUE(add(env_, pitch()).ok());
  ASSERT_TRUE(maintain::compact(env_, {.cache = kCache}).ok());
  EXPECT_EQ(open_cache(env_)->manifest().generation, 1U);
  expect_pitch_of_all(env_);
  const formats::StorageConfig hdf5 = {.store = formats::StoreKind::kHdf5,
                                       .layout = formats::Layout::kPacked,
                                       .dtype = DType::kFloat16};
  const auto converted = maintain::convert(env_, {.from = kCache, .to = "/new", .storage = hdf5});
  ASSERT_TRUE(converted.ok()) << converted.status().message();
  expect_pitch_of_all(env_, 0.0F, "/new");
}

TEST_F(AddColumn, AnUnchangedCorpusStaysUnchanged) {
  ASSERT_TRUE(add(env_, pitch()).ok());
  EXPECT_TRUE(must_build(env_, request()).unchanged);
  // Its sources are not known any more: all is looked at, and found to be the same.
  ASSERT_TRUE(env_.remove_file(kCache + "/sources.bin").ok());
  EXPECT_TRUE(must_build(env_, request()).unchanged);
}

}  // namespace
}  // namespace xtts::testing
