// config check: the trainer's config.yaml, judged and mended by the adviser.
#include <memory>
#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "cli/adviser.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"

namespace xtts::cli {
namespace {

struct ConfigCommand {
  std::string action, file, gpu, gpus, cache, fail_on;
  std::string reader = "launcher";
  bool fix = false;
};

Status run_config(const Context& context, const ConfigCommand& command) {
  std::vector<std::string> words{"config", command.action};
  for (const auto& [name, value] : {std::pair{"--gpu", &command.gpu},
                                    {"--gpus", &command.gpus},
                                    {"--cache", &command.cache},
                                    {"--for", &command.reader},
                                    {"--fail-on", &command.fail_on}}) {
    if (!value->empty()) words.push_back(formatted("{}={}", std::string(name), *value));
  }
  if (command.fix) words.emplace_back("--fix");
  words.insert(words.end(), {"--", command.file});
  return become_adviser(context, std::move(words));
}

}  // namespace

void add_config_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<ConfigCommand>();
  Command(app, context, "config", "Judge the trainer's config.yaml, and mend what starves a GPU")
      .required_choice("ACTION", command->action, {"check"}, "What to do with the file")
      .required("FILE", command->file, "MyXTTS's config.yaml, or FastSpeech 2's train.yaml")
      .flag("--fix", command->fix, "Write the changes; the old file stays beside it, as FILE.bak")
      .option("--gpu", command->gpu, "NAME|SIZE",
              "The GPU, as 'RTX 4090' or 24GB (default: the first one that the driver names)")
      .option("--gpus", command->gpus, "N", "GPUs of the machine (default: as the driver says)")
      .option("--cache", command->cache, "CACHE",
              "The cache that the trainer reads; settings of its own loading are not judged then")
      .choice("--for", command->reader, {"launcher", "trainer"},
              "Who reads the file: xtts-precompute train, which knows the key "
              "preprocessing_mode (default), or the trainer alone, which stops at it")
      .choice("--fail-on", command->fail_on, {"warn", "fail"},
              "Exit with 4 where such a finding is left (default: exit with 0)")
      .examples(
          "xtts-precompute config check config.yaml\n"
          "xtts-precompute config check config.yaml --fix --gpu 'RTX 4090'\n"
          "xtts-precompute config check config.yaml --cache ./cache --fail-on fail   # in CI")
      .runs([&context, command] { return run_config(context, *command); });
}

}  // namespace xtts::cli
