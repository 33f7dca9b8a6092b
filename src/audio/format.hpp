// Formats of audio files, as the decoder's libraries name them, and how we treat each. Plain
// values; share freely.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::audio {

enum class FormatUse : std::uint8_t {
  kRead,          // recognised by its content
  kReadBySuffix,  // has no header; read if the file's name ends in its suffix
  kRefused,
  kNotAudio,
};

// "read", "read by suffix", "refused", "not audio".
[[nodiscard]] std::string_view to_string(FormatUse use) noexcept;

struct Format {
  std::string name;
  std::string about;     // libav's own text
  std::string suffixes;  // "mkv,mk3d": the suffixes that libav knows
  FormatUse use = FormatUse::kRefused;
  std::string reason;  // of a format that is read: what of it is not; mostly empty
};

// In libav's order.
struct FormatList {
  std::vector<Format> demuxers;
  std::vector<Format> decoders;
};

}  // namespace xtts::audio
