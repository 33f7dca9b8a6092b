// A part file's frame (plan-v1.md, section 2): its head, and chunks of rows, each with a check.
// Bytes <-> values, no I/O. Pure functions. Decoding takes hostile bytes; failures: kCorrupt,
// kUnsupported.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

inline constexpr std::size_t kPartHeadBytes = 128;
inline constexpr std::size_t kPartChunkBytes = 65'536;
inline constexpr std::size_t kPartPayloadBytes = kPartChunkBytes - sizeof(std::uint64_t);

struct PartHead {
  std::uint32_t index = 1;  // 1 ... count
  std::uint32_t count = 1;
  Digest plan;
  std::uint64_t clip_count = 0;
  std::uint64_t reject_count = 0;

  friend bool operator==(const PartHead&, const PartHead&) = default;
};

// True where a file that begins with `bytes` may be a part, also one that was cut short early.
[[nodiscard]] bool may_begin_part(std::span<const std::byte> bytes);

[[nodiscard]] std::string encode_part_head(const PartHead& head);
// `bytes` holds kPartHeadBytes.
[[nodiscard]] Result<PartHead> decode_part_head(std::span<const std::byte> bytes);

// `payload` has 1 to kPartPayloadBytes.
[[nodiscard]] std::string encode_part_chunk(std::uint64_t number, std::string_view payload);
// The payload; a view of `chunk`.
[[nodiscard]] Result<std::string_view> decode_part_chunk(std::uint64_t number,
                                                         std::span<const std::byte> chunk);

}  // namespace xtts::formats
