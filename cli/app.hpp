// Context holds what every command needs. All commands keep these rules:
//
//   - Results go to stdout, messages to stderr. Nothing but a command's code prints.
//   - With --json stdout holds exactly one JSON document, whatever happens: the result, or
//   {"error": {"code", "message"}}.
//   - --quiet leaves errors, and the data that was asked for. A command that judges prints
//   nothing then: its exit code says it, and an error's line on stderr.
//   - A command returns a Status; its code decides the exit code (exit_code_of).
//
// A command registers itself: add_NAME_command(app, context) declares a Command (command.hpp).
// Choosing the command sets context.run, so nothing runs inside CLI11. One thread at a time uses a
// Context, except that any thread may call inform, warn and debug.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "base/env.hpp"
#include "cli/output.hpp"
#include "request/build_options.hpp"
#include "xtts/status.hpp"

namespace xtts::cli {

// Makes decoders that run in processes of the xtts-decode installed with this program.
[[nodiscard]] Result<audio::MakeDecoder> find_decoders();

struct Flags {
  bool json = false;
  bool quiet = false;
  std::string log_level = "info";  // error, warning, info, debug
};

class Context {
 public:
  Context(Env& environment, Output& results, Output& messages)
      : env(environment), out(results), err(messages) {}

  Env& env;
  Output& out;
  Output& err;
  // Whose decoders the command uses; a person reads its answers.
  request::Caller caller{.make_decoder = find_decoders};
  Flags flags;
  std::function<Status()> run;  // the chosen command; empty where none was chosen

  // Prints data that was asked for, as text; nothing with --json.
  void print(std::string_view text);
  // Prints what the program says of its own: a verdict, findings, advice, what was done. Nothing
  // with --json or --quiet.
  void summarize(std::string_view text);
  // Prints the result with --json; nothing without. At most once a run.
  void print_json(const nlohmann::json& document);
  // Call this when a JSON document that is written piece by piece begins. No error document
  // follows it then.
  void begin_json_stream() { json_written_ = true; }

  // Each writes one message, as one line or more. What a file or its name put into it cannot steer
  // the terminal.
  void tell(std::string_view before, std::string_view message);
  void inform(std::string_view message);
  void warn(std::string_view message);
  void debug(std::string_view message);

  // True when a progress line on stderr, or words about the work to come, are welcome.
  [[nodiscard]] bool shows_progress() const;

 private:
  [[nodiscard]] int verbosity() const;  // 0 errors, 1 warnings, 2 info, 3 debug
  bool json_written_ = false;
};

[[nodiscard]] std::vector<std::string> log_levels();

// Exit codes are an API: README.md lists them. `signal` is stop_signal().
[[nodiscard]] int exit_code_of(const Status& status, int signal);
// The name of a code as JSON gives it: "not_found".
[[nodiscard]] std::string json_code_name(StatusCode code);

}  // namespace xtts::cli
