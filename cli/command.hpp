// Command: how a subcommand declares what it takes. The one place beside main.cpp and
// completion.cpp that sees CLI11, whose headers cost ten seconds in every file that includes them;
// and the place where --help gets its shape.
//
// A command's file makes one in its add_ function and lets it go: the application owns what was
// declared. Variables given here must outlive the parse. A value's type is what --help and
// completions show: "FILE", or "{padded,packed}" for a choice.
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
  // With --json, --quiet and --log-level, which every command has.
  Command(CLI::App& app, Context& context, const std::string& name, const std::string& help);

  Command& required(const std::string& name, std::string& value, const std::string& help);
  Command& required(const std::string& name, std::vector<std::string>& values,
                    const std::string& help);  // one or more
  Command& positional(const std::string& name, std::string& value, const std::string& help);
  // A value that is not empty is the default, and shown.
  Command& option(const std::string& names, std::string& value, const std::string& type,
                  const std::string& help);
  // As often as it is given.
  Command& repeated(const std::string& names, std::vector<std::string>& values,
                    const std::string& type, const std::string& help);
  // Refused by the parser where it is none of `choices`.
  Command& choice(const std::string& names, std::string& value,
                  const std::vector<std::string>& choices, const std::string& help);
  Command& threads(std::uint32_t& count);  // -j, --threads; 0 where not given
  Command& flag(const std::string& names, bool& value, const std::string& help);
  // `text`: lines of "command   # what it does", without indent. --help begins with them, so the
  // first two are the calls that most users need.
  Command& examples(std::string_view text);
  // Text at the end of --help.
  Command& notes(const std::string& text);
  // What runs when the command is chosen.
  void runs(std::function<Status()> run);

 private:
  Context& context_;
  CLI::App& command_;
};

// --json, --quiet, --log-level.
void add_common_flags(CLI::App& command, Context& context);

}  // namespace xtts::cli
