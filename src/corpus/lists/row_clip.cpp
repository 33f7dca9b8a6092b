#include "corpus/lists/row_clip.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/names.hpp"
#include "formats/canonical_json.hpp"

namespace xtts::corpus {
namespace {

using nlohmann::json;

bool has_value(const json& value) {
  if (value.is_null()) return false;
  const auto* text = value.get_ptr<const json::string_t*>();
  return text == nullptr || !trimmed(*text).empty();
}

Status wrong(std::string_view name, std::string_view what) {
  return {StatusCode::kBadInput, formatted("has a field {} that is {}", printable(name), what)};
}

// A number is accepted as a text: a speaker or an id may be a number.
Result<std::string> text_of(std::string_view name, const json& value) {
  if (value.is_number()) return formats::dump_canonical(value);
  const auto* text = value.get_ptr<const json::string_t*>();
  if (text == nullptr) return wrong(name, "no text");
  // "\u0000" in JSON is a NUL that the check of the line's bytes does not see.
  if (text->find('\0') != std::string::npos) return wrong(name, "a text with a NUL character");
  return std::string(trimmed(*text));
}

Result<double> number_of(std::string_view name, const json& value) {
  double number = 0.0;
  if (value.is_number()) {
    number = value.get<double>();
  } else if (const auto* text = value.get_ptr<const json::string_t*>()) {
    const std::string_view digits = trimmed(*text);
    const char* const end = digits.data() + digits.size();
    const auto parsed = std::from_chars(digits.data(), end, number);
    if (parsed.ec != std::errc() || parsed.ptr != end) return wrong(name, "no number");
  } else {
    return wrong(name, "no number");
  }
  if (!std::isfinite(number)) return wrong(name, "no number");
  return number;
}

class RowReader {
 public:
  RowReader(json row, std::span<const FieldNames> names) : row_(std::move(row)) { choose(names); }

  Result<RowClip> read() {
    RowClip clip;
    for (const auto& [role, target] :
         {std::pair(FieldRole::kAudio, &clip.audio), std::pair(FieldRole::kId, &clip.id),
          std::pair(FieldRole::kRaw, &clip.text_raw),
          std::pair(FieldRole::kNormalized, &clip.text_normalized),
          std::pair(FieldRole::kSpeaker, &clip.speaker),
          std::pair(FieldRole::kLanguage, &clip.language)}) {
      XTTS_ASSIGN(*target, take_text(role));
    }
    if (clip.text_raw.empty()) clip.text_raw = clip.text_normalized;
    XTTS_ASSIGN(const std::string split, take_text(FieldRole::kSplit));
    clip.split = split_of_word(split);
    if (!split.empty() && !clip.split) {
      return Status(
          StatusCode::kBadInput,
          formatted("has the split {}; known are train, validation and test", printable(split)));
    }
    XTTS_ASSIGN(clip.segment, take_segment());
    if (!row_.empty()) clip.extra_json = formats::dump_canonical(row_);
    return clip;
  }

 private:
  void choose(std::span<const FieldNames> names) {
    std::array<std::size_t, kFieldRoleCount> ranks;
    ranks.fill(std::tuple_size_v<decltype(FieldNames::names)>);
    for (auto member = row_.begin(); member != row_.end();) {
      std::optional<std::size_t> rank;
      auto known = names.begin();
      while (known != names.end() && !(rank = known->rank_of(member.key()))) ++known;
      if (rank && !has_value(*member)) {
        member = row_.erase(member);
        continue;
      }
      if (rank) {
        const auto role = static_cast<std::size_t>(known->role);
        if (*rank < ranks[role]) {
          ranks[role] = *rank;
          chosen_[role] = member.key();
        }
      }
      ++member;
    }
  }

  [[nodiscard]] bool has(FieldRole role) const {
    return chosen_[static_cast<std::size_t>(role)].has_value();
  }

  template <typename Value>
  Result<Value> take(FieldRole role, Result<Value> (*convert)(std::string_view, const json&)) {
    if (!has(role)) return Value();
    const std::string& name = *chosen_[static_cast<std::size_t>(role)];
    const auto member = row_.find(name);
    auto value = convert(name, *member);
    row_.erase(member);
    return value;
  }

  Result<std::string> take_text(FieldRole role) { return take(role, text_of); }

  Result<std::optional<Segment>> take_segment() {
    if (!has(FieldRole::kStart) && !has(FieldRole::kEnd)) return std::optional<Segment>();
    Segment segment;
    XTTS_ASSIGN(segment.start_s, take(FieldRole::kStart, number_of));
    if (has(FieldRole::kEnd)) {
      XTTS_ASSIGN(segment.end_s, take(FieldRole::kEnd, number_of));
    } else if (has(FieldRole::kDuration)) {
      XTTS_ASSIGN(const double duration_s, take(FieldRole::kDuration, number_of));
      segment.end_s = segment.start_s + duration_s;
    }
    return std::optional<Segment>(segment);
  }

  json row_;
  std::array<std::optional<std::string>, kFieldRoleCount> chosen_;  // keys of row_
};

}  // namespace

std::span<const std::string_view> FieldNames::all() const {
  return {names.begin(), std::ranges::find(names, std::string_view())};
}

std::optional<std::size_t> FieldNames::rank_of(std::string_view name) const {
  const auto known = std::ranges::find_if(
      all(), [&](std::string_view each) { return equals_ignoring_case(each, name); });
  if (known == all().end()) return std::nullopt;
  return static_cast<std::size_t>(known - all().begin());
}

Result<RowClip> read_row(json row, std::span<const FieldNames> names) {
  return RowReader(std::move(row), names).read();
}

const json* field_of(const json& row, std::span<const FieldNames> names, FieldRole role) {
  const auto known = std::ranges::find(names, role, &FieldNames::role);
  if (known == names.end()) return nullptr;
  for (const std::string_view name : known->all()) {
    for (auto member = row.begin(); member != row.end(); ++member) {
      if (equals_ignoring_case(member.key(), name) && has_value(*member)) return &*member;
    }
  }
  return nullptr;
}

std::string segment_suffix(const Segment& segment) {
  const auto digits = [](double seconds) {
    // A value out of range is refused later, as a segment; here it must only not be undefined.
    const bool is_in_range = seconds >= 0.0 && seconds <= kSegmentSecondsMax;
    std::array<char, 24> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%08lld",
                  is_in_range ? std::llround(seconds * 1000.0) : 0LL);
    return std::string(buffer.data());
  };
  return formatted("_{}-{}", digits(segment.start_s),
                   segment.end_s ? digits(*segment.end_s) : std::string("end"));
}

}  // namespace xtts::corpus
