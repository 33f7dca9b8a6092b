// doctor: why does the GPU starve, and will a cache help? The adviser measures with `probe`, and
// judges.
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

struct DoctorOptions {
  std::string data, cache, config, code, out, loader, step, seconds, profile, trace, recipe, python;
  std::string step_ms, batch_size, workers, gpu, fail_on;
  std::string train_on = "gpu";
  std::string language = "en";
  bool quick_fix = false;
  bool all = false;
  std::vector<std::string> program;
};

Status run_doctor(const Context& context, const DoctorOptions& options) {
  std::vector<std::string> words{"doctor"};
  for (const auto& [name, value] : {std::pair{"--data", &options.data},
                                    {"--cache", &options.cache},
                                    {"--config", &options.config},
                                    {"--code", &options.code},
                                    {"--out", &options.out},
                                    {"--loader", &options.loader},
                                    {"--step", &options.step},
                                    {"--for", &options.seconds},
                                    {"--profile", &options.profile},
                                    {"--trace", &options.trace},
                                    {"--recipe", &options.recipe},
                                    {"--python", &options.python},
                                    {"--step-ms", &options.step_ms},
                                    {"--batch-size", &options.batch_size},
                                    {"--workers", &options.workers},
                                    {"--gpu", &options.gpu},
                                    {"--train-on", &options.train_on},
                                    {"--fail-on", &options.fail_on},
                                    {"--lang", &options.language}}) {
    if (!value->empty()) words.push_back(formatted("{}={}", std::string(name), *value));
  }
  if (options.quick_fix) words.emplace_back("--quick-fix");
  if (options.all) words.emplace_back("--all");
  words.emplace_back("--");
  words.insert(words.end(), options.program.begin(), options.program.end());
  return become_adviser(context, std::move(words));
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<DoctorOptions>();
  Command(app, context, "doctor",
          "Find out why a GPU waits, and whether a cache will help, by measuring")
      .option("--data", options->data, "DATA", "The corpus that you train on")
      .option("--cache", options->cache, "CACHE",
              "A cache of it; without one, a cache of a sample is built and removed again")
      .option("--config", options->config, "FILE",
              "The trainer's config.yaml: its loader is timed, and its keys are judged")
      .option("--code", options->code, "DIR",
              "The trainer's own Python code: its patterns are found by parsing")
      .option("--out", options->out, "DIR", "Write the report there: text, JSON and HTML")
      .choice("--lang", options->language, {"en", "fa"},
              "The language of the HTML report's own words: English or Persian")
      .option("--step-ms", options->step_ms, "MS",
              "How long a training step takes without waiting for data; profile measures it")
      .choice("--train-on", options->train_on, {"gpu", "cpu"},
              "Where you train: on the CPU, step and loader share the processors")
      .option("--loader", options->loader, "MODULE:NAME",
              "The loader that you train with, which is timed: as in train:loader of ./train.py")
      .option(
          "--profile", options->profile, "FILE",
          "A profile of your own training (profile --loader --step --json), instead of --step-ms")
      .option("--trace", options->trace, "FILE",
              "What `xtts-precompute trace --out FILE` found in your own training")
      .option("--batch-size", options->batch_size, "N",
              "Clips a batch (default: as in --config, else 32)")
      .option("--workers", options->workers, "N",
              "Workers of your present loader (default: as in --config, else 8)")
      .option("--recipe", options->recipe, "NAME|FILE", "The features, as for build")
      .option("--python", options->python, "PROGRAM",
              "The Python that you train with (default: python3)")
      .option("--gpu", options->gpu, "NAME|SIZE",
              "The GPU that --config is for (default: the first one that the driver names)")
      .choice("--fail-on", options->fail_on, {"warn", "fail"},
              "Exit code 4 where a check warns or fails")
      .flag("--quick-fix", options->quick_fix,
            "Also write the changes of --config, and print the command to train")
      .flag("--all", options->all,
            "Also time the loader with other batch sizes and workers, and write everything to "
            "./gpu_analysis_results, or to --out")
      .option("--step", options->step, "MODULE:NAME",
              "Your own training step, which is profiled with the batches of --loader")
      .option("--for", options->seconds, "S", "End PROGRAM after S seconds (default: 120)")
      .positionals(
          "PROGRAM", options->program,
          "What trains, with its arguments, after `--`: it is run, and its calls are recorded")
      .notes(
          "Nothing that it looks at is changed, but for --quick-fix. It measures for half a "
          "minute.\n"
          "A first import of TensorFlow or PyTorch may take a minute more. Let the machine be "
          "idle.")
      .examples(
          "xtts-precompute doctor --data ./data --step-ms 120     # will a cache help?\n"
          "xtts-precompute doctor --data ./data --config config.yaml --out report\n"
          "xtts-precompute doctor --data ./data --profile profile.json --code ./trainer")
      .runs([&context, options] { return run_doctor(context, *options); });
}

}  // namespace xtts::cli
