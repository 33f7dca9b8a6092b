// ShardDealer: deals the clips of a plan to its parts in runs of whole planned shards. All clips
// pass in canonical order, and then each part is so many of them. Memory: 16 bytes a shard, and the
// names of the sources of one. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

#include "corpus/clips/clip.hpp"
#include "formats/plan.hpp"

namespace xtts::plan {

// What the plan knows of a clip that passes.
enum class Verdict : std::uint8_t { kCompute, kRefusedText };

class ShardDealer {
 public:
  ShardDealer(std::uint64_t clips_per_shard, std::uint32_t part_count)
      : clips_per_shard_(clips_per_shard), part_count_(part_count) {}

  void measure(const corpus::Clip& clip, Verdict verdict);
  // Call it after the last clip. Returns clips, shards and bytes of each part.
  [[nodiscard]] std::vector<formats::PlanPart> deal();

 private:
  struct Shard {
    std::uint64_t clip_count = 0;  // with those whose texts are refused
    std::uint64_t source_bytes = 0;
  };

  const std::uint64_t clips_per_shard_;
  const std::uint32_t part_count_;
  std::vector<Shard> shards_;
  std::unordered_set<std::string> sources_;  // of the shard that is measured; each counts once
  std::uint64_t computed_count_ = 0;         // clips that passed and will be computed
};

}  // namespace xtts::plan
