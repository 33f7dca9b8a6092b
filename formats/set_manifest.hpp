// set.json (set-v1.md): the caches that are read as one. Bytes <-> struct, no I/O. Pure functions.
// decode_set takes hostile bytes, as decode_manifest does. Failures: kCorrupt, kUnsupported.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

inline constexpr std::string_view kSetFileName = "set.json";

// Clips of a cache that follow one another and have one data set and one split.
struct ClipGroup {
  std::uint16_t dataset = 0;  // by the set's table
  std::uint8_t split = 0;
  std::uint64_t clip_count = 0;

  friend bool operator==(const ClipGroup&, const ClipGroup&) = default;
};

struct SetMember {
  std::string path;     // relative to the set's folder, or absolute
  Digest index_digest;  // an index tells of all of its cache, its manifest too
  std::vector<ClipGroup> groups;
  std::vector<std::uint64_t> column_bytes;  // of shard files, by the set's columns

  [[nodiscard]] std::uint64_t clip_count() const noexcept;
};

struct SetManifest {
  Manifest whole;              // of all caches, without shards and an index
  std::optional<Digest> plan;  // they are all the parts of this plan, in its order
  std::vector<SetMember> members;
};

// The members of `whole` are those of a cache that holds all clips.
[[nodiscard]] Result<std::string> encode_set(const SetManifest& set);
[[nodiscard]] Result<SetManifest> decode_set(std::string_view text);

}  // namespace xtts::formats
