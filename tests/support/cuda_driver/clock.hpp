// Clock: a vector clock, which says which work is certainly over. Each stream numbers its tasks,
// beginning with 1. A clock holds for each stream the number up to which all tasks are over.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace xtts::testing::fake_cuda {

// One task: the number of its stream, and its own number there.
struct Stamp {
  std::size_t stream = 0;
  std::uint64_t number = 0;
};

class Clock {
 public:
  [[nodiscard]] bool covers(const Stamp& stamp) const {
    return stamp.stream < seen_.size() && seen_[stamp.stream] >= stamp.number;
  }
  void add(const Stamp& stamp) {
    if (stamp.stream >= seen_.size()) seen_.resize(stamp.stream + 1);
    seen_[stamp.stream] = std::max(seen_[stamp.stream], stamp.number);
  }
  void join(const Clock& other) {
    for (std::size_t i = 0; i < other.seen_.size(); ++i) add({i, other.seen_[i]});
  }

 private:
  std::vector<std::uint64_t> seen_;  // by stream
};

}  // namespace xtts::testing::fake_cuda
