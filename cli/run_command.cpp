#include "cli/run_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <system_error>
#include <vector>

#include "base/formatted.hpp"
#include "base/nearest_name.hpp"
#include "cli/app.hpp"
#include "cli/arguments.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/stop_signal.hpp"
#include "cli/version_text.hpp"
#include "recipe/key_table.hpp"

namespace xtts::cli {
namespace {

constexpr const char* kAbout =
    "Turns speech corpora into caches of mel spectrograms, tokens and facts that feed a GPU.\n\n"
    "  xtts-precompute ./data ./cache      # short for: xtts-precompute build ./data ./cache\n"
    "  xtts-precompute verify ./cache      # is every byte what was written?\n";
constexpr const char* kExitCodes =
    "Exit codes: 0 done; 1 internal error; 2 usage, config or recipe; 3 too many clips left out;\n"
    "4 cache corrupt, two that differ, or --fail-on; 5 another builder holds the cache; 6 disk, "
    "memory or "
    "I/O; 129, 130, 143 signals.";

// As --help names them; probe, which the adviser asks, has no heading and is not named.
struct CommandGroup {
  const char* heading;
  std::vector<void (*)(CLI::App&, Context&)> commands;
};

std::vector<CommandGroup> groups() {
  return {
      {"Make a cache",
       {add_build_command, add_plan_command, add_set_command, add_convert_command,
        add_merge_command, add_compact_command}},
      {"Look at it",
       {add_verify_command, add_info_command, add_ls_command, add_show_command, add_diff_command}},
      {"Train on it",
       {add_train_command, add_config_command, add_tune_command, add_monitor_command}},
      {"Find out what a training waits for",
       {add_doctor_command, add_trace_command, add_profile_command, add_bench_command}},
      {"What there is", {add_recipes_command, add_formats_command, add_completion_command}},
      {"", {add_probe_command}}};
}

void add_commands(CLI::App& app, Context& context) {
  for (const auto& [heading, commands] : groups())
    for (const auto add : commands) {
      add(app, context);
      app.get_subcommands([](const CLI::App*) { return true; }).back()->group(heading);
    }
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

// Gives "--set max_frames=1024" for "--max-frames 1024": keys of recipes are no flags.
std::string setting_meant(const std::string& flag, const std::string& value) {
  std::string wanted = flag.substr(flag.find_first_not_of('-'));
  std::ranges::replace(wanted, '-', '_');
  for (const recipe::Key& key : recipe::key_table()) {
    if (key.name == wanted || key.name.ends_with("." + wanted))
      return formatted("--set {}={}", wanted, value.empty() ? "VALUE" : value);
  }
  return {};
}

// Gives the message for a failed parse, with the flag that was probably meant.
Status explain(const CLI::App& app, const CLI::ParseError& error) {
  const std::vector<CLI::App*> chosen = app.get_subcommands();
  const CLI::App& command = chosen.empty() ? app : *chosen.front();
  const std::string name = chosen.empty() ? "" : command.get_name();
  std::string message = error.what();
  std::vector<std::string> flags;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& flag : option->get_lnames()) flags.push_back("--" + flag);
  }
  const std::vector<std::string> words = app.remaining(true);
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    std::string unexpected;
    for (const std::string& word : words) unexpected += (unexpected.empty() ? "" : " ") + word;
    message = formatted("{} does not take '{}'", name.empty() ? "this program" : name, unexpected);
  }
  bool is_meant = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("--") || words[i].size() == 2) continue;
    const std::size_t equals = words[i].find('=');
    const std::string flag = words[i].substr(0, equals);
    std::string value = equals == std::string::npos ? "" : words[i].substr(equals + 1);
    if (value.empty() && i + 1 < words.size() && words[i + 1][0] != '-') value = words[i + 1];
    std::string meant = name == "build" ? setting_meant(flag, value) : std::string();
    if (meant.empty()) meant = nearest_of(flag, flags);
    is_meant = is_meant || !meant.empty();
    if (!meant.empty()) message += formatted(" (did you mean {}?)", meant);
  }
  if (!words.empty() && !is_meant && command.get_option_no_throw("PROGRAM") != nullptr)
    message += " (the program that trains comes after `--`)";
  return {StatusCode::kInvalidArgument,
          message + "\nxtts-precompute " + (name.empty() ? "" : name + " ") + "--help says more"};
}

// Reads the command line. Returns true when there is a command to run. Otherwise `status` is the
// answer.
bool parse(CLI::App& app, Context& context, std::vector<std::string> arguments, Status& status) {
  context.flags.json = asks_for_json(arguments);
  auto completed =
      complete_arguments(std::move(arguments), command_names(app),
                         [&](const auto& path) { return context.env.stat(path).ok(); });
  if (!completed.ok()) {
    status = completed.status();
    return false;
  }
  std::vector<std::string> reversed(completed->rbegin(), completed->rend());  // CLI11 wants it so
  try {
    app.parse(reversed);
  } catch (const CLI::CallForVersion&) {
    context.out.write(version_text());
    return false;
  } catch (const CLI::CallForHelp&) {
    context.out.write(app.help());
    return false;
  } catch (const CLI::ParseError& error) {
    status = explain(app, error);
    return false;
  }
  return true;
}

Status run(Context& context) {
  try {
    return context.run();
  } catch (const std::bad_alloc&) {
    return {StatusCode::kResource, "out of memory"};
  } catch (const std::system_error& error) {
    return {StatusCode::kResource, std::string("the system refused a call: ") + error.what()};
  } catch (const std::exception& error) {
    return {StatusCode::kInternal,
            std::string("a defect of xtts-precompute, please report it: ") + error.what()};
  }
}

int conclude(Context& context, const Status& status) {
  if (!status.ok()) {
    context.tell("xtts-precompute: ", status.message());
    context.print_json(
        {{"error", {{"code", json_code_name(status.code())}, {"message", status.message()}}}});
  }
  const Status written = context.out.finish();
  (void)context.err.finish();  // a failure of stderr has no place to go
  if (!status.ok() || written.ok()) return exit_code_of(status, stop_signal());
  context.tell("xtts-precompute: ", written.message());
  return exit_code_of(written, stop_signal());
}

}  // namespace

int run_command(std::vector<std::string> arguments, Context& context) {
  CLI::App app(kAbout, "xtts-precompute");
  app.set_version_flag("--version", std::string("see version_text"));
  app.footer(kExitCodes);
  app.require_subcommand(0, 1);
  add_common_flags(app, context);
  add_commands(app, context);

  Status status;
  if (!parse(app, context, std::move(arguments), status)) return conclude(context, status);
  if (!context.run) {
    if (!context.flags.quiet) context.err.write(app.help());
    return conclude(context, Status(StatusCode::kInvalidArgument,
                                    "nothing was asked for: xtts-precompute DATA CACHE makes a "
                                    "cache; the commands stand above"));
  }
  return conclude(context, run(context));
}

}  // namespace xtts::cli
