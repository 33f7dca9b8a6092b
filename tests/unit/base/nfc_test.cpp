#include "base/nfc.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>

namespace xtts {
namespace {

TEST(Nfc, ComposesLettersAndTheirMarks) {
  EXPECT_EQ(nfc("cafe\u0301"), "caf\u00E9");
  EXPECT_EQ(nfc("\u0627\u0653"), "\u0622") << "alef with madda";
  EXPECT_EQ(nfc("\u0648\u0654\u064A\u0654"), "\u0624\u0626");
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "\uD55C") << "Hangul is composed by arithmetic";
  EXPECT_EQ(nfc("e\u0323\u0302"), "\u1EC7") << "two marks on one letter";
  EXPECT_EQ(nfc("e\u0302\u0323"), "\u1EC7") << "in either order";
  EXPECT_EQ(nfc("\u212B"), "\u00C5") << "the sign of the angstrom is a letter";
  EXPECT_EQ(nfc("\u0958"), "\u0915\u093C") << "a letter that is never composed";
}

TEST(Nfc, LeavesOtherTextAlone) {
  for (const std::string text :
       {"", "plain", "caf\u00E9", "\u0633\u0644\u0627\u0645", "\u0301", "a\u200Cb"})
    EXPECT_EQ(nfc(text), text);
  EXPECT_EQ(nfc("a\xFF"
                "e\u0301\xCC"),
            "a\xFF\u00E9\xCC")
      << "bytes that are no text stay where they are";
}

// FNV-1a of 64 bits over the normalized texts. nfc_digests.py prints the values of Python's
// unicodedata.
class Digest {
 public:
  void add(std::string_view text) {
    for (const char c : nfc(text)) add_byte(static_cast<unsigned char>(c));
    add_byte('\n');
  }
  [[nodiscard]] std::uint64_t value() const { return value_; }

 private:
  void add_byte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001B3U; }
  std::uint64_t value_ = 0xCBF29CE484222325U;
};

bool is_letter(std::uint32_t code_point) {
  return code_point < 0xD800 || code_point >= 0xE000;
}

TEST(Nfc, IsThatOfPythonForEachLetter) {
  Digest digest;
  for (std::uint32_t code = 0x80; code < 0x30000; ++code) {
    std::string text;
    append_utf8(code, text);
    if (is_letter(code)) digest.add(text);
  }
  EXPECT_EQ(digest.value(), 0x4F132B40B9ABECE9U);
}

TEST(Nfc, IsThatOfPythonForLettersWithTwoMarks) {
  constexpr std::array<std::uint32_t, 11> kMarks = {0x301, 0x323, 0x338,  0x654,  0x653, 0x655,
                                                    0x64B, 0x93C, 0x3099, 0x1161, 0x11A8};
  Digest digest;
  for (std::uint32_t code = 0x80; code < 0x3100; ++code) {
    for (const std::uint32_t first : kMarks) {
      for (const std::uint32_t second : kMarks) {
        std::string text;
        for (const std::uint32_t one : {code, first, second}) append_utf8(one, text);
        digest.add(text);
      }
    }
  }
  EXPECT_EQ(digest.value(), 0xC3211343B3E0CC97U);
}

TEST(Nfc, ASecondTimeChangesNothing) {
  std::mt19937 random(5);
  for (int round = 0; round < 5000; ++round) {
    std::string text;
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t code = random() % 3 == 0 ? 0x300 + random() % 0x70 : random() % 0x3100;
      append_utf8(code, text);
    }
    const std::string once = nfc(text);
    ASSERT_EQ(nfc(once), once) << "round " << round;
  }
}

}  // namespace
}  // namespace xtts
