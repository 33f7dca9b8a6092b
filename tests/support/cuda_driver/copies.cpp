#include "support/cuda_driver/copies.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "support/cuda_driver/words.hpp"

namespace xtts::testing::fake_cuda {

void enqueue_copy_to_device(FakeDriver& driver, Stream& stream, const DeviceRange& to,
                            const std::byte* from) {
  const std::size_t size_bytes = to.end - to.begin;
  driver.host.check_is_locked(from, size_bytes);
  const auto hash = std::make_shared<std::optional<std::uint64_t>>(hash_host(from, size_bytes));
  if (!hash->has_value()) driver.refuse(kInvalidValue, "the memory of the host is not mapped");
  HostCopy copy{.task = nullptr, .memory = from, .size_bytes = size_bytes, .hash = hash};
  const bool is_known = driver.host.add_copy(copy);
  Work work{.name = driver.call_name};
  work.uses.push_back(to.use(true));
  work.uses.push_back({.record = &driver.host.record(),
                       .memory_name = "memory of the host",
                       .begin = address_of(from),
                       .end = address_of(from) + size_bytes});
  std::size_t offset = 0;
  for (const std::size_t part : driver.cut(size_bytes)) {
    const std::byte* const part_from = from + offset;
    const auto expected = is_known ? hash_host(part_from, part) : std::nullopt;
    work.pieces.emplace_back([=]() -> std::string {
      std::vector<std::byte> bytes(part);
      if (!read_host(part_from, bytes)) return "reads memory of the host that was unmapped";
      std::ranges::copy(bytes, to.own() + offset);
      Hasher64 hasher;
      hasher.update(bytes);
      if (!expected || hasher.finish() == *expected) return {};
      return "copies memory of the host that was written to after the call";
    });
    offset += part;
  }
  driver.host.set_task_of_last_copy(driver.enqueue(stream, std::move(work)));
}

void enqueue_copy_to_host(FakeDriver& driver, Stream& stream, std::byte* to,
                          const DeviceRange& from) {
  const std::size_t size_bytes = from.end - from.begin;
  driver.host.check_is_locked(to, size_bytes);
  const auto hash = std::make_shared<std::optional<std::uint64_t>>();
  const auto before = hash_host(to, size_bytes);
  if (!before) driver.refuse(kInvalidValue, "the memory of the host is not mapped");
  HostCopy copy{
      .task = nullptr, .memory = to, .size_bytes = size_bytes, .is_to_host = true, .hash = hash};
  (void)driver.host.add_copy(copy);
  Work work{.name = driver.call_name};
  work.uses.push_back(from.use(false));
  work.uses.push_back({.record = &driver.host.record(),
                       .memory_name = "memory of the host",
                       .begin = address_of(to),
                       .end = address_of(to) + size_bytes,
                       .is_write = true});
  std::size_t offset = 0;
  for (const std::size_t part : driver.cut(size_bytes)) {
    work.pieces.emplace_back([=]() -> std::string {
      const bool is_written = write_host(to + offset, {from.own() + offset, part});
      return is_written ? "" : "writes to memory of the host that was unmapped";
    });
    offset += part;
  }
  work.last = [=]() -> std::string {
    *hash = hash_host(to, size_bytes);
    return {};
  };
  driver.host.set_task_of_last_copy(driver.enqueue(stream, std::move(work)));
}

void enqueue_copy_to_peer(FakeDriver& driver, Stream& stream, const DeviceRange& to,
                          const DeviceRange& from) {
  Work work{.name = driver.call_name, .uses = {from.use(false), to.use(true)}};
  std::size_t offset = 0;
  for (const std::size_t part : driver.cut(to.end - to.begin)) {
    work.pieces.emplace_back([=]() -> std::string {
      std::copy_n(from.own() + offset, part, to.own() + offset);
      return {};
    });
    offset += part;
  }
  driver.enqueue(stream, std::move(work));
}

}  // namespace xtts::testing::fake_cuda
