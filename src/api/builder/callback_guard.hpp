// CallbackGuard: what a user's function throws goes no further. The first exception is kept in
// words, the work is told to stop, and the public function returns it as kCancelled; no callback is
// called after it. Synchronised inside: callbacks come from several threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "xtts/status.hpp"

namespace xtts::builder {

class CallbackGuard {
 public:
  template <typename Call>
  void run(const char* name, Call call) noexcept {
    if (has_thrown_) return;
    try {
      call();
    } catch (const std::exception& failure) {
      keep(name, failure.what());
    } catch (...) {
      keep(name, "an exception of another kind");
    }
  }

  [[nodiscard]] bool has_thrown() const noexcept { return has_thrown_; }
  // In place of what the work has come to.
  [[nodiscard]] Status failure() const {
    const std::scoped_lock lock(mutex_);
    return {StatusCode::kCancelled, failure_};
  }

 private:
  void keep(const char* name, const char* what) noexcept {
    const std::scoped_lock lock(mutex_);
    if (has_thrown_) return;
    try {
      failure_ = std::string("stopped, because the callback `") + name + "` has thrown: " + what;
    } catch (...) {  // no memory for words
      failure_.clear();
    }
    has_thrown_ = true;
  }

  mutable std::mutex mutex_;  // guards failure_
  std::string failure_;
  std::atomic<bool> has_thrown_ = false;
};

}  // namespace xtts::builder
