// Reasons: why a clip is not stored (reject.hpp), or what is odd about one that is (a warning). A
// reason is a rule, the rule's numbers and the text that the rule is about: words are made of it
// where they are shown (report/reasons.hpp), and nowhere else. Pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "xtts/status.hpp"

namespace xtts::formats {

// Rules are written by their names, which never change (cache-v1.md, section 10); the values are
// places in the table of reason.cpp.
enum class Rule : std::uint8_t {
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
  kSourceTooLong,
  kClipTooLong,
  kSegmentBeyondSource,
  kSegmentEmpty,
  kSegmentCut,
  kRateChanges,
  kPacketsSkipped,
  kDecoderComplains,
  kReadingStopped,
  kEndsEarly,
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
  kUnknown,  // a rule of another version: `detail` is its JSON
};

// The part of a build that finds a rule broken.
enum class Stage : std::uint8_t {
  kList,
  kDiscover,
  kText,
  kRead,
  kDecode,
  kCondition,
  kFeatures,
  kUnknown,
};
[[nodiscard]] std::string_view to_string(Stage stage) noexcept;
// A list, a folder or a text alone breaks the rule: the clip has no planned place, and its sound no
// part in it.
[[nodiscard]] bool precedes_sound(Stage stage) noexcept;

// What becomes of a clip that breaks a rule.
enum class Effect : std::uint8_t {
  kRejected,  // it is not stored
  kWarned,    // it is stored, with a warning
  kChosen,    // as the corpus section says, which may change while records stay
};

struct RuleInfo {
  Rule rule;
  std::string_view name;  // "too_long"
  Stage stage;
  Effect effect = Effect::kRejected;
  std::array<std::string_view, 2> numbers = {};  // their names, "frames"; empty: it has no such
  std::string_view text = "detail";              // the name of Reason::detail
  std::string_view setting = {};                 // of the recipe: keeps the clip with another value
};
[[nodiscard]] const RuleInfo& info_of(Rule rule) noexcept;
[[nodiscard]] std::string_view name_of(Rule rule) noexcept;
[[nodiscard]] std::span<const RuleInfo> all_rules() noexcept;  // without kUnknown

struct Reason {
  Rule rule = Rule::kUnknown;
  std::array<double, 2> numbers = {};  // as the rule's names say
  // A name that the rule is about (an id, a column), or what a library or a list's reader says.
  std::string detail = {};

  friend bool operator==(const Reason&, const Reason&) = default;
};

// Of a rule that this version does not know: what its JSON says.
[[nodiscard]] std::string name_of(const Reason& reason);
[[nodiscard]] Stage stage_of(const Reason& reason);

// Members of a JSON object: rule, numbers by name, the text by its name where it is not empty.
// Members that are there already stay.
void put_reason(const Reason& reason, nlohmann::json& object);
// Of such an object; other members are passed over. kCorrupt where a number is missing, negative or
// not finite. An object without a rule that is known is kept whole, as kUnknown.
[[nodiscard]] Result<Reason> read_reason(const nlohmann::json& object);

// A record's warnings as they are stored: a canonical JSON array.
[[nodiscard]] std::string encode_reasons(std::span<const Reason> reasons);
[[nodiscard]] Result<std::vector<Reason>> decode_reasons(std::string_view json);

}  // namespace xtts::formats
