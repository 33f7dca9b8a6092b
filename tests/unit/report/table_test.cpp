#include "report/table.hpp"

#include <gtest/gtest.h>

namespace xtts::report {
namespace {

TEST(Table, AlignsColumnsAndLeavesNoSpaceAtLineEnds) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  table.add_row({"a", "1", "x"});
  table.add_row({"日本", "100", ""});
  EXPECT_EQ(table.render(), "a       1  x\n日本  100\n");
  EXPECT_EQ(table.render(2), "  a       1  x\n  日本  100\n");
}

TEST(Table, CutsLinesAtTheWidth) {
  Table table({Align::kLeft, Align::kLeft});
  table.add_row({"abc", "defghi"});
  EXPECT_EQ(table.render(0, 8), "abc  de…\n");
}

TEST(Table, CutsALongCellThatAnotherFollows) {
  Table table({Align::kLeft, Align::kRight});
  table.add_row({std::string(128, '7'), "1"});
  table.add_row({"p225", std::string(60, '8')});
  EXPECT_EQ(table.render(), std::string(39, '7') + "…" + std::string(2 + 59, ' ') + "1\n" + "p225" +
                                std::string(36 + 2, ' ') + std::string(60, '8') + "\n");
  EXPECT_NE(table.render_tabs().find(std::string(128, '7')), std::string::npos);
}

TEST(Table, TabsKeepEveryCell) {
  Table table({Align::kLeft, Align::kRight, Align::kLeft});
  table.add_row({"a"});
  table.add_row({"b", "2", "long", "left out"});
  EXPECT_EQ(table.render_tabs(), "a\t\t\nb\t2\tlong\n");
}

}  // namespace
}  // namespace xtts::report
