// run_ordered: numbers are given out in order, worked on in parallel, and taken back in order; on
// oneTBB, which nothing else of the pipeline sees.
//
// At most `in_flight` numbers are between next() and the end of their commit(), and they follow one
// another: what belongs to a number may lie in slot number % in_flight. Returns when next() has
// said that there are no more and all have been committed; the calling thread works too. An
// exception that leaves a step ends the run and comes out here. std::system_error where the system
// gives no thread.
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

void run_ordered(OrderedWork& work, std::uint32_t thread_count, std::size_t in_flight);

}  // namespace xtts::pipeline
