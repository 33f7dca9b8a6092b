// The full id of a clip: "data set/id", or the id alone where there are no data sets.
#pragma once

#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "formats/facts.hpp"

namespace xtts::formats {

[[nodiscard]] std::string full_id(std::string_view dataset, std::string_view id);
[[nodiscard]] std::string full_id(const RecordFacts& facts);
[[nodiscard]] Digest id_hash(std::string_view dataset, std::string_view id);  // of the full id

struct ClipId {
  std::string dataset, id;
};

// Splits a full id. Names of data sets hold no '/'; ids may.
[[nodiscard]] ClipId parts_of_full_id(std::string_view full_id, bool has_datasets);

}  // namespace xtts::formats
