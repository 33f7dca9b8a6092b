// profile: where the time of a training step goes. The Python package measures.
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

constexpr const char* kNotes =
    "--loader names an iterable of batches, or a function without arguments that returns one;\n"
    "--step a function that takes a batch (of a CACHE: batch[\"mel\"], batch[\"mel_len\"], ...).\n"
    "Both are looked for from the current folder on. A step that also takes `profiler` names its\n"
    "parts: `with profiler.phase(\"forward\"):`. With --json, doctor --profile takes the output.";

struct ProfileOptions {
  std::string cache, python, loader, step, framework, device, split, plot;
  std::string num_steps, warmup, batch_size, data_gpu, model_gpu, fail_over, attempts;
  bool no_synthetic = false;
  bool sweep = false;
};

// The words for the Python package's own command, which judges them (profile/command.py).
std::vector<std::string> words_of(const ProfileOptions& options, const Flags& flags) {
  std::vector<std::string> words;
  for (const auto& [name, value] : {std::pair{"--loader", &options.loader},
                                    {"--step", &options.step},
                                    {"--framework", &options.framework},
                                    {"--num-steps", &options.num_steps},
                                    {"--warmup", &options.warmup},
                                    {"--batch-size", &options.batch_size},
                                    {"--split", &options.split},
                                    {"--device", &options.device},
                                    {"--data-gpu", &options.data_gpu},
                                    {"--model-gpu", &options.model_gpu},
                                    {"--fail-over", &options.fail_over},
                                    {"--attempts", &options.attempts},
                                    {"--plot", &options.plot}}) {
    if (!value->empty()) words.push_back(formatted("{}={}", std::string(name), *value));
  }
  if (options.no_synthetic) words.emplace_back("--no-synthetic");
  if (options.sweep) words.emplace_back("--sweep");
  if (flags.json) words.emplace_back("--json");
  if (flags.quiet) words.emplace_back("--quiet");
  if (!options.cache.empty()) words.insert(words.end(), {"--", options.cache});
  return words;
}

}  // namespace

void add_profile_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<ProfileOptions>();
  Command command(app, context, "profile",
                  "Where does the time of a training step go, and does it wait for data?");
  command
      .examples(
          "xtts-precompute profile ./cache                            # a small network trains on "
          "it\n"
          "xtts-precompute profile --loader train:loader --step train:step   # your own, of "
          "train.py\n"
          "xtts-precompute profile ./cache --fail-over 5%             # in CI: exit code 4 above "
          "it\n"
          "xtts-precompute profile --loader train:make_loader --sweep  # which workers feed a "
          "batch")
      .positional("CACHE", options->cache, "A cache, to train the reference network on")
      .option("--loader", options->loader, "MODULE:NAME", "Your own batches, instead of CACHE's")
      .option("--step", options->step, "MODULE:NAME",
              "Your own training step, instead of the reference network's")
      .choice("--framework", options->framework, {"auto", "torch", "tensorflow"},
              "Of the reference network (auto: the first that is installed)")
      .option("--num-steps", options->num_steps, "N",
              "Steps that count (default: 50; where they take less than 1 s, 2 s of them)")
      .option("--warmup", options->warmup, "N",
              "Steps before them that do not (default: 5, or 0.5 s)")
      .option("--batch-size", options->batch_size, "N", "Clips of a batch of CACHE (default: 32)")
      .option("--split", options->split, "NAME", "Of CACHE: train, validation or test")
      .option("--device", options->device, "{auto,cpu,cuda}",
              "Where the reference network trains; cuda:1 is the second GPU (default: auto)")
      .option("--data-gpu", options->data_gpu, "I",
              "The GPU that batches are put on; with --loader, it is only watched")
      .option("--model-gpu", options->model_gpu, "J",
              "The GPU that trains; with --loader, it is only watched")
      .option("--fail-over", options->fail_over, "P%",
              "Exit code 4 if data costs more than this share of a step")
      .flag("--no-synthetic", options->no_synthetic,
            "Leave out the steps with data for free, and with them the proof")
      .flag("--sweep", options->sweep,
            "--loader is a function of batch_size and num_workers: time it over both, alone")
      .option("--attempts", options->attempts, "N",
              "Measure at most so often, until no other program disturbs (default: 3)")
      .option("--plot", options->plot, "FILE", "Draw the steps, as .svg or .png")
      .option("--python", options->python, "PROGRAM",
              "The Python that you train with (default: python3)")
      .notes(kNotes)
      .runs([options, &context] {
        return become_package_module("profile", options->python, "xtts_precompute.profile",
                                     words_of(*options, context.flags));
      });
}

}  // namespace xtts::cli
