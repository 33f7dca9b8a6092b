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

// Whatever the form of a secret, only what the trainer knows is shown.
TEST(ConfigForSupport, ShowsTheTrainersOwnKeysAlone) {
  const std::string text = config_for_support(
      "data:\n  batch_size: 32\n  api_key: SEKRIT1\n  dataset_path: https://me:SEKRIT2@host/x\n"
      "training:\n  stop_token_positive_weight: 5.0\n  password:\n    - SEKRIT3\n"
      "  passphrase: |\n    SEKRIT4\n  # note: SEKRIT5\nheaders: {Authorization: SEKRIT6}\n",
      "config.yaml");
  EXPECT_THAT(text, HasSubstr("data.batch_size: 32\n"));
  EXPECT_THAT(text, HasSubstr("training.stop_token_positive_weight: 5.0\n"));
  EXPECT_THAT(text, HasSubstr("data.api_key: (not shown)\n"));
  EXPECT_THAT(text, Not(HasSubstr("SEKRIT")));
}

TEST(ConfigForSupport, AFileThatCannotBeReadIsNotShown) {
  EXPECT_THAT(config_for_support("a: [SEKRIT", "config.yaml"), Not(HasSubstr("SEKRIT")));
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
