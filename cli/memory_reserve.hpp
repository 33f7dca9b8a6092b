// Memory for the way out of a command that has found none.
//
// An allocation that fails throws, and what is destroyed on the way to who catches it may need a
// little memory itself: nlohmann's JSON values do, in destructors, where a second failure ends the
// process by a signal and without a word.
#pragma once

namespace xtts::cli {

// One a process, in main(): the handler of operator new while it lives.
class MemoryReserve {
 public:
  MemoryReserve();
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
};

}  // namespace xtts::cli
