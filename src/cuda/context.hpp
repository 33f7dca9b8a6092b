// Context: one GPU, by its primary context, which the frameworks of this process use, too. So our
// events can be waited for on their streams, and they can read our memory.
//
// Immutable; any number of threads. Streams, events and memory keep their Context alive. Failures:
// as Driver's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cuda/driver.hpp"
#include "xtts/status.hpp"

namespace xtts::cuda {

class Context {
 public:
  // `number` counts the GPUs that CUDA_VISIBLE_DEVICES shows, as in "cuda:1".
  [[nodiscard]] static Result<std::shared_ptr<const Context>> open(int number);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] int number() const noexcept { return number_; }
  [[nodiscard]] ContextHandle handle() const noexcept { return handle_; }
  // "cuda:1", for messages.
  [[nodiscard]] std::string label() const { return formatted("cuda:{}", number_); }
  // The PCI bus id of a GPU, without opening it: "0000:01:00.0".
  [[nodiscard]] static Result<std::string> pci_bus_id(int number);
  // Empty: the driver does not tell.
  [[nodiscard]] const std::string& pci_bus_id() const noexcept { return pci_bus_id_; }
  // "NVIDIA H100 80GB HBM3".
  [[nodiscard]] const std::string& gpu_name() const noexcept { return gpu_name_; }
  // 90: compute capability 9.0.
  [[nodiscard]] int architecture() const noexcept { return architecture_; }
  // The host memory that is nearest to the GPU. Nothing: the machine has one node, or tells none.
  [[nodiscard]] std::optional<int> numa_node() const noexcept { return numa_node_; }

  // True: the driver takes a list of copies in one call, so a piece costs little.
  [[nodiscard]] bool copies_lists() const noexcept {
    return driver_->calls().copy_list != nullptr || driver_->calls().copy_list_of_12 != nullptr;
  }

  // Lets this GPU copy from and to the other one directly, where the machine can; else copies
  // between them go through the host's memory.
  void enable_peer(const Context& other) const noexcept;

  struct FreeMemory {
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
  };
  [[nodiscard]] Result<FreeMemory> memory() const;

  // Makes a driver call with this context current, and gives the thread its own context back.
  // `call` takes the DriverCalls and returns the driver's result; `what` says what it does.
  template <typename Call>
  [[nodiscard]] Status run(std::string_view what, Call call) const {
    XTTS_TRY(check_process());
    const DriverCalls& calls = driver_->calls();
    XTTS_TRY(driver_->check(calls.push_context(handle_), what));
    const CallResult result = call(calls);
    ContextHandle before = nullptr;
    (void)calls.pop_context(&before);
    return driver_->check(result, what);
  }
  // run() for destructors: nothing can be done about a failure. No call in a forked child.
  template <typename Call>
  void run_quietly(Call call) const noexcept {
    if (!driver_->may_be_called()) return;
    const DriverCalls& calls = driver_->calls();
    if (calls.push_context(handle_) != kSuccess) return;  // the process ends
    (void)call(calls);
    ContextHandle before = nullptr;
    (void)calls.pop_context(&before);
  }

 private:
  Context(const Driver& driver, int number) : driver_(&driver), number_(number) {}
  [[nodiscard]] Status retain();
  [[nodiscard]] Status find_facts();
  [[nodiscard]] std::optional<int> find_numa_node() const;
  [[nodiscard]] static Status check_number(const Driver& driver, int number);
  [[nodiscard]] Status check_process() const;

  const Driver* driver_;
  int number_;
  DeviceOrdinal device_ = 0;
  ContextHandle handle_ = nullptr;
  std::string pci_bus_id_;
  std::string gpu_name_;
  int architecture_ = 0;
  std::optional<int> numa_node_;
};

}  // namespace xtts::cuda
