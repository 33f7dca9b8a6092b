// What becomes of every demuxer and decoder of the linked FFmpeg: read, refused (and why), or not
// audio. One table decides what a corpus may hold, what recognises it, and what
// `xtts-precompute formats` prints.
//
// The rule: whatever can be demuxed and decoded within the worker's confinement is read. Refused
// are files that name other files or addresses, and sound whose bytes look like anything else.
// A demuxer that the table does not know is refused as well; a test fails where the linked FFmpeg
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
  std::string_view reason;   // empty where it is read by its content
  bool holds_sound = false;  // of what is refused: a file of it is sound that is not read
  bool is_known = true;      // false: the table has no such name
};

// `name` is libav's, which may itself be a list of names ("mov,mp4,m4a,3gp,3g2,mj2").
[[nodiscard]] FormatRule rule_of_demuxer(std::string_view name);

struct LinkedFormat {
  std::string name;
  std::string about;     // libav's own words
  std::string suffixes;  // "mkv,mk3d": those that libav knows it by
  FormatRule rule;
};

// In libav's order.
[[nodiscard]] std::vector<LinkedFormat> linked_demuxers();
[[nodiscard]] std::vector<LinkedFormat> linked_decoders();

// The demuxers that are read, comma separated, as libav takes it.
[[nodiscard]] const std::string& readable_demuxers();

// Why a file whose name ends in `suffix` is taken for sound, by libav's tables of demuxers and
// muxers. The suffix is without its dot, in any letter case.
enum class SuffixMeaning : std::uint8_t {
  kNothing,     // libav does not know it, or for something else
  kSound,       // of a container or codec that is read by its content
  kHeaderless,  // of one that is read by its suffix
  kRefused,     // of sound that is refused
};
[[nodiscard]] SuffixMeaning meaning_of_suffix(std::string_view suffix);
// libav's name of the demuxer that is read by this suffix; empty: there is none.
[[nodiscard]] std::string_view demuxer_of_suffix(std::string_view suffix);

}  // namespace xtts::decode
