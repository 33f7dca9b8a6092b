#include "doctor/help_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

using ::testing::HasSubstr;

// A machine with a GPU, whose loader makes 200 clips a second: a batch of 32 takes 160 ms.
HelpQuestion slow_loader() {
  HelpQuestion question;
  question.clip_count = 10'000;
  question.usable_cores = 8;
  question.on_the_fly.way = "librosa, 8 workers";
  question.on_the_fly.clips_per_s = {190.0, 210.0};
  question.on_the_fly.cpu_ms_per_clip = 40.0;
  question.cache.emplace();
  question.cache->way = "from a cache";
  question.cache->clips_per_s = {50'000.0, 100'000.0};
  question.build_s = Range{20.0, 40.0};
  return question;
}

TEST(CheckHelp, SaysYesWhereTheStepIsShorterThanLoading) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50.0, 50.0};
  const Check check = check_help(question);
  EXPECT_EQ(check.status, CheckStatus::kFail);
  ASSERT_TRUE(check.findings[0].gain);
  EXPECT_NEAR(check.findings[0].gain->low, 152.0 / 50.0, 0.3);
  EXPECT_LT(check.findings[0].gain->low, check.findings[0].gain->high);
  EXPECT_TRUE(check.findings[0].changes.empty());  // which keys a trainer has is another question
  EXPECT_EQ(picture_of(question), Picture::kDataLate);
}

TEST(CheckHelp, SaysNoWhereTheModelIsTheLimit) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{900.0, 900.0};
  const Check check = check_help(question);
  EXPECT_EQ(check.status, CheckStatus::kPass);
  EXPECT_THAT(check.summary, HasSubstr("No: data is not what training waits for"));
  EXPECT_EQ(picture_of(question), Picture::kModel);
}

TEST(CheckHelp, AnswersWithALengthOfStepWhereNoneIsKnown) {
  const Check check = check_help(slow_loader());
  EXPECT_EQ(check.status, CheckStatus::kCannotTell);
  EXPECT_THAT(check.summary, HasSubstr("--step-ms"));
}

// The first sentence must not contradict what the same question gives with a step.
TEST(CheckHelp, TheStepThatItNamesIsTheOneUpToWhichItSaysYes) {
  for (const bool is_overlapped : {true, false}) {
    for (const bool uses_cpu : {true, false}) {
      HelpQuestion question = slow_loader();
      question.on_the_fly.is_overlapped = is_overlapped;
      question.step_uses_cpu = uses_cpu;
      const std::string said = check_help(question).summary;
      const std::string lead = "takes less than about ";
      const std::size_t at = said.find(lead);
      ASSERT_NE(at, std::string::npos) << said;
      const double step_ms = std::stod(said.substr(at + lead.size()));
      EXPECT_GE(predict(question, {0.9 * step_ms, 0.9 * step_ms}).gain.middle(), 1.15);
      EXPECT_LT(predict(question, {1.1 * step_ms, 1.1 * step_ms}).gain.middle(), 1.15);
    }
  }
}

TEST(CheckHelp, WithACacheItDoesNotAskForOne) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50.0, 50.0};
  question.has_cache = true;
  const Check check = check_help(question);
  EXPECT_THAT(check.findings[0].remedy, ::testing::StartsWith("Train from the cache."));
  EXPECT_THAT(check.summary, ::testing::Not(HasSubstr("Building")));
}

TEST(CheckHelp, SaysWhoseLoaderWasMeasured) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50.0, 50.0};
  question.is_trainers_way = false;
  EXPECT_THAT(check_help(question).summary, HasSubstr("Your own loader was not measured"));
}

// The trainer's native loader may be ten times as fast as librosa, and then a factor is untrue.
TEST(CheckHelp, PromisesNoFactorToATrainerWhoseLoaderWasNotTimed) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50.0, 50.0};
  question.trainer = "config.yaml";
  const Check check = check_help(question);
  EXPECT_EQ(check.status, CheckStatus::kCannotTell);
  EXPECT_THAT(check.summary, HasSubstr("no gain is promised"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("xtts-precompute trace -- python train.py"));
  EXPECT_FALSE(check.findings[0].gain);
  for (const Evidence& row : check.evidence) EXPECT_NE(row.unit, "times") << row.what;
  question.step_ms.reset();
  EXPECT_THAT(check_help(question).summary, HasSubstr("no gain is promised"));
  question.measured_step_ms = Range{300.0, 310.0};
  question.step_ms = Range{50.0, 50.0};
  EXPECT_TRUE(check_help(question).findings[0].gain);
}

TEST(CheckHelp, SaysAgainstWhichLoaderAFactorStands) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50.0, 50.0};
  EXPECT_THAT(check_help(question).summary, HasSubstr("against loading librosa, 8 workers"));
  EXPECT_THAT(check_help(question).findings[0].remedy, HasSubstr("trace -- python train.py"));
}

// Librosa is slower than this program, so training may wait for it all the same.
TEST(CheckHelp, WithoutTheTrainersLoaderThereIsNoSureNo) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50'000.0, 50'000.0};
  EXPECT_THAT(check_help(question).summary, ::testing::StartsWith("No: "));
  question.is_trainers_way = false;
  const Check check = check_help(question);
  EXPECT_EQ(check.status, CheckStatus::kCannotTell);
  EXPECT_THAT(check.summary, HasSubstr("Your loader was not measured"));
  EXPECT_THAT(check.findings[0].remedy, HasSubstr("--python"));
}

