// A planted fault for each rule of `config check`, and files without one.
#include "doctor/config_rules.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "doctor/config_check.hpp"
#include "doctor/trainer_fields.hpp"
#include "doctor/yaml_edit.hpp"

namespace xtts::doctor {
namespace {

// What a careful user writes. No rule warns of it.
constexpr std::string_view kGood =
    "model:\n"
    "  sample_rate: 22050\n"
    "training:\n"
    "  learning_rate: 1.0e-4\n"
    "  enable_memory_cleanup: false\n"
    "  spectrogram_log_interval: 500\n"
    "data:\n"
    "  batch_size: 32\n"
    "  num_workers: 16\n"
    "  max_text_tokens: 200\n"
    "  max_text_length: 200\n"
    "  max_mel_frames: 800\n"
    "  pad_to_fixed_length: true\n";

struct Planted {
  std::string_view rule;
  std::vector<std::pair<std::string, std::string>> values;  // over kGood
};

const std::vector<Planted>& planted() {
  static const std::vector<Planted> faults = {
      {"graph-mode", {{"training.enable_graph_mode", "false"}}},
      {"eager-debug", {{"training.enable_eager_debug", "yes"}}},
      {"static-shapes", {{"data.pad_to_fixed_length", "off"}}},
      {"no-text-limit", {{"data.max_text_length", "0"}}},
      {"no-mel-limit", {{"data.max_mel_frames", "0"}}},
      {"long-text", {{"data.max_text_tokens", "1024"}}},
      {"text-cut", {{"model.max_attention_sequence_length", "150"}}},
      {"xla-off", {{"training.enable_xla_compilation", "false"}}},
      {"xla-differs", {{"data.enable_xla", "false"}}},
      {"mixed-precision", {{"data.mixed_precision", "false"}}},
      {"accumulation", {{"training.gradient_accumulation_steps", "2"}}},
      {"accumulation-rest", {{"training.gradient_accumulation_steps", "3"}}},
      {"memory-cleanup", {{"training.enable_memory_cleanup", "true"}}},
      {"spectrogram-log", {{"training.spectrogram_log_interval", "5"}}},
      {"audio-samples", {{"training.text2audio_interval_steps", "20"}}},
      {"native-loading", {{"data.use_tf_native_loading", "false"}}},
      {"augmentation", {{"data.enable_pitch_shift", "true"}}},
      {"no-workers", {{"data.num_workers", "0"}}},
      {"few-workers", {{"data.num_workers", "4"}}},
      {"small-buffer", {{"data.pipeline_buffer_size", "2"}, {"data.prefetch_to_gpu", "false"}}},
      {"prefetch-to-gpu", {{"data.prefetch_to_gpu", "false"}}},
      {"enhanced-prefetch", {{"data.enhanced_gpu_prefetch", "false"}}},
      {"overlap", {{"data.optimize_cpu_gpu_overlap", "false"}}},
      {"large-buffer", {{"data.pipeline_buffer_size", "900"}}},
      {"no-batch", {{"data.batch_size", "0"}}},
      {"batch-memory", {{"data.batch_size", "128"}}},
      {"one-of-two-gpus", {{"data.data_gpu", "0"}}},
      {"same-gpu", {{"data.data_gpu", "0"}, {"data.model_gpu", "0"}}},
      {"negative-data-gpu", {{"data.data_gpu", "-1"}}},
      {"negative-model-gpu", {{"data.model_gpu", "-1"}}},
      {"missing-gpu", {{"data.data_gpu", "0"}, {"data.model_gpu", "2"}}},
      {"two-gpus", {{"data.data_gpu", "0"}, {"data.model_gpu", "1"}}},
      {"sample-rates", {{"model.sample_rate", "16000"}}},
      {"mels", {{"model.n_mels", "100"}}},
      {"window", {{"model.n_fft", "2048"}}},
      {"hop", {{"model.hop_length", "200"}}},
      {"window-length", {{"model.win_length", "800"}}},
  };
  return faults;
}

ConfigSituation of_two_4090() {
  return {.gpu = *gpu_named("RTX 4090"), .gpu_count = 2};
}

std::string with(std::string text, const std::string& key, const std::string& value) {
  auto made = set_yaml_value(text, "config.yaml", key, value, ValueStyle::kPlain);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *made : text;
}

std::string with(std::string text, const Planted& fault) {
  for (const auto& [key, value] : fault.values) text = with(text, key, value);
  return text;
}

const ConfigRule& rule_named(std::string_view name) {
  for (const ConfigRule& rule : config_rules())
    if (rule.name == name) return rule;
  throw std::out_of_range(std::string(name));
}

Check check(std::string_view text, const ConfigSituation& situation) {
  auto made = check_config_text(Env::real(), text, "config.yaml", situation);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *made : Check{};
}

// What check_config_text() found by a rule, in the words that the rule has for this text.
const Finding* find(const Check& check, const ConfigRule& rule, std::string_view text,
                    const ConfigSituation& situation) {
  const auto facts = ConfigFacts::read(text, "config.yaml", situation);
  const std::string words = facts->filled(rule.text);
  for (const Finding& finding : check.findings)
    if (finding.text.starts_with(words)) return &finding;
  return nullptr;
}

TEST(ConfigRules, EachHasAPlantedFault) {
  std::vector<std::string_view> rules, faults;
  for (const ConfigRule& rule : config_rules()) rules.push_back(rule.name);
  for (const Planted& fault : planted()) faults.push_back(fault.rule);
  EXPECT_THAT(faults, testing::UnorderedElementsAreArray(rules));
}

TEST(ConfigRules, NoMoreWorkersAreAskedForThanTheMachineHasProcessors) {
  ConfigSituation small = of_two_4090();
  small.gpu->num_workers = 2;  // as find_situation() gives it on two processors
  const ConfigRule& rule = rule_named("few-workers");
  const std::string one = with(std::string(kGood), "data.num_workers", "1");
  const Check found = check(one, small);
  ASSERT_NE(find(found, rule, one, small), nullptr);
  EXPECT_EQ(find(found, rule, one, small)->changes.at(0).after, "2");
  const std::string two = with(std::string(kGood), "data.num_workers", "2");
  EXPECT_EQ(find(check(two, small), rule, two, small), nullptr);
}

TEST(ConfigRules, AGoodFileHasNoWarning) {
  for (const auto& situation : {of_two_4090(), ConfigSituation{}}) {
    const Check made = check(kGood, situation);
    EXPECT_EQ(made.status, CheckStatus::kPass) << made.summary;
    for (const Finding& finding : made.findings) EXPECT_TRUE(finding.changes.empty());
  }
}

TEST(ConfigRules, EachFindsItsFaultAndNamesItsLine) {
  const auto situation = of_two_4090();
  for (const Planted& fault : planted()) {
    const ConfigRule& rule = rule_named(fault.rule);
    EXPECT_EQ(find(check(kGood, situation), rule, kGood, situation), nullptr) << fault.rule;
    const std::string text = with(std::string(kGood), fault);
    const Check made = check(text, situation);
    const Finding* finding = find(made, rule, text, situation);
    ASSERT_NE(finding, nullptr) << fault.rule << "\n" << text;
    EXPECT_EQ(finding->status, rule.status);
    EXPECT_THAT(finding->place, testing::StartsWith("config.yaml:"));
    EXPECT_FALSE(finding->remedy.empty());
    EXPECT_EQ(finding->text.find('{'), std::string::npos) << finding->text;
    EXPECT_EQ(finding->remedy.find('{'), std::string::npos) << finding->remedy;
  }
}

TEST(ConfigRules, TheirChangesMend) {
  const auto situation = of_two_4090();
  for (const Planted& fault : planted()) {
    const ConfigRule& rule = rule_named(fault.rule);
    std::string text = with(std::string(kGood), fault);
    const Check made = check(text, situation);
    const Finding* finding = find(made, rule, text, situation);
    ASSERT_NE(finding, nullptr) << fault.rule;
    if (finding->changes.empty()) continue;
    for (const ConfigChange& change : finding->changes) {
      EXPECT_FALSE(change.reason.empty());
      EXPECT_NE(change.before, change.after);
      text = with(text, change.key, change.after);
    }
    const auto facts = ConfigFacts::read(text, "config.yaml", situation);
    EXPECT_FALSE(rule.applies(*facts)) << fault.rule << "\n" << text;
  }
}

// The changes of all rules must not work against one another.
TEST(ConfigRules, TheirChangesAreNoFaultsOfOtherRules) {
  const auto situation = of_two_4090();
  for (const ConfigRule& rule : config_rules()) {
    for (const RuleChange& change : rule.changes) {
      if (change.key.empty()) continue;
      ASSERT_NE(find_trainer_field(change.key), nullptr) << change.key;
      const auto facts = ConfigFacts::read(kGood, "config.yaml", situation);
      const std::string text =
          with(std::string(kGood), std::string(change.key), facts->filled(change.value));
      EXPECT_EQ(check(text, situation).status, CheckStatus::kPass) << rule.name << "\n" << text;
    }
  }
}

TEST(ConfigRules, NameKeysThatTheTrainerReads) {
  for (const ConfigRule& rule : config_rules()) {
    const TrainerField* field = find_trainer_field(rule.key);
    ASSERT_NE(field, nullptr) << rule.key;
    EXPECT_EQ(field->use, FieldUse::kUsed) << rule.key;
  }
}

TEST(ConfigRules, WithACacheLoadingIsNotJudged) {
  ConfigSituation situation = of_two_4090();
  situation.cache = "./cache";
  for (const ConfigRule& rule : config_rules()) {
    if (rule.needs != RuleNeeds::kNoCache) continue;
    EXPECT_TRUE(rule.key.starts_with("data.")) << rule.name;
  }
  // The cache itself is not there, which is an error of its own.
  EXPECT_EQ(check_config_text(Env::real(), kGood, "config.yaml", situation).status().code(),
            StatusCode::kNotFound);
}

TEST(ConfigRules, WithoutAGpuMemoryIsNotJudgedAndTheSummarySaysSo) {
  const std::string text = with(std::string(kGood), "data.batch_size", "4096");
  const Check made = check(text, {});
  EXPECT_EQ(made.status, CheckStatus::kPass);
  EXPECT_THAT(made.summary, testing::HasSubstr("no GPU is known, so memory was not judged"));
  EXPECT_EQ(check(text, of_two_4090()).status, CheckStatus::kWarn);
}

TEST(ConfigRules, AnAbsentKeyHasTheTrainersDefault) {
  const Check made = check("data:\n  language: en\n", {});
  const ConfigRule& rule = rule_named("static-shapes");
  const Finding* finding = find(made, rule, "data:\n  language: en\n", {});
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->place, "config.yaml:1");
  EXPECT_EQ(finding->changes.front().before, "");
}

// A rule has no gain that nobody has measured or documented.
TEST(ConfigRules, AGainSaysWhereItComesFrom) {
  for (const ConfigRule& rule : config_rules()) {
    if (rule.gain.high == 0) continue;
    EXPECT_THAT(std::string(rule.source), testing::HasSubstr("Documented")) << rule.name;
    EXPECT_LE(rule.gain.low, rule.gain.high);
  }
}

}  // namespace
}  // namespace xtts::doctor
