// Lists that are larger than the window through which they are read, or that never end.
#include "corpus/lists/byte_window.hpp"

#include <gtest/gtest.h>

#include "corpus/lists/csv_reader.hpp"
#include "corpus/lists/line_reader.hpp"
#include "tests/unit/corpus/corpus_checks.hpp"
#include "tests/unit/corpus/gzip_bytes.hpp"

namespace xtts::corpus {
namespace {

using testing::EnvCall;
using testing::EnvOperation;
using testing::MemoryEnv;

constexpr std::size_t kMiB = std::size_t{1} << 20U;
// Two pieces and the longest line that is kept.
constexpr std::size_t kWindowBytesMax = kLineBytesKept + kMiB;

// Lines of 1 to 700 bytes that say their number.
std::string many_lines(std::size_t size_bytes) {
  std::string text;
  for (std::size_t i = 0; text.size() < size_bytes; ++i)
    text += std::to_string(i) + std::string(i * 37 % 700, 'x') + "\n";
  return text;
}

// Digits without a pattern: they pack to a half.
std::string digits(std::size_t count) {
  std::string text;
  std::uint32_t state = 7;
  while (text.size() < count) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>('0' + (state >> 24U) % 10);
    if (text.size() % 80 == 0) text += '\n';
  }
  return text;
}

std::vector<std::string> lines_of(LineReader list) {
  std::vector<std::string> lines;
  while (const auto line = list.next()) lines.emplace_back(line->text);
  EXPECT_TRUE(list.status().ok()) << list.status().message();
  return lines;
}

Result<LineReader> open_list(MemoryEnv& env, const std::string& bytes, bool is_packed = false) {
  env.add_file("/list", bytes);
  return LineReader::open(env, "/list", is_packed, nullptr);
}

TEST(ByteWindow, LinesAreTheSameThroughTheWindow) {
  const std::string text = many_lines(3 * kMiB);
  const auto expected = lines_of(*LineReader::from_bytes(text));
  ASSERT_GT(expected.size(), 5000U);
  MemoryEnv env;
  EXPECT_EQ(lines_of(*open_list(env, text)), expected);
  EXPECT_EQ(lines_of(*open_list(env, text + "last")).back(), "last");
  EXPECT_EQ(lines_of(*open_list(env, gzip_bytes(text), true)), expected);
  EXPECT_EQ(
      lines_of(*open_list(env, gzip_bytes(text.substr(0, 99)) + gzip_bytes(text.substr(99)), true)),
      expected);
}

TEST(ByteWindow, TheWindowIsBounded) {
  MemoryEnv env;
  auto list = open_list(env, std::string(9 * kMiB, '\0') + "\nshort\n");
  ASSERT_TRUE(list.ok());
  std::vector<std::size_t> sizes;
  while (const auto line = list->next()) {
    sizes.push_back(line->text.size());
    EXPECT_LE(list->bytes().available().size(), kWindowBytesMax);
    const auto fault = fault_of_text_bytes(line->text);
    EXPECT_EQ(fault.value_or(""), sizes.size() == 1
                                      ? "has at least 2,097,152 bytes of text; at most "
                                        "65,536 bytes are allowed"
                                      : "");
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{kLineBytesKept, 5}));
}

