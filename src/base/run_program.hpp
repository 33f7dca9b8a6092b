// Runs a program to its end, with a text as its standard input. Any thread. The caller must not
// ignore SIGCHLD if it wants the exit code.
//
// Files in memory carry input and output, so that no pipe can be full on both sides. The program
// has a process group of its own: where its time is over, its children end with it.
#pragma once

#include <sys/types.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts {

struct ProgramRun {
  std::vector<std::string> arguments;       // the first is the program's path or name on PATH
  std::string_view input = {};              // its standard input
  std::chrono::milliseconds time_limit{0};  // 0: none
  std::function<bool()> cancelled = {};     // asked often while the program runs
};

enum class ProgramEnd : std::uint8_t {
  kExited,     // `code` is its exit code
  kSignalled,  // `code` is the signal
  kUnknown,    // it has ended; this process ignores SIGCHLD
  kTimedOut,   // it was ended for its time
};

struct ProgramResult {
  ProgramEnd end = ProgramEnd::kExited;
  int code = 0;
  std::string output;  // stdout
  std::string errors;  // stderr
};

// Failures: kNotFound (no such program), kResource (no process, no memory), kUnsupported (not
// executable), kCancelled. A program that fails by itself is no failure.
[[nodiscard]] Result<ProgramResult> run_program(const ProgramRun& run);

// Starts a program that the caller talks with. `standard`: its standard input, output and errors,
// descriptors from 3 on. It has a process group of its own, which end_program() ends. Failures as
// in run_program().
[[nodiscard]] Result<pid_t> start_program(const std::vector<std::string>& arguments,
                                          const std::array<int, 3>& standard);
// Ends the program's whole group and takes what waitpid() says, so that no zombie stays. nullopt:
// this process ignores SIGCHLD. A program that has ended by itself keeps its own end.
std::optional<int> end_program(pid_t process);

// The last line that is not empty: where most programs say why they failed.
[[nodiscard]] std::string last_line(std::string text);

// Replaces this process by a program; signals come to it as by default. Returns only on a failure,
// with the codes of run_program().
[[nodiscard]] Status become_program(std::vector<std::string> arguments);

}  // namespace xtts
