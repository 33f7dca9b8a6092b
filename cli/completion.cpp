#include "cli/completion.hpp"

#include <CLI/CLI.hpp>

#include "base/formatted.hpp"
#include "recipe/shipped.hpp"

namespace xtts::cli {
namespace {

// CLI11 writes the choices of IsMember into the type's name: "TEXT:{quick,full}".
std::vector<std::string> choices_in(const std::string& type_name) {
  const std::size_t open = type_name.find('{');
  const std::size_t close = type_name.find('}', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return {};
  std::vector<std::string> choices{""};
  for (const char c : type_name.substr(open + 1, close - open - 1)) {
    c == ',' ? void(choices.emplace_back()) : void(choices.back() += c);
  }
  return choices;
}

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const recipe::ShippedRecipe& recipe : recipe::shipped_recipes())
    names.emplace_back(recipe.name);
  return names;
}

CompletionOption describe_option(const CLI::Option& option) {
  CompletionOption out;
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  out.help = option.get_description();
  out.takes_value = option.get_items_expected_max() > 0;
  out.choices = choices_in(option.get_type_name());
  if (option.check_lname("recipe")) out.names_beside_files = recipe_names();
  return out;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// Puts text within single quotes of a POSIX shell.
std::string single_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string> names_of(const std::vector<CompletionCommand>& commands) {
  std::vector<std::string> names;
  for (const CompletionCommand& command : commands) names.push_back(command.name);
  return names;
}

std::string bash_words(const std::vector<std::string>& words) {
  return formatted("$(compgen -W {} -- \"$word\")", single_quoted(joined(words)));
}

std::string bash_reply(const CompletionOption& option) {
  if (!option.choices.empty()) return bash_words(option.choices);
  const std::string files = "$(compgen -f -- \"$word\")";
  if (option.names_beside_files.empty()) return files;
  return formatted("{} {}", bash_words(option.names_beside_files), files);
}

std::string bash_values(const CompletionCommand& command) {
  std::string out;
  for (const CompletionOption& option : command.options) {
    if (!option.takes_value) continue;
    std::string pattern;
    for (const std::string& name : option.names) pattern += (pattern.empty() ? "" : "|") + name;
    out += formatted("        {}) ", pattern);
    out += formatted("COMPREPLY=({}); return ;;\n", bash_reply(option));
  }
  return out;
}

// Escapes '[', ']' and ':', which have a meaning in the specifications of _arguments.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_value(const CompletionOption& option) {
  if (!option.choices.empty()) return formatted("({})", joined(option.choices));
  if (option.names_beside_files.empty()) return "_files";
  return "{compadd -- " + joined(option.names_beside_files) + "; _files}";
}

std::string zsh_option(const CompletionOption& option, const std::string& name) {
  std::string spec = formatted("{}[{}]", name, zsh_text(option.help));
  if (option.takes_value) spec += ":value:" + zsh_value(option);
  return single_quoted(spec);
}

std::string fish_value(const CompletionOption& option) {
  if (!option.choices.empty()) return formatted("-x -a {} ", single_quoted(joined(option.choices)));
  if (option.names_beside_files.empty()) return "-r ";
  return formatted("-r -a {} ", single_quoted(joined(option.names_beside_files)));
}

}  // namespace

std::vector<CompletionCommand> describe_commands(const CLI::App& app) {
  std::vector<CompletionCommand> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_group().empty()) continue;  // hidden
    CompletionCommand out;
    out.name = command->get_name();
    out.help = command->get_description();
    bool is_first_positional = true;
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_group().empty()) continue;  // hidden
      if (option->nonpositional()) {
        out.options.push_back(describe_option(*option));
      } else if (is_first_positional) {
        out.first_choices = choices_in(option->get_type_name());
        is_first_positional = false;
      }
    }
    if (out.name == "recipes") out.first_choices = recipe_names();
    commands.push_back(std::move(out));
  }
  return commands;
}

