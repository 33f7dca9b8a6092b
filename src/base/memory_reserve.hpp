// Memory for the way out of work that has found none.
//
// An allocation that fails throws, and what is destroyed on the way to who catches it may need a
// little memory itself: nlohmann's JSON values do, in destructors, where a second failure ends the
// process by a signal and without a word.
//
// While the first of them lives it is the handler of operator new, unless the host program has one
// of its own. Several may live at once, in any threads.
#pragma once

namespace xtts {

class MemoryReserve {
 public:
  MemoryReserve() noexcept;
  ~MemoryReserve();
  MemoryReserve(const MemoryReserve&) = delete;
  MemoryReserve& operator=(const MemoryReserve&) = delete;
};

}  // namespace xtts
