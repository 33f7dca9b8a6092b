#include "formats/reject.hpp"

#include "formats/rules.hpp"
#include "tests/unit/formats/refusal.hpp"

namespace xtts::formats {
namespace {

constexpr auto kCorrupt = StatusCode::kCorrupt;

Reject example() {
  return {RejectClass::kPolicy,
          "LJ001-0001",
          "metadata.csv",
          17,
          {.rule = Rule::kTextTooLong, .numbers = {431, 200}}};
}

TEST(Reject, IsOneLineOfCanonicalJson) {
  EXPECT_EQ(encode_reject(example()),
            R"({"class":"policy","id":"LJ001-0001","line":17,"max_tokens":200,)"
            R"("path":"metadata.csv","rule":"text_too_long","stage":"text","tokens":431})");
}

TEST(Reject, AnUnknownLineIsAbsent) {
  Reject reject = example();
  reject.line.reset();
  EXPECT_THAT(encode_reject(reject), testing::Not(testing::HasSubstr("line")));
  EXPECT_EQ(decode_reject(encode_reject(reject)).value(), reject);
}

TEST(Reject, ASplitIsToldWhereThereIsOne) {
  Reject reject = example();
  EXPECT_THAT(encode_reject(reject), testing::Not(testing::HasSubstr("split")));
  reject.split = "validation";
  EXPECT_THAT(encode_reject(reject), testing::HasSubstr(R"("split":"validation")"));
  EXPECT_EQ(decode_reject(encode_reject(reject)).value(), reject);
}

TEST(Reject, NamesItsPlaceForPeople) {
  Reject reject = example();
  EXPECT_EQ(place_of(reject), "metadata.csv:17");
  reject.line.reset();
  EXPECT_EQ(place_of(reject), "metadata.csv");
  reject.path.clear();
  EXPECT_EQ(place_of(reject), "LJ001-0001");
}

TEST(Reject, ComesBackWithEveryClassAndAnyText) {
  for (const RejectClass kind : {RejectClass::kPolicy, RejectClass::kInput, RejectClass::kCrash,
                                 RejectClass::kEnvironment}) {
    Reject reject = example();
    reject.kind = kind;
    reject.id = "شماره \"1\"";
    reject.reason = {.rule = Rule::kBadRow, .detail = "two\nlines\tand\x01more"};
    const std::string line = encode_reject(reject);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto read = decode_reject(line);
    ASSERT_TRUE(read.ok()) << read.status().message();
    EXPECT_EQ(*read, reject);
  }
}

TEST(Reject, PassesOverMembersThatItDoesNotKnow) {
  std::string line = encode_reject(example());
  line.insert(1, "\"added\":[1,{}],");
  EXPECT_EQ(decode_reject(line).value(), example());
}

TEST(Reject, RefusesAnUnknownClass) {
  expect_refused(decode_reject(R"({"class":"mood","id":"","path":"","rule":"silent"})").status(),
                 kCorrupt, "class: 'mood'");
}

TEST(Reject, RefusesAMissingMember) {
  expect_refused(decode_reject(R"({"class":"input","id":"","rule":"silent"})").status(), kCorrupt,
                 "path");
}

TEST(Reject, RefusesALineThatIsNoWholeNumber) {
  for (const char* const number : {"-1", "1.0", "\"1\"", "true", "18446744073709551616"}) {
    const std::string line = std::string(R"({"class":"input","id":"","line":)") + number +
                             R"(,"path":"","rule":"silent"})";
    expect_refused(decode_reject(line).status(), kCorrupt, "line: is not a whole number");
  }
}

TEST(Reject, RefusesWhatIsNoObject) {
  expect_refused(decode_reject("[]").status(), kCorrupt, "object");
  expect_refused(decode_reject("").status(), kCorrupt, "parse error");
}

TEST(Reject, RefusesALineLongerThan16MiB) {
  expect_refused(decode_reject(std::string((16U << 20U) + 1, ' ')).status(), kCorrupt, "16 MiB");
}

TEST(Reject, AreSortedByIdPathLineRuleAndDetail) {
  const auto reject = [](const char* id, const char* path, std::optional<std::uint64_t> line,
                         Rule rule, const char* detail) {
    return Reject{RejectClass::kInput, id, path, line, {.rule = rule, .detail = detail}};
  };
  std::vector<Reject> rejects = {reject("b", "p", 1, Rule::kIdTwice, "r"),
                                 reject("a", "p", 2, Rule::kIdTwice, "r"),
                                 reject("a", "p", std::nullopt, Rule::kIdTwice, "r"),
                                 reject("a", "o", 3, Rule::kIdTwice, "r"),
                                 reject("a", "p", 2, Rule::kBadRow, "r"),
                                 reject("a", "p", 2, Rule::kBadRow, "q")};
  const std::vector<Reject> sorted = {rejects[3], rejects[2], rejects[5],
                                      rejects[4], rejects[1], rejects[0]};
  sort_rejects(rejects);
  EXPECT_EQ(rejects, sorted);
}

}  // namespace
}  // namespace xtts::formats