TEST(ByteWindow, ABombIsRefusedByItsRatio) {
  const std::string packed = gzip_bytes(std::string(80 * kMiB, '\0'));
  ASSERT_LT(packed.size(), 100'000U);
  MemoryEnv env;
  auto list = open_list(env, "x", false);
  list = open_list(env, packed, true);
  ASSERT_TRUE(list.ok()) << list.status().message();
  while (list->next()) {
  }
  EXPECT_EQ(list->status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(says(list->status().message(), "/list inflates to more than 200 times its size"))
      << list->status().message();
}

TEST(ByteWindow, GzipThatIsDamagedOrCutIsSeen) {
  const std::string packed = gzip_bytes(digits(3 * kMiB));
  ASSERT_GT(packed.size(), kMiB);
  std::string damaged = packed;
  damaged[packed.size() - 5] = static_cast<char>(damaged[packed.size() - 5] ^ 1);
  const std::vector<std::pair<std::string, std::string>> cases = {
      {damaged, "is damaged: "},
      {packed.substr(0, packed.size() - 9), "is cut short"},
      {packed.substr(0, packed.size() / 2), "is cut short"},
      {packed + "more", "is damaged: "}};
  for (const auto& [bytes, reason] : cases) {
    MemoryEnv env;
    ListLog log;
    env.add_file("/list", bytes);
    auto list = LineReader::open(env, "/list", true, &log);
    ASSERT_TRUE(list.ok()) << list.status().message();
    while (list->next()) {
    }
    EXPECT_EQ(list->status().code(), StatusCode::kInvalidArgument) << reason;
    EXPECT_TRUE(says(log.failure.message(), reason)) << log.failure.message();
  }
  MemoryEnv env;
  EXPECT_FALSE(open_list(env, "", true).ok());
  EXPECT_FALSE(open_list(env, "{}", true).ok());
}

// Whatever the layout makes of the lines that it got: a corpus is not published without the rest.
TEST(ByteWindow, AListThatEndsEarlyIsAFailureOfItsCorpus) {
  std::string list;
  for (int i = 0; i < 20'000; ++i) list += "a" + std::to_string(i) + "|some text|some text\n";
  MemoryEnv env;
  env.add_file("/data/metadata.csv", list);
  env.add_file("/data/wavs/a0.wav", "");
  ASSERT_TRUE(discover(env, "/data", {}).ok());
  std::size_t read_count = 0;
  env.set_hook([&](EnvOperation& operation) {
    const bool is_list = operation.call == EnvCall::kRead && operation.path == "/data/metadata.csv";
    return is_list && ++read_count == 3 ? Status(StatusCode::kResource, "Input/output error")
                                        : Status();
  });
  const auto corpus = discover(env, "/data", {});
  ASSERT_FALSE(corpus.ok());
  EXPECT_TRUE(says(corpus.status().message(), "Input/output error")) << corpus.status().message();
}

std::string records_of(CsvReader& csv) {
  std::string out;
  while (const auto record = csv.next()) {
    out += std::to_string(record->line) + ":" + (record->fault ? "!" + *record->fault : "");
    for (const std::string& field : record->fields)
      if (!record->fault) out += "/" + std::to_string(field.size()) + field.substr(0, 8);
    out += "\n";
  }
  return out;
}

TEST(ByteWindow, RecordsAreTheSameThroughTheWindow) {
  std::string text = "a,b\n";
  for (std::size_t i = 0; text.size() < 2 * kMiB; ++i) {
    text += std::to_string(i) + ",\"" + std::string(i * 53 % 900, 'y') + "\nand \"\"more\"\"\"\r\n";
    if (i % 100 == 0) text += "\n\n";
    if (i % 400 == 0) text += "open,\"never closed\n";
  }
  CsvReader whole(text, ',');
  MemoryEnv env;
  env.add_file("/table", text);
  auto bytes = ByteWindow::open(env, "/table", false);
  ASSERT_TRUE(bytes.ok());
  CsvReader windowed(*bytes, ',');
  EXPECT_EQ(records_of(windowed), records_of(whole));
}

TEST(ByteWindow, ARecordLongerThanTheWindowCostsItself) {
  for (const std::string& field : {std::string(kMiB, 'z'), "\"" + std::string(kMiB, 'z') + "\"",
                                   "\"" + std::string(kMiB, 'z')}) {
    MemoryEnv env;
    env.add_file("/table", "a,b\n1," + field + "\n2,two\n");
    auto bytes = ByteWindow::open(env, "/table", false);
    ASSERT_TRUE(bytes.ok());
    CsvReader csv(*bytes, ',');
    EXPECT_EQ(csv.next()->fields.size(), 2U);
    const auto bad = csv.next();
    ASSERT_TRUE(bad && bad->fault);
    const auto good = csv.next();
    ASSERT_TRUE(good);
    EXPECT_FALSE(good->fault);
    EXPECT_EQ(good->line, 3U);
    EXPECT_EQ(good->fields, (std::vector<std::string>{"2", "two"}));
    EXPECT_FALSE(csv.next());
  }
}

TEST(TextStore, KeepsTextsWhereTheyAre) {
  TextStore store;
  std::vector<std::string_view> kept;
  for (std::size_t i = 0; i < 3000; ++i)
    kept.push_back(store.keep(std::string(i, static_cast<char>('a' + i % 26))));
  const std::string_view large = store.keep(std::string(3 * kMiB, 'L'));
  EXPECT_EQ(large, std::string(3 * kMiB, 'L'));
  for (std::size_t i = 0; i < kept.size(); ++i)
    ASSERT_EQ(kept[i], std::string(i, static_cast<char>('a' + i % 26)));
}

// "\u06CC\u06A9 \u06AF\u0644" (a yeh, a keheh, a gaf) as Windows-1256 has it.
constexpr std::string_view kCp1256 = "\xED\x98 \x90\xE1";

TEST(Encoding, ListsOfAnotherEncodingAreReadByItsName) {
  MemoryEnv env;
  env.add_file("/list", kCp1256);
  const auto list = [&] { return LineReader::open(env, "/list", false, nullptr, "cp1256"); };
  // The yeh of Windows-1256 is the Arabic one: text.normalize makes it Persian.
  EXPECT_EQ(lines_of(*list()), std::vector<std::string>{"\u064A\u06A9 \u06AF\u0644"});
  EXPECT_EQ(lines_of(*LineReader::from_bytes(std::string(kCp1256), "cp1256")), lines_of(*list()));
  env.add_file("/list", "\xEF\xBB\xBF\u06CC");
  EXPECT_EQ(lines_of(*list()), std::vector<std::string>{"\u06CC"}) << "a mark says more";
}

std::string in_utf16(std::string_view ascii, bool is_big) {
  std::string wide;
  for (const char c : ascii) {
    if (is_big) wide += '\0';
    wide += c;
    if (!is_big) wide += '\0';
  }
  return wide;
}

TEST(Encoding, Utf16IsReadInPiecesOfAnySize) {
  const std::string text = many_lines(3 * kMiB);
  const auto expected = lines_of(*LineReader::from_bytes(text));
  MemoryEnv env;
  for (const bool is_big : {true, false}) {
    const std::string wide = in_utf16(text, is_big);
    EXPECT_EQ(lines_of(*open_list(env, (is_big ? "\xFE\xFF" : "\xFF\xFE") + wide)), expected);
    env.add_file("/list", wide);
    EXPECT_EQ(
        lines_of(*LineReader::open(env, "/list", false, nullptr, is_big ? "UTF-16BE" : "UTF-16LE")),
        expected);
  }
  EXPECT_EQ(lines_of(*open_list(env, gzip_bytes("\xFF\xFE" + in_utf16(text, false)), true)),
            expected);
}

// The mark of UTF-32 begins with that of UTF-16.
TEST(Encoding, Utf32IsReadByItsMark) {
  MemoryEnv env;
  for (const bool is_big : {false, true}) {
    const std::string mark(is_big ? "\0\0\xFE\xFF" : "\xFF\xFE\0\0", 4);
    env.add_file("/list", mark + in_utf16(in_utf16("ab\nc", is_big), is_big));
    for (const std::string named : {"", "UTF-32", "cp1256"}) {
      EXPECT_EQ(lines_of(*LineReader::open(env, "/list", false, nullptr, named)),
                (std::vector<std::string>{"ab", "c"}));
    }
  }
}

TEST(Encoding, BytesThatAreNoTextAreAFaultOfTheirLine) {
  MemoryEnv env;
  // A low surrogate alone, and a last character that is cut short.
  env.add_file("/list", std::string("\x00\xDCx\0\n\0y\0\n\0z", 11));
  for (const std::string name : {"UTF-16LE", "Utf-16le"}) {
    const auto lines = lines_of(*LineReader::open(env, "/list", false, nullptr, name));
    ASSERT_EQ(lines.size(), 3U) << name;
    EXPECT_EQ(fault_of_text_bytes(lines[0]),
              "is not UTF-8 (byte 1); save it as UTF-8, or name its encoding, as in "
              "--encoding cp1256");
    EXPECT_EQ(lines[1], "y");
    EXPECT_TRUE(fault_of_text_bytes(lines[2]));
  }
}

TEST(Encoding, AnUnknownOneIsRefusedByName) {
  for (const std::string name : {"cp125", "UTF-8//IGNORE"}) {
    const Status status = check_encoding(name);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << name;
    EXPECT_EQ(status.message().find("corpus.encoding: this system knows no encoding '" + name), 0U);
  }
  EXPECT_TRUE(check_encoding("").ok());
  EXPECT_TRUE(check_encoding("windows-1256").ok());
}

}  // namespace
}  // namespace xtts::corpus
