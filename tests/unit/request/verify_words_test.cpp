// The findings of verify, in words.
#include "request/verify_words.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::request {
namespace {

using ::testing::HasSubstr;
using verify::Check;
using verify::Evidence;
using verify::Outcome;
using verify::Remedy;
using verify::RemedyKind;

TEST(VerifyWords, NameTheNumericsThatMayBeWhy) {
  Evidence evidence("other_fill", "it is padded with another value now");
  evidence.numerics = {.here = {.device = "cpu", .isa = "avx2", .libraries = "fftw 3"},
                       .cache = {.device = "cpu", .isa = "scalar", .libraries = "fftw 2"}};
  EXPECT_EQ(words_of(evidence),
            "it is padded with another value now; this machine computes with other numerics than "
            "the cache's: here cpu avx2 (fftw 3), cache cpu scalar (fftw 2)");
}

TEST(VerifyWords, ListTheIndexesThatMayBeTheNewest) {
  Evidence evidence("maybe_newer_index", "index-b.bin may be newer");
  evidence.indexes = {{.name = "index-a.bin",
                       .generation = 3,
                       .has_manifest = true,
                       .record_count = 12,
                       .seconds = 5.9},
                      {.name = "index-b.bin"},
                      {.name = "index-c.bin", .generation = 2}};
  EXPECT_EQ(words_of(evidence),
            "which index is the newest cannot be proved (index-b.bin may be newer); found: "
            "index-a.bin (generation 3, 12 clips, 5 s), index-b.bin (unreadable), "
            "index-c.bin (generation 2, unreadable)");
}

TEST(VerifyWords, SayAFindingWithHowItEnded) {
  EXPECT_EQ(what_of({.check = Check::kBlockHeader}), "block header");
  EXPECT_EQ(what_of({.check = Check::kFile, .outcome = Outcome::kUnreadable}), "unreadable file");
  EXPECT_EQ(what_of({.check = Check::kShard, .outcome = Outcome::kNotRepaired}),
            "not mended, shard");
  EXPECT_EQ(what_of({.check = Check::kRecomputed, .part = "length"}), "recomputed length");
}

TEST(VerifyWords, SayWhyAClipWasLeftOut) {
  EXPECT_EQ(words_of(verify::RepairedFile{.done = {"", "generation 3 is without a/b"},
                                          .why = {"", "its source has changed"}}),
            "generation 3 is without a/b: its source has changed");
}

TEST(VerifyWords, SayHowRecordsWereCompared) {
  EXPECT_EQ(words_of(verify::DeepComparison{}), "");
  EXPECT_EQ(words_of(verify::DeepComparison{.exact_count = 2}), "bit for bit");
  const verify::DeepComparison both{
      .exact_count = 2,
      .tolerant_count = 1,
      .tolerance = 2e-5,
      .here = {.device = "cpu", .isa = "avx2", .libraries = "fftw 3"}};
  EXPECT_EQ(words_of(both),
            "bit for bit for 2 records, for the others within a tolerance of 2e-05, because "
            "numerics differ: cache another machine, here cpu avx2 (fftw 3)");
}

TEST(Remedies, AreCommandsToBePasted) {
  Remedy remedy{.kind = RemedyKind::kSources, .cache = "/a cache", .data_before = "/gone"};
  EXPECT_EQ(command_of(remedy), "xtts-precompute verify '/a cache' --repair --data DATA");
  EXPECT_EQ(note_of(remedy), "DATA is where the sources are now that were in /gone");
  remedy.data.path = "/data";
  EXPECT_EQ(command_of(remedy), "xtts-precompute verify '/a cache' --repair --data /data");
  remedy.data_before = "/data";
  EXPECT_EQ(command_of(remedy), "xtts-precompute verify '/a cache' --repair");
  EXPECT_EQ(note_of(remedy), "");
  remedy.kind = RemedyKind::kLeaveOut;
  remedy.lost_clip_count = 1;
  remedy.clip_count = 9;
  EXPECT_EQ(command_of(remedy), "xtts-precompute verify '/a cache' --repair --max-gone 11.2%");
  EXPECT_THAT(note_of(remedy), HasSubstr("1 of 9 clips cannot be made again: its record is lost"));
  remedy.kind = RemedyKind::kOtherMachine;
  EXPECT_EQ(command_of(remedy), "xtts-precompute verify '/a cache' --level deep --data /data");
  remedy.is_after_repair = true;
  EXPECT_EQ(command_of(remedy), "xtts-precompute verify '/a cache' --repair --data /data");
  remedy.kind = RemedyKind::kOverwrite;
  EXPECT_EQ(command_of(remedy), "xtts-precompute build /data '/a cache' --overwrite");
}

}  // namespace
}  // namespace xtts::request
