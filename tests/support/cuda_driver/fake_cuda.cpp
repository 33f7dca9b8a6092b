#include "support/cuda_driver/fake_cuda.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "support/cuda_driver/control.hpp"
#include "support/cuda_driver/fake_memory.hpp"

namespace xtts::testing::fake_cuda {
namespace {

StreamPointer find_stream(FakeDriver& now, std::uintptr_t handle, const ContextPointer& context) {
  auto& stack = now.contexts_of_thread();
  stack.push_back(context);  // the default streams are those of the current context
  try {
    StreamPointer found = now.stream(reinterpret_cast<cuda::StreamHandle>(handle));
    stack.pop_back();
    return found;
  } catch (const Refusal&) {
    stack.pop_back();
    throw;
  }
}

int write_lines(const std::vector<std::string>& lines, char* text, std::size_t size_bytes) {
  std::string all;
  for (const std::string& line : lines) all += line + "\n";
  if (size_bytes > 0) {
    const std::size_t count = std::min(all.size(), size_bytes - 1);
    std::memcpy(text, all.data(), count);
    text[count] = '\0';
  }
  return static_cast<int>(lines.size());
}

}  // namespace

void reset(const Options& options) {
  replace_driver(options);
}

std::vector<std::string> faults() {
  std::vector<std::string> all;
  (void)control("faults", [&](FakeDriver& now, auto&) { all = all_faults(now); });
  return all;
}

std::vector<std::string> leftovers() {
  std::vector<std::string> all;
  (void)control("leftovers", [&](FakeDriver& now, auto&) { all = all_leftovers(now); });
  return all;
}

std::uint64_t call_count(const std::string& name) {
  std::uint64_t count = 0;
  (void)control("call_count", [&](FakeDriver& now, auto&) { count = now.call_counts[name]; });
  return count;
}

std::vector<std::byte> copy_to_host(cuda::DeviceAddress address, std::size_t size_bytes) {
  std::vector<std::byte> bytes(size_bytes);
  (void)control("copy_to_host", [&](FakeDriver& now, auto&) {
    const DeviceRange range = now.device_range(address, size_bytes);
    now.check_order("copy_to_host", now.host_clock, {range.use(false)});
    const UnwatchedAccess unwatched;
    std::copy_n(range.own(), size_bytes, bytes.begin());
  });
  return bytes;
}

std::uintptr_t make_stream(int device, bool is_blocking) {
  std::uintptr_t handle = 0;
  (void)control("make_stream", [&](FakeDriver& now, auto&) {
    now.check_device(device);
    own_driver();
    const ContextPointer context = now.primary_context(device);
    context->is_held_by_test = true;
    const StreamPointer made = now.make_stream_object(context, is_blocking);
    made->is_of_test = true;
    handle = now.streams.add(made);
  });
  return handle;
}

void launch_read(std::uintptr_t stream, cuda::DeviceAddress address, std::size_t size_bytes,
                 ReadDone done) {
  const auto bytes = std::make_shared<std::vector<std::byte>>(size_bytes);
  const bool is_queued = control("launch_read", [&](FakeDriver& now, auto&) {
    const DeviceRange range = now.device_range(address, size_bytes);
    const StreamPointer on = find_stream(now, stream, range.allocation->context);
    Work work{.name = now.call_name, .uses = {range.use(false)}};
    std::size_t offset = 0;
    for (const std::size_t part : now.cut(size_bytes)) {
      work.pieces.emplace_back([=]() -> std::string {
        std::copy_n(range.own() + offset, part, bytes->data() + offset);
        return {};
      });
      offset += part;
    }
    work.last = [=]() -> std::string {
      if (done) done(std::move(*bytes));
      return {};
    };
    now.enqueue(*on, std::move(work));
  });
  if (!is_queued && done) done(std::move(*bytes));
}

void finish(std::uintptr_t stream) {
  (void)control("finish", [&](FakeDriver& now, auto& lock) {
    const StreamPointer found = find_stream(now, stream, now.primary_context(0));
    now.wait_as_host(lock, TaskPointer(found->last));
  });
}

}  // namespace xtts::testing::fake_cuda

extern "C" {

namespace fake = xtts::testing::fake_cuda;

int fake_cuda_faults(char* text, std::size_t size_bytes) {
  return fake::write_lines(fake::faults(), text, size_bytes);
}

int fake_cuda_leftovers(char* text, std::size_t size_bytes) {
  return fake::write_lines(fake::leftovers(), text, size_bytes);
}

std::uint64_t fake_cuda_call_count(const char* name) {
  return fake::call_count(name);
}

void fake_cuda_copy_to_host(std::uint64_t address, void* to, std::size_t size_bytes) {
  const auto bytes = fake::copy_to_host(address, size_bytes);
  std::memcpy(to, bytes.data(), bytes.size());
}

std::uint64_t fake_cuda_make_stream(int device, int is_blocking) {
  return fake::make_stream(device, is_blocking != 0);
}

void fake_cuda_launch_read(std::uint64_t stream, std::uint64_t address, std::size_t size_bytes,
                           void* to) {
  fake::launch_read(stream, address, size_bytes, [to](const std::vector<std::byte>& bytes) {
    std::memcpy(to, bytes.data(), bytes.size());
  });
}

void fake_cuda_finish(std::uint64_t stream) {
  fake::finish(stream);
}

}  // extern "C"
