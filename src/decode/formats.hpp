// Decides for every demuxer and decoder of the linked FFmpeg: read, refused (and why), or not
// audio. One table says what a corpus may hold, how it is recognised, and what `xtts-precompute
// formats` prints.
//
// The rule: a file is read if it can be demuxed and decoded within the worker's confinement.
// Refused are files that name other files or addresses, and sound whose bytes look like anything
// else. A demuxer that is not in the table is refused as well; a test fails if the linked FFmpeg
// has one. Pure functions; share freely.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audio/format.hpp"

namespace xtts::decode {

using audio::FormatUse;

struct FormatRule {
  FormatUse use = FormatUse::kRefused;
  std::string_view reason;   // of a format that is read: what of it is not; mostly empty
  bool holds_sound = false;  // for a refused format: its files are sound that is not read
  bool is_known = true;      // false: the table has no such name
};

// `name` is libav's, which may itself be a list of names ("mov,mp4,m4a,3gp,3g2,mj2").
[[nodiscard]] FormatRule rule_of_demuxer(std::string_view name);

struct LinkedFormat {
  std::string name;
  std::string about;     // libav's own text
  std::string suffixes;  // "mkv,mk3d": the suffixes that libav knows
  FormatRule rule;
};

// In libav's order.
[[nodiscard]] std::vector<LinkedFormat> linked_demuxers();
[[nodiscard]] std::vector<LinkedFormat> linked_decoders();

// The demuxers that are read, separated by commas, as libav expects it.
[[nodiscard]] const std::string& readable_demuxers();

// The meaning of a file name's `suffix` for sound, by libav's tables of demuxers and muxers. The
// suffix is without its dot, in any letter case.
enum class SuffixMeaning : std::uint8_t {
  kNothing,     // libav does not know it, or not for sound
  kSound,       // a container or codec that is read by its content
  kHeaderless,  // a format that is read by its suffix
  kRefused,     // sound that is refused
};
[[nodiscard]] SuffixMeaning meaning_of_suffix(std::string_view suffix);
// libav's name of the demuxer that is read by this suffix; empty if there is none.
[[nodiscard]] std::string_view demuxer_of_suffix(std::string_view suffix);

}  // namespace xtts::decode
