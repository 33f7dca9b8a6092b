#include "doctor/config_check.hpp"

#include <algorithm>
#include <utility>

#include "base/try.hpp"
#include "doctor/config_keys.hpp"
#include "doctor/config_rules.hpp"
#include "doctor/machine.hpp"
#include "formats/canonical_json.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "reader/manifest_file.hpp"
#include "recipe/trainer_config.hpp"
#include "report/human.hpp"

namespace xtts::doctor {
namespace {

constexpr std::string_view kTrainer = "masoodafar-web/MyXTTSModel at 7e78353";

bool is_judged(RuleNeeds needs, const ConfigSituation& situation) {
  switch (needs) {
    case RuleNeeds::kNothing:
      return true;
    case RuleNeeds::kNoCache:
      return situation.cache.empty();
    case RuleNeeds::kGpu:
      return situation.gpu.has_value();
    case RuleNeeds::kGpuAndNoCache:
      return situation.gpu.has_value() && situation.cache.empty();
    case RuleNeeds::kGpuCount:
      return situation.gpu_count.has_value();
  }
  return false;
}

class Judge {
 public:
  Judge(const ConfigFacts& facts, std::vector<Finding> findings)
      : facts_(facts), findings_(std::move(findings)) {}

  void judge_rules() {
    for (const ConfigRule& rule : config_rules()) {
      if (!is_judged(rule.needs, facts_.situation()) || !rule.applies(facts_)) continue;
      Finding finding{.status = rule.status,
                      .text = facts_.filled(rule.text) + " " + facts_.filled(rule.source),
                      .remedy = facts_.filled(rule.remedy),
                      .place = facts_.place(rule.key)};
      if (rule.gain.high > 0)
        finding.gain = Gain{
            .low = rule.gain.low, .high = rule.gain.high, .basis = "documented, not measured here"};
      for (const RuleChange& change : rule.changes)
        if (!change.key.empty())
          finding.changes.push_back(
              change_of(facts_, change.key, facts_.filled(change.value), facts_.filled(rule.text)));
      findings_.push_back(std::move(finding));
    }
  }

  // The features of the cache against those that this file asks for.
  Status judge_cache(Env& env) {
    const std::string& cache = facts_.situation().cache;
    if (cache.empty()) {
      findings_.push_back(
          {.status = CheckStatus::kPass,
           .text =
               "Without a cache, the trainer decodes and computes every clip again in each epoch.",
           .remedy = "Make a cache: xtts-precompute DATA CACHE --config " +
                     std::string(file_name(facts_.origin())) + ". Then name it here with --cache.",
           .place = std::string(file_name(facts_.origin()))});
      return {};
    }
    XTTS_ASSIGN(const reader::LoadedManifest loaded, reader::load_manifest(env, cache));
    XTTS_ASSIGN(const formats::Recipe recipe, formats::recipe_of(loaded.manifest));
    Finding finding{.status = CheckStatus::kCannotTell, .place = cache};
    const auto config = recipe::apply_trainer_config(env, facts_.origin(), std::nullopt);
    if (!config.ok()) {
      finding.text = "The cache was not compared: " + config.status().message();
    } else {
      const auto differences =
          formats::describe_differences(formats::to_json(*recipe.features),
                                        formats::to_json(*config->recipe.features), "features");
      finding.status = differences.empty() ? CheckStatus::kPass : CheckStatus::kFail;
      finding.text = differences.empty() ? "The cache has the features that this file asks for."
                                         : "The cache has other features than this file asks for:";
      std::size_t told = 0;
      for (const std::string& difference : differences) {
        if (told++ == kDifferencesMax) break;
        finding.text += (told == 1 ? " " : "; ") + difference;
      }
      if (differences.size() > kDifferencesMax)
        finding.text += "; and " + std::to_string(differences.size() - kDifferencesMax) + " more";
      if (!differences.empty())
        finding.remedy =
            "Make the cache that this file asks for: xtts-precompute DATA CACHE "
            "--config " +
            std::string(file_name(facts_.origin())) + ".";
    }
    findings_.push_back(std::move(finding));
    return {};
  }

  Check finish() && {
    Check check{.name = "configuration", .title = "Configuration"};
    check.status = worst_of(findings_);
    check.summary = summary();
    check.evidence = {{.what = "trainer", .value = std::string(kTrainer), .source = "its code"}};
    const auto& situation = facts_.situation();
    check.evidence.push_back(
        {.what = "GPU",
         .value = situation.gpu ? situation.gpu->name : "none is known",
         .source = situation.gpu ? situation.gpu->source : "neither --gpu nor the driver"});
    check.evidence.push_back({.what = "cache",
                              .value = situation.cache.empty() ? "none" : situation.cache,
                              .source = "--cache"});
    check.findings = std::move(findings_);
    return check;
  }

 private:
  static constexpr std::size_t kDifferencesMax = 5;

  [[nodiscard]] std::string summary() const {
    const auto count = [&](CheckStatus status) {
      return static_cast<std::uint64_t>(std::ranges::count(findings_, status, &Finding::status));
    };
    const std::uint64_t fails = count(CheckStatus::kFail);
    const std::uint64_t warns = count(CheckStatus::kWarn);
    std::string text = std::string(file_name(facts_.origin())) + ": ";
    if (fails + warns == 0) {
      text += "no setting that starves a GPU is known";
    } else {
      text += report::format_counted(fails, "fault", "faults") + ", " +
              report::format_counted(warns, "warning", "warnings");
    }
    if (!facts_.situation().gpu)
      text += "; no GPU is known, so memory was not judged (--gpu 24GB names one)";
    return text;
  }

  const ConfigFacts& facts_;
  std::vector<Finding> findings_;
};

}  // namespace

Result<Check> check_config_text(Env& env, std::string_view text, const std::string& origin,
                                const ConfigSituation& situation) {
  XTTS_ASSIGN(const ConfigFacts facts, ConfigFacts::read(text, origin, situation));
  Judge judge(facts, judge_keys(facts, text));
  judge.judge_rules();
  XTTS_TRY(judge.judge_cache(env));
  return std::move(judge).finish();
}

Result<ConfigSituation> find_situation(Env& env, const std::string& gpu) {
  ConfigSituation situation;
  if (!gpu.empty()) {
    XTTS_ASSIGN(situation.gpu, gpu_named(gpu));
  } else if (auto found = find_gpus()) {
    situation.gpu = std::move(found->first);
    // The trainer's documents mean machines with many processors.
    const auto cores = static_cast<std::uint32_t>(std::max(1.0, read_machine(env).usable_cores()));
    situation.gpu->num_workers = std::min(situation.gpu->num_workers, cores);
    situation.gpu_count = found->count;
  }
  return situation;
}

Result<Check> check_config(Env& env, const std::string& path, const ConfigSituation& situation) {
  XTTS_ASSIGN(const std::string text, read_text_file(env, path, recipe::kYamlBytesMax));
  return check_config_text(env, text, path, situation);
}

}  // namespace xtts::doctor
