// Canonical JSON, which all our JSON is written in; recipe sections in it, their fingerprints and
// their differences. A fingerprint is the digest of a section's canonical JSON: every field is
// written, defaults included, so that a later change of a default changes nothing old. Pure
// functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// UTF-8, keys sorted, no white space, shortest floats. Invalid UTF-8 is replaced by U+FFFD.
[[nodiscard]] std::string dump_canonical(const nlohmann::json& value);
// Never throws: kCorrupt with the position.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text);

[[nodiscard]] nlohmann::json to_json(const FeatureConfig& config);
[[nodiscard]] nlohmann::json to_json(const TextConfig& config);
[[nodiscard]] nlohmann::json to_json(const CorpusConfig& config);
[[nodiscard]] nlohmann::json to_json(const StorageConfig& config);

template <typename Section>
[[nodiscard]] Digest fingerprint(const Section& section) {
  return digest128(dump_canonical(to_json(section)));
}

// What the two sides of a comparison are called.
struct SideNames {
  std::string in_first = "in the cache";
  std::string in_second = "asked for";
  std::string not_in_second = "absent in what is asked for";
};

// What differs between two sections, for people: "features.mel.n_mels: 80 in the cache, 100 asked
// for".
[[nodiscard]] std::vector<std::string> describe_differences(const nlohmann::json& first,
                                                            const nlohmann::json& second,
                                                            const std::string& prefix,
                                                            const SideNames& names = {});

}  // namespace xtts::formats
