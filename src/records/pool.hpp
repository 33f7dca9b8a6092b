// Pool: lends things, one at a time, that cost too much to make for every clip. Synchronised
// inside.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace xtts::records {

template <typename Thing>
class Pool {
 public:
  Thing take() {  // a default-made one if none is free
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    Thing thing = std::move(free_.back());
    free_.pop_back();
    return thing;
  }
  void give_back(Thing thing) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(thing));
  }
  // Call it after all things have been given back.
  [[nodiscard]] const std::vector<Thing>& all() const { return free_; }

 private:
  std::mutex mutex_;
  std::vector<Thing> free_;
};

}  // namespace xtts::records
