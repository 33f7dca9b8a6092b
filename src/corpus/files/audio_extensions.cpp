#include "corpus/files/audio_extensions.hpp"

#include <array>

#include "base/env.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {
namespace {

// WAV comes first because it needs no codec. Lossless formats follow, then lossy ones, then video
// containers, whose sound is used where they lie among clips. Headerless samples come last. Nobody
// can decode those without further facts, so a file that is nothing else is refused by name.
constexpr auto kExtensions = std::to_array<std::string_view>(
    {"wav", "flac", "wave", "w64", "rf64", "aiff", "aif",  "aifc", "caf", "au",  "snd", "sph",
     "ape", "wv",   "tta",  "dsf", "dff",  "m4a",  "opus", "ogg",  "oga", "mp3", "aac", "mp4",
     "m4b", "webm", "mka",  "wma", "mp2",  "mpga", "mpc",  "spx",  "amr", "awb", "3gp", "3ga",
     "ac3", "mp1",  "weba", "mkv", "mov",  "m4v",  "avi",  "flv",  "asf", "wmv", "mpg", "mpeg",
     "ps",  "vob",  "ts",   "mts", "m2ts", "3g2",  "ogv",  "raw",  "pcm"});
constexpr std::size_t kExtensionBytesMax = 4;

// Suffixes that also mean TypeScript, PostScript, pictures or dumps.
constexpr auto kOfOtherThings = std::to_array<std::string_view>({"ts", "ps", "raw", "pcm"});

constexpr std::size_t kSuffixBytesMax = 8;

bool is_letter(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::optional<std::uint8_t> audio_rank(std::string_view extension) noexcept {
  if (extension.empty() || extension.size() > kExtensionBytesMax) return std::nullopt;
  for (std::size_t i = 0; i < kExtensions.size(); ++i) {
    if (equals_ignoring_case(extension, kExtensions[i])) return static_cast<std::uint8_t>(i);
  }
  return std::nullopt;
}

bool is_ambiguous_suffix(std::string_view extension) noexcept {
  for (const std::string_view other : kOfOtherThings) {
    if (equals_ignoring_case(extension, other)) return true;
  }
  return false;
}

std::string_view suffix_of(std::string_view path) noexcept {
  const std::string_view extension = file_extension(path);
  if (extension.empty() || extension.size() > kSuffixBytesMax) return {};
  bool has_letter = false;
  for (const char c : extension) {
    if (!is_letter(c) && (c < '0' || c > '9')) return {};
    has_letter = has_letter || is_letter(c);
  }
  return has_letter ? extension : std::string_view();
}

std::string_view without_suffix(std::string_view path) noexcept {
  const std::string_view suffix = suffix_of(path);
  if (!suffix.empty()) path.remove_suffix(suffix.size() + 1);
  return path;
}

std::string_view without_audio_extension(std::string_view path) noexcept {
  const std::string_view extension = file_extension(path);
  if (!audio_rank(extension)) return path;
  path.remove_suffix(extension.size() + 1);
  return path;
}

}  // namespace xtts::corpus
