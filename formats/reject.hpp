// Rejects: clips that were not stored, with the reason. Each is a line of rejects.jsonl
// (cache-v1.md, section 10). Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "formats/reason.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

enum class RejectClass : std::uint8_t {
  kPolicy,       // a rule of the recipe dropped the clip
  kInput,        // the bytes are at fault: the same bytes fail again
  kCrash,        // a codec crashed on it
  kEnvironment,  // the disk, the network or a permission: tried again by every build
};
[[nodiscard]] std::string_view to_string(RejectClass kind) noexcept;

struct Reject {
  RejectClass kind = RejectClass::kInput;
  std::string id;                     // empty where none could be read
  std::string path;                   // relative to DATA
  std::optional<std::uint64_t> line;  // line of the list at `path`
  Reason reason = {};
  std::string split = {};  // set for a clip with a place in canonical order
  // Of the source, where it was read. It is local (sources.bin, journal), and in no line.
  std::optional<Digest> content_digest = {};

  [[nodiscard]] Stage stage() const { return stage_of(reason); }
  friend bool operator==(const Reject&, const Reject&) = default;
};

[[nodiscard]] std::string encode_reject(
    const Reject& reject);  // canonical JSON, without the line feed
[[nodiscard]] Result<Reject> decode_reject(std::string_view line);
[[nodiscard]] Result<std::vector<Reject>> decode_rejects(std::string_view lines);  // a whole file
// Gives a place for messages: "metadata.csv:12", or the id where no path is known.
[[nodiscard]] std::string place_of(const Reject& reject);
// Sorts into the file's canonical order: id, path, line, the rule's name, numbers, detail.
void sort_rejects(std::vector<Reject>& rejects);

}  // namespace xtts::formats
