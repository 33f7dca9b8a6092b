#include "formats/facts.hpp"

#include "formats/rules.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;

std::string encoded(const RecordFacts& facts) {
  std::string out;
  append_facts(facts, out);
  return out;
}

Result<RecordFacts> decoded(const std::string& bytes) {
  return decode_facts(bytes_of(bytes));
}

std::string field(std::uint16_t tag, const std::string& bytes) {
  std::string out;
  append(out, tag);
  append(out, std::uint16_t{0});
  append(out, static_cast<std::uint32_t>(bytes.size()));
  return out + bytes;
}

RecordFacts with_every_field() {
  RecordFacts facts;
  facts.id = "LJ001-0001";
  facts.dataset = "lj";
  facts.split = 1;
  facts.speaker = "linda";
  facts.language = "en";
  facts.source_path = "wavs/LJ001-0001.wav";
  facts.text_raw = "Printing, in 1455";
  facts.text_normalized = "Printing, in fourteen fifty-five";
  facts.content_digest = Digest{1, 2};
  facts.pcm_digest = Digest{3, 4};
  facts.container = "wav";
  facts.codec = "pcm_s16le";
  facts.source_rate_hz = 22050;
  facts.source_channel_count = 1;
  facts.source_frame_count = 212893;
  facts.trim_start_samples = 5;
  facts.trim_end_samples = 210000;
  facts.gain = 1.5F;
  facts.peak = 0.5F;
  facts.rms = 0.0625F;
  facts.clipped_sample_count = 0;
  facts.silence_share = 0.25F;
  facts.nonfinite_sample_count = 7;
  facts.warnings = {{.rule = Rule::kClipped, .numbers = {0.25}},
                    {.rule = Rule::kSameSound, .detail = "b"}};
  facts.kept_signs = {{.rule = Rule::kEndsEarly, .numbers = {0.5, 2.0}}};
  facts.extra_json = R"({"a":1})";
  facts.frame_count_before_cut = 831;
  facts.character_count = 17;
  facts.unknown_characters_json = R"({"é":2})";
  facts.text_was_cut = 1;
  facts.bandwidth_hz = 10250.0F;
  facts.segment_start_s = 1.5;
  facts.segment_end_s = 2.25;
  facts.unknown[36] = "kept for later";
  facts.unknown[40000] = "";
  return facts;
}

TEST(Facts, EveryFieldComesBack) {
  const RecordFacts facts = with_every_field();
  const auto read = decoded(encoded(facts));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, facts);
}

TEST(Facts, TheTagsAreThoseOfTheDocument) {
  const std::string bytes = encoded(with_every_field());
  std::vector<int> tags;
  for (std::size_t at = 0; at < bytes.size();) {
    tags.push_back(load<std::uint16_t>(bytes_of(bytes), at));
    at += 8 + load<std::uint32_t>(bytes_of(bytes), at + 4);
  }
  EXPECT_THAT(tags, testing::ElementsAre(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
                                         18, 19, 20, 21, 22, 23, 24, 26, 27, 28, 29, 30, 31, 32, 34,
                                         35, 36, 40000));
}

TEST(Facts, KnownBytes) {
  RecordFacts facts;
  facts.id = "a";
  facts.gain = 1.0F;
  EXPECT_EQ(encoded(facts),
            std::string("\x01\0\0\0\x01\0\0\0a\x12\0\0\0\x04\0\0\0\0\0\x80\x3F", 21));
}

TEST(Facts, WhatIsUnknownIsNotWritten) {
  EXPECT_EQ(encoded({}), "");
  const auto read = decoded("");
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(*read, RecordFacts());
}

TEST(Facts, ZeroIsNotUnknown) {
  RecordFacts facts;
  facts.clipped_sample_count = 0;
  facts.text_raw = "";
  const auto read = decoded(encoded(facts));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->clipped_sample_count, 0U);
  EXPECT_EQ(read->text_raw, "");
  EXPECT_EQ(read->gain, std::nullopt);
}

TEST(Facts, UnknownTagsArePassedOnInOrder) {
  const std::string bytes =
      field(1, "a") + field(24, "12345678") + field(36, "b") + field(65535, "c");
  const auto read = decoded(bytes);
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(encoded(*read), bytes);
}

TEST(Facts, RefusesTagsThatDoNotAscend) {
  expect_refused(decoded(field(2, "a") + field(1, "b")).status(), kCorrupt, "tag 1");
  expect_refused(decoded(field(40, "a") + field(40, "b")).status(), kCorrupt, "tag 40");
}

TEST(Facts, RefusesACutFieldHeader) {
  expect_refused(decoded(field(1, "a").substr(0, 7)).status(), kCorrupt, "field's header");
}

TEST(Facts, RefusesASizeThatReachesBeyondTheEnd) {
  std::string bytes = field(1, "abc");
  expect_refused(decoded(bytes.substr(0, 10)).status(), kCorrupt, "size of tag 1");
  store(std::as_writable_bytes(std::span(bytes)), 4, 0xFFFFFFFFU);
  expect_refused(decoded(bytes).status(), kCorrupt, "size of tag 1");
}

TEST(Facts, RefusesANumberOfAnotherSize) {
  expect_refused(decoded(field(13, "123")).status(), kCorrupt, "source rate has 3 bytes");
  expect_refused(decoded(field(18, "12345678")).status(), kCorrupt, "gain has 8 bytes");
  expect_refused(decoded(field(9, "")).status(), kCorrupt, "content hash has 0 bytes");
}

TEST(Facts, RefusesASplitThatDoesNotExist) {
  expect_refused(decoded(field(3, "\x03")).status(), kCorrupt, "split 3");
}

TEST(Facts, RefusesACutThatIsNeitherYesNorNo) {
  expect_refused(decoded(field(30, "\x02")).status(), kCorrupt, "text was cut");
}

TEST(Facts, AreListedByTagWithBytesAndTextForPeople) {
  RecordFacts facts;
  facts.id = "a";
  facts.source_rate_hz = 22050;
  facts.gain = 0.5F;
  facts.segment_start_s = 1.25;
  facts.content_digest = Digest{1, 2};
  facts.unknown[40] = "left out";
  const auto list = list_facts(facts);
  ASSERT_EQ(list.size(), 5);
  const char* const texts[] = {"'a'", "00000000000000010000000000000002", "22050", "0.5", "1.25"};
  const int tags[] = {1, 9, 13, 18, 31};
  for (std::size_t i = 0; i < list.size(); ++i) {
    EXPECT_EQ(list[i].tag, tags[i]);
    EXPECT_EQ(list[i].text, texts[i]);
    std::string encoded_alone = field(list[i].tag, list[i].bytes);
    EXPECT_NE(encoded(facts).find(encoded_alone), std::string::npos);
  }
  EXPECT_EQ(list[2].name, "source rate");
  EXPECT_EQ(list_facts(with_every_field()).size(), 33);
}

}  // namespace
}  // namespace xtts::formats
