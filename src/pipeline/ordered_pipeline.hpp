// run_ordered: gives numbers out in order, works on them in parallel, and takes them back in order.
//
// At most `in_flight` numbers are between next() and the end of their commit(), and they are
// consecutive: the data of a number may lie in slot number % in_flight. run_ordered returns when
// next() has no more numbers and all are committed. The calling thread works too. If a step throws,
// the run ends, and run_ordered throws the exception again when no thread works any more.
//
// If the system gives fewer threads than wanted, these do the work. We used oneTBB before. It
// starts threads from its own threads: when the system refused one (RLIMIT_NPROC, a limit of
// address space), an exception left such a thread and ended the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace xtts::pipeline {

class OrderedWork {
 public:
  virtual ~OrderedWork() = default;
  // Returns 0, 1, 2, ..., or begins with a later number. One call at a time.
  [[nodiscard]] virtual std::optional<std::size_t> next() = 0;
  // Runs on any thread, several calls at once.
  virtual void compute(std::size_t number) = 0;
  // Runs one call at a time, in the order of next(), after the number's compute().
  virtual void commit(std::size_t number) = 0;
};

// Returns the number of threads that worked. All of them have ended.
std::size_t run_ordered(OrderedWork& work, std::uint32_t thread_count, std::size_t in_flight);

}  // namespace xtts::pipeline
