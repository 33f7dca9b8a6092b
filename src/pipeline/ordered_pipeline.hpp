// run_ordered: numbers are given out in order, worked on in parallel, and taken back in order.
//
// At most `in_flight` numbers are between next() and the end of their commit(), and they follow one
// another: what belongs to a number may lie in slot number % in_flight. Returns when next() has
// said that there are no more and all have been committed; the calling thread works too. An
// exception that leaves a step ends the run and comes out here, when no thread works any more.
//
// Where the system gives fewer threads than asked for, those do it. oneTBB, which did this before,
// starts threads from its own threads: where the system refused one (RLIMIT_NPROC, a limit of
// address space), an exception left such a thread and ended the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace xtts::pipeline {

class OrderedWork {
 public:
  virtual ~OrderedWork() = default;
  // 0, 1, 2, ... from wherever it begins. One call at a time.
  [[nodiscard]] virtual std::optional<std::size_t> next() = 0;
  // On any thread, several at once.
  virtual void compute(std::size_t number) = 0;
  // One call at a time, in the order of next(), after the number's compute().
  virtual void commit(std::size_t number) = 0;
};

// Returns how many threads there were, which are all gone.
std::size_t run_ordered(OrderedWork& work, std::uint32_t thread_count, std::size_t in_flight);

}  // namespace xtts::pipeline
