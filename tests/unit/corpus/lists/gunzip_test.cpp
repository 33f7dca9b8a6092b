#include "corpus/lists/gunzip.hpp"

#include <gtest/gtest.h>

#include "base/try.hpp"
#include "tests/unit/corpus/gzip_bytes.hpp"

namespace xtts::corpus {
namespace {

struct Unpacked {
  std::string text;
  bool is_whole = false;
};

Result<Unpacked> unpack(std::string_view bytes) {
  Unpacked unpacked;
  GzipStream stream;
  while (!bytes.empty()) XTTS_TRY(stream.take(bytes, unpacked.text));
  unpacked.is_whole = stream.is_at_end();
  return unpacked;
}

TEST(GzipStream, GivesBackWhatWasPacked) {
  for (const std::size_t size : {0U, 1U, 1000U, 200'000U}) {
    const std::string text(size, 'x');
    const auto unpacked = unpack(gzip_bytes(text));
    ASSERT_TRUE(unpacked.ok()) << unpacked.status().message();
    EXPECT_EQ(unpacked->text, text);
    EXPECT_TRUE(unpacked->is_whole);
  }
}

TEST(GzipStream, MembersFollowOneAnother) {
  EXPECT_EQ(unpack(gzip_bytes("one ") + gzip_bytes("two"))->text, "one two");
}

TEST(GzipStream, EveryCutIsSeen) {
  const std::string packed = gzip_bytes("some text that is packed");
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(unpack(packed.substr(0, size))->is_whole) << size;
}

TEST(GzipStream, DamageIsSeen) {
  std::string packed = gzip_bytes(std::string(1000, 'a') + "b");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // its check
  EXPECT_NE(unpack(packed).status().message().find("is damaged: "), std::string::npos);
  EXPECT_FALSE(unpack("{\"id\": 1}").ok());
  EXPECT_FALSE(unpack(gzip_bytes("x") + "garbage").ok());
}

TEST(GzipStream, ABombComesInBoundedPieces) {
  const std::string packed = gzip_bytes(std::string(4U << 20U, '\0'));
  EXPECT_LT(packed.size(), 8192U);
  std::string_view rest = packed;
  std::string piece;
  GzipStream stream;
  ASSERT_TRUE(stream.take(rest, piece).ok());
  EXPECT_EQ(piece.size(), 256U << 10U);
}

}  // namespace
}  // namespace xtts::corpus
