// xtts-precompute: the only code that reads argv, prints or exits.
#include <unistd.h>

#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_reserve.hpp"
#include "cli/app.hpp"
#include "cli/run_command.hpp"
#include "cli/stop_signal.hpp"

namespace xtts::cli {
namespace {

int run_main(std::vector<std::string> arguments) {
  prepare_standard_streams();
  install_stop_signals();
  Output out(1, Buffering::kFull);
  Output err(2, Buffering::kNone);
  Context context(Env::real(), out, err);
  return run_command(std::move(arguments), context);
}

}  // namespace
}  // namespace xtts::cli

int main(int argc, char** argv) try {  // NOLINT(bugprone-exception-escape)
  const xtts::MemoryReserve reserve;
  return xtts::cli::run_main(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
} catch (const std::bad_alloc&) {  // outside the command, whose message is better
  constexpr std::string_view kSaid = "xtts-precompute: out of memory\n";
  (void)!::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  return xtts::cli::exit_code_of({xtts::StatusCode::kResource, "out of memory"}, 0);
}
