// Tells how much of a WAV file is missing: libav takes the file's end for the end of the data and
// gives no message.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace xtts::decode::detail {

// The file's size by its RIFF header, divided by its true size: 2.0 for a file cut in half. Returns
// nothing for a file that is not RIFF, and for a header that was written before the length was
// known (programs that write to a pipe put 0 or nearly the largest number there). `head` is at
// least 8 bytes.
[[nodiscard]] inline std::optional<double> riff_promise(std::string_view head,
                                                        std::uint64_t size_bytes) {
  constexpr std::uint32_t kLengthUnknown = 0x7FFF'0000;
  if (!head.starts_with("RIFF")) return std::nullopt;
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= std::uint32_t{static_cast<unsigned char>(head[4 + i])} << (8 * i);
  if (size == 0 || size >= kLengthUnknown) return std::nullopt;
  return (static_cast<double>(size) + 8.0) / static_cast<double>(size_bytes);
}

}  // namespace xtts::decode::detail
