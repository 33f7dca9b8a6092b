// Random programs: the fake driver finds a race exactly where a slow and simple model finds one.
//
// The model knows the direct predecessors of each task, searches them for a way, and keeps for
// each byte all tasks that used it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "support/cuda_driver/fake_cuda.hpp"
#include "support/cuda_driver/gpu_under_test.hpp"

namespace xtts::testing {
namespace {

constexpr std::size_t kModelBytes = 12;

class Model {
 public:
  enum Kind { kFree, kBlocking, kLegacy };
  explicit Model(std::vector<Kind> streams)
      : kinds_(std::move(streams)), last_(kinds_.size(), -1) {}

  // Returns the task's number.
  int add(std::size_t stream, const std::vector<int>& waited_for = {}) {
    std::set<int> before(waited_for.begin(), waited_for.end());
    before.insert(known_.begin(), known_.end());
    before.insert(last_[stream]);
    for (std::size_t other = 0; other < kinds_.size(); ++other) {
      const bool is_ordered = (kinds_[stream] == kLegacy && kinds_[other] == kBlocking) ||
                              (kinds_[stream] == kBlocking && kinds_[other] == kLegacy);
      if (is_ordered) before.insert(last_[other]);
    }
    before.erase(-1);
    before_.push_back(before);
    last_[stream] = static_cast<int>(before_.size()) - 1;
    return last_[stream];
  }
  void let_host_wait(int task) {
    if (task >= 0) known_.insert(task);
  }
  void let_host_wait_for_stream(std::size_t stream) { let_host_wait(last_[stream]); }

  // True if this use of [begin, end) has no order with an earlier one, or reads unwritten bytes.
  bool use(int task, std::size_t begin, std::size_t end, bool is_write) {
    bool is_race = false;
    for (std::size_t byte = begin; byte < end; ++byte) {
      for (const auto& [other, was_write] : uses_[byte]) {
        if ((is_write || was_write) && !is_behind(task, other)) is_race = true;
      }
      if (!is_write && !is_written_[byte]) is_race = true;
    }
    for (std::size_t byte = begin; byte < end; ++byte) {
      uses_[byte].emplace_back(task, is_write);
      if (is_write) is_written_[byte] = true;
    }
    return is_race;
  }
  bool use_by_host(std::size_t begin, std::size_t end) {
    for (std::size_t byte = begin; byte < end; ++byte) {
      if (!is_written_[byte]) return true;
      for (const auto& [other, was_write] : uses_[byte]) {
        if (!was_write) continue;
        const bool is_known = std::ranges::any_of(
            known_, [&](int task) { return task == other || is_behind(task, other); });
        if (!is_known) return true;
      }
    }
    return false;
  }

 private:
  [[nodiscard]] bool is_behind(int task, int other) const {
    std::set<int> seen;
    std::vector<int> open{task};
    while (!open.empty()) {
      const int one = open.back();
      open.pop_back();
      for (const int before : before_[static_cast<std::size_t>(one)]) {
        if (before == other) return true;
        if (seen.insert(before).second) open.push_back(before);
      }
    }
    return false;
  }

  std::vector<Kind> kinds_;
  std::vector<int> last_;  // of each stream; -1: none
  std::vector<std::set<int>> before_;
  std::set<int> known_;  // the host waited for these
  std::array<std::vector<std::pair<int, bool>>, kModelBytes> uses_;
  std::array<bool, kModelBytes> is_written_{};
};

// Returns true if the program ended with a race.
bool run_program(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](std::size_t count) { return random() % count; };
  GpuUnderTest gpu({.seed = seed, .latest = std::chrono::milliseconds(1)});
  Model model({Model::kFree, Model::kFree, Model::kBlocking, Model::kLegacy});
  const std::array<cuda::StreamHandle, 4> streams{gpu.stream(), gpu.stream(), gpu.stream(0),
                                                  nullptr};
  const std::array<cuda::EventHandle, 3> events{gpu.event(), gpu.event(), gpu.event()};
  std::array<int, 3> records{-1, -1, -1};
  const auto memory = gpu.memory(kModelBytes);
  std::vector<std::byte> host(kModelBytes);
  gpu.lock(host);
  if (below(2) == 0) {
    gpu.copy_in(memory, host, streams[0]);
    (void)model.use(model.add(0), 0, kModelBytes, true);
    gpu.wait(streams[0]);
    model.let_host_wait_for_stream(0);
  }
  bool is_race = false;
  const std::size_t step_count = 1 + below(40);
  for (std::size_t step = 0; step < step_count && !is_race; ++step) {
    const std::size_t stream = below(streams.size());
    const std::size_t event = below(events.size());
    const std::size_t begin = below(kModelBytes);
    const std::size_t size = 1 + below(kModelBytes - begin);
    switch (below(16)) {
      case 0: {
        EXPECT_EQ(
            gpu.calls.copy_to_device(memory + begin, host.data() + begin, size, streams[stream]),
            cuda::kSuccess);
        is_race = model.use(model.add(stream), begin, begin + size, true);
        break;
      }
      case 1:
        fake_cuda::launch_read(reinterpret_cast<std::uintptr_t>(streams[stream]), memory + begin,
                               size);
        is_race = model.use(model.add(stream), begin, begin + size, false);
        break;
      case 2:
      case 3:
        gpu.record(events[event], streams[stream]);
        records[event] = model.add(stream);
        break;
      case 4:
      case 5:
        gpu.let_wait(streams[stream], events[event]);
        if (records[event] >= 0) (void)model.add(stream, {records[event]});
        break;
      case 6:
      case 7:
      case 8:
      case 9:
        if (below(2) == 0) {
          gpu.wait(streams[stream]);
          model.let_host_wait_for_stream(stream);
        } else if (gpu.calls.query_event(events[event]) == cuda::kSuccess) {
          model.let_host_wait(records[event]);
        }
        break;
      case 10:
        (void)fake_cuda::copy_to_host(memory + begin, size);
        is_race = model.use_by_host(begin, begin + size);
        break;
      default: {  // an order that makes a longer program likely
        const std::size_t other = below(streams.size());
        gpu.record(events[event], streams[stream]);
        records[event] = model.add(stream);
        gpu.let_wait(streams[other], events[event]);
        (void)model.add(other, {records[event]});
      }
    }
    EXPECT_EQ(gpu.take_faults().empty(), !is_race) << "step " << step;
    if (::testing::Test::HasFailure()) break;
  }
  for (const auto stream : streams) gpu.wait(stream);
  return is_race;
}

TEST(FakeCuda, FindsARaceExactlyWhereTheModelDoes) {
  constexpr std::uint64_t kProgramCount = 3000;
  std::uint64_t race_count = 0;
  for (std::uint64_t seed = 0; seed < kProgramCount; ++seed) {
    SCOPED_TRACE(seed);
    if (run_program(seed)) ++race_count;
    if (HasFailure()) return;
  }
  EXPECT_GT(race_count, kProgramCount / 4);
  EXPECT_LT(race_count, kProgramCount / 4 * 3);
}

}  // namespace
}  // namespace xtts::testing
