// trace: which calls a training waits for, measured by the adviser in the trainer's own processes.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/formatted.hpp"
#include "cli/adviser.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"

namespace xtts::cli {
namespace {

constexpr const char* kNotes =
    "The training runs unchanged, and all Python processes that it starts are recorded: workers,\n"
    "torchrun, programs. Write `--` before it. The exit code is the training's own. With --json, "
    "what\n"
    "the training prints goes to standard error.";

struct TraceCommand {
  std::string seconds, out, keep;
  std::vector<std::string> program;
};

Status run_trace(const Context& context, const TraceCommand& command) {
  std::vector<std::string> words{"trace"};
  for (const auto& [name, value] :
       {std::pair{"--for", &command.seconds}, {"--out", &command.out}, {"--keep", &command.keep}}) {
    if (!value->empty()) words.push_back(formatted("{}={}", std::string(name), *value));
  }
  words.emplace_back("--");
  words.insert(words.end(), command.program.begin(), command.program.end());
  return become_adviser(context, std::move(words));
}

}  // namespace

void add_trace_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<TraceCommand>();
  Command(app, context, "trace", "Which calls does a training wait for? Runs it, and measures")
      .required("PROGRAM", command->program, "What trains, with its arguments, after `--`")
      .option("--for", command->seconds, "S", "End the training after S seconds")
      .option("--out", command->out, "FILE", "Write the report there, as JSON")
      .option("--keep", command->keep, "DIR", "Keep the recordings there")
      .examples(
          "xtts-precompute trace -- python train.py\n"
          "xtts-precompute trace --for 120 -- torchrun train.py")
      .notes(kNotes)
      .runs([&context, command] { return run_trace(context, *command); });
}

}  // namespace xtts::cli
