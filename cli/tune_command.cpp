// tune: settings of PyTorch and TensorFlow for this machine. The Python package knows them (tune/).
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/package_module.hpp"

namespace xtts::cli {
namespace {

struct TuneCommand {
  std::string framework, env_file, memory_limit, python;
  bool is_verified = false, without_xla = false, without_mixed_precision = false;
};

Status run_tune(const TuneCommand& command, const Flags& flags) {
  std::vector<std::string> words;
  for (const auto& [name, value] : {std::pair{"--framework", &command.framework},
                                    {"--env-file", &command.env_file},
                                    {"--memory-limit", &command.memory_limit}}) {
    if (!value->empty()) words.push_back(formatted("{}={}", std::string(name), *value));
  }
  for (const auto& [name, is_set] : {std::pair{"--verify", command.is_verified},
                                     {"--no-xla", command.without_xla},
                                     {"--no-mixed-precision", command.without_mixed_precision},
                                     {"--json", flags.json}}) {
    if (is_set) words.emplace_back(name);
  }
  return become_package_module("tune", command.python, "xtts_precompute.tune", std::move(words));
}

}  // namespace

void add_tune_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<TuneCommand>();
  Command(app, context, "tune", "Settings of PyTorch and TensorFlow for this machine")
      .choice("--framework", command->framework, {"auto", "torch", "tensorflow"},
              "auto: all that are installed")
      .flag("--verify", command->is_verified, "Apply them in a new process, and say what holds")
      .option("--env-file", command->env_file, "FILE", "Write the export lines there")
      .flag("--no-xla", command->without_xla, "Leave XLA as it is")
      .flag("--no-mixed-precision", command->without_mixed_precision,
            "Leave the precision as it is")
      .option("--memory-limit", command->memory_limit, "MB", "Of each GPU's memory")
      .option("--python", command->python, "PROGRAM",
              "The Python that you train with (default: python3)")
      .examples(
          "xtts-precompute tune --env-file tune.sh && . ./tune.sh\n"
          "xtts-precompute tune --verify")
      .runs([&context, command] { return run_tune(*command, context.flags); });
}

}  // namespace xtts::cli
