// Contradictions between files that are sound in themselves: a writer's defect or a hand that mixed
// two caches. The index is made anew, checks and all, with one row changed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/try.hpp"
#include "formats/index.hpp"
#include "request/verify_words.hpp"
#include "support/test_cache.hpp"
#include "verify/verify.hpp"

namespace xtts::verify {
namespace {

using formats::SectionKind;
using ::testing::Contains;
using ::testing::Field;
using testing::make_test_cache;
using testing::MemoryEnv;
using testing::TestCache;

auto told(std::string_view kind, std::uint64_t first, std::uint64_t second) {
  return ::testing::AllOf(Field(&Evidence::kind, kind),
                          Field(&Evidence::numbers, std::array{first, second}));
}

using Edit = std::function<void(std::string& section)>;

// Takes the cache's index apart, edits a section, and publishes the result.
void rewrite_index(TestCache& cache, SectionKind kind, std::uint32_t column, const Edit& edit) {
  const std::string old = cache.files[cache.index_name];
  const auto footer = formats::decode_index_footer(
      as_bytes(std::string_view(old).substr(old.size() - formats::kIndexFooterBytes)), old.size());
  ASSERT_TRUE(footer.ok());
  std::string bytes;
  formats::IndexEncoder encoder(
      [&](std::span<const std::byte> more) {
        bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
        return Status();
      },
      footer->generation, footer->record_count);
  for (const formats::SectionEntry& entry : footer->sections) {
    std::string section = old.substr(entry.offset_bytes, entry.size_bytes);
    if (entry.kind == kind && entry.column_id == column) edit(section);
    ASSERT_TRUE(encoder.begin_section(entry.kind, entry.column_id).ok());
    ASSERT_TRUE(encoder.append(as_bytes(section)).ok());
    ASSERT_TRUE(encoder.end_section(entry.row_count).ok());
  }
  const auto finished = encoder.finish();
  ASSERT_TRUE(finished.ok());
  cache.files.erase(cache.index_name);
  cache.manifest.index_bytes = finished->file_bytes;
  cache.manifest.index_digest = finished->digest;
  cache.index_name = formats::index_file_name(finished->digest);
  cache.files[cache.index_name] = bytes;
  const auto manifest = formats::encode_manifest(cache.manifest);
  ASSERT_TRUE(manifest.ok());
  cache.files["manifest.json"] = *manifest;
}

std::vector<Finding> findings_of(const TestCache& cache, Level level = Level::kFull) {
  MemoryEnv env;
  cache.add_to(env, "/cache");
  const auto report = verify_cache(env, "/cache", {.level = level});
  EXPECT_TRUE(report.ok()) << report.status().message();
  EXPECT_FALSE(report->ok);
  return report->findings;
}

template <std::size_t kRowBytes>
void swap_rows(std::string& section, std::size_t a, std::size_t b) {
  std::swap_ranges(section.begin() + static_cast<std::ptrdiff_t>(a * kRowBytes),
                   section.begin() + static_cast<std::ptrdiff_t>((a + 1) * kRowBytes),
                   section.begin() + static_cast<std::ptrdiff_t>(b * kRowBytes));
}

TEST(VerifyPlan, NoticesALengthThatTheHeaderDoesNotHave) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kPlan, 0, [](std::string& section) { section[32 * 4] += 1; });
  const auto findings = findings_of(cache);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].clip, "clip-104");
  EXPECT_EQ(findings[0].file, cache.shard_name(0, 1));
  EXPECT_EQ(findings[0].part, "length");
  EXPECT_EQ(findings[0].expected.numbers[0], 22);
  EXPECT_EQ(findings[0].found.numbers[0], 21);
}

TEST(VerifyPlan, NoticesClipsThatHaveChangedRecords) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kLocations, 1,
                [](std::string& section) { swap_rows<8>(section, 2, 5); });
  const auto findings = findings_of(cache);
  EXPECT_THAT(findings, Contains(Field(&Finding::part, "owner")).Times(2));
}

TEST(VerifyPlan, NoticesARecordNamedTwiceAndOneNamedByNone) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kLocations, 0, [](std::string& section) {
    section.replace(0, 8, section.substr(8, 8));  // clip 0 is where clip 1 is
  });
  const auto findings = findings_of(cache);
  EXPECT_THAT(findings, Contains(Field(&Finding::found, told("place_twice", 0, 1))));
  EXPECT_THAT(findings, Contains(Field(&Finding::found, told("place_of_nobody", 0, 0))));
}

TEST(VerifyPlan, NoticesALocationThatIsNotThere) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kLocations, 0, [](std::string& section) { section[4] = 63; });
  EXPECT_THAT(findings_of(cache),
              Contains(Field(&Finding::found, Field(&Evidence::kind, "place_not_there"))));
}

TEST(VerifyPlan, NoticesIdHashesOutOfOrder) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kIdHashes, 0,
                [](std::string& section) { swap_rows<24>(section, 1, 2); });
  EXPECT_THAT(findings_of(cache),
              Contains(Field(&Finding::expected, Field(&Evidence::kind, "ascending_hashes"))));
}

TEST(VerifyPlan, NoticesDetailsOfAnotherClip) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kDetails, 0,
                [](std::string& section) { section[section.find("clip-103") + 7] = '9'; });
  EXPECT_THAT(findings_of(cache), Contains(Field(&Finding::clip, "clip-109")));
}

TEST(VerifyPlan, NoticesASpeakerThatIsInNoList) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kPlan, 0, [](std::string& section) { section[8] = 1; });
  EXPECT_THAT(
      findings_of(cache),
      Contains(Field(&Finding::expected, Field(&Evidence::text, "'Linda', as the details say"))));
}

TEST(VerifyPlan, NoticesATableThatIsNotTheShardsOwn) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kBlocks, 0,
                [](std::string& section) { section[40] ^= 1; });  // a header's check
  const auto findings = findings_of(cache);
  EXPECT_THAT(findings, Contains(Field(&Finding::check, Check::kBlockTable)));
  EXPECT_THAT(findings, Contains(Field(&Finding::check, Check::kBlockHeader)));
}

TEST(VerifyPlan, NoticesBlockRowsThatLeadOutsideTheFile) {
  TestCache cache = make_test_cache();
  rewrite_index(cache, SectionKind::kBlocks, 0,
                [](std::string& section) { section[7] = 0x7F; });  // header offset
  const auto findings = findings_of(cache);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(request::what_of(findings[0]), "block table");
  EXPECT_EQ(findings[0].file, cache.shard_name(0, 0));
}

TEST(VerifyPlan, ComparesCountsAtQuickToo) {
  TestCache cache = make_test_cache();
  cache.manifest.counts.records = 8;
  cache.manifest.columns[0].shards.pop_back();
  const auto manifest = formats::encode_manifest(cache.manifest);
  cache.files["manifest.json"] = *manifest;
  for (const Level level : {Level::kQuick, Level::kFull}) {
    const auto findings = findings_of(cache, level);
    EXPECT_THAT(findings, Contains(Field(&Finding::expected, told("number_of_manifest", 8, 0))));
    EXPECT_THAT(findings, Contains(Field(&Finding::expected, told("number_of_manifest", 2, 0))));
  }
}

}  // namespace
}  // namespace xtts::verify
