// Keys and values that the trainer does not take, and the writing of a mended file.
#include "doctor/config_check.hpp"
#include "doctor/check_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "doctor/config_file.hpp"
#include "doctor/config_fix.hpp"
#include "doctor/trainer_fields.hpp"
#include "tests/support/fault_env.hpp"
#include "tests/support/temp_folder.hpp"

namespace xtts::doctor {
namespace {

namespace fs = std::filesystem;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using xtts::testing::Fault;
using xtts::testing::FaultEnv;
using xtts::testing::TempFolder;

// Nothing is wrong with these but what a test adds.
constexpr std::string_view kQuiet =
    "training:\n"
    "  enable_memory_cleanup: false\n"
    "  spectrogram_log_interval: 500\n";
constexpr std::string_view kQuietData =
    "data:\n"
    "  pad_to_fixed_length: true\n"
    "  max_text_tokens: 200\n";

std::string quiet(const std::string& data = "", const std::string& training = "",
                  const std::string& rest = "") {
  return std::string(kQuiet) + training + std::string(kQuietData) + data + rest;
}

Check check(const std::string& text) {
  auto made = check_config_text(Env::real(), text, "folder/config.yaml", {});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *made : Check{};
}

// The findings that are neither notes nor passes.
std::vector<Finding> faults(const std::string& text) {
  std::vector<Finding> found = check(text).findings;
  std::erase_if(found, [](const Finding& one) { return one.status == CheckStatus::kPass; });
  return found;
}

Finding only_fault(const std::string& text) {
  const auto found = faults(text);
  EXPECT_EQ(found.size(), 1U) << text;
  return found.empty() ? Finding{} : found.front();
}

TEST(ConfigCheck, HasAQuietFile) {
  EXPECT_EQ(check(quiet()).status, CheckStatus::kPass);
  EXPECT_EQ(check(quiet()).name, "configuration");
}

TEST(ConfigCheck, AnUnknownKeyStopsTheTrainer) {
  const Finding known = only_fault(quiet("  n_mels: 80\n"));
  EXPECT_EQ(known.status, CheckStatus::kFail);
  EXPECT_EQ(known.place, "config.yaml:7");
  EXPECT_THAT(known.text, HasSubstr("always has 80 mels"));
  EXPECT_THAT(known.changes, ElementsAre(Field(&ConfigChange::after, "")));
  const Finding strange = only_fault(quiet("  zzzzzzzzzz: 80\n"));
  EXPECT_THAT(strange.changes, ElementsAre(Field(&ConfigChange::key, "data.zzzzzzzzzz")));
}

TEST(ConfigCheck, ATypoIsNamedAndLeftToAPerson) {
  const Finding typo = only_fault(quiet("  bach_size: 32\n"));
  EXPECT_THAT(typo.remedy, HasSubstr("Did you mean data.batch_size?"));
  EXPECT_TRUE(typo.changes.empty());
}

TEST(ConfigCheck, AKeyOfAnotherSectionMovesThere) {
  const Finding moved = only_fault(quiet("", "  mixed_precision: true\n"));
  EXPECT_THAT(moved.changes, ElementsAre(Field(&ConfigChange::key, "data.mixed_precision"),
                                         Field(&ConfigChange::key, "training.mixed_precision")));
  const Finding contradicts =
      only_fault(quiet("  mixed_precision: true\n", "  mixed_precision: false\n"));
  EXPECT_THAT(contradicts.text, HasSubstr("data.mixed_precision is, and has another value: true"));
  EXPECT_THAT(contradicts.changes,
              ElementsAre(Field(&ConfigChange::key, "training.mixed_precision")));
}

TEST(ConfigCheck, KeysOutsideOfTheSectionsAreNotSeenByTheTrainer) {
  EXPECT_THAT(only_fault(quiet("", "", "batch_size: 4\n")).remedy, HasSubstr("section data"));
  EXPECT_THAT(only_fault(quiet("", "", "modell:\n  n_mels: 80\n")).remedy,
              HasSubstr("Did you mean model?"));
}

TEST(ConfigCheck, ValuesHaveTheTypeThatTheTrainerNeeds) {
  for (const auto& [line, after] : std::vector<std::pair<std::string, std::string>>{
           {"  learning_rate: 1e-4\n", "1.0e-4"},
           {"  learning_rate: \"0.001\"\n", "0.001"},
           {"  epochs: 1e3\n", "1000"},
           {"  epochs: 20.0\n", "20"},
           {"  epochs: \"20\"\n", "20"},
           {"  use_wandb: \"False\"\n", "false"},
           {"  optimizer: 5\n", "5"},
           {"  wandb_project: no\n", "no"},
       }) {
    const Finding finding = only_fault(quiet("", line));
    EXPECT_EQ(finding.status, CheckStatus::kFail);
    ASSERT_EQ(finding.changes.size(), 1U) << line << finding.text;
    EXPECT_EQ(finding.changes.front().after, after);
  }
  for (const char* const line : {"  epochs: many\n", "  use_wandb: maybe\n", "  epochs: [1]\n",
                                 "  text2audio_texts: hello\n", "  optimizer: {a: 1}\n"}) {
    const Finding finding = only_fault(quiet("", line));
    EXPECT_TRUE(finding.changes.empty()) << line;
    EXPECT_EQ(finding.status, CheckStatus::kFail) << line;
  }
}

TEST(ConfigCheck, NullIsAValueOfSomeKeysAlone) {
  EXPECT_TRUE(
      faults(quiet("  data_gpu:\n  metadata_train_file: null\n  text_cleaners: ~\n")).empty());
  const Finding finding = only_fault(quiet("  batch_size:\n"));
  EXPECT_THAT(finding.remedy, HasSubstr("default is 56"));
  EXPECT_THAT(finding.changes, ElementsAre(Field(&ConfigChange::after, "")));
}

TEST(ConfigCheck, AnEmptySectionStopsTheTrainer) {
  const Finding finding = only_fault(quiet("", "", "model:\n"));
  EXPECT_THAT(finding.text, HasSubstr("The section model is empty"));
  EXPECT_THAT(finding.changes, ElementsAre(Field(&ConfigChange::key, "model")));
}

TEST(ConfigCheck, ADoubleKeyHasTheLastValue) {
  const Finding finding = only_fault(quiet("  batch_size: 0\n  batch_size: 8\n"));
  EXPECT_THAT(finding.text, HasSubstr("stands twice, first on line 7"));
}

TEST(ConfigCheck, AnAliasIsNotJudged) {
  const Finding finding = only_fault(quiet("  batch_size: &b 8\n  num_workers: *b\n"));
  EXPECT_EQ(finding.status, CheckStatus::kCannotTell);
}

// PyYAML 6.0: "found character '\\t' that cannot start any token".
TEST(ConfigCheck, ATabBetweenWordsIsToldOf) {
  for (const char* const line : {"  batch_size: 8\t# note\n", "  batch_size:\t8\n"})
    EXPECT_THAT(only_fault(quiet(line)).text, HasSubstr("has a tab")) << line;
  for (const char* const line : {"  batch_size: 8 #\tnote\n", "  language: \"a\tb\" # c\td\n"})
    EXPECT_TRUE(faults(quiet(line)).empty()) << line;
}

TEST(ConfigCheck, AKeyThatNobodyReadsGetsNoPromise) {
  const Check made = check(quiet("  pin_memory: false\n  prefetch_buffer_size: 1\n"));
  EXPECT_EQ(made.status, CheckStatus::kPass);
  EXPECT_THAT(made.findings,
              Contains(Field(&Finding::text,
                             "The trainer does nothing with these keys: data.pin_memory, "
                             "data.prefetch_buffer_size. data.pipeline_buffer_size is the buffer "
                             "that it reads.")));
}

TEST(ConfigCheck, AFileThatCannotBeJudgedIsRefused) {
  for (const char* const text : {"", "a: 1\n", "- x\n", "data:\n\tx: 1\n", "data: {a: 1\n",
                                 "data:\n  a: 1\n---\ndata:\n  a: 2\n"})
    EXPECT_EQ(check_config_text(Env::real(), text, "f", {}).status().code(),
              StatusCode::kInvalidArgument)
        << text;
  for (const char* const text :
       {"data: 5\n", "base: &b\n  n: 1\ndata:\n  <<: *b\n", "data:\n  a: 1\ndata:\n  b: 1\n"})
    EXPECT_EQ(check_config_text(Env::real(), text, "f", {}).status().code(),
              StatusCode::kUnsupported)
        << text;
}

TEST(ConfigCheck, TheTableOfFieldsIsSound) {
  std::set<std::string_view> names;
  for (const TrainerField& field : trainer_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_TRUE(home_of_foreign_key(field.name).empty()) << field.name;
  }
  EXPECT_EQ(names.size(), 203U);
}

// --- writing ----------------------------------------------------------------------------------

const std::string& faulty() {
  static const std::string text =
      "# mine\n" +
      quiet("  n_mels: 80  # mels\n", "  mixed_precision: false\n  learning_rate: 1e-4\n") +
      "  enable_graph_mode: yes\n";
  return text;
}

std::string read(const std::string& path) {
  const auto text = read_text_file(Env::real(), path, 1 << 20);
  return text.ok() ? *text : "unreadable: " + text.status().message();
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

ConfigFix fix(const std::string& path) {
  auto made = fix_config(Env::real(), path, {});
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *made : ConfigFix{};
}

TEST(ConfigFix, MendsOnceAndKeepsTheOldFile) {
  const TempFolder folder;
  const std::string path = folder.write("config.yaml", faulty());
  const ConfigFix first = fix(path);
  EXPECT_FALSE(first.changes.empty());
  EXPECT_TRUE(first.refused.empty());
  EXPECT_EQ(read(first.backup), faulty());
  EXPECT_THAT(read(path), HasSubstr("  # n_mels: 80  # mels\n"));
  EXPECT_THAT(read(path), HasSubstr("  learning_rate: 1.0e-4\n"));
  const std::string mended = read(path);
  const ConfigFix second = fix(path);
  EXPECT_TRUE(second.changes.empty());
  EXPECT_EQ(second.backup, "");
  EXPECT_EQ(read(path), mended);
  EXPECT_THAT(names_in(folder.path()), ElementsAre("config.yaml", "config.yaml.bak"));
}

TEST(ConfigFix, OverwritesNoOlderBackup) {
  const TempFolder folder;
  const std::string path = folder.write("config.yaml", faulty());
  folder.write("config.yaml.bak", "older");
  fs::create_symlink("nowhere", folder.path() + "/config.yaml.bak.1");
  EXPECT_EQ(fix(path).backup, path + ".bak.2");
  EXPECT_EQ(read(folder.path() + "/config.yaml.bak"), "older");
  EXPECT_EQ(read(folder.path() + "/config.yaml.bak.2"), faulty());
  EXPECT_TRUE(fs::is_symlink(folder.path() + "/config.yaml.bak.1"));
}

TEST(ConfigFix, KeepsPermissions) {
  const TempFolder folder;
  const std::string path = folder.write("config.yaml", faulty());
  for (const mode_t mode : {0600U, 0664U, 0777U}) {
    folder.write("config.yaml", faulty());
    ASSERT_EQ(::chmod(path.c_str(), mode), 0);
    const ConfigFix made = fix(path);
    struct stat facts {};
    ASSERT_EQ(::stat(path.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, mode);
    ASSERT_EQ(::stat(made.backup.c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777U, mode);
  }
}

TEST(ConfigFix, ALinkStaysAndItsTargetIsMended) {
  const TempFolder folder;
  folder.write("real/settings.yaml", faulty());
  const std::string link = folder.path() + "/config.yaml";
  fs::create_symlink("real/settings.yaml", link);
  const ConfigFix made = fix(link);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(fs::path(made.backup).filename(), "settings.yaml.bak");
  EXPECT_NE(read(folder.path() + "/real/settings.yaml"), faulty());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("config.yaml", "real"));
}

TEST(ConfigFix, WhatTheFormForbidsIsLeftAndTold) {
  const TempFolder folder;
  const std::string text = "data: {n_mels: 80, pad_to_fixed_length: true, max_text_tokens: 200}\n" +
                           std::string(kQuiet) + "  learning_rate: 1e-4\n";
  const std::string path = folder.write("config.yaml", text);
  const ConfigFix made = fix(path);
  EXPECT_THAT(made.refused, ElementsAre(HasSubstr("config.yaml:1: the value stands in braces")));
  EXPECT_THAT(made.changes, ElementsAre(Field(&ConfigChange::key, "training.learning_rate")));
  EXPECT_THAT(read(path), HasSubstr("data: {n_mels: 80,"));
  EXPECT_EQ(made.check.status, CheckStatus::kFail);
}

TEST(ConfigFix, AFileOfManyUnknownKeysIsLeft) {
  const TempFolder folder;
  std::string text = quiet();
  for (int i = 0; i < 500; ++i) text += "  k" + std::to_string(i) + "0000: 1\n";
  const std::string path = folder.write("config.yaml", text);
  EXPECT_THAT(fix_config(Env::real(), path, {}).status().message(),
              HasSubstr("500 changes would be needed"));
  EXPECT_EQ(read(path), text);
}

TEST(ConfigFix, AFixThatEmptiesASectionTakesItOut) {
  const TempFolder folder;
  const std::string path = folder.write("config.yaml", quiet("", "", "model:\n  zzzzzzzz: 1\n"));
  EXPECT_EQ(fix(path).check.status, CheckStatus::kPass);
  EXPECT_THAT(read(path), HasSubstr("# model:\n  # zzzzzzzz: 1\n"));
}

// Every changing call fails once, with and without an end of the process.
TEST(ConfigFix, AfterAnyFaultTheFileIsTheOldOrTheNewOne) {
  std::string mended;
  {
    const TempFolder folder;
    const std::string path = folder.write("config.yaml", faulty());
    (void)fix(path);
    mended = read(path);
  }
  for (const auto aftermath :
       {xtts::testing::Aftermath::kGoesOn, xtts::testing::Aftermath::kIsACrash}) {
    for (std::uint64_t call = 1;; ++call) {
      const TempFolder folder;
      const std::string path = folder.write("config.yaml", faulty());
      FaultEnv env(Env::real());
      env.set_fault(Fault{.at_call = call, .aftermath = aftermath, .torn_share = 0.5});
      const auto made = fix_config(env, path, {});
      if (!env.fault_happened()) break;
      ASSERT_LT(call, 100U);
      EXPECT_TRUE(env.misuse().empty());
      const std::string now = read(path);
      if (made.ok()) {
        EXPECT_EQ(now, mended) << env.failed_call();
      } else if (aftermath == xtts::testing::Aftermath::kGoesOn) {
        EXPECT_EQ(now, faulty()) << env.failed_call();
        EXPECT_THAT(names_in(folder.path()), ElementsAre("config.yaml")) << env.failed_call();
      } else {
        EXPECT_TRUE(now == faulty() || now == mended) << env.failed_call();
        for (const std::string& name : names_in(folder.path())) {
          if (name == "config.yaml.bak") {
            EXPECT_EQ(read(folder.path() + "/" + name), faulty());
          }
        }
      }
    }
  }
}

TEST(ConfigFix, AFullDiskLeavesTheFile) {
  const TempFolder folder;
  const std::string path = folder.write("config.yaml", faulty());
  FaultEnv env(Env::real());
  env.set_room_bytes(10);
  const auto made = fix_config(env, path, {});
  EXPECT_EQ(made.status().code(), StatusCode::kResource);
  EXPECT_THAT(made.status().message(), HasSubstr("writing "));
  EXPECT_EQ(read(path), faulty());
  EXPECT_THAT(names_in(folder.path()), ElementsAre("config.yaml"));
}

TEST(ConfigFix, AFileThatSomebodyChangesMeanwhileIsLeft) {
  const TempFolder folder;
  const std::string path = folder.write("config.yaml", "data:\n  a: 1\n");
  const auto made = replace_config(Env::real(), path, "data:\n  a: 0\n", "data:\n  a: 2\n");
  EXPECT_THAT(made.status().message(), HasSubstr("was changed meanwhile"));
  EXPECT_EQ(read(path), "data:\n  a: 1\n");
  EXPECT_THAT(names_in(folder.path()), ElementsAre("config.yaml"));
}

TEST(ConfigFix, AReadOnlyFileOrFolderIsAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  const TempFolder folder;
  const std::string path = folder.write("config.yaml", faulty());
  ASSERT_EQ(::chmod(path.c_str(), 0444), 0);
  EXPECT_EQ(fix_config(Env::real(), path, {}).status().code(), StatusCode::kResource);
  ASSERT_EQ(::chmod(path.c_str(), 0644), 0);
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  EXPECT_EQ(fix_config(Env::real(), path, {}).status().code(), StatusCode::kResource);
  EXPECT_EQ(read(path), faulty());
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
}

// A key of another program may be a secret. Reports, `--json` and the terminal show what a change
// holds.
TEST(ConfigCheck, ValuesOfForeignKeysAreNotShown) {
  const auto check = check_config_text(Env::real(),
                                       "data:\n  batch_size: 8\n  api_key: SEKRIT\n"
                                       "training:\n  wandb_api_key: SEKRIT\n",
                                       "config.yaml", {});
  ASSERT_TRUE(check.ok()) << check.status().message();
  EXPECT_THAT(to_json(*check).dump(), ::testing::Not(HasSubstr("SEKRIT")));
  EXPECT_THAT(to_json(*check).dump(), HasSubstr("api_key"));
}

}  // namespace
}  // namespace xtts::doctor
