// The C library's own functions, behind those that interposed.cpp defines again.
#pragma once

#include <functional>

namespace xtts::simulation {

// Starts a detached thread that the interposed functions do not see.
void start_real_thread(std::function<void()> work);

}  // namespace xtts::simulation
