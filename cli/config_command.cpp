// config check: the trainer's config.yaml, judged and mended.
#include <charconv>
#include <memory>
#include <string>

#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/config_view.hpp"
#include "doctor/check_json.hpp"
#include "doctor/config_check.hpp"
#include "doctor/config_fix.hpp"
#include "report/human.hpp"

namespace xtts::cli {
namespace {

using doctor::CheckStatus;
using nlohmann::json;

struct ConfigCommand {
  std::string action;
  std::string file;
  bool fix = false;
  std::string gpu;
  std::string gpus;
  std::string cache;
  std::string reader = "launcher";
  std::string fail_on;
};

constexpr std::uint32_t kGpusMax = 64;

Result<std::uint32_t> gpu_count_of(const std::string& text) {
  std::uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1 || count > kGpusMax)
    return Status(
        StatusCode::kInvalidArgument,
        "--gpus is a number from 1 to " + std::to_string(kGpusMax) + ", not '" + text + "'");
  return count;
}

Result<doctor::ConfigSituation> situation_of(Env& env, const ConfigCommand& command) {
  XTTS_ASSIGN(auto situation, doctor::find_situation(env, command.gpu));
  situation.cache = command.cache;
  situation.is_for_trainer = command.reader == "trainer";
  if (!command.gpus.empty()) {
    XTTS_ASSIGN(situation.gpu_count, gpu_count_of(command.gpus));
  }
  return situation;
}

json to_json(const doctor::ConfigFix& fix, const std::string& file) {
  json document = doctor::to_json(std::vector<doctor::Check>{fix.check});
  document["file"] = file;
  add_fix(fix, document);
  return document;
}

bool is_reached(const std::string& limit, CheckStatus status) {
  if (limit.empty()) return false;
  return status == CheckStatus::kFail || (limit == "warn" && status == CheckStatus::kWarn);
}

Status run_config_check(Context& context, const ConfigCommand& command) {
  XTTS_ASSIGN(const doctor::ConfigSituation situation, situation_of(context.env, command));
  doctor::ConfigFix fix;
  if (command.fix) {
    XTTS_ASSIGN(fix, doctor::fix_config(context.env, command.file, situation));
  } else {
    XTTS_ASSIGN(fix.check, doctor::check_config(context.env, command.file, situation));
  }
  context.print(fix_text(fix));
  context.print(findings_text(fix.check));
  context.summarize(report::escape_controls(fix.check.summary) + "\n");
  context.print_json(to_json(fix, command.file));
  if (!is_reached(command.fail_on, fix.check.status)) return {};
  return {StatusCode::kCorrupt, fix.check.summary};
}

}  // namespace

void add_config_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<ConfigCommand>();
  Command(app, context, "config", "Judge the trainer's config.yaml, and mend what starves a GPU")
      .required_choice("ACTION", command->action, {"check"}, "What to do with the file")
      .required("FILE", command->file, "MyXTTS's config.yaml")
      .flag("--fix", command->fix, "Write the changes; the old file stays beside it, as FILE.bak")
      .option("--gpu", command->gpu, "NAME|SIZE",
              "The GPU, as 'RTX 4090' or 24GB (default: the first one that the driver names)")
      .option("--gpus", command->gpus, "N", "GPUs of the machine (default: as the driver says)")
      .option("--cache", command->cache, "CACHE",
              "The cache that the trainer reads; settings of its own loading are not judged then")
      .choice("--for", command->reader, {"launcher", "trainer"},
              "Who reads the file: python -m xtts_precompute.myxtts, which knows the key "
              "preprocessing_mode (default), or the trainer alone, which stops at it")
      .choice("--fail-on", command->fail_on, {"warn", "fail"},
              "Exit with 4 where such a finding is left (default: exit with 0)")
      .examples(
          "xtts-precompute config check config.yaml\n"
          "xtts-precompute config check config.yaml --fix --gpu 'RTX 4090'\n"
          "xtts-precompute config check config.yaml --cache ./cache --fail-on fail   # in CI")
      .runs([&context, command] { return run_config_check(context, *command); });
}

}  // namespace xtts::cli
