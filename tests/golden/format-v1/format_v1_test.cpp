// Format version 1 as it was on its first day: the bytes in data/ are read by today's readers, and
// today's writers make the same bytes. data/ is made by write_format_example, whose inputs are in
// example.cpp.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "formats/bytes.hpp"
#include "formats/clip_id.hpp"
#include "tests/golden/format-v1/example.hpp"

namespace xtts::formats {
namespace {

std::string read(const std::string& path) {
  std::ifstream in(std::string(XTTS_SOURCE_DIR) + "/" + path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::string golden(const std::string& name) {
  return read("tests/golden/format-v1/data/" + name);
}

TEST(FormatV1, TodaysWritersMakeTheSameBytes) {
  EXPECT_EQ(text_of(encode_block_header(example::block_header())), golden("block-header.bin"));
  EXPECT_EQ(example::payload(), golden("payload.bin"));
  EXPECT_EQ(encode_block_facts(example::block_facts()), golden("block-facts.bin"));
  EXPECT_EQ(example::index(), golden("index.bin"));
  EXPECT_EQ(encode_manifest(example::manifest()).value(), golden("manifest.json"));
}

TEST(FormatV1, TodaysReaderFollowsItFromTheManifestToTheRecord) {
  const auto manifest = decode_manifest(golden("manifest.json"));
  ASSERT_TRUE(manifest.ok()) << manifest.status().message();

  const std::string index = golden("index.bin");
  ASSERT_EQ(index.size(), manifest->index_bytes);
  const auto footer_bytes = bytes_of(index).last(kIndexFooterBytes);
  ASSERT_EQ(digest128(footer_bytes), manifest->index_digest);
  const auto footer = decode_index_footer(footer_bytes, index.size());
  ASSERT_TRUE(footer.ok()) << footer.status().message();
  const SectionEntry* const blocks = footer->find(SectionKind::kBlocks);
  ASSERT_NE(blocks, nullptr);
  const BlockRow row =
      decode_block_row(bytes_of(index).subspan(blocks->offset_bytes, kBlockRowBytes));

  const std::string header_bytes = golden("block-header.bin");
  EXPECT_EQ(row.place.header_check, stored_header_check(bytes_of(header_bytes)));
  const auto header = decode_block_header(bytes_of(header_bytes));
  ASSERT_TRUE(header.ok()) << header.status().message();
  EXPECT_EQ(header->column.fingerprint, manifest->text_fingerprint);
  EXPECT_EQ(header->column.numerics, manifest->numerics.hash());
  const std::string payload = golden("payload.bin");
  ASSERT_EQ(payload.size(), header->payload_bytes);
  EXPECT_EQ(record_check(*header, 0, bytes_of(payload)), header->records[0].check);

  const auto facts = decode_block_facts(bytes_of(golden("block-facts.bin")));
  ASSERT_TRUE(facts.ok()) << facts.status().message();
  EXPECT_EQ(facts->records[0].text_raw, "Hi!");
  EXPECT_EQ(id_hash("", *facts->records[0].id), header->records[0].id_hash);
}

Status refusal_of(std::string_view kind, std::string_view bytes) {
  if (kind == "manifest") return decode_manifest(bytes).status();
  if (kind == "block-header") return decode_block_header(bytes_of(bytes)).status();
  if (kind == "block-facts") return decode_block_facts(bytes_of(bytes)).status();
  // The file that a footer ends: the example's index.
  return decode_index_footer(bytes_of(bytes), golden("index.bin").size()).status();
}

TEST(FormatV1, BadFilesAreRefusedWithTheCodesInTheirNames) {
  const std::filesystem::path folder = std::string(XTTS_SOURCE_DIR) + "/tests/golden/bad";
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const auto dot = name.find('.');
    const std::string code = name.substr(dot + 1, name.rfind('.') - dot - 1);
    const Status refusal = refusal_of(name.substr(0, dot), read("tests/golden/bad/" + name));
    EXPECT_EQ(to_string(refusal.code()), code) << name << ": " << refusal.message();
    ++count;
  }
  EXPECT_EQ(count, 26U);
}

// So that the document cannot drift from the code.
TEST(FormatV1, TheDocumentShowsTheseBytes) {
  const std::string document = read("formats/cache-v1.md");
  EXPECT_THAT(document, testing::HasSubstr(example::block_header_dump()));
  EXPECT_THAT(document, testing::HasSubstr(example::index_dump()));
  EXPECT_THAT(document, testing::HasSubstr(example::manifest_dump()));
}

}  // namespace
}  // namespace xtts::formats
