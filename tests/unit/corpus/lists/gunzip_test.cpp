#include "corpus/lists/gunzip.hpp"

#include <gtest/gtest.h>

#include "tests/unit/corpus/gzip_bytes.hpp"

namespace xtts::corpus {
namespace {

constexpr std::uint64_t kPlenty = 1U << 20U;

TEST(Gunzip, GivesBackWhatWasPacked) {
  for (const std::size_t size : {0U, 1U, 1000U, 200'000U}) {
    const std::string text(size, 'x');
    const auto unpacked = gunzip(gzip_bytes(text), kPlenty);
    ASSERT_TRUE(unpacked.ok()) << unpacked.status().message();
    EXPECT_EQ(*unpacked, text);
  }
}

TEST(Gunzip, MembersFollowOneAnother) {
  EXPECT_EQ(*gunzip(gzip_bytes("one ") + gzip_bytes("two"), kPlenty), "one two");
}

TEST(Gunzip, EveryCutIsSeen) {
  const std::string packed = gzip_bytes("some text that is packed");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    const auto unpacked = gunzip(std::string_view(packed).substr(0, size), kPlenty);
    ASSERT_FALSE(unpacked.ok()) << size;
    EXPECT_EQ(unpacked.status().code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(unpacked.status().message(), "is cut short: its gzip data does not end") << size;
  }
}

TEST(Gunzip, DamageIsSeen) {
  std::string packed = gzip_bytes(std::string(1000, 'a') + "b");
  packed[packed.size() - 6] = static_cast<char>(packed[packed.size() - 6] ^ 1);  // its check
  EXPECT_NE(gunzip(packed, kPlenty).status().message().find("is damaged: "), std::string::npos);
  EXPECT_FALSE(gunzip("{\"id\": 1}", kPlenty).ok());
  EXPECT_FALSE(gunzip(gzip_bytes("x") + "garbage", kPlenty).ok());
}

TEST(Gunzip, ABombIsRefusedAtTheLimit) {
  const std::string packed = gzip_bytes(std::string(4U << 20U, '\0'));
  EXPECT_LT(packed.size(), 8192U);
  EXPECT_EQ(gunzip(packed, kPlenty).status().message(),
            "inflates to more than 1,048,576 bytes; divide it");
  EXPECT_TRUE(gunzip(packed, 4U << 20U).ok()) << "the limit itself is allowed";
  EXPECT_FALSE(gunzip(packed, (4U << 20U) - 1).ok());
}

}  // namespace
}  // namespace xtts::corpus