std::string bash_completion(const std::vector<CompletionCommand>& commands) {
  std::string out =
      "# bash completion of xtts-precompute, made by: xtts-precompute completion bash\n"
      "_xtts_precompute() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} "
      "command=${COMP_WORDS[1]}\n"
      "  COMPREPLY=()\n"
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
      "    COMPREPLY=($(compgen -W " +
      single_quoted(joined(names_of(commands)) + " --help --version") +
      " -- \"$word\") $(compgen -d -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n";
  for (const CompletionCommand& command : commands) {
    std::vector<std::string> flags;
    for (const CompletionOption& option : command.options) {
      flags.insert(flags.end(), option.names.begin(), option.names.end());
    }
    out += formatted("    {})\n", command.name);
    const std::string values = bash_values(command);
    if (!values.empty()) out += "      case $before in\n" + values + "      esac\n";
    out += formatted(
        "      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W {} -- \"$word\")); return; fi\n",
        single_quoted(joined(flags)));
    if (!command.first_choices.empty()) {
      out += formatted("      COMPREPLY=($(compgen -W {} -- \"$word\")); return\n",
                       single_quoted(joined(command.first_choices)));
    }
    out += "      ;;\n";
  }
  return out +
         "  esac\n"
         "  COMPREPLY=($(compgen -f -- \"$word\"))\n"
         "}\n"
         "complete -o filenames -F _xtts_precompute xtts-precompute\n";
}

std::string zsh_completion(const std::vector<CompletionCommand>& commands) {
  std::string out =
      "#compdef xtts-precompute\n"
      "# zsh completion of xtts-precompute, made by: xtts-precompute completion zsh\n"
      "_xtts_precompute() {\n"
      "  local -a commands\n"
      "  commands=(\n";
  for (const CompletionCommand& command : commands) {
    out += formatted("    {}\n", single_quoted(formatted("{}:{}", zsh_text(command.name),
                                                         zsh_text(command.help))));
  }
  out +=
      "  )\n"
      "  if (( CURRENT == 2 )); then\n"
      "    _describe command commands\n"
      "    _files -/\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const CompletionCommand& command : commands) {
    out += "    " + command.name + ")\n      _arguments";
    for (const CompletionOption& option : command.options) {
      for (const std::string& name : option.names)
        out += " \\\n        " + zsh_option(option, name);
    }
    if (!command.first_choices.empty())
      out +=
          " \\\n        " + single_quoted(formatted("1:value:({})", joined(command.first_choices)));
    out += " \\\n        '*:file:_files'\n      ;;\n";
  }
  return out +
         "    *) _files ;;\n"
         "  esac\n"
         "}\n"
         "if [ \"$funcstack[1]\" = _xtts_precompute ]; then _xtts_precompute \"$@\"; else compdef "
         "_xtts_precompute xtts-precompute; fi\n";
}

std::string fish_completion(const std::vector<CompletionCommand>& commands) {
  const std::string start = "complete -c xtts-precompute ";
  std::string out =
      "# fish completion of xtts-precompute, made by: xtts-precompute completion fish\n";
  for (const CompletionCommand& command : commands) {
    out += formatted("{}-n __fish_use_subcommand -a {} -d {}\n", start, command.name,
                     single_quoted(command.help));
    const std::string within =
        formatted("{}-n '__fish_seen_subcommand_from {}' ", start, command.name);
    if (!command.first_choices.empty())
      out += formatted("{}-f -a {}\n", within, single_quoted(joined(command.first_choices)));
    for (const CompletionOption& option : command.options) {
      out += within;
      for (const std::string& name : option.names) {
        out += name.rfind("--", 0) == 0 ? formatted("-l {} ", name.substr(2))
                                        : formatted("-s {} ", name.substr(1));
      }
      if (option.takes_value) out += fish_value(option);
      out += formatted("-d {}\n", single_quoted(option.help));
    }
  }
  return out;
}

}  // namespace xtts::cli
