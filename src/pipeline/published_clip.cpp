#include "pipeline/published_clip.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "formats/bytes.hpp"
#include "reader/cache_paths.hpp"
#include "records/decode_request.hpp"

namespace xtts::pipeline {

corpus::Clip clip_of(formats::RecordFacts facts) {
  corpus::Clip clip;
  clip.id = std::move(facts.id).value_or("");
  clip.dataset = std::move(facts.dataset).value_or("");
  clip.source = std::move(facts.source_path).value_or("");
  clip.text_raw = std::move(facts.text_raw).value_or("");
  clip.text_normalized = std::move(facts.text_normalized).value_or("");
  clip.speaker = std::move(facts.speaker).value_or("");
  clip.language = std::move(facts.language).value_or("");
  clip.extra_json = std::move(facts.extra_json).value_or("");
  clip.split = static_cast<corpus::Split>(facts.split.value_or(0));
  return clip;
}

bool is_decoded_alike(const corpus::Clip& clip, const formats::RecordFacts& facts) {
  return records::suffix_of(facts.source_path.value_or("")) == records::suffix_of(clip.source);
}

std::uint64_t check_of(const formats::Reject& reject, const corpus::Clip& clip) {
  std::string judged = formats::encode_reject(reject);
  if (clip.segment) {
    formats::append(judged, std::bit_cast<std::uint64_t>(clip.segment->start_s));
    formats::append(judged, std::bit_cast<std::uint64_t>(clip.segment->end_s.value_or(-1.0)));
  }
  return std::max<std::uint64_t>(check64(as_bytes(std::string_view(judged))), 1);
}

bool has_texts(const formats::Manifest& manifest, std::span<const corpus::Clip> clips) {
  return manifest.find_column("tokens") != nullptr ||
         std::ranges::any_of(clips, [](const corpus::Clip& clip) { return has_text(clip); });
}

Result<std::optional<std::string>> lost_shard(Env& env, const std::string& cache,
                                              const formats::Manifest& manifest) {
  for (const formats::ColumnEntry& column : manifest.columns) {
    for (std::size_t i = 0; i < column.shards.size(); ++i) {
      const std::string name = reader::shard_name(column, i);
      const auto facts = env.stat(join_path(cache, name));
      if (!facts && facts.status().code() == StatusCode::kResource) return facts.status();
      if (!facts) return std::optional(name + " is missing");
      if (facts->size_bytes == column.shards[i].file_bytes) continue;
      return std::optional(formatted("{} has {} bytes instead of {}", name, facts->size_bytes,
                                     column.shards[i].file_bytes));
    }
  }
  return std::optional<std::string>();
}

}  // namespace xtts::pipeline
