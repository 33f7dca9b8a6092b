// Selection: the clips that a reader goes through, of one cache or of several, one after the other.
// They are samples 0 to size() - 1, in the cache's canonical order. A selection is kept as runs of
// positions: a split of a million clips is one or two of them. Immutable once chosen, share freely.
// Failures: kInvalidArgument (an unknown split, an expression that cannot be read), kNotFound (an
// id that the cache lacks), kCorrupt, kResource.
#pragma once

#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "reader/clip_set.hpp"
#include "xtts/batch.hpp"
#include "xtts/status.hpp"

namespace xtts::loader {

// Consecutive positions.
struct PositionRange {
  std::uint64_t first_position = 0;
  std::uint64_t count = 0;

  friend bool operator==(const PositionRange&, const PositionRange&) = default;
};

class Selection {
 public:
  // Of the options, those count that say which clips are wanted: `split`, `where`, `ids` ("id" or
  // "data set/id") and `exclude`. A clip must meet all of them, and not lie at a position of
  // `not_at`, which is ascending.
  [[nodiscard]] static Result<Selection> choose(const reader::ClipSet& clips,
                                                const ReaderOptions& options,
                                                const std::vector<std::uint64_t>& not_at = {});

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  // The position in the cache of a sample below size().
  [[nodiscard]] std::uint64_t position_of(std::uint64_t sample) const noexcept;
  [[nodiscard]] bool contains(std::uint64_t position) const noexcept;
  // The positions of consecutive samples, all below size().
  [[nodiscard]] std::vector<PositionRange> positions_of(std::uint64_t first_sample,
                                                        std::uint64_t sample_count) const;
  // Equal digests: the same positions are chosen.
  [[nodiscard]] Digest digest() const;

 private:
  struct Run {
    std::uint64_t first_sample = 0;
    std::uint64_t first_position = 0;
  };
  struct Wanted;
  void add(std::uint64_t first_position, std::uint64_t count);
  [[nodiscard]] Status add_table(const reader::ClipSet& clips, std::size_t table,
                                 const Wanted& wanted);
  [[nodiscard]] Status add_from(const reader::ClipSet& clips, const PositionRange& range,
                                const Wanted& wanted);

  std::vector<Run> runs_;  // ascending in both
  std::uint64_t size_ = 0;
};

}  // namespace xtts::loader
