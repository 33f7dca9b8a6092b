#include "support/ptx/ptx_memory.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

#include "support/ptx/fault.hpp"

namespace xtts::testing::ptx {
namespace {

using Use = MemoryRange::Use;

constexpr std::uint32_t kSeveralReaders = std::numeric_limits<std::uint32_t>::max();

std::string place_text(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string act_text(std::uint64_t address, std::uint32_t size_bytes, bool is_write) {
  return (is_write ? "writes " : "reads ") + std::to_string(size_bytes) + " bytes at " +
         place_text(address);
}

std::string place_in(const MemoryRange& range, std::uint64_t address) {
  return "byte " + std::to_string(address - range.address) + " of '" + range.name + "'";
}

}  // namespace

Memory::Memory(const std::vector<MemoryRange>& ranges) {
  for (const MemoryRange& range : ranges) {
    if (range.size_bytes == 0) continue;
    const std::size_t byte_count = range.use == Use::kRead ? 0 : range.size_bytes;
    watched_.push_back({.range = range, .bytes = std::vector<Byte>(byte_count)});
  }
  std::ranges::sort(watched_, {}, [](const Watched& one) { return one.range.address; });
  for (std::size_t i = 1; i < watched_.size(); ++i) {
    const MemoryRange& before = watched_[i - 1].range;
    const MemoryRange& range = watched_[i].range;
    if (before.address + before.size_bytes <= range.address) continue;
    throw Fault("'" + before.name + "' and '" + range.name + "' overlap");
  }
}

Memory::Watched& Memory::find(std::uint64_t address, std::uint32_t size_bytes, bool is_write) {
  const auto behind = std::ranges::upper_bound(
      watched_, address, {}, [](const Watched& one) { return one.range.address; });
  if (behind == watched_.begin()) {
    throw Fault(act_text(address, size_bytes, is_write) + ", before all memory of the launch");
  }
  Watched& found = *std::prev(behind);
  const std::uint64_t offset = address - found.range.address;
  if (offset > found.range.size_bytes || found.range.size_bytes - offset < size_bytes) {
    throw Fault(act_text(address, size_bytes, is_write) + ", behind the " +
                std::to_string(found.range.size_bytes) + " bytes of '" + found.range.name + "'");
  }
  const bool is_allowed = found.range.use == Use::kReadAndWrite ||
                          found.range.use == Use::kShared ||
                          (found.range.use != Use::kRead) == is_write;
  if (!is_allowed) {
    throw Fault(act_text(address, size_bytes, is_write) + ": " + place_in(found.range, address) +
                ", which it may not " + (is_write ? "write" : "read"));
  }
  if (address % size_bytes != 0) {
    throw Fault(act_text(address, size_bytes, is_write) + ", which is no multiple of it");
  }
  return found;
}

std::uint64_t Memory::load(std::uint32_t thread, std::uint64_t address, std::uint32_t size_bytes) {
  Watched& found = find(address, size_bytes, false);
  if (!found.bytes.empty()) {
    Byte* const bytes = found.bytes.data() + (address - found.range.address);
    for (std::uint32_t i = 0; i < size_bytes; ++i) {
      if (bytes[i].writer != 0 && bytes[i].writer != thread) {
        throw Fault("reads " + place_in(found.range, address + i) +
                    ", which another thread wrote: " + place_text(address + i));
      }
      if (found.range.use == Use::kShared && !bytes[i].is_set) {
        throw Fault("reads " + place_in(found.range, address + i) +
                    ", which no thread has written");
      }
      const bool is_first = bytes[i].reader == 0 || bytes[i].reader == thread;
      bytes[i].reader = is_first ? thread : kSeveralReaders;
    }
  }
  std::uint64_t bits = 0;
  std::memcpy(&bits, reinterpret_cast<const void*>(address), size_bytes);
  return bits;
}

void Memory::store(std::uint32_t thread, std::uint64_t address, std::uint32_t size_bytes,
                   std::uint64_t bits) {
  Watched& found = find(address, size_bytes, true);
  auto* const memory = reinterpret_cast<unsigned char*>(address);
  const bool is_same = std::memcmp(memory, &bits, size_bytes) == 0;
  Byte* const bytes = found.bytes.data() + (address - found.range.address);
  for (std::uint32_t i = 0; i < size_bytes; ++i) {
    const bool is_others = bytes[i].writer != 0 && bytes[i].writer != thread;
    if (is_others && !(found.range.use == Use::kFlag && is_same)) {
      throw Fault("writes " + place_in(found.range, address + i) +
                  ", which another thread wrote: " + place_text(address + i));
    }
    if (bytes[i].reader != 0 && bytes[i].reader != thread) {
      throw Fault("writes " + place_in(found.range, address + i) +
                  ", which another thread read: " + place_text(address + i));
    }
    bytes[i].writer = thread;
    bytes[i].is_set = true;
  }
  std::memcpy(memory, &bits, size_bytes);
}

void Memory::pass_barrier() {
  for (Watched& watched : watched_) {
    for (Byte& byte : watched.bytes) byte = {.is_set = byte.is_set};
  }
}

}  // namespace xtts::testing::ptx
