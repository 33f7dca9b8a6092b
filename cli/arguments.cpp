#include "cli/arguments.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "base/nearest_name.hpp"

namespace xtts::cli {
namespace {

bool is_flag(const std::string& argument) {
  return argument.size() > 1 && argument[0] == '-';
}

// True for a word without characters that only paths have: it may be a mistyped command.
bool looks_like_command(const std::string& argument) {
  return argument.find_first_of("/.~") == std::string::npos;
}

}  // namespace

Result<std::vector<std::string>> complete_arguments(
    std::vector<std::string> arguments, const std::vector<std::string>& commands,
    const std::function<bool(const std::string& path)>& exists) {
  const auto is_command = [&](const std::string& word) {
    return std::find(commands.begin(), commands.end(), word) != commands.end();
  };
  // --log-level is the one flag with a value that may stand before a command.
  const auto next_word = [&](auto from) {
    for (auto at = from; at != arguments.end(); ++at) {
      if (*at == "--log-level" && at + 1 != arguments.end()) {
        ++at;
      } else if (!is_flag(*at)) {
        return at;
      }
    }
    return arguments.end();
  };
  const auto first = next_word(arguments.begin());
  if (first == arguments.end() || is_command(*first)) return arguments;
  // After other flags of build, this word may be a flag's value (`--recipe NAME DATA CACHE`).
  // CLI11 decides that later.
  const bool is_first = std::all_of(arguments.begin(), first, [](const std::string& argument) {
    return argument == "--json" || argument == "--quiet" || argument == "-q" ||
           !is_flag(argument) || argument.rfind("--log-level", 0) == 0;
  });
  if (is_first && looks_like_command(*first) && !exists(*first)) {
    const bool is_word_of_a_flag = *first == "help" || *first == "version";
    const std::string nearest = is_word_of_a_flag ? "--" + *first : nearest_of(*first, commands);
    return Status(StatusCode::kInvalidArgument,
                  formatted("unknown command '{}'{}", *first,
                            nearest.empty() ? " (and there is no folder of that name)"
                                            : formatted(", did you mean '{}'?", nearest)));
  }
  arguments.insert(arguments.begin(), "build");
  return arguments;
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

}  // namespace xtts::cli
