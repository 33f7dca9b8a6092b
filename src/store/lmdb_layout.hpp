// LmdbLayout lets LMDB decide where the values of a shard lie and write all other bytes, in a
// memfd and one transaction. The values are only reserved (MDB_RESERVE) and never touched here, so
// the memfd stays a sparse file of a few dozen pages for any size of shard. The image is the
// pages() of this file with the values put in (lmdb_container.cpp).
//
// One thread at a time. Failures: kResource (memfd, /proc or memory refused, file full),
// kUnsupported (pages of another size than 4,096 bytes). After a failure the layout can only be
// destroyed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::store {

class LmdbLayout {
 public:
  [[nodiscard]] static Result<std::unique_ptr<LmdbLayout>> open();
  ~LmdbLayout();
  LmdbLayout(const LmdbLayout&) = delete;
  LmdbLayout& operator=(const LmdbLayout&) = delete;

  // Adds a small value, in a tree page. Keys must come in ascending order.
  [[nodiscard]] Status put_small(std::string_view key, std::string_view value);
  // Reserves a value of at least 4,080 bytes, on pages of its own; returns its offset in the file.
  [[nodiscard]] Result<std::uint64_t> reserve(std::string_view key, std::uint64_t size_bytes);
  // Commits, closes LMDB and truncates the file after its last page. No value follows.
  [[nodiscard]] Status finish();
  // The finished file, values all zero; valid while this object lives.
  [[nodiscard]] std::span<const std::byte> pages() const noexcept;

 private:
  struct Impl;
  explicit LmdbLayout(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A large value in a finished LMDB file, found in the pages themselves.
struct LargeValue {
  std::uint64_t offset_bytes = 0;  // 16 bytes into a page
  std::uint64_t page_count = 0;
};

// All large values of one of our files, in ascending order, by a scan over its pages. kInternal:
// the pages are not as LMDB lays them out. Never use it on a file from a disk.
[[nodiscard]] Result<std::vector<LargeValue>> scan_large_values(std::span<const std::byte> pages);

}  // namespace xtts::store
