// CallbackGuard stops exceptions of a user's callbacks. It keeps the first exception as text and
// tells the work to stop; the public function then returns kCancelled with that text. No callback
// runs after it. Synchronised inside: callbacks come from several threads.
#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <string>
#include <utility>

#include "base/formatted.hpp"
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
  // The public function returns this instead of the work's own result.
  [[nodiscard]] Status failure() const {
    const std::scoped_lock lock(mutex_);
    return {StatusCode::kCancelled, failure_};
  }

 private:
  void keep(const char* name, const char* what) noexcept {
    const std::scoped_lock lock(mutex_);
    if (has_thrown_) return;
    try {
      failure_ = formatted("stopped, because the callback `{}` has thrown: {}", name, what);
    } catch (...) {  // no memory for the text
      failure_.clear();
    }
    has_thrown_ = true;
  }

  mutable std::mutex mutex_;  // guards failure_
  std::string failure_;
  std::atomic<bool> has_thrown_ = false;
};

}  // namespace xtts::builder
