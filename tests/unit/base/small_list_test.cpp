#include "base/small_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/memory_env.hpp"

namespace xtts {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::uint64_t kBytesMax = 1000;

Result<SmallList> read(const std::string& bytes, const std::string& encoding = {}) {
  testing::MemoryEnv env;
  env.add_file("/list.txt", bytes);
  return read_small_list(env, "/list.txt", kBytesMax, encoding);
}

std::vector<std::string> lines(const std::string& bytes, const std::string& encoding = {}) {
  auto list = read(bytes, encoding);
  EXPECT_TRUE(list.ok()) << list.status().message();
  return list.ok() ? list->lines : std::vector<std::string>();
}

std::string utf16(const std::string& ascii) {
  std::string bytes = "\xFF\xFE";
  for (const char c : ascii) bytes += std::string{c, '\0'};
  return bytes;
}

TEST(SmallList, HasTheSameLinesWhateverTheirEnds) {
  for (const std::string bytes :
       {"anna\nben b\n", "anna\nben b", "anna\r\nben b\r\n", "anna\rben b\r", "anna\rben b",
        "\xEF\xBB\xBF"
        "anna\nben b\n"})
    EXPECT_THAT(lines(bytes), ElementsAre("anna", "ben b")) << bytes;
  EXPECT_THAT(lines(utf16("anna\r\nben b\r\n")), ElementsAre("anna", "ben b"));
}

TEST(SmallList, KeepsBlanksAndEmptyLines) {
  EXPECT_THAT(lines(" a \n\n\nb\n\n"), ElementsAre(" a ", "", "", "b", ""));
  EXPECT_THAT(lines(""), IsEmpty());
  EXPECT_THAT(lines("\xEF\xBB\xBF"), IsEmpty());
  EXPECT_THAT(lines("\n"), ElementsAre(""));
}

TEST(SmallList, IsReadInTheEncodingThatIsNamed) {
  EXPECT_THAT(lines("J\xFCrgen\n", "latin1"), ElementsAre("J\u00FCrgen"));
  EXPECT_THAT(lines("\xEF\xBB\xBFJ\u00FCrgen\n", "latin1"), ElementsAre("J\u00FCrgen"))
      << "a mark outranks the name";
  EXPECT_EQ(read("a\n", "no-such").status().code(), StatusCode::kInvalidArgument);
}

TEST(SmallList, NamesTheLineThatIsNoText) {
  EXPECT_EQ(read("a\nb\xFF\n").status().message(),
            "/list.txt:2: not UTF-8 (byte 2); save the file as UTF-8");
  EXPECT_EQ(read(std::string("a\rb\rc\0", 6)).status().message(),
            "/list.txt:3: holds a NUL byte; save the file as UTF-8");
  EXPECT_EQ(read("a\xFF").status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(read(std::string(kBytesMax + 1, 'a')).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts
