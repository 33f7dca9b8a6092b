// MemoryReserve keeps memory for the cleanup after an allocation has failed.
//
// A failed allocation throws. Destructors on the way to the catch block may need a little memory
// themselves: those of nlohmann's JSON values do. A second failure there ends the process by a
// signal without a message.
//
// While any MemoryReserve lives, ours is the handler of operator new, unless the host program has
// its own. Several may live at once, in any threads.
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
