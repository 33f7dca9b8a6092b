#include "pipeline/part_row.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "formats/rules.hpp"

namespace xtts::pipeline {
namespace {

const RowNames& names() {
  static const RowNames all{.datasets = {SharedText(), SharedText("second")},
                            .speakers = {SharedText("ann"), SharedText("bob")},
                            .languages = {SharedText("fa")}};
  return all;
}

corpus::Clip full_clip() {
  corpus::Clip clip;
  clip.id = "clip \xD8\xB3";
  clip.dataset = "second";
  clip.source = "a.tar/b.flac";
  clip.text_raw = "Raw.";
  clip.text_normalized = "normalized";
  clip.speaker = "bob";
  clip.language = "fa";
  clip.extra_json = "{\"a\":1}";
  clip.segment = corpus::Segment{.start_s = 0.5, .end_s = 1.25};
  clip.split = corpus::Split::kTest;
  clip.has_own_split = true;
  clip.folder = 1;
  clip.container_bytes = 5;
  clip.source_bytes = 1'000'000'000'000;
  clip.range = corpus::ByteRange{.offset_bytes = 512, .size_bytes = 77};
  clip.row = 3;
  return clip;
}

constexpr RowNumbers kNumbers{.dataset = 1, .speaker = 2, .language = 1};

std::string text_of(const corpus::Clip& clip) {
  std::string text;
  for (const auto& part : {clip.id, clip.dataset, clip.source, clip.text_raw, clip.text_normalized,
                           clip.speaker, clip.language, clip.extra_json})
    text += std::string(part) + "|";
  if (clip.segment)
    text += std::to_string(clip.segment->start_s) + "-" +
            std::to_string(clip.segment->end_s.value_or(-1.0));
  text += "|" + std::to_string(clip.source_bytes) + "|" + std::to_string(clip.folder) + "|" +
          std::to_string(clip.container_bytes) + "|" + std::to_string(clip.has_own_split) +
          std::string(to_string(clip.split));
  if (clip.range)
    text += "|" + std::to_string(clip.range->offset_bytes) + "+" +
            std::to_string(clip.range->size_bytes);
  return text + (clip.row ? "|" + std::to_string(*clip.row) : "");
}

TEST(PartRow, ClipsAndRejectsAreReadAsTheyWereWritten) {
  corpus::Clip plain;
  plain.id = "x";
  plain.source = "a.tar/b.flac";  // as the clip before
  plain.segment = corpus::Segment{.start_s = 2.0, .end_s = {}};
  const formats::Reject reject{.kind = formats::RejectClass::kInput,
                               .id = "y",
                               .path = "list.csv",
                               .line = 7,
                               .reason = {.rule = formats::Rule::kBadRow, .detail = "is odd"}};
  PartRowWriter writer;
  std::string bytes;
  writer.append(full_clip(), kNumbers, bytes);
  writer.append(plain, {}, bytes);
  PartRowWriter::append(reject, bytes);

  PartRowReader reader(names(), 2);
  std::string_view rest = bytes;
  const auto first = reader.take(rest);
  const auto second = reader.take(rest);
  const auto third = reader.take(rest);
  ASSERT_TRUE(first.ok() && second.ok() && third.ok()) << first.status().message();
  EXPECT_EQ(text_of(std::get<corpus::Clip>(**first)), text_of(full_clip()));
  EXPECT_EQ(text_of(std::get<corpus::Clip>(**second)), text_of(plain));
  EXPECT_EQ(std::get<formats::Reject>(**third), reject);
  EXPECT_TRUE(rest.empty());
}

TEST(PartRow, WaitsForTheRestOfARow) {
  std::string bytes;
  PartRowWriter().append(full_clip(), kNumbers, bytes);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    PartRowReader reader(names(), 2);
    std::string_view rest = std::string_view(bytes).substr(0, size);
    const auto row = reader.take(rest);
    ASSERT_TRUE(row.ok());
    EXPECT_FALSE(row->has_value()) << size;
    EXPECT_EQ(rest.size(), size);
  }
}

// Chunks have checks, but a check proves nothing of who wrote the file.
TEST(PartRow, AnyBytesAreReadOrRefused) {
  std::string bytes;
  PartRowWriter().append(full_clip(), kNumbers, bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int value = 0; value < 256; ++value) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(value);
      PartRowReader reader(names(), 2);
      std::string_view rest = changed;
      (void)reader.take(rest);
    }
  }
}

// Each of these bytes says that the size of the row goes on.
TEST(PartRow, ASizeWithoutEndIsRefused) {
  const std::string bytes(64, '\x80');
  PartRowReader reader(names(), 2);
  std::string_view rest = bytes;
  EXPECT_EQ(reader.take(rest).status().code(), StatusCode::kCorrupt);
}

TEST(PartRow, SourcesThatLeadElsewhereAreRefused) {
  for (const char* const source : {"/etc/passwd", "../a.wav", "a/../../b.wav", "a/.."}) {
    corpus::Clip clip;
    clip.id = "x";
    clip.source = source;
    std::string bytes;
    PartRowWriter().append(clip, {}, bytes);
    PartRowReader reader(names(), 2);
    std::string_view rest = bytes;
    EXPECT_EQ(reader.take(rest).status().code(), StatusCode::kCorrupt) << source;
  }
}

}  // namespace
}  // namespace xtts::pipeline
