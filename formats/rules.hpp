// Rules: a row for each rule that a clip can break. A row has the stage of a build that finds it,
// the effect on the clip, its numbers and its setting. They have their own header, so a new rule
// recompiles only files that name rules. Plain values; pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "formats/reason.hpp"

namespace xtts::formats {

// Rules are written by their names, which never change (cache-v1.md, section 10); the values are
// places in the table of rules.cpp.
enum class Rule : std::uint8_t {
  kUnknown,  // a rule of another version: Reason::detail is its JSON
  // Lists and folders.
  kBadRow,
  kAudioMissing,
  kAudioOutsideOfData,
  kIdTwice,
  kBadFile,
  kNotRead,
  kOutsideOfData,
  kNoRecording,
  // Texts.
  kNoText,
  kTextTooLong,
  kUnknownCharacters,
  kTextNotUtf8,
  // Sources and their sound.
  kSourceUnreadable,
  kSourceRefused,
  kSourceEmpty,
  kDecodeFailed,
  kDecoderCrashed,
  kDecoderTooSlow,
  kDecoderTooLarge,
  kDecoderStoodStill,
  kSourceTooLong,
  kClipTooLong,
  kSegmentBeyondSource,
  kSegmentEmpty,
  kSegmentCut,
  kOtherRate,
  kRateChanges,
  kPacketsSkipped,
  kDecoderComplains,
  kReadingStopped,
  kEndsEarly,
  kEndMissing,
  kSourceNotFinite,
  // The corpus section's rules, and sound that cannot be conditioned.
  kUnfitSound,
  kTooShort,
  kSilent,
  kClipped,
  kNotFinite,
  kLowRate,
  kSameSound,
  // Features and stored values.
  kNoFeatures,
  kTooLong,
  kValuesNotFinite,
  kBeyondFloat16,
  kBeyondBfloat16,
  kBeyondInt16,
  kVanishedInFloat16,
  kVanishedInBfloat16,
  kCutAtFullScale,
};

// The part of a build that finds a rule broken.
enum class Stage : std::uint8_t {
  kUnknown,
  kList,
  kDiscover,
  kText,
  kRead,
  kDecode,
  kCondition,
  kFeatures,
};
[[nodiscard]] std::string_view to_string(Stage stage) noexcept;
// True if a list, a folder or a text alone breaks the rule. Then the clip has no planned place,
// and its sound plays no part.
[[nodiscard]] bool precedes_sound(Stage stage) noexcept;

// The effect on a clip that breaks a rule.
enum class Effect : std::uint8_t {
  kRejected,  // it is not stored
  kWarned,    // it is stored, with a warning
  kChosen,    // the corpus section decides, and may change while records stay
};

struct RuleInfo {
  Rule rule;
  std::string_view name;  // "too_long"
  Stage stage;
  Effect effect = Effect::kRejected;
  std::array<std::string_view, 2> numbers = {};  // names such as "frames"; empty: no number
  std::string_view text = "detail";              // the name of Reason::detail
  std::string_view setting = {};                 // recipe key: another value keeps the clip
};
[[nodiscard]] const RuleInfo& info_of(Rule rule) noexcept;
[[nodiscard]] std::string_view name_of(Rule rule) noexcept;
[[nodiscard]] std::span<const RuleInfo> all_rules() noexcept;  // without kUnknown

}  // namespace xtts::formats
