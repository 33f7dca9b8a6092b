#include "verify/piece_reader.hpp"

#include <algorithm>
#include <cstring>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "reader/read_exactly.hpp"

namespace xtts::verify {

bool PieceReader::holds(std::uint64_t offset_bytes, std::size_t size_bytes) const noexcept {
  return offset_bytes >= begin_ && offset_bytes + size_bytes <= begin_ + held_bytes_;
}

// Moves the wanted bytes that the buffer already holds to its front.
void PieceReader::keep_from(std::uint64_t offset_bytes) {
  const bool overlaps = offset_bytes >= begin_ && offset_bytes < begin_ + held_bytes_;
  const std::size_t dropped = overlaps ? offset_bytes - begin_ : held_bytes_;
  held_bytes_ -= dropped;
  if (held_bytes_ > 0) std::memmove(buffer_.data(), buffer_.data() + dropped, held_bytes_);
  begin_ = offset_bytes;
}

Status PieceReader::fill(std::size_t target_bytes) {
  const std::span<std::byte> free(buffer_.data() + held_bytes_, target_bytes - held_bytes_);
  XTTS_ASSIGN(const std::size_t got, file_.read_at(begin_ + held_bytes_, free));
  held_bytes_ += got;
  return {};
}

Result<std::span<const std::byte>> PieceReader::view(std::uint64_t offset_bytes,
                                                     std::size_t size_bytes) {
  if (!holds(offset_bytes, size_bytes)) {
    keep_from(offset_bytes);
    if (buffer_.size() < size_bytes) buffer_.resize(size_bytes);
    Status status = fill(buffer_.size());
    // One bad sector must not hide the bytes around it. If the large read fails, we read only the
    // wanted bytes.
    if (!status.ok() && held_bytes_ < size_bytes) status = fill(size_bytes);
    if (held_bytes_ < size_bytes && !status.ok()) return status;
    if (held_bytes_ < size_bytes) {
      return reader::corrupt(name_, offset_bytes,
                             formatted("the file ends within these {} bytes", size_bytes));
    }
  }
  return std::span<const std::byte>(buffer_.data() + (offset_bytes - begin_), size_bytes);
}

}  // namespace xtts::verify
