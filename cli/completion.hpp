// Completion scripts. They are made from the CLI11 app itself, so they cannot fall behind it.
// Pure.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace xtts::cli {

struct CompletionOption {
  std::vector<std::string> names;  // "--json", "-q"
  std::string help;
  bool takes_value = false;
  std::vector<std::string> choices;             // for the value; empty: a file, or anything
  std::vector<std::string> names_beside_files;  // words allowed instead of a file
};

struct CompletionCommand {
  std::string name;
  std::string help;
  std::vector<CompletionOption> options;
  std::vector<std::string> first_choices;  // words for the first argument; empty: a path
};

[[nodiscard]] std::vector<CompletionCommand> describe_commands(const CLI::App& app);

[[nodiscard]] std::string bash_completion(const std::vector<CompletionCommand>& commands);
[[nodiscard]] std::string zsh_completion(const std::vector<CompletionCommand>& commands);
[[nodiscard]] std::string fish_completion(const std::vector<CompletionCommand>& commands);

}  // namespace xtts::cli
