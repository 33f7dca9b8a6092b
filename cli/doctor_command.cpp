// doctor: why does the GPU starve, and will a cache help?
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <utility>

#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "cli/adviser.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/doctor_view.hpp"
#include "cli/number_option.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "cli/version_text.hpp"
#include "doctor/check_json.hpp"
#include "doctor/diagnose.hpp"
#include "doctor/doctor_page.hpp"
#include "doctor/support_text.hpp"
#include "recipe/trainer_config.hpp"
#include "report/human.hpp"
#include "request/build_request.hpp"
#include "request/json_text.hpp"
#include "request/temporary_folder.hpp"
#include "xtts/builder.hpp"

namespace xtts::cli {
namespace {

struct DoctorOptions {
  std::string data, cache, config, code, out, profile, trace, recipe, python;
  std::string step_ms, batch_size, workers, gpu, fail_on;
  std::string train_on = "gpu";
  bool quick_fix = false;
  bool all = false;
};

// The folder that the users' own scripts write to.
constexpr const char* kResultsFolder = "./gpu_analysis_results";

Result<std::optional<double>> parse_optional(const std::string& option, const std::string& text,
                                             double low, double high) {
  if (text.empty()) return std::optional<double>();
  XTTS_ASSIGN(const double number, parse_number_option(option, text, low, high));
  return std::optional(number);
}

Result<std::optional<double>> parse_whole(const std::string& option, const std::string& text,
                                          double low, double high) {
  XTTS_ASSIGN(const auto number, parse_optional(option, text, low, high));
  if (!number || *number == std::floor(*number)) return number;
  return Status(StatusCode::kInvalidArgument, option + " is a whole number, not '" + text + "'");
}

// The command line again, for a report.
std::string command_of(const DoctorOptions& options) {
  std::string text = "xtts-precompute doctor";
  for (const auto& [name, value] : {std::pair("--data", &options.data),
                                    {"--cache", &options.cache},
                                    {"--config", &options.config},
                                    {"--code", &options.code},
                                    {"--out", &options.out},
                                    {"--profile", &options.profile},
                                    {"--trace", &options.trace},
                                    {"--recipe", &options.recipe},
                                    {"--python", &options.python},
                                    {"--step-ms", &options.step_ms},
                                    {"--batch-size", &options.batch_size},
                                    {"--workers", &options.workers},
                                    {"--gpu", &options.gpu},
                                    {"--train-on", &options.train_on}}) {
    if (!value->empty()) text += std::string(" ") + name + " " + shell_quoted(*value);
  }
  return text;
}

// What the trainer's configuration says about loading.
struct ConfiguredLoading {
  std::optional<double> batch_size, worker_count;
};

std::optional<double> number_of(const recipe::TrainerConfig& config, const std::string& key) {
  for (const recipe::TrainerKey& one : config.keys) {
    if (one.key != key || !one.value) continue;
    const auto number = parse_number_option(key, *one.value, 0.0, 100'000.0);
    if (number.ok()) return *number;
  }
  return std::nullopt;
}

// A configuration that cannot be read is what a doctor is asked about, so it does not stop here.
Result<pipeline::BuildRequest> build_request(Context& context, const DoctorOptions& options,
                                             ConfiguredLoading& loading) {
  BuildOptions build{.data = options.data, .recipe = options.recipe, .config = options.config};
  const auto note = [&](const recipe::TrainerConfig& config) {
    loading.batch_size = number_of(config, "data.batch_size");
    loading.worker_count = number_of(config, "data.num_workers");
  };
  auto request = request::request_of(context.env, build, context.caller, note);
  if (request.ok() || options.config.empty()) return request;
  build.config.clear();
  auto without = request::request_of(context.env, build, context.caller, {});
  if (!without.ok()) return request;
  context.warn("the corpus is measured without the configuration: " + request.status().message());
  return without;
}

// `config check` for the adviser. `fix` is "--fix", or empty.
std::vector<std::string> words_of(const DoctorOptions& options, const std::string& fix) {
  std::vector<std::string> words{"config", "check"};
  if (!options.gpu.empty()) words.push_back("--gpu=" + options.gpu);
  if (!options.cache.empty()) words.push_back("--cache=" + options.cache);
  if (!fix.empty()) words.push_back(fix);
  words.insert(words.end(), {"--", options.config});
  return words;
}

Result<doctor::DoctorRequest> request_of(Context& context, const DoctorOptions& options) {
  doctor::DoctorRequest request;
  ConfiguredLoading loading;
  if (!options.data.empty()) {
    XTTS_ASSIGN(request.build, build_request(context, options, loading));
  }
  if (!options.step_ms.empty() && !options.profile.empty())
    return Status(StatusCode::kInvalidArgument,
                  "--step-ms and --profile both say how long a step takes: give one of them");
  XTTS_ASSIGN(request.step_ms, parse_optional("--step-ms", options.step_ms, 1.0, 1e7));
  XTTS_ASSIGN(const auto batch_size,
              parse_whole("--batch-size", options.batch_size, 1.0, 100'000.0));
  XTTS_ASSIGN(const auto workers, parse_whole("--workers", options.workers, 0.0, 64.0));
  const auto chosen_size = batch_size ? batch_size : loading.batch_size;
  const auto chosen_workers = workers ? workers : loading.worker_count;
  if (chosen_size && *chosen_size >= 1.0)
    request.batch_size = static_cast<std::uint32_t>(*chosen_size);
  if (chosen_workers) request.worker_count = static_cast<std::uint32_t>(*chosen_workers);
  request.trains_on_cpu = options.train_on == "cpu";
  request.cache = options.cache;
  request.profile = options.profile;
  request.trace = options.trace;
  for (const auto& [name, value] :
       {std::pair{"--recipe ", &options.recipe}, {"--config ", &options.config}}) {
    if (request.recipe_words.empty() && !value->empty())
      request.recipe_words = name + shell_quoted(*value);
  }
  request.code = options.code;
  request.config = options.config;
  request.python = options.python;
  request.runs_frameworks = !options.quick_fix;
  if (!options.config.empty()) {
    request.judged_config = ask_adviser(words_of(options, ""), stop_requested);
    // A GPU that nobody knows is a mistake on the command line; a file that cannot be judged is
    // not.
    const auto& judged = *request.judged_config;
    if (!judged.ok() && judged.status().message().starts_with("no settings are known for the GPU"))
      return judged.status();
  }
  request.scratch_folder = request::temporary_folder(context.env);
  request.writable_folder = options.out.empty() ? request.scratch_folder : options.out;
  request.cancelled = stop_requested;
  return request;
}

std::string page_of(const doctor::Diagnosis& diagnosis) {
  std::array<char, 32> date{};
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  if (::localtime_r(&now, &parts) != nullptr)
    (void)std::strftime(date.data(), date.size(), "%Y-%m-%d %H:%M", &parts);
  const std::string versions = version_text();
  return doctor::doctor_page({.title = "Will precomputing help?",
                              .date = date.data(),
                              .machine = diagnosis.machine,
                              .versions = {versions.substr(0, versions.find('\n'))}},
                             diagnosis.checks);
}

// Everything that the doctor knows, in the folder that the user named.
Status write_reports(Context& context, const DoctorOptions& options,
                     const doctor::Diagnosis& diagnosis, const nlohmann::json& document) {
  constexpr std::uint64_t kConfigBytesMax = std::uint64_t{1} << 20U;
  constexpr std::size_t kWidth = 100;
  doctor::SupportFacts facts{.versions = version_text(),
                             .command = command_of(options),
                             .config_path = options.config,
                             .config = {},
                             .home = {}};
  if (const char* const home = std::getenv("HOME"); home != nullptr) facts.home = home;
  if (!options.config.empty()) {
    const auto config = read_text_file(context.env, options.config, kConfigBytesMax);
    facts.config = config.ok() ? doctor::config_for_support(*config, options.config)
                               : config.status().message() + "\n";
  }
  const std::pair<const char*, std::string> files[] = {
      {"diagnostic_report.txt", describe_diagnosis(diagnosis, Evidence::kAll, kWidth)},
      {"diagnostic_report.json", request::dump_json(document, 2) + "\n"},
      {"diagnostic_report.html", page_of(diagnosis)},
      {"support.txt", doctor::support_text(diagnosis, facts)},
  };
  for (const auto& [name, text] : files)
    XTTS_TRY(replace_file(context.env, join_path(options.out, name), as_bytes(text)));
  context.inform("wrote " + options.out +
                 ": diagnostic_report.html, .txt and .json, and support.txt to send to support");
  return {};
}

// What to type next, for the trainer that has this configuration.
std::string next_commands(const DoctorOptions& options) {
  const std::string data = options.data.empty() ? "DATA" : shell_quoted(options.data);
  const std::string cache = options.cache.empty() ? "./cache" : shell_quoted(options.cache);
  const std::string config = shell_quoted(options.config);
  std::string text = "Now train:\n";
  if (options.cache.empty())
    text += "  xtts-precompute " + data + " " + cache + " --config " + config + "\n";
  return text + "  xtts-precompute train --cache " + cache + " -- -m myxtts.cli train --config " +
         config + " --data-path " + data + "\n";
}

// The changes that the adviser has written, as `config check --fix` tells them.
std::string fix_text(const nlohmann::json& fix) {
  const auto shown = [](const nlohmann::json& value) {
    return value.is_string() ? report::escape_controls(value.get<std::string>()) : std::string();
  };
  std::string text;
  for (const auto& change : fix.at("fixed")) {
    const std::string after = shown(change.at("after"));
    const std::string before = shown(change.at("before"));
    text +=
        "mended " + shown(change.at("key")) + ": " +
        (after.empty() ? "now a comment" : (before.empty() ? "added" : before) + " -> " + after) +
        "\n";
  }
  for (const auto& reason : fix.at("refused")) text += "left " + shown(reason) + "\n";
  if (fix.at("backup").is_string()) text += "the old file is " + shown(fix.at("backup")) + "\n";
  return text;
}

// Writes the changes of the configuration that were found.
Status quick_fix(Context& context, const DoctorOptions& options, nlohmann::json& document) {
  XTTS_ASSIGN(const nlohmann::json fix, ask_adviser(words_of(options, "--fix"), stop_requested));
  context.print(fix_text(fix) + next_commands(options));
  for (const char* const key : {"fixed", "refused", "backup"}) document[key] = fix.at(key);
  return {};
}

Status check_options(const DoctorOptions& options) {
  if (options.quick_fix && options.config.empty())
    return {StatusCode::kInvalidArgument, "--quick-fix mends a configuration: name it by --config"};
  if (options.all && options.data.empty())
    return {StatusCode::kInvalidArgument, "--all examines a corpus: name it by --data"};
  if (options.data.empty() && options.cache.empty() && options.config.empty() &&
      options.code.empty() && options.trace.empty()) {
    return {StatusCode::kInvalidArgument,
            "doctor needs something to look at: --data DATA, --cache CACHE, --config FILE, "
            "--code DIR or --trace FILE"};
  }
  return {};
}

// Known before a minute of measuring.
Status prepare_out(Env& env, const std::string& out) {
  const auto there = env.stat(out);
  if (there.ok() && there->kind != FileKind::kDirectory) {
    return {StatusCode::kInvalidArgument,
            "--out " + out + " is a file: name a folder, which is made where it is missing"};
  }
  XTTS_TRY(env.create_directories(out));
  const std::string path = join_path(out, ".xtts-doctor-trial");
  XTTS_TRY(env.open_for_write(path, WriteMode::kTruncate).status());
  return env.remove_file(path);
}

// `fail_on`: "warn", "fail" or empty.
Status judge(const std::vector<doctor::Check>& checks, const std::string& fail_on) {
  std::string reached;
  for (const doctor::Check& check : checks) {
    const bool is_reached = (check.status == doctor::CheckStatus::kFail && !fail_on.empty()) ||
                            (check.status == doctor::CheckStatus::kWarn && fail_on == "warn");
    if (is_reached) reached += (reached.empty() ? "" : ", ") + check.title;
  }
  if (reached.empty()) return {};
  return {StatusCode::kCorrupt, "--fail-on " + fail_on + ": " + reached};
}

Status run_doctor(Context& context, DoctorOptions options) {
  XTTS_TRY(check_options(options));
  if (options.all && options.out.empty()) options.out = kResultsFolder;
  XTTS_ASSIGN(auto request, request_of(context, options));
  if (!options.out.empty()) XTTS_TRY(prepare_out(context.env, options.out));
  std::optional<ProgressView> view(std::in_place, context);
  request.on_step = [&](const std::string& step) { view->update([&] { return step; }); };
  auto diagnosis = doctor::diagnose(context.env, request);
  view.reset();
  if (!diagnosis.ok()) return diagnosis.status();
  context.summarize(describe_diagnosis(*diagnosis, Evidence::kOfProblems, context.out.width()));
  nlohmann::json document = doctor::to_json(diagnosis->checks);
  document["machine"] = diagnosis->machine;
  if (options.quick_fix) XTTS_TRY(quick_fix(context, options, document));
  context.print_json(document);
  if (!options.out.empty()) XTTS_TRY(write_reports(context, options, *diagnosis, document));
  return judge(diagnosis->checks, options.fail_on);
}

}  // namespace

void add_doctor_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<DoctorOptions>();
  Command(app, context, "doctor",
          "Find out why a GPU waits, and whether a cache will help, by measuring")
      .option("--data", options->data, "DATA", "The corpus that you train on")
      .option("--cache", options->cache, "CACHE",
              "A cache of it; without one, a cache of a sample is built and removed again")
      .option("--config", options->config, "FILE", "The trainer's config.yaml")
      .option("--code", options->code, "DIR", "The trainer's own Python code; it is never run")
      .option("--out", options->out, "DIR", "Write the report there: text, JSON and HTML")
      .option("--step-ms", options->step_ms, "MS",
              "How long a training step takes without waiting for data; profile measures it")
      .choice("--train-on", options->train_on, {"gpu", "cpu"},
              "Where you train: on the CPU, step and loader share the processors")
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
      .flag("--all", options->all, "Write everything to ./gpu_analysis_results, or to --out")
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
