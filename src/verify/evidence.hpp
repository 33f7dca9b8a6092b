// Evidence says what a check expected or found, what a repair did, or why it could not. The text is
// made where that is known, and continues a sentence of request/verify_words.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/counted.hpp"
#include "formats/manifest.hpp"
#include "formats/reason.hpp"

namespace xtts::verify {

// An index in a cache whose manifest is lost.
struct FoundIndex {
  std::string name;
  std::optional<std::uint64_t> generation = {};  // nothing: it cannot be read
  bool has_manifest = false;                     // a copy that can be read, with these counts
  std::uint64_t record_count = 0;
  double seconds = 0.0;
};

// The numerics of two machines, where they differ.
struct OtherNumerics {
  formats::Numerics here;
  formats::Numerics cache;
};

struct Evidence {
  Evidence() = default;
  Evidence(std::string_view kind_in, std::string text_in, std::uint64_t first = 0,
           std::uint64_t second = 0)
      : kind(kind_in), text(std::move(text_in)), numbers{first, second} {}

  std::string_view kind = "nothing";  // a constant, for programs: it stays where the text changes
  std::string text = {};
  std::array<std::uint64_t, 2> numbers = {};   // that the text names, for the order of findings
  std::vector<FoundIndex> indexes = {};        // the highest generation first
  std::optional<OtherNumerics> numerics = {};  // a possible cause
};

// The kind that a remedy asks for.
inline constexpr std::string_view kNotListed = "not_listed";

[[nodiscard]] inline Evidence not_known() {
  return {"not_known", "unknown"};
}
[[nodiscard]] inline Evidence number(std::uint64_t value) {
  return {"number", std::to_string(value), value};
}
[[nodiscard]] inline Evidence bytes(std::uint64_t count) {
  return {"bytes", counted(count, "byte", "bytes"), count};
}
[[nodiscard]] inline Evidence no_such_file() {
  return {"no_such_file", "no such file"};
}
[[nodiscard]] Evidence refused(const formats::Reason& reason);
// `why` there is none.
[[nodiscard]] inline Evidence no_record(const Evidence& why) {
  return {"no_record", "none: " + why.text};
}

}  // namespace xtts::verify
