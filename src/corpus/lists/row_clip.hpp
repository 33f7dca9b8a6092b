// Turns a row of named fields into the facts of a clip. Each layout has a table of the names that
// it knows; all other fields are kept as JSON. Pure functions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "corpus/clips/clip.hpp"
#include "xtts/status.hpp"

namespace xtts::corpus {

enum class FieldRole : std::uint8_t {
  kAudio,
  kId,
  kRaw,
  kNormalized,
  kSpeaker,
  kLanguage,
  kSplit,
  kStart,
  kEnd,
  kDuration,
};
inline constexpr std::size_t kFieldRoleCount = 10;

// The names of fields that mean one thing. The first name with a value in the row is used. Letter
// case does not matter. A table has each role once.
struct FieldNames {
  FieldRole role;
  std::array<std::string_view, 8> names;  // the rest of the array is empty

  [[nodiscard]] std::span<const std::string_view> all() const;
  // The index of `name` in all(); nullopt: it is not there.
  [[nodiscard]] std::optional<std::size_t> rank_of(std::string_view name) const;
};

struct RowClip {
  std::string audio;
  std::string id;
  std::string text_raw;
  std::string text_normalized;
  std::string speaker;
  std::string language;
  std::optional<Split> split;
  // Set where the row has a start or an end; a duration alone gives no part.
  std::optional<Segment> segment;
  std::string extra_json;  // canonical; empty: no other fields
};

// `row` is an object. kBadInput, continuing "the line ...": a value of the wrong type, or an
// unknown split. Empty texts and nulls of known names count as absent.
[[nodiscard]] Result<RowClip> read_row(nlohmann::json row, std::span<const FieldNames> names);

// The row's value for `role`; null: none.
[[nodiscard]] const nlohmann::json* field_of(const nlohmann::json& row,
                                             std::span<const FieldNames> names, FieldRole role);

// "_00001500-00003000": a segment in milliseconds, which ends an id that the list does not give.
[[nodiscard]] std::string segment_suffix(const Segment& segment);

}  // namespace xtts::corpus
