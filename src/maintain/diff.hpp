// diff: what differs between two caches, whatever their stores, layouts, dtypes and generations.
// Clips are paired by their full ids; what is compared are facts that a batch or a person sees
// (texts, speaker, language, split) and the numbers of every column.
//
// Reads both caches through the reader, one clip at a time in A's order: memory is that of two
// opened caches, two records and `kept_max` differences of each kind; counts go on beyond it. The
// function fails where it cannot begin or go on (kNotFound, kCorrupt for an index that cannot be
// read, kResource, kCancelled); a record that its check refuses is in the report.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "maintain/record_diff.hpp"
#include "xtts/status.hpp"

namespace xtts::maintain {

struct FieldDifference {
  // text, normalized_text, speaker, language, split; speaker_number and language_number where the
  // name is the same and the number that a model sees is not.
  std::string field;
  std::string in_a;  // long texts are cut
  std::string in_b;
};

struct ColumnDifference {
  std::string column;
  RecordDifference values;
};

struct ClipDifference {
  std::string id;
  std::vector<FieldDifference> fields;
  std::vector<ColumnDifference> columns;
  bool sources_differ = false;  // by the hash of the audio files, where both caches know it
};

struct UnreadableRecord {
  std::string id;
  std::string cache;
  std::string column;
  std::string problem;
};

// All records of a column together.
struct ColumnSummary {
  std::string column;
  std::uint64_t compared_count = 0;   // clips
  std::uint64_t differing_count = 0;  // clips
  std::uint64_t tolerated_count = 0;  // clips that are not the same, but within the tolerance
  std::uint64_t value_count = 0;
  double sum_abs = 0.0;
  double max_abs = 0.0;
  std::string max_id;  // the clip of max_abs; empty where all values are the same
  std::uint32_t max_row = 0;
  std::uint32_t max_channel = 0;

  [[nodiscard]] double mean_abs() const noexcept {
    return value_count == 0 ? 0.0 : sum_abs / static_cast<double>(value_count);
  }
};

struct DiffReport {
  // The same clips with the same facts and numbers. Recipe, numerics and columns of the same
  // numbers are told, but do not decide.
  bool equal = false;
  std::uint64_t generation_a = 0;
  std::uint64_t generation_b = 0;
  std::uint64_t clip_count_a = 0;
  std::uint64_t clip_count_b = 0;
  std::uint64_t common_count = 0;
  std::uint64_t same_count = 0;                        // of those in both
  std::vector<std::string> recipe, numerics, columns;  // as compare_manifests has them
  // The first `kept_max` of each, in the order of A (of B for those only there), and how many.
  std::vector<std::string> only_in_a, only_in_b;
  std::uint64_t only_in_a_count = 0;
  std::uint64_t only_in_b_count = 0;
  std::vector<ClipDifference> differing;
  std::uint64_t differing_count = 0;
  std::vector<UnreadableRecord> unreadable;
  std::uint64_t unreadable_count = 0;  // records, of either cache
  std::vector<ColumnSummary> compared;
};

struct DiffOptions {
  // Values may be so far apart; unset: the same bits, or where dtypes differ the same numbers.
  std::optional<double> tolerance = {};
  std::uint64_t kept_max = 1000;
  std::function<void(std::uint64_t clips_done, std::uint64_t clips_total)> progress = {};
  std::function<bool()> cancelled = {};
};

[[nodiscard]] Result<DiffReport> diff_caches(Env& env, const std::string& a, const std::string& b,
                                             const DiffOptions& options);

}  // namespace xtts::maintain
