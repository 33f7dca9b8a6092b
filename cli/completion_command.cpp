// completion: a script for the user's shell.
#include "cli/commands.hpp"
#include "cli/completion.hpp"

namespace xtts::cli {

void add_completion_command(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for a shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish"}));
  add_common_flags(*command, context);
  set_examples(*command,
               "source <(xtts-precompute completion bash)\n"
               "xtts-precompute completion zsh > ~/.zfunc/_xtts-precompute\n"
               "xtts-precompute completion fish > ~/.config/fish/completions/xtts-precompute.fish");
  command->callback([&app, &context, shell] {
    context.run = [&app, &context, shell] {
      const auto commands = describe_commands(app);
      const std::string script = *shell == "bash"  ? bash_completion(commands)
                                 : *shell == "zsh" ? zsh_completion(commands)
                                                   : fish_completion(commands);
      context.print(script);
      context.print_json({{"shell", *shell}, {"script", script}});
      return Status();
    };
  });
}

}  // namespace xtts::cli
