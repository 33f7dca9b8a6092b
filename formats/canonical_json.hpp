// Canonical JSON: the form of all our JSON, with fingerprints and differences of recipe sections.
// A fingerprint is the digest of a section's canonical JSON. That JSON has every field, defaults
// included, so a later change of a default changes no old fingerprint. Pure functions.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/hash.hpp"
#include "formats/recipe_fwd.hpp"
#include "xtts/status.hpp"

namespace xtts::formats {

// Writes UTF-8, sorted keys, no white space, shortest floats. Replaces invalid UTF-8 by U+FFFD.
[[nodiscard]] std::string dump_canonical(const nlohmann::json& value);
// Never throws. kCorrupt names the position.
[[nodiscard]] Result<nlohmann::json> parse_json(std::string_view text);

[[nodiscard]] nlohmann::json to_json(const FeatureConfig& config);
[[nodiscard]] nlohmann::json to_json(const TextConfig& config);
[[nodiscard]] nlohmann::json to_json(const CorpusConfig& config);
[[nodiscard]] nlohmann::json to_json(const StorageConfig& config);

template <typename Section>
[[nodiscard]] Digest fingerprint(const Section& section) {
  return digest128(dump_canonical(to_json(section)));
}

// The names of the two sides of a comparison.
struct SideNames {
  std::string in_first = "in the cache";
  std::string in_second = "asked for";
  std::string not_in_second = "absent in what is asked for";
};

// Describes the differences between two sections, for people: "features.mel.n_mels: 80 in the
// cache, 100 asked for".
[[nodiscard]] std::vector<std::string> describe_differences(const nlohmann::json& first,
                                                            const nlohmann::json& second,
                                                            const std::string& prefix,
                                                            const SideNames& names = {});

}  // namespace xtts::formats
