// ByteBudget: a bounded number of bytes that workers take before they allocate and give back
// afterwards. Synchronised inside. A request larger than the whole budget is granted when nobody
// else holds any: it runs alone. Whoever holds bytes must not wait for another lease, or for a
// thread that does: then a waiting thread is always woken.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <utility>

namespace xtts::pipeline {

class ByteBudget {
 public:
  explicit ByteBudget(std::uint64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  class Lease {
   public:
    Lease() = default;
    Lease(ByteBudget& budget, std::uint64_t size_bytes)
        : budget_(&budget), size_bytes_(size_bytes) {}
    Lease(Lease&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), size_bytes_(other.size_bytes_) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (budget_ != nullptr) budget_->give_back(size_bytes_);
    }

   private:
    ByteBudget* budget_ = nullptr;
    std::uint64_t size_bytes_ = 0;
  };

  [[nodiscard]] Lease take(std::uint64_t size_bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock,
                  [&] { return held_bytes_ == 0 || held_bytes_ + size_bytes <= limit_bytes_; });
    held_bytes_ += size_bytes;
    return Lease(*this, size_bytes);
  }

 private:
  void give_back(std::uint64_t size_bytes) {
    {
      const std::lock_guard lock(mutex_);
      held_bytes_ -= size_bytes;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t held_bytes_ = 0;
  const std::uint64_t limit_bytes_;
};

}  // namespace xtts::pipeline
