#include "support/cuda_driver/past_driver.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "support/cuda_driver/control.hpp"
#include "support/cuda_driver/memory.hpp"

namespace xtts::testing::fake_cuda {
namespace {

// What a reader that comes too early finds.
constexpr std::byte kNotReadYet{0xDD};

Stamp note_write(FakeDriver& now, const DeviceRange& range, std::size_t stream, const char* name) {
  const Stamp stamp{.stream = stream, .number = ++now.write_count};
  range.allocation->record.add(range.begin, range.end, true,
                               {.stamp = stamp, .name = std::make_shared<const std::string>(name)});
  return stamp;
}

}  // namespace

bool write_past_driver(const char* name, cuda::DeviceAddress address,
                       std::span<const std::byte> bytes) {
  std::size_t late_us = 0;
  const bool is_begun = control(name, [&](FakeDriver& now, auto&) {
    const DeviceRange range = now.device_range(address, bytes.size());
    now.check_is_current(*range.allocation);
    now.check_order(name, now.host_clock, {range.use(true)});
    note_write(now, range, now.open_writes_stream, name);
    const UnwatchedAccess unwatched;
    std::fill_n(range.own(), bytes.size(), kNotReadYet);
    late_us = now.scheduler.below(200);
  });
  if (!is_begun) return false;
  std::this_thread::sleep_for(std::chrono::microseconds(late_us));
  return control(name, [&](FakeDriver& now, auto&) {
    const DeviceRange range = now.device_range(address, bytes.size());
    {
      const UnwatchedAccess unwatched;
      std::ranges::copy(bytes, range.own());
    }
    now.host_clock.add(note_write(now, range, now.ended_writes_stream, name));
  });
}

bool check_device_memory(const char* name, cuda::DeviceAddress address, std::size_t size_bytes) {
  return control(name, [&](FakeDriver& now, auto&) {
    now.check_is_current(*now.device_range(address, size_bytes).allocation);
  });
}

bool check_caller(const char* name) {
  return control(name, [](FakeDriver& now, auto&) { (void)now.current(); });
}

void note_fault(const std::string& what) {
  (void)control("note_fault", [&](FakeDriver& now, auto&) { now.fault(what); });
}

}  // namespace xtts::testing::fake_cuda
