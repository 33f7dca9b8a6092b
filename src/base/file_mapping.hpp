// FileMapping: a whole file as read-only memory, as long as it was when it was opened. It outlives
// the file it came from; the pages go with it.
//
// Touching a page that the kernel cannot provide (the file was cut meanwhile, the disk fails)
// raises SIGBUS: read through guarded_read.hpp, which makes a value of that. Immutable, share
// freely.
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

  // Advice: where it is not taken, only time is lost. Ranges may begin and end anywhere in the
  // file. Begins to read what is not in memory and does not wait for it.
  virtual void will_need(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept = 0;
  // Sets up the pages of a range at once, which costs a quarter of touching them one by one.
  virtual void populate(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept = 0;
  // How much of the range lies in memory now, to a page; 0 where the kernel does not tell us, which
  // is where we neither own the file nor may write to it.
  [[nodiscard]] virtual std::uint64_t resident_bytes(std::uint64_t offset_bytes,
                                                     std::uint64_t size_bytes) const = 0;
  [[nodiscard]] virtual bool tells_what_is_resident() const noexcept { return true; }
  // Locks the pages of a range in memory, reading those that are not there, until let_go() or the
  // end of the mapping; once, however often it is asked for. kResource: the system does not allow
  // it.
  [[nodiscard]] virtual Status hold(std::uint64_t offset_bytes, std::uint64_t size_bytes) const = 0;
  virtual void let_go(std::uint64_t offset_bytes, std::uint64_t size_bytes) const noexcept = 0;
};

}  // namespace xtts
