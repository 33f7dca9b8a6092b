// FileMapping is a whole file as read-only memory, with the file's length at its opening. It may
// outlive the file object; its destruction unmaps the pages.
//
// If the kernel cannot provide a page (the file was truncated, the disk fails), touching it raises
// SIGBUS. Read through guarded_read.hpp, which turns that into a value. Immutable, share freely.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "xtts/status.hpp"

namespace xtts {

class FileMapping {
 public:
  virtual ~FileMapping() = default;

  [[nodiscard]] virtual std::span<const std::byte> bytes() const noexcept = 0;

  // Advice only: if the system ignores it, only time is lost. Begins to read what is not in memory
  // and does not wait for it. Ranges may begin and end anywhere in the file.
  virtual void will_need(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept = 0;
  // Sets up the pages of a range at once, which costs a quarter of touching them one by one.
  virtual void populate(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept = 0;
  // The part of the range that is in memory now, rounded to pages; 0 where the kernel does not
  // tell, because we neither own the file nor may write to it.
  [[nodiscard]] virtual std::uint64_t resident_bytes(std::uint64_t offset_bytes,
                                                     std::uint64_t size_bytes) const = 0;
  [[nodiscard]] virtual bool tells_what_is_resident() const noexcept { return true; }
  // Reads the pages of a range and locks them in memory, until unlock_pages() or the end of the
  // mapping.
  // Repeated calls do not add up. kResource: the system does not allow it.
  [[nodiscard]] virtual Status lock_pages(std::uint64_t offset_bytes,
                                          std::uint64_t size_bytes) const = 0;
  virtual void unlock_pages(std::uint64_t offset_bytes,
                            std::uint64_t size_bytes) const noexcept = 0;
};

}  // namespace xtts
