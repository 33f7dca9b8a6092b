#include "corpus/lists/csv_reader.hpp"

#include <gtest/gtest.h>

namespace xtts::corpus {
namespace {

// "1:a/b 2:c/!": line and fields of each record, '!' for a fault.
std::string read_all(std::string_view text, char separator = ',') {
  CsvReader csv(text, separator);
  std::string out;
  while (const auto record = csv.next()) {
    out += (out.empty() ? "" : " ") + std::to_string(record->line) + ":";
    if (record->fault) {
      out += "!";
      continue;
    }
    for (std::size_t i = 0; i < record->fields.size(); ++i) {
      out += (i == 0 ? "" : "/") + record->fields[i];
    }
  }
  return out;
}

TEST(CsvReader, SplitsAtSeparatorsAndLineEnds) {
  EXPECT_EQ(read_all("a,b\nc,d\n"), "1:a/b 2:c/d");
  EXPECT_EQ(read_all("a,b\r\nc,d"), "1:a/b 2:c/d");
  EXPECT_EQ(read_all("a,b\rc,d\r"), "1:a/b 2:c/d");
  EXPECT_EQ(read_all("a\tb\nc\td", '\t'), "1:a/b 2:c/d");
  EXPECT_EQ(read_all("a;b,c;", ';'), "1:a/b,c/");
  EXPECT_EQ(read_all(",\n"), "1:/");
  EXPECT_EQ(read_all(""), "");
}

TEST(CsvReader, BlankLinesCountAsLinesOnly) {
  EXPECT_EQ(read_all("\n\na\n  \r\n\nb"), "3:a 6:b");
}

TEST(CsvReader, QuotedFieldsHoldWhatTheyLike) {
  EXPECT_EQ(read_all("\"a,b\",\"say \"\"yes\"\"\"\nc,\"\"\n"), "1:a,b/say \"yes\" 2:c/");
  EXPECT_EQ(read_all("\"one\ntwo\r\nthree\",x\nnext,y"), "1:one\ntwo\r\nthree/x 4:next/y");
  EXPECT_EQ(read_all("\"a\"\r\n\"b\"\r"), "1:a 2:b");
}

TEST(CsvReader, AQuoteWithinAFieldIsAQuote) {
  EXPECT_EQ(read_all("a,5\" disk, \"b\"\n"), "1:a/5\" disk/ \"b\"");
}

TEST(CsvReader, AQuoteThatIsNotClosedCostsOneLine) {
  EXPECT_EQ(read_all("a,\"b\nc,d\ne,f\n"), "1:! 2:c/d 3:e/f");
  EXPECT_EQ(read_all("a,\"b\nc,\"d\"\ne,f\n"), "1:! 2:c/d 3:e/f");
  EXPECT_EQ(read_all("a,\"b\" c\nd,e\n"), "1:! 2:d/e");
}

TEST(CsvReader, TabsNeedNoQuoting) {
  EXPECT_EQ(read_all("a\t\"Yes,\" he said\nb\t\"No\n", '\t'), "1:a/\"Yes,\" he said 2:b/\"No");
  EXPECT_EQ(read_all("a\t\"tab\there\"\n", '\t'), "1:a/tab\there");
}

TEST(CsvReader, BadBytesAndEndlessRecordsAreFaults) {
  EXPECT_EQ(read_all("a,caf\xE9\nb,c"), "1:! 2:b/c");
  EXPECT_EQ(read_all(std::string_view("a,\0\nb,c", 7)), "1:! 2:b/c");
  EXPECT_EQ(read_all(std::string(1U << 20U, 'x') + "\nb,c"), "1:! 2:b/c");
  EXPECT_EQ(read_all("\"" + std::string(1U << 20U, 'x') + "\"\nb,c"), "1:! 2:b/c");
  std::string many = "a,\"";
  for (int i = 0; i < 20'000; ++i) many += "line\n";
  CsvReader csv(many, ',');
  EXPECT_TRUE(csv.next()->fault);
  EXPECT_EQ(csv.next()->line, 2U);
}

TEST(CsvReader, TheSeparatorIsTheOneThatTheHeaderHasMostOf) {
  EXPECT_EQ(separator_of("path,text"), ',');
  EXPECT_EQ(separator_of("path\ttext, or so\tx"), '\t');
  EXPECT_EQ(separator_of("path;text"), ';');
  EXPECT_EQ(separator_of("path"), ',');
}

}  // namespace
}  // namespace xtts::corpus
