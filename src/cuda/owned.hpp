// Owned: a handle of the driver, given back when its owner goes. Move-only. `kGiveBack` is the
// member of DriverCalls that does it.
#pragma once

#include <memory>
#include <utility>

#include "cuda/context.hpp"

namespace xtts::cuda {

template <typename Handle, CallResult (*DriverCalls::*kGiveBack)(Handle)>
class Owned {
 public:
  Owned(std::shared_ptr<const Context> context, Handle handle) noexcept
      : context_(std::move(context)), handle_(handle) {}
  ~Owned() {
    if (handle_ == nullptr) return;
    context_->run_quietly([&](const DriverCalls& calls) { return (calls.*kGiveBack)(handle_); });
  }
  Owned(Owned&& other) noexcept
      : context_(std::move(other.context_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(context_, other.context_);
    std::swap(handle_, other.handle_);
    return *this;
  }

  [[nodiscard]] const std::shared_ptr<const Context>& context() const noexcept { return context_; }
  [[nodiscard]] Handle handle() const noexcept { return handle_; }
  // Never gives the handle back.
  void abandon() noexcept { handle_ = nullptr; }

 private:
  std::shared_ptr<const Context> context_;
  Handle handle_ = nullptr;
};

}  // namespace xtts::cuda
