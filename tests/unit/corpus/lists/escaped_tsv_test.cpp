#include "corpus/lists/escaped_tsv.hpp"

#include <gtest/gtest.h>

namespace xtts::corpus {
namespace {

TEST(EscapedTsv, FieldsGoByTheNamesOfTheHeader) {
  EscapedTsv rows("b\ta \t");
  EXPECT_EQ(rows.names(), (std::vector<std::string>{"b", "a", ""}));
  ASSERT_TRUE(rows.take("1\t 2 \t3").ok());
  EXPECT_EQ(rows.field(rows.column("a")), "2");
  EXPECT_EQ(rows.field(rows.column("b")), "1");
  EXPECT_EQ(rows.field(rows.column("c")), "");
  ASSERT_TRUE(rows.take("\t\t").ok());
  EXPECT_EQ(rows.field(rows.column("a")), "") << "nothing stays of the row before";
}

TEST(EscapedTsv, OnlyQuotesAndBackslashesAreUnescaped) {
  EscapedTsv rows("text");
  ASSERT_TRUE(rows.take(R"(\"a\" "b" \\n \n \)").ok());
  EXPECT_EQ(rows.field(rows.column("text")), R"("a" "b" \n \n \)");
}

TEST(EscapedTsv, ARowMustHaveAsManyFieldsAsTheHeader) {
  EscapedTsv rows("a\tb");
  EXPECT_EQ(rows.take("1").message(), "has 1 field where the header line has 2");
  EXPECT_EQ(rows.take("1\t2\t3").message(), "has 3 fields where the header line has 2");
  EXPECT_EQ(rows.take("1").code(), StatusCode::kBadInput);
}

}  // namespace
}  // namespace xtts::corpus