// The machine is busy now, but the profile was not taken now.
TEST(CheckHelp, AProfileSaysHowLongAStepIsNow) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50.0, 50.0};
  question.measured_step_ms = Range{300.0, 310.0};
  question.is_trainers_way = false;
  const Check check = check_help(question);
  EXPECT_THAT(check.summary, HasSubstr("a step of 300 to 310 ms becomes"));
  EXPECT_THAT(check.summary, ::testing::Not(HasSubstr("was not measured")));
  EXPECT_NEAR(check.findings[0].gain->high, 310.0 / 50.0, 0.3);
}

// A steady 12 % while the step waits for nothing: eager mode.
TEST(CheckHelp, DoesNotPromiseACacheToAStepThatIsNotCompiled) {
  HelpQuestion question = slow_loader();
  question.on_the_fly.clips_per_s = {5'000.0, 6'000.0};
  question.step_ms = Range{300.0, 310.0};
  question.measured_data_share = 0.04;
  question.gpu_utilization = 12.0;
  question.gpu_utilization_std = 1.0;
  EXPECT_EQ(picture_of(question), Picture::kNotCompiled);
  const Check check = check_help(question);
  EXPECT_THAT(check.summary, HasSubstr("No: data"));
  ASSERT_EQ(check.findings.size(), 2U);
  EXPECT_THAT(check.findings[1].text, HasSubstr("not compiled"));
}

// The same mean, but it swings, and the step waits.
TEST(CheckHelp, AGpuThatSwingsWhileItsStepWaitsIsStarved) {
  HelpQuestion question = slow_loader();
  question.step_ms = Range{50.0, 52.0};
  question.measured_data_share = 0.7;
  question.gpu_utilization = 18.0;
  question.gpu_utilization_std = 15.0;
  EXPECT_EQ(picture_of(question), Picture::kDataLate);
}

// A step that is known to 10 % does not make a gain of 20 %: both ways have the same step.
TEST(Predict, AnUncertainStepIsTheSameStepInBothWays) {
  const Prediction found = predict(slow_loader(), {800.0, 1000.0});
  EXPECT_LT(found.gain.high, 1.2);
  EXPECT_EQ(found.step_ms_now.low, 800.0);
  EXPECT_GE(found.step_ms_now.high, 1000.0);
}

// The trainer's own thread has to wait for a processor, though batches come early enough.
TEST(Predict, ALoaderThatKeepsAllProcessorsBusySlowsTheStep) {
  HelpQuestion question = slow_loader();
  question.on_the_fly.cpu_ms_per_clip = 50.0;  // 200 ms of all eight in a batch
  const Prediction busy = predict(question, {200.0, 200.0});
  EXPECT_NEAR(busy.step_ms_now.high, 200.0 * 1.3, 0.01);
  question.on_the_fly.cpu_ms_per_clip = 0.5;
  const Prediction idle = predict(question, {200.0, 200.0});
  EXPECT_NEAR(idle.step_ms_now.high, 200.0 * 1.1, 1.0);
}

TEST(Predict, WithoutWorkersLoadingAndTrainingAddUp) {
  HelpQuestion question = slow_loader();
  question.on_the_fly.is_overlapped = false;
  const Prediction found = predict(question, {100.0, 100.0});
  EXPECT_NEAR(found.step_ms_now.low, 100.0 + 32e3 / 210.0, 0.01);
  EXPECT_NEAR(found.step_ms_now.high, 100.0 + 32e3 / 190.0, 0.01);
}

TEST(Predict, ACorpusThatDoesNotFitIntoMemoryWaitsForItsDisk) {
  HelpQuestion question = slow_loader();
  question.on_the_fly.disk_batch_ms = Range{330.0, 330.0};
  EXPECT_LT(batch_ms_of(question.on_the_fly, 32).high, 200.0);
  question.on_the_fly.stays_in_memory = false;
  EXPECT_EQ(batch_ms_of(question.on_the_fly, 32).low, 330.0);
}

TEST(Predict, AStepOnTheProcessorIsSlowedByTheLoadersWork) {
  HelpQuestion question = slow_loader();
  const Prediction on_gpu = predict(question, {150.0, 150.0});
  question.step_uses_cpu = true;
  const Prediction on_cpu = predict(question, {150.0, 150.0});
  EXPECT_GT(on_cpu.step_ms_now.low, on_gpu.step_ms_now.low);
  EXPECT_GT(on_cpu.gain.high, on_gpu.gain.high);
}

TEST(Predict, BuildingPaysAfterAsManyEpochsAsItTakesToSaveItsTime) {
  HelpQuestion question = slow_loader();
  const Prediction found = predict(question, {50.0, 50.0});
  ASSERT_TRUE(found.saved_s_per_epoch && found.epochs_to_break_even);
  EXPECT_NEAR(found.epochs_to_break_even->low, 20.0 / found.saved_s_per_epoch->high, 1e-9);
  EXPECT_NEAR(found.epochs_to_break_even->high, 40.0 / found.saved_s_per_epoch->low, 1e-9);
}

TEST(Predict, NothingIsSavedWhereTheModelIsTheLimit) {
  EXPECT_FALSE(predict(slow_loader(), {900.0, 900.0}).saved_s_per_epoch);
}

}  // namespace
}  // namespace xtts::doctor
