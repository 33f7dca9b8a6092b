#include "formats/clip_id.hpp"

namespace xtts::formats {

std::string full_id(std::string_view dataset, std::string_view id) {
  std::string full(dataset);
  if (!full.empty()) full += '/';
  full += id;
  return full;
}

std::string full_id(const RecordFacts& facts) {
  return full_id(facts.dataset.value_or(""), facts.id.value_or(""));
}

Digest id_hash(std::string_view dataset, std::string_view id) {
  return digest128(full_id(dataset, id));
}

ClipId parts_of_full_id(std::string_view full_id, bool has_datasets) {
  const std::size_t slash = has_datasets ? full_id.find('/') : std::string_view::npos;
  if (slash == std::string_view::npos) return {.dataset = "", .id = std::string(full_id)};
  return {.dataset = std::string(full_id.substr(0, slash)),
          .id = std::string(full_id.substr(slash + 1))};
}

}  // namespace xtts::formats
