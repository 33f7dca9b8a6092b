#include "plan/shared_sources.hpp"

#include <string_view>

#include "base/formatted.hpp"
#include "formats/clip_id.hpp"

namespace xtts::plan {
namespace {

constexpr std::size_t kNamesMax = 20;

}  // namespace

void SharedSourceCounter::add(const corpus::Clip& clip, std::uint32_t part) {
  if (!clip.range && !clip.segment) return;
  const std::string_view source = clip.source;
  const std::string name =
      formats::full_id(clip.dataset, clip.range ? source.substr(0, clip.container_bytes) : source);
  const Digest digest = digest128(name);
  if (part_of_.size() >= known_max_ && !part_of_.contains(digest)) {
    shared_.is_all = false;
    return;
  }
  const auto [known, is_new] = part_of_.try_emplace(digest, part);
  if (is_new || known->second == 0 || known->second == part) return;
  known->second = 0;
  ++shared_.count;
  if (shared_.names.size() < kNamesMax) shared_.names.push_back(name);
}

}  // namespace xtts::plan
