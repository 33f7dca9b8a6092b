// Built without the thread sanitizer even where all else is built with it: it cannot see how oneTBB
// orders what its threads do, so it would doubt every hand-over. HandOver tells it of the orders that
// are promised (numbers are given one after the other, each to whoever computes it, then committed
// one after the other; beyond `in_flight` none is given before an earlier one was committed); the
// steps themselves stay under its eye.
#include "pipeline/ordered_pipeline.hpp"

#include <tbb/global_control.h>
#include <tbb/parallel_pipeline.h>
#include <tbb/task_arena.h>

#include <stdexcept>
#include <system_error>

#include "base/hand_over.hpp"

namespace xtts::pipeline {

void run_ordered(OrderedWork& work, std::uint32_t thread_count, std::size_t in_flight) {
  HandOver given, computed, committed;
  const auto give = [&](tbb::flow_control& control) -> std::size_t {
    given.begin();
    committed.begin();
    const std::optional<std::size_t> number = work.next();
    given.end();
    if (!number) control.stop();
    return number.value_or(0);
  };
  const auto compute = [&](std::size_t number) {
    given.begin();
    work.compute(number);
    computed.end();
    return number;
  };
  const auto commit = [&](std::size_t number) {
    computed.begin();
    committed.begin();
    work.commit(number);
    committed.end();
  };
  using Mode = tbb::filter_mode;
  const auto filters = tbb::make_filter<void, std::size_t>(Mode::serial_in_order, give) &
                       tbb::make_filter<std::size_t, std::size_t>(Mode::parallel, compute) &
                       tbb::make_filter<std::size_t, void>(Mode::serial_in_order, commit);

  const tbb::global_control parallelism(tbb::global_control::max_allowed_parallelism, thread_count);
  tbb::task_arena arena(static_cast<int>(thread_count));
  given.end();  // what the caller did before
  try {
    arena.execute([&] { tbb::parallel_pipeline(in_flight, filters); });
  } catch (const std::runtime_error& error) {
    // oneTBB 2021.8 says so when pthread_create fails; our steps throw nothing of the kind.
    throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again),
                            error.what());
  }
  given.begin();
  computed.begin();
  committed.begin();
}

}  // namespace xtts::pipeline
