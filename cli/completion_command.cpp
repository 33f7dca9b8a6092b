// completion: a script for the user's shell.
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/completion.hpp"

namespace xtts::cli {
namespace {

Status print_completion(const CLI::App& app, Context& context, const std::string& shell) {
  if (shell.empty()) {
    return {StatusCode::kInvalidArgument,
            "name the shell, one of bash, zsh and fish: xtts-precompute completion bash"};
  }
  const auto commands = describe_commands(app);
  const std::string script = shell == "bash"  ? bash_completion(commands)
                             : shell == "zsh" ? zsh_completion(commands)
                                              : fish_completion(commands);
  context.print(script);
  context.print_json({{"shell", shell}, {"script", script}});
  return {};
}

}  // namespace

void add_completion_command(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  Command(app, context, "completion", "Print a completion script for a shell")
      .choice("SHELL", *shell, {"bash", "zsh", "fish"}, "Your shell")
      .examples(
          "source <(xtts-precompute completion bash)\n"
          "xtts-precompute completion zsh > ~/.zfunc/_xtts-precompute\n"
          "xtts-precompute completion fish > ~/.config/fish/completions/xtts-precompute.fish")
      .runs([&app, &context, shell] { return print_completion(app, context, *shell); });
}

}  // namespace xtts::cli
