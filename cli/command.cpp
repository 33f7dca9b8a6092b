#include "cli/command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <utility>

#include "base/formatted.hpp"

namespace xtts::cli {

namespace {

// Silences a validator's own description, which CLI11 would put after the type. Our type says it
// all.
CLI::Validator silent(CLI::Validator validator) {
  return validator.description("");
}

std::string choices_text(const std::vector<std::string>& choices) {
  std::string text;
  for (const auto& choice : choices) text += (text.empty() ? "{" : ",") + choice;
  return text + "}";
}

// Puts a command's examples between its description and its options, where a reader of --help
// looks.
class ExamplesFirst final : public CLI::Formatter {
 public:
  explicit ExamplesFirst(std::string lines) : lines_(std::move(lines)) {}

  [[nodiscard]] std::string make_description(const CLI::App* app) const override {
    return Formatter::make_description(app) + "\n" + lines_ + "\n";
  }

 private:
  std::string lines_;
};

}  // namespace

Command::Command(CLI::App& app, Context& context, const std::string& name, const std::string& help)
    : context_(context), command_(*app.add_subcommand(name, help)) {
  add_common_flags(command_, context);
}

Command& Command::required(const std::string& name, std::string& value, const std::string& help) {
  command_.add_option(name, value, help)->required()->type_name("");
  return *this;
}

Command& Command::required(const std::string& name, std::vector<std::string>& values,
                           const std::string& help) {
  command_.add_option(name, values, help)->required()->type_name("");
  return *this;
}

Command& Command::positional(const std::string& name, std::string& value, const std::string& help) {
  command_.add_option(name, value, help)->type_name("");
  return *this;
}

Command& Command::positionals(const std::string& name, std::vector<std::string>& values,
                              const std::string& help) {
  command_.add_option(name, values, help)->type_name("");
  return *this;
}

Command& Command::option(const std::string& names, std::string& value, const std::string& type,
                         const std::string& help) {
  CLI::Option* const option = command_.add_option(names, value, help)->type_name(type);
  if (!value.empty()) option->capture_default_str();
  return *this;
}

Command& Command::required_option(const std::string& names, std::string& value,
                                  const std::string& type, const std::string& help) {
  command_.add_option(names, value, help)->required()->type_name(type);
  return *this;
}

Command& Command::option_in_place_of(const std::string& names, std::string& value,
                                     const std::string& type, const std::string& help,
                                     const std::vector<std::string>& positionals) {
  const auto take = [&command = command_, positionals, &value](const std::string& text) {
    for (const std::string& name : positionals) command.get_option(name)->required(false);
    value = text;
  };
  command_.add_option_function<std::string>(names, take, help)->type_name(type)->trigger_on_parse();
  return *this;
}

Command& Command::repeated(const std::string& names, std::vector<std::string>& values,
                           const std::string& type, const std::string& help) {
  command_.add_option(names, values, help)->type_name(type)->allow_extra_args(false);
  return *this;
}

Command& Command::choice(const std::string& names, std::string& value,
                         const std::vector<std::string>& choices, const std::string& help) {
  command_.add_option(names, value, help)
      ->type_name(choices_text(choices))
      ->check(silent(CLI::IsMember(choices)));
  return *this;
}

Command& Command::required_choice(const std::string& name, std::string& value,
                                  const std::vector<std::string>& choices,
                                  const std::string& help) {
  command_.add_option(name, value, help)
      ->required()
      ->type_name(choices_text(choices))
      ->check(silent(CLI::IsMember(choices)));
  return *this;
}

Command& Command::threads(std::uint32_t& count) {
  command_.add_option("-j,--threads", count, "Threads, 1 to 1024 (default: all processors)")
      ->type_name("N")
      ->check(silent(CLI::Range(1, 1024)));
  return *this;
}

Command& Command::flag(const std::string& names, bool& value, const std::string& help) {
  command_.add_flag(names, value, help);
  return *this;
}

Command& Command::examples(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines += formatted("  {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  command_.formatter(std::make_shared<ExamplesFirst>(std::move(lines)));
  return *this;
}

Command& Command::notes(const std::string& text) {
  command_.footer(text);
  return *this;
}

void Command::runs(std::function<Status()> run) {
  command_.callback([&context = context_, run = std::move(run)] { context.run = run; });
}

void add_common_flags(CLI::App& command, Context& context) {
  command.add_flag("--json", context.flags.json, "One JSON document on stdout, nothing else")
      ->group("Output");
  command
      .add_flag("-q,--quiet", context.flags.quiet,
                "Errors only; data that you ask for (ls, info, show, bench) is printed alone")
      ->group("Output");
  command.add_option("--log-level", context.flags.log_level, "The messages that go to stderr")
      ->type_name(choices_text(log_levels()))
      ->check(silent(CLI::IsMember(log_levels())))
      ->group("Output");
}

}  // namespace xtts::cli
