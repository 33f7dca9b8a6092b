#include "support/cuda_driver/added_kernels.hpp"

#include <map>
#include <memory>
#include <utility>

#include "support/cuda_driver/fake_driver.hpp"
#include "support/cuda_driver/lifetime.hpp"

namespace xtts::testing::fake_cuda {
namespace {

std::map<std::string, PlanKernel>& added_kernels() {
  static std::map<std::string, PlanKernel> all;
  return all;
}

void check_apart(FakeDriver& driver, const std::string& name,
                 const std::vector<KernelRange>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    for (std::size_t j = i + 1; j < ranges.size(); ++j) {
      const KernelRange& one = ranges[i];
      const KernelRange& other = ranges[j];
      const bool is_apart = one.address + one.size_bytes <= other.address ||
                            other.address + other.size_bytes <= one.address;
      if (is_apart || (!one.is_written && !other.is_written)) continue;
      driver.fault(name + ": ranges " + std::to_string(i) + " and " + std::to_string(j) +
                   " overlap, and one is written");
    }
  }
}

Work make_work(FakeDriver& driver, const std::string& name, const KernelWork& work) {
  if (!work.refusal.empty()) driver.refuse(kInvalidValue, name + ": " + work.refusal);
  Work made{.name = name};
  const auto ranges = std::make_shared<std::vector<DeviceRange>>();  // pieces keep the memory
  for (const KernelRange& range : work.ranges) {
    const DeviceRange found = driver.device_range(range.address, range.size_bytes);
    driver.check_is_current(*found.allocation);
    if (range.is_read) made.uses.push_back(found.use(false));
    if (range.is_written) made.uses.push_back(found.use(true));
    ranges->push_back(found);
  }
  check_apart(driver, name, work.ranges);
  std::size_t begin = 0;
  for (const std::size_t part : driver.cut(work.piece_count)) {
    made.pieces.emplace_back([run = work.run, ranges, begin, part]() -> std::string {
      std::vector<std::byte*> memory;
      for (const DeviceRange& range : *ranges) memory.push_back(range.own());
      run(memory, begin, begin + part);
      return {};
    });
    begin += part;
  }
  return made;
}

}  // namespace

void add_kernel(const std::string& name, PlanKernel plan) {
  const std::scoped_lock lock(driver_mutex());
  added_kernels()[name] = std::move(plan);
}

PlanKernel added_kernel(const std::string& name) {
  const std::scoped_lock lock(driver_mutex());
  return added_kernels().at(name);
}

bool has_added_kernel(const std::string& name) {
  return added_kernels().contains(name);
}

Work make_added(FakeDriver& driver, const std::string& name, const KernelLaunch& launch) {
  return make_work(driver, name, added_kernels().at(name)(launch));
}

CallResult launch_work(cuda::StreamHandle stream, const std::string& name, const KernelWork& work) {
  if (is_driver_gone()) return cuda::kDeinitialized;
  const std::scoped_lock lock(driver_mutex());
  FakeDriver& now = driver();
  now.call_name = name;
  try {
    const StreamPointer on = now.stream(stream);
    now.check_is_current(*on);
    (void)now.enqueue(*on, make_work(now, name, work));
    return cuda::kSuccess;
  } catch (const Refusal& refusal) {
    return refusal.result;
  }
}

}  // namespace xtts::testing::fake_cuda
