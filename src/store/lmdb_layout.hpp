// LmdbLayout: LMDB itself decides where the values of a shard lie and writes every byte that is not
// a value, in a memfd and one transaction. The values are only reserved (MDB_RESERVE): their bytes
// are never touched here, so the memfd stays a sparse file of a few dozen pages, whatever the size
// of the shard. The image is the pages() of this file with the values put in (shard_image.cpp).
//
// One thread at a time. Failures: kResource (memfd, /proc or memory refused, file full),
// kUnsupported (pages of another size than 4,096 bytes). After a failure it is only good for
// destruction.
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

  // Keys come in ascending order. A small value lies in a tree page.
  [[nodiscard]] Status put_small(std::string_view key, std::string_view value);
  // A value of at least 4,080 bytes, on pages of its own; returns its offset in the file.
  [[nodiscard]] Result<std::uint64_t> reserve(std::string_view key, std::uint64_t size_bytes);
  // Commits, closes LMDB and cuts the file after its last page. Nothing is put after this point.
  [[nodiscard]] Status finish();
  // The finished file, values all zero; valid while this object lives.
  [[nodiscard]] std::span<const std::byte> pages() const noexcept;

 private:
  struct Impl;
  explicit LmdbLayout(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// A large value in a finished LMDB file, as the pages themselves tell it.
struct LargeValue {
  std::uint64_t offset_bytes = 0;  // 16 bytes into a page
  std::uint64_t page_count = 0;
};

// All large values of a file of ours, in ascending order: a scan over its pages. kInternal where
// the pages are not as LMDB lays them out. Never used on a file that was read from a disk.
[[nodiscard]] Result<std::vector<LargeValue>> scan_large_values(std::span<const std::byte> pages);

}  // namespace xtts::store
