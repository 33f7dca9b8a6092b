#include "verify/findings.hpp"

#include <gtest/gtest.h>

namespace xtts::verify {
namespace {

Finding finding(const std::string& file, std::uint64_t offset) {
  return {.file = file, .offset_bytes = offset, .check = Check::kRecord};
}

TEST(Findings, StandByFileAndOffsetWhateverTheirOrder) {
  Findings findings(10);
  findings.add(finding("b", 1));
  findings.add(finding("a", 4096));
  findings.add(finding("a", 16));
  Report report;
  findings.move_into(report);
  ASSERT_EQ(report.findings.size(), 3);
  EXPECT_EQ(report.findings[0].offset_bytes, 16);
  EXPECT_EQ(report.findings[1].offset_bytes, 4096);
  EXPECT_EQ(report.findings[2].file, "b");
  EXPECT_FALSE(report.ok);
}

TEST(Findings, KeepTheFirstAndCountAll) {
  Findings findings(2);
  for (std::uint64_t i = 9; i > 0; --i) findings.add(finding("a", i));
  Report report;
  findings.move_into(report);
  ASSERT_EQ(report.findings.size(), 2);
  EXPECT_EQ(report.findings[0].offset_bytes, 1);
  EXPECT_EQ(report.findings[1].offset_bytes, 2);
  EXPECT_EQ(report.finding_count, 9);
}

TEST(Findings, StayOkWithNotesAlone) {
  Findings findings(1);
  findings.add({.weight = Weight::kNote, .file = "a"});
  Report report;
  findings.move_into(report);
  EXPECT_TRUE(report.ok);
  EXPECT_EQ(report.finding_count, 1);
}

TEST(Findings, LetNoNotePushDamageOut) {
  Findings findings(1);
  findings.add(finding("z", 1));
  findings.add({.weight = Weight::kNote, .file = "a"});
  Report report;
  findings.move_into(report);
  ASSERT_EQ(report.findings.size(), 1);
  EXPECT_EQ(report.findings[0].file, "z");
}

TEST(Findings, NameTheFilesThatARepairCanMend) {
  Findings findings(1);
  findings.add(finding("a", 1));
  findings.add(finding("b", 1));
  findings.add(
      {.weight = Weight::kNote, .file = "c", .check = Check::kSource, .is_of_checks = false});
  findings.add({.file = "d", .check = Check::kRecomputed, .is_of_checks = false});
  findings.add({.weight = Weight::kNote, .file = "rejects.jsonl", .check = Check::kRejects});
  EXPECT_EQ(findings.files_to_repair(), (std::set<std::string>{"a", "b", "rejects.jsonl"}));
}

TEST(Findings, ForgetWhatChecksToldOfAMendedFile) {
  Findings findings(2);
  for (std::uint64_t i = 0; i < 5; ++i) findings.add(finding("a", i));
  findings.add({.file = "a", .check = Check::kRecomputed, .is_of_checks = false});
  findings.forget("a");
  EXPECT_TRUE(findings.files_to_repair().empty());
  findings.add({.weight = Weight::kNote, .file = "b", .check = Check::kRejects});
  Report report;
  findings.move_into(report);
  EXPECT_EQ(report.finding_count, 2);  // what deep alone found stays
  EXPECT_FALSE(report.ok);
}

}  // namespace
}  // namespace xtts::verify
