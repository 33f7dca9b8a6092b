// train: the trainer, unchanged, on a cache. The Python package runs it (myxtts/launcher.py).
#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/package_module.hpp"

namespace xtts::cli {
namespace {

constexpr const char* kTrainNotes =
    "Write `--` before the program. A Python that stands before it, as in `-- python "
    "train_main.py`,"
    "\nis the one that it runs in. A cache that is missing, or not the one that the trainer asks "
    "for,\nends the command with the commands that make what is missing; --build runs them.";

struct TrainCommand {
  std::vector<std::string> caches, program;
  std::string mode, mel_len, python;
  bool builds = false, accepts_checkpoint = false, is_not_compared = false;
};

bool is_python(const std::string& word) {
  const std::string name = std::filesystem::path(word).filename().string();
  return name.starts_with("python") && std::ranges::all_of(name.substr(6), [](char letter) {
           return letter == '.' || (letter >= '0' && letter <= '9');
         });
}

Status run_train(TrainCommand command) {
  std::vector<std::string> words;
  for (const std::string& cache : command.caches) words.push_back("--cache=" + cache);
  if (!command.mode.empty()) words.push_back("--mode=" + command.mode);
  if (!command.mel_len.empty()) words.push_back("--mel-len=" + command.mel_len);
  if (command.builds) words.emplace_back("--build");
  if (command.accepts_checkpoint) words.emplace_back("--accept-checkpoint");
  if (command.is_not_compared) words.emplace_back("--no-compare");
  if (is_python(command.program.front())) {
    if (command.python.empty()) command.python = command.program.front();
    command.program.erase(command.program.begin());
  }
  words.insert(words.end(), command.program.begin(), command.program.end());
  return become_package_module("train", command.python, "xtts_precompute.myxtts", std::move(words));
}

}  // namespace

void add_train_command(CLI::App& app, Context& context) {
  auto command = std::make_shared<TrainCommand>();
  Command(app, context, "train", "Run MyXTTS, unchanged, on a cache")
      .required("PROGRAM", command->program, "The trainer, with its arguments, after `--`")
      .repeated("--cache", command->caches, "CACHE",
                "What it trains on; a second one where the trainer has two folders")
      .option("--mode", command->mode, "MODE",
              "precompute: the cache's features; parity: those of the trainer's own loader; auto: "
              "parity, else its own loading; runtime: its own loading (default: preprocessing_mode "
              "of its configuration, else parity)")
      .flag("--build", command->builds, "Make the caches that are missing")
      .flag("--accept-checkpoint", command->accepts_checkpoint,
            "Go on from a checkpoint of other features, or of unknown ones")
      .flag("--no-compare", command->is_not_compared,
            "Do not time the trainer's own loader after training")
      .option("--mel-len", command->mel_len, "{trainer,true}",
              "Of native loading: max_mel_frames for every clip, or each one's own length")
      .option("--python", command->python, "PROGRAM",
              "The Python that you train with (default: python3)")
      .examples(
          "xtts-precompute train --cache ./cache --build -- python train_main.py --train-data "
          "./data --val-data ./data\n"
          "xtts-precompute train --cache ./cache -- -m myxtts.cli train --config config.yaml "
          "--data-path ./data")
      .notes(kTrainNotes)
      .runs([command] { return run_train(*command); });
}

}  // namespace xtts::cli
