// Calls from forked children of the process that called cuInit(). A child has a copy of this
// library, so it notes its calls in memory that it shares with its parent. Any thread.
#pragma once

#include <string>
#include <vector>

namespace xtts::testing::fake_cuda {

// From now on this process owns the driver.
void own_driver();
// True in a forked child, which must not call. Notes the call; `name` is a literal.
[[nodiscard]] bool is_call_of_child(const char* name);
[[nodiscard]] bool is_child();
[[nodiscard]] std::vector<std::string> faults_of_children();
// Nobody owns the driver, and nothing is noted.
void forget_children();

}  // namespace xtts::testing::fake_cuda
