// Formats of audio files as the decoder's libraries name them, and what becomes of each here. Plain
// values; share freely.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::audio {

enum class FormatUse : std::uint8_t {
  kRead,          // recognised by its content
  kReadBySuffix,  // has no header; read where the file's name ends in its suffix
  kRefused,
  kNotAudio,
};

// "read", "read by suffix", "refused", "not audio".
[[nodiscard]] std::string_view to_string(FormatUse use) noexcept;

struct Format {
  std::string name;
  std::string about;     // libav's own words
  std::string suffixes;  // "mkv,mk3d": those that libav knows it by
  FormatUse use = FormatUse::kRefused;
  std::string reason;  // empty where it is read by its content
};

// In libav's order.
struct FormatList {
  std::vector<Format> demuxers;
  std::vector<Format> decoders;
};

}  // namespace xtts::audio
