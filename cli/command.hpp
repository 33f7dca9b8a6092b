// A Command declares the arguments of a subcommand, and gives --help its shape. Only this file's
// code, run_command.cpp and completion.cpp see CLI11: its headers cost ten seconds in every file
// that includes them.
//
// The add_ function of a command makes a Command and lets it go: the application owns the
// declarations. Variables given here must outlive the parse. --help and completions show a value's
// type: "FILE", or "{padded,packed}" for a choice.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/app.hpp"

namespace CLI {
class App;
}

namespace xtts::cli {

class Command {
 public:
  // Adds --json, --quiet and --log-level, which every command has.
  Command(CLI::App& app, Context& context, const std::string& name, const std::string& help);

  Command& required(const std::string& name, std::string& value, const std::string& help);
  Command& required(const std::string& name, std::vector<std::string>& values,
                    const std::string& help);  // one or more
  Command& positional(const std::string& name, std::string& value, const std::string& help);
  Command& positionals(const std::string& name, std::vector<std::string>& values,
                       const std::string& help);
  // A non-empty value is the default, and --help shows it.
  Command& option(const std::string& names, std::string& value, const std::string& type,
                  const std::string& help);
  // An option that the user must give.
  Command& required_option(const std::string& names, std::string& value, const std::string& type,
                           const std::string& help);
  // An option with which `positionals` need not be there: the command checks them itself.
  Command& option_in_place_of(const std::string& names, std::string& value, const std::string& type,
                              const std::string& help, const std::vector<std::string>& positionals);
  // The option may be given several times.
  Command& repeated(const std::string& names, std::vector<std::string>& values,
                    const std::string& type, const std::string& help);
  // The parser refuses a value that is not one of `choices`.
  Command& choice(const std::string& names, std::string& value,
                  const std::vector<std::string>& choices, const std::string& help);
  // A choice that the user must make.
  Command& required_choice(const std::string& name, std::string& value,
                           const std::vector<std::string>& choices, const std::string& help);
  Command& threads(std::uint32_t& count);  // -j, --threads; 0 where not given
  Command& flag(const std::string& names, bool& value, const std::string& help);
  // `text`: lines of "command   # what it does", without indent. --help begins with them, so the
  // first two are the calls that most users need.
  Command& examples(std::string_view text);
  // Adds text at the end of --help.
  Command& notes(const std::string& text);
  // `run` is called when the command is chosen.
  void runs(std::function<Status()> run);

 private:
  Context& context_;
  CLI::App& command_;
};

// Adds --json, --quiet and --log-level.
void add_common_flags(CLI::App& command, Context& context);

}  // namespace xtts::cli
