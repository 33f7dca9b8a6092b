// The one FakeDriver of the process: made at the first call, replaced by reset(), and gone when the
// process ends. Its report is written then.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "support/cuda_driver/fake_driver.hpp"

namespace xtts::testing::fake_cuda {

[[nodiscard]] std::mutex& driver_mutex();
// driver_mutex() is held. The first driver has the seed that the environment gives.
[[nodiscard]] FakeDriver& driver();
// Does all work of the driver first. The mutex is not held.
void replace_driver(const Options& options);
// True when the process ends, behind all of the program's own destructors.
[[nodiscard]] bool is_driver_gone();

// The mutex is held. All that the driver has to tell, by lines.
[[nodiscard]] std::vector<std::string> all_faults(const FakeDriver& driver);
[[nodiscard]] std::vector<std::string> all_leftovers(const FakeDriver& driver);

}  // namespace xtts::testing::fake_cuda
