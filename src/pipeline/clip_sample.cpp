#include "pipeline/clip_sample.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

#include "base/env.hpp"
#include "base/hash.hpp"

namespace xtts::pipeline {
namespace {

constexpr std::uint64_t kSeed = 0x5EED;

// A kind: files of one extension whose sizes are within a factor of four.
struct Kind {
  std::uint32_t extension = 0;
  std::uint64_t bytes = 0;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> clips;  // hash, place: ascending
  std::size_t taken = 0;
};

std::uint32_t size_class(std::uint64_t bytes) {
  return static_cast<std::uint32_t>(std::bit_width(bytes) / 2);
}

}  // namespace

ClipSample sample_clips(const corpus::Corpus& corpus, std::span<const std::uint32_t> places,
                        std::size_t count, std::uint64_t bytes_max) {
  ClipSample sample;
  std::map<std::string_view, std::uint32_t> extensions;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers;
  std::vector<Kind> kinds;
  sample.kinds.reserve(places.size());
  for (const std::uint32_t place : places) {
    const corpus::Clip& clip = corpus.clips[place];
    const auto extension = static_cast<std::uint32_t>(extensions.size());
    const auto known = extensions.try_emplace(file_extension(clip.source), extension).first->second;
    const auto [entry, is_new] = numbers.try_emplace({known, size_class(clip.source_bytes)},
                                                     static_cast<std::uint32_t>(kinds.size()));
    if (is_new) kinds.push_back({.extension = known, .bytes = 0, .clips = {}, .taken = 0});
    sample.kinds.push_back(entry->second);
    Kind& kind = kinds[entry->second];
    kind.bytes += clip.source_bytes;
    if (clip.source_bytes <= bytes_max)
      kind.clips.emplace_back(check64(as_bytes(clip.id), kSeed), place);
  }
  sample.kind_count = kinds.size();
  for (Kind& kind : kinds) {
    const std::size_t wanted = std::min(count, kind.clips.size());
    std::partial_sort(kind.clips.begin(), kind.clips.begin() + static_cast<std::ptrdiff_t>(wanted),
                      kind.clips.end());
  }
  // Takes the highest quotient first (D'Hondt), but begins with one clip of each extension.
  std::set<std::uint32_t> met;
  while (sample.clips.size() < count) {
    Kind* best = nullptr;
    const auto rank = [&](const Kind& kind) {
      return std::pair(!met.contains(kind.extension),
                       static_cast<double>(kind.bytes) / static_cast<double>(kind.taken + 1));
    };
    for (Kind& kind : kinds) {
      if (kind.taken == kind.clips.size()) continue;
      if (best == nullptr || rank(kind) > rank(*best)) best = &kind;
    }
    if (best == nullptr) break;
    met.insert(best->extension);
    sample.clips.push_back(best->clips[best->taken++].second);
  }
  return sample;
}

}  // namespace xtts::pipeline
