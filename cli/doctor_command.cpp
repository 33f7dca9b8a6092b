// doctor: why does the GPU starve, and will a cache help?
#include <charconv>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/doctor_view.hpp"
#include "cli/progress_view.hpp"
#include "cli/stop_signal.hpp"
#include "cli/version_text.hpp"
#include "doctor/check_json.hpp"
#include "doctor/diagnose.hpp"
#include "doctor/support_text.hpp"
#include "recipe/trainer_config.hpp"
#include "request/build_request.hpp"
#include "request/json_text.hpp"
#include "request/temporary_folder.hpp"
#include "xtts/builder.hpp"

namespace xtts::cli {
namespace {

struct DoctorOptions {
  std::string data, cache, config, code, out, profile, recipe, python;
  std::string step_ms, batch_size, workers;
};

Result<std::optional<double>> parse_number(const std::string& option, const std::string& text,
                                           double low, double high) {
  if (text.empty()) return std::optional<double>();
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error == std::errc() && rest == end && number >= low && number <= high)
    return std::optional<double>(number);
  return Status(StatusCode::kInvalidArgument,
                option + " is a number from " + std::to_string(static_cast<long>(low)) + " to " +
                    std::to_string(static_cast<long>(high)) + ", not '" + text + "'");
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
                                    {"--recipe", &options.recipe},
                                    {"--python", &options.python},
                                    {"--step-ms", &options.step_ms},
                                    {"--batch-size", &options.batch_size},
                                    {"--workers", &options.workers}}) {
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
    const auto number = parse_number(key, *one.value, 0.0, 100'000.0);
    if (number.ok()) return *number;
  }
  return std::nullopt;
}

Result<pipeline::BuildRequest> build_request(Context& context, const DoctorOptions& options,
                                             ConfiguredLoading& loading) {
  BuildOptions build{.data = options.data, .recipe = options.recipe, .config = options.config};
  return request::request_of(context.env, build, cli_caller(),
                             [&](const recipe::TrainerConfig& config) {
                               loading.batch_size = number_of(config, "data.batch_size");
                               loading.worker_count = number_of(config, "data.num_workers");
                             });
}

Result<doctor::DoctorRequest> request_of(Context& context, const DoctorOptions& options) {
  doctor::DoctorRequest request;
  ConfiguredLoading loading;
  if (!options.data.empty()) {
    XTTS_ASSIGN(request.build, build_request(context, options, loading));
  }
  XTTS_ASSIGN(request.step_ms, parse_number("--step-ms", options.step_ms, 0.0, 1e7));
  XTTS_ASSIGN(const auto batch_size,
              parse_number("--batch-size", options.batch_size, 1.0, 100'000.0));
  XTTS_ASSIGN(const auto workers, parse_number("--workers", options.workers, 0.0, 1'000.0));
  const auto chosen_size = batch_size ? batch_size : loading.batch_size;
  const auto chosen_workers = workers ? workers : loading.worker_count;
  if (chosen_size && *chosen_size >= 1.0)
    request.batch_size = static_cast<std::uint32_t>(*chosen_size);
  if (chosen_workers) request.worker_count = static_cast<std::uint32_t>(*chosen_workers);
  request.cache = options.cache;
  request.profile = options.profile;
  request.code = options.code;
  request.config = options.config;
  request.python = options.python;
  request.scratch_folder = request::temporary_folder(context.env);
  request.writable_folder = options.out.empty() ? request.scratch_folder : options.out;
  request.cancelled = stop_requested;
  return request;
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
    facts.config = config.ok() ? *config : config.status().message();
  }
  const std::pair<const char*, std::string> files[] = {
      {"diagnostic_report.txt", describe_diagnosis(diagnosis, Evidence::kAll, kWidth)},
      {"diagnostic_report.json", request::dump_json(document, 2) + "\n"},
      {"support.txt", doctor::support_text(diagnosis, facts)},
  };
  for (const auto& [name, text] : files)
    XTTS_TRY(replace_file(context.env, join_path(options.out, name), as_bytes(text)));
  context.inform("wrote " + options.out +
                 ": diagnostic_report.txt, .json, and support.txt to send to "
                 "somebody who helps");
  return {};
}

Status run_doctor(Context& context, const DoctorOptions& options) {
  if (options.data.empty() && options.cache.empty() && options.config.empty() &&
      options.code.empty()) {
    return {StatusCode::kInvalidArgument,
            "doctor needs something to look at: --data DATA, --cache CACHE, --config FILE or "
            "--code DIR"};
  }
  XTTS_ASSIGN(auto request, request_of(context, options));
  if (!options.out.empty()) XTTS_TRY(context.env.create_directories(options.out));
  std::optional<ProgressView> view(std::in_place, context);
  request.on_step = [&](const std::string& step) { view->update([&] { return step; }); };
  auto diagnosis = doctor::diagnose(context.env, request);
  view.reset();
  if (!diagnosis.ok()) return diagnosis.status();
  context.print(describe_diagnosis(*diagnosis, Evidence::kOfProblems, context.out.width()));
  nlohmann::json document = doctor::to_json(diagnosis->checks);
  document["machine"] = diagnosis->machine;
  context.print_json(document);
  if (options.out.empty()) return {};
  return write_reports(context, options, *diagnosis, document);
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
              "How long a training step takes on your GPU without waiting for data")
      .option("--profile", options->profile, "FILE",
              "A profile of your own training, instead of --step-ms")
      .option("--batch-size", options->batch_size, "N",
              "Clips a batch (default: as in --config, else 32)")
      .option("--workers", options->workers, "N",
              "Workers of your present loader (default: as in --config)")
      .option("--recipe", options->recipe, "NAME|FILE", "The features, as for build")
      .option("--python", options->python, "PROGRAM",
              "The Python that you train with (default: python3)")
      .notes(
          "Nothing that it looks at is changed. It measures for about half a minute, so let the "
          "machine\n"
          "be idle.")
      .examples(
          "xtts-precompute doctor --data ./data --step-ms 120     # will a cache help?\n"
          "xtts-precompute doctor --data ./data --config config.yaml --out report\n"
          "xtts-precompute doctor --data ./data --profile profile.json --code ./trainer")
      .runs([&context, options] { return run_doctor(context, *options); });
}

}  // namespace xtts::cli
