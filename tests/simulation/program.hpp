// Runs one command line as a simulated process: on a task, against a ProcessEnv.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "snapshot.hpp"
#include "stub_decoder.hpp"

namespace xtts::simulation {

struct Outcome {
  int exit_code = 0;
  std::optional<Snapshot> snapshot;  // of "read"
  std::string out, err;
  DecodedContents decoded;
};

// `words` as in ProgramRun. `decoders` notes into the Outcome that is returned in the end.
void run_program(Env& env, const std::vector<std::string>& words, Outcome& outcome);

// The commands that a text prints to be run, as words. A person puts `data` for DATA. Left out are
// commands with other words in capitals.
[[nodiscard]] std::vector<std::vector<std::string>> printed_commands(const std::string& text,
                                                                     const std::string& data);

// The option of "run again with --max-rejects 3".
[[nodiscard]] std::vector<std::string> printed_options(const std::string& text);

}  // namespace xtts::simulation
