// plan.json (plan-v1.md, section 1): what all parts of a plan share. Bytes <-> struct, no I/O. Pure
// functions. decode_plan takes hostile bytes. Failures: kCorrupt, kUnsupported (with the version
// needed, or a recipe that this version does not know).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/manifest.hpp"
#include "formats/recipe.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// A place in a folder's tree whose files lie in an audio root.
struct PlanMount {
  std::string place;
  std::uint32_t root = 0;  // index in the folder's audio roots
  std::string path;        // relative to the root

  friend bool operator==(const PlanMount&, const PlanMount&) = default;
};

struct PlanFolder {
  std::string name;  // of the data set; empty unless DATA holds several corpora
  std::string path;  // absolute, without links
  std::vector<std::string> audio_roots;
  std::vector<PlanMount> mounts;

  friend bool operator==(const PlanFolder&, const PlanFolder&) = default;
};

struct PlanPart {
  std::string file;  // its name in the plan's folder: "0001"
  std::uint64_t file_bytes = 0;
  Digest digest;  // of the file
  std::uint64_t clip_count = 0;
  std::uint64_t reject_count = 0;
  std::uint64_t shard_count = 0;
  std::uint64_t source_bytes = 0;

  friend bool operator==(const PlanPart&, const PlanPart&) = default;
};

// How much may be lost over all parts, as options tell it: "5%", "20".
struct PlanLimits {
  std::string max_rejects = "5%";
  std::string max_dropped = "10%";

  friend bool operator==(const PlanLimits&, const PlanLimits&) = default;
};

struct Plan {
  Digest asked;
  Digest clips;   // of all clips of all parts: Partition::plan
  Recipe recipe;  // leaves no length open
  Numerics numerics;
  std::string data_path;  // DATA as it was given, absolute: a folder or a corpora.yaml
  std::vector<std::string> audio_roots;
  std::vector<PlanFolder> folders;
  PlanLimits limits;
  std::string layout;
  bool has_text = false;
  bool is_stream = false;
  std::vector<std::string> datasets, speakers, languages;
  std::map<std::string, std::uint64_t> clips_by_split;
  std::vector<PlanPart> parts;

  [[nodiscard]] std::uint64_t clip_count() const noexcept;
  [[nodiscard]] std::uint64_t reject_count() const noexcept;
  [[nodiscard]] std::uint64_t shard_count() const noexcept;
  [[nodiscard]] std::uint64_t source_bytes() const noexcept;
};

[[nodiscard]] std::string encode_plan(const Plan& plan);
[[nodiscard]] Result<Plan> decode_plan(std::string_view text);

inline constexpr std::string_view kPlanName = "plan.json";
inline constexpr std::uint64_t kPlanBytesMax = kManifestBytesMax;

// "0007": four digits, or as many as `index` (from 1) has.
[[nodiscard]] std::string part_file_name(std::uint32_t index);

}  // namespace xtts::formats
