// Order, bounds and ends of run_ordered, on more threads than there are cores.
#include "pipeline/ordered_pipeline.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/run_on_threads.hpp"

namespace xtts::pipeline {
namespace {

class Counting final : public OrderedWork {
 public:
  Counting(std::size_t first, std::size_t end, std::size_t in_flight)
      : next_(first), end_(end), squares_(in_flight) {}

  std::optional<std::size_t> next() override {
    EXPECT_EQ(givers_++, 0);
    EXPECT_LE(next_ - committed_ - first_, squares_.size());
    --givers_;
    if (next_ == throw_in_next) throw std::runtime_error("next");
    if (next_ == end_) return std::nullopt;
    return next_++;
  }
  void compute(std::size_t number) override {
    if (number == throw_in_compute) throw std::runtime_error("compute");
    if (number % 7 == 0) std::this_thread::yield();
    squares_[number % squares_.size()] = number * number;
  }
  void commit(std::size_t number) override {
    EXPECT_EQ(committers_++, 0);
    if (number == throw_in_commit) throw std::runtime_error("commit");
    EXPECT_EQ(squares_[number % squares_.size()], number * number);
    order.push_back(number);
    ++committed_;
    --committers_;
  }

  std::vector<std::size_t> order;
  std::size_t throw_in_next = SIZE_MAX;
  std::size_t throw_in_compute = SIZE_MAX;
  std::size_t throw_in_commit = SIZE_MAX;

 private:
  std::size_t next_;
  const std::size_t first_ = next_;
  const std::size_t end_;
  std::vector<std::size_t> squares_;
  std::atomic<std::size_t> committed_ = 0;
  std::atomic<int> givers_ = 0;
  std::atomic<int> committers_ = 0;
};

TEST(OrderedPipeline, GivesAndTakesBackInOrder) {
  for (const std::uint32_t threads : {1U, 2U, 9U}) {
    for (const std::size_t in_flight : {std::size_t{1}, std::size_t{3}, std::size_t{40}}) {
      Counting work(5, 505, in_flight);
      EXPECT_EQ(run_ordered(work, threads, in_flight), threads);
      ASSERT_EQ(work.order.size(), 500U);
      for (std::size_t i = 0; i < 500; ++i) ASSERT_EQ(work.order[i], i + 5);
    }
  }
}

TEST(OrderedPipeline, NothingToDoEnds) {
  Counting work(3, 3, 4);
  (void)run_ordered(work, 4, 4);
  EXPECT_TRUE(work.order.empty());
}

TEST(OrderedPipeline, ExceptionOfAnyStepEndsTheRunAndComesOut) {
  for (const std::string& step :
       {std::string("next"), std::string("compute"), std::string("commit")}) {
    Counting work(0, 200, 8);
    (step == "next"      ? work.throw_in_next
     : step == "compute" ? work.throw_in_compute
                         : work.throw_in_commit) = 50;
    try {
      (void)run_ordered(work, 4, 8);
      ADD_FAILURE() << step;
    } catch (const std::runtime_error& error) {
      EXPECT_EQ(error.what(), step);
    }
    EXPECT_LE(work.order.size(), 58U);
  }
}

TEST(RunOnThreads, CallsEachOnceAndTheCallerToo) {
  std::atomic<int> calls = 0;
  std::atomic<bool> was_caller = false;
  const auto caller = std::this_thread::get_id();
  EXPECT_EQ(run_on_threads(5,
                           [&] {
                             ++calls;
                             if (std::this_thread::get_id() == caller) was_caller = true;
                           }),
            5U);
  EXPECT_EQ(calls, 5);
  EXPECT_TRUE(was_caller);
  EXPECT_EQ(run_on_threads(0, [&] { ++calls; }), 1U);
}

}  // namespace
}  // namespace xtts::pipeline
