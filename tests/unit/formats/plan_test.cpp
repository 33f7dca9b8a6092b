#include "formats/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "formats/canonical_json.hpp"
#include "formats/manifest_trailer.hpp"
#include "formats/part_file.hpp"

namespace xtts::formats {
namespace {

using ::testing::HasSubstr;

Plan some_plan() {
  Plan plan;
  plan.asked = {1, 2};
  plan.clips = {3, 4};
  plan.recipe.name = "mine";
  plan.recipe.corpus.language = "fa";
  plan.numerics = {.device = "cpu", .isa = "avx2", .libraries = "libsoxr 1"};
  plan.data_path = "/data";
  plan.audio_roots = {"/mnt/a"};
  plan.folders = {{.name = "",
                   .path = "/data",
                   .audio_roots = {"/mnt/a"},
                   .mounts = {{.place = "wavs", .root = 0, .path = "b"}}}};
  plan.limits = {.max_rejects = "20", .max_dropped = "100%"};
  plan.layout = "table";
  plan.has_text = true;
  plan.datasets = {""};
  plan.speakers = {"b", "a"};
  plan.languages = {"fa"};
  plan.clips_by_split = {{"train", 3}};
  plan.parts = {{.file = "0001",
                 .file_bytes = 500,
                 .digest = {5, 6},
                 .clip_count = 2,
                 .reject_count = 1,
                 .shard_count = 1,
                 .source_bytes = 9},
                {.file = "0002", .file_bytes = 128, .digest = {7, 8}, .clip_count = 1}};
  return plan;
}

TEST(Plan, IsReadAsItWasWritten) {
  const Plan plan = some_plan();
  const std::string text = encode_plan(plan);
  const auto read = decode_plan(text);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(encode_plan(*read), text);
  EXPECT_EQ(read->parts, plan.parts);
  EXPECT_EQ(read->folders, plan.folders);
  EXPECT_EQ(read->limits, plan.limits);
  EXPECT_EQ(read->clip_count(), 3U);
  EXPECT_EQ(read->recipe.corpus.language, "fa");
}

TEST(Plan, WithoutLimitsHasTheUsualOnes) {
  auto document = parse_json(encode_plan(some_plan()));
  ASSERT_TRUE(document.ok());
  document->erase("xxh3_128");
  document->erase("limits");
  const auto read = decode_plan(append_manifest_trailer(dump_canonical(*document)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->limits, PlanLimits());
}

TEST(Plan, WithAnyByteChangedIsRefused) {
  const std::string text = encode_plan(some_plan());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_FALSE(decode_plan(changed).ok()) << i;
    EXPECT_FALSE(decode_plan(text.substr(0, i)).ok()) << i;
  }
}

struct WrongMember {
  std::string name;
  std::function<void(nlohmann::json&)> change;
  StatusCode code;
  std::string message;
};

void PrintTo(const WrongMember& wrong, std::ostream* out) {
  *out << wrong.name;
}

class PlanWithWrongMember : public ::testing::TestWithParam<WrongMember> {};

TEST_P(PlanWithWrongMember, IsRefusedByItsName) {
  const std::string text = encode_plan(some_plan());
  auto document = parse_json(text);
  ASSERT_TRUE(document.ok());
  document->erase("xxh3_128");
  GetParam().change(*document);
  const auto read = decode_plan(append_manifest_trailer(dump_canonical(*document)));
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), GetParam().code);
  EXPECT_THAT(read.status().message(), HasSubstr(GetParam().message));
}

INSTANTIATE_TEST_SUITE_P(
    Members, PlanWithWrongMember,
    ::testing::Values(
        WrongMember{"Format", [](auto& plan) { plan["format"] = "xtts-cache"; },
                    StatusCode::kCorrupt, "format"},
        WrongMember{"Version", [](auto& plan) { plan["version"] = 2; }, StatusCode::kUnsupported,
                    "plan: version 2 is newer"},
        WrongMember{"Flags", [](auto& plan) { plan["flags"]["incompat"] = 8; },
                    StatusCode::kUnsupported, "incompat bit 3"},
        WrongMember{"PartElsewhere", [](auto& plan) { plan["parts"][1]["file"] = "../x"; },
                    StatusCode::kCorrupt, "parts[1].file"},
        WrongMember{"NoParts", [](auto& plan) { plan["parts"].clear(); }, StatusCode::kCorrupt,
                    "parts"},
        WrongMember{"NoFolders", [](auto& plan) { plan["data"]["folders"].clear(); },
                    StatusCode::kCorrupt, "data.folders"},
        WrongMember{"Root", [](auto& plan) { plan["data"]["folders"][0]["mounts"][0]["root"] = 1; },
                    StatusCode::kCorrupt, "root"},
        WrongMember{"Numerics", [](auto& plan) { plan["numerics"]["isa"] = "scalar"; },
                    StatusCode::kCorrupt, "numerics.hash"},
        WrongMember{"SpeakerTwice",
                    [](auto& plan) {
                      plan["names"]["speakers"] = {"a", "a"};
                    },
                    StatusCode::kCorrupt, "names.speakers: holds 'a' twice"},
        WrongMember{"LanguageTwice",
                    [](auto& plan) {
                      plan["names"]["languages"] = {"a", "a"};
                    },
                    StatusCode::kCorrupt, "names.languages: holds 'a' twice"},
        WrongMember{"DatasetTwice",
                    [](auto& plan) {
                      plan["names"]["datasets"] = {"", ""};
                    },
                    StatusCode::kCorrupt, "names.datasets: holds '' twice"},
        WrongMember{"Datasets", [](auto& plan) { plan["names"]["datasets"].clear(); },
                    StatusCode::kCorrupt, "datasets"},
        WrongMember{"Recipe", [](auto& plan) { plan["recipe"]["text"].erase("tokens"); },
                    StatusCode::kUnsupported, "text"}),
    [](const auto& instance) { return instance.param.name; });

TEST(PartFileName, HasFourDigitsOrMore) {
  EXPECT_EQ(part_file_name(7), "0007");
  EXPECT_EQ(part_file_name(12345), "12345");
}

TEST(PartHead, IsReadAsItWasWrittenAndWithAnyByteChangedIsRefused) {
  const PartHead head{.index = 2, .count = 3, .plan = {1, 2}, .clip_count = 7, .reject_count = 5};
  const std::string bytes = encode_part_head(head);
  ASSERT_EQ(bytes.size(), kPartHeadBytes);
  const auto read = decode_part_head(std::as_bytes(std::span(bytes)));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, head);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_FALSE(decode_part_head(std::as_bytes(std::span(changed))).ok()) << i;
  }
  const std::string wrong = encode_part_head({.index = 4, .count = 3});
  EXPECT_THAT(decode_part_head(std::as_bytes(std::span(wrong))).status().message(),
              HasSubstr("number 4 of 3"));
}

TEST(PartChunk, IsOfItsPlaceAlone) {
  const std::string chunk = encode_part_chunk(5, "rows");
  const auto payload = decode_part_chunk(5, std::as_bytes(std::span(chunk)));
  ASSERT_TRUE(payload.ok());
  EXPECT_EQ(*payload, "rows");
  EXPECT_EQ(decode_part_chunk(6, std::as_bytes(std::span(chunk))).status().code(),
            StatusCode::kCorrupt);
  EXPECT_EQ(decode_part_chunk(5, std::as_bytes(std::span(chunk)).first(8)).status().code(),
            StatusCode::kCorrupt);
}

}  // namespace
}  // namespace xtts::formats
