#include "reader/index_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/memory_env.hpp"

namespace xtts::reader {
namespace {

using formats::SectionKind;
using ::testing::HasSubstr;
using testing::MemoryEnv;

constexpr std::uint32_t kRows = 100'000;  // 2.4 MB of id hashes: 37 chunks
const std::string kPath = "/index.bin";

Digest hash_of(std::uint32_t number) {
  return digest128("clip " + std::to_string(number));
}

IndexIdentity write_index(MemoryEnv& env, std::uint64_t generation = 1) {
  std::vector<formats::IdHashRow> rows;
  for (std::uint32_t i = 0; i < kRows; ++i) rows.push_back({hash_of(i), i});
  std::ranges::sort(rows, {}, &formats::IdHashRow::hash);
  std::string section;
  for (const formats::IdHashRow& row : rows) formats::append_row(row, section);
  std::string bytes;
  formats::IndexEncoder encoder(
      [&](std::span<const std::byte> more) {
        bytes.append(reinterpret_cast<const char*>(more.data()), more.size());
        return Status();
      },
      generation, kRows);
  EXPECT_TRUE(encoder.begin_section(SectionKind::kIdHashes).ok());
  EXPECT_TRUE(encoder.append(as_bytes(section)).ok());
  EXPECT_TRUE(encoder.end_section(kRows).ok());
  const auto finished = encoder.finish();
  EXPECT_TRUE(finished.ok());
  env.add_file(kPath, bytes);
  return {finished->file_bytes, finished->digest};
}

void flip(MemoryEnv& env, std::uint64_t offset) {
  std::string bytes = env.contents(kPath);
  bytes[offset] = static_cast<char>(bytes[offset] ^ 0x10);
  env.add_file(kPath, bytes);
}

TEST(IndexReader, FindsEveryHashAcrossChunks) {
  MemoryEnv env;
  auto index = IndexReader::open(env, kPath, "index", write_index(env));
  ASSERT_TRUE(index.ok()) << index.status().message();
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t number = static_cast<std::uint32_t>(random() % kRows);
    EXPECT_EQ(*(*index)->find(hash_of(number)), std::optional<std::uint64_t>(number));
  }
  EXPECT_EQ(*(*index)->find(hash_of(kRows)), std::nullopt);
}

TEST(IndexReader, RefusesADamagedChunkAndServesTheOthers) {
  MemoryEnv env;
  const IndexIdentity identity = write_index(env);
  flip(env, 3 * formats::kIndexChunkBytes + 5);
  auto index = IndexReader::open(env, kPath, "index", identity);
  ASSERT_TRUE(index.ok());
  const std::uint64_t rank_in_damage = 3 * formats::kIndexChunkBytes / formats::kIdHashRowBytes + 1;
  const Status status = (*index)->id_hash_row(rank_in_damage).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("byte " + std::to_string(3 * formats::kIndexChunkBytes)));
  EXPECT_TRUE((*index)->id_hash_row(0).ok());
  EXPECT_TRUE((*index)->id_hash_row(kRows - 1).ok());
  EXPECT_TRUE((*index)->file().check_chunk(2).ok());
  EXPECT_FALSE((*index)->file().check_chunk(3).ok());
}

// A row that spans two chunks needs both of them sound.
TEST(IndexReader, ReadsARowThatSpansTwoChunks) {
  MemoryEnv env;
  const IndexIdentity identity = write_index(env);
  const std::uint64_t rank = formats::kIndexChunkBytes / formats::kIdHashRowBytes;
  ASSERT_NE(formats::kIndexChunkBytes % formats::kIdHashRowBytes, 0);
  auto index = IndexReader::open(env, kPath, "index", identity);
  const auto row = (*index)->id_hash_row(rank);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->hash, hash_of(row->position));
  flip(env, formats::kIndexChunkBytes);
  auto damaged = IndexReader::open(env, kPath, "index", identity);
  EXPECT_EQ((*damaged)->id_hash_row(rank).status().code(), StatusCode::kCorrupt);
}

TEST(IndexReader, RefusesADamagedChunkTableOrFooter) {
  MemoryEnv env;
  const IndexIdentity identity = write_index(env);
  const std::string sound = env.contents(kPath);
  flip(env, identity.file_bytes - formats::kIndexFooterBytes - 1);
  EXPECT_EQ(IndexReader::open(env, kPath, "index", identity).status().code(), StatusCode::kCorrupt);
  env.add_file(kPath, sound);
  flip(env, identity.file_bytes - 1);
  EXPECT_EQ(IndexReader::open(env, kPath, "index", identity).status().code(), StatusCode::kCorrupt);
}

// Sound in itself and of the same size: only the digest in the manifest tells that it is another
// generation's.
TEST(IndexReader, RefusesAnOlderIndexUnderThisName) {
  MemoryEnv env;
  const IndexIdentity identity = write_index(env, 2);
  write_index(env, 1);
  const Status status = IndexReader::open(env, kPath, "index", identity).status();
  EXPECT_EQ(status.code(), StatusCode::kCorrupt);
  EXPECT_THAT(status.message(), HasSubstr("another index"));
}

}  // namespace
}  // namespace xtts::reader
