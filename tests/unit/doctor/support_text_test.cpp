#include "doctor/support_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(WithoutSecrets, RemovesValuesOfSecretKeys) {
  for (const char* const line :
       {"wandb_api_key: abc123", "  hf_token: 'abc123'", "PASSWORD=abc123",
        "\"secret\": \"abc123\"", "  - access_key: abc123", "aws_secret_access_key = abc123"}) {
    EXPECT_THAT(without_secrets(line), Not(HasSubstr("abc123"))) << line;
    EXPECT_THAT(without_secrets(line), HasSubstr("[removed]")) << line;
  }
}

TEST(WithoutSecrets, KeepsWhatHelps) {
  const std::string config =
      "data:\n  batch_size: 32   # clips\n  max_text_tokens: 200\n  path: /data/corpus\n";
  EXPECT_EQ(without_secrets("data:\n  batch_size: 32   # clips\n  path: /data/corpus\n"),
            "data:\n  batch_size: 32   # clips\n  path: /data/corpus\n");
  EXPECT_THAT(without_secrets(config), HasSubstr("max_text_tokens: 200"));
}

TEST(WithoutSecrets, RemovesUsersOfAddressesAndRandomWords) {
  EXPECT_EQ(without_secrets("url: https://me:pw@host/x"), "url: https://[removed]@host/x\n");
  EXPECT_THAT(without_secrets("x: hf_AbCdEf0123456789AbCdEf0123456789"), HasSubstr("[removed]"));
  EXPECT_THAT(without_secrets(std::string(100'000, 'a')), HasSubstr("[removed]"));
}

TEST(SupportText, HidesTheHomeFolder) {
  Diagnosis diagnosis;
  diagnosis.machine = {"2 processors"};
  SupportFacts facts;
  facts.command = "doctor --data /home/anna/corpus";
  facts.home = "/home/anna";
  const std::string text = support_text(diagnosis, facts);
  EXPECT_THAT(text, HasSubstr("doctor --data ~/corpus"));
  EXPECT_THAT(text, Not(HasSubstr("anna")));
  EXPECT_THAT(text, HasSubstr("2 processors"));
}

}  // namespace
}  // namespace xtts::doctor
