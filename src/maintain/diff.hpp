// diff: finds what differs between two caches, whatever their stores, layouts, dtypes and
// generations. It pairs clips by their full ids. It compares the facts that a batch or a person
// sees (texts, speaker, language, split) and the numbers of every column.
//
// It reads both caches through the reader, one clip at a time in A's order. Memory: two opened
// caches, two records and `kept_max` differences of each kind; further differences are only
// counted. It fails if it cannot begin or continue (kNotFound, kCorrupt for an index that cannot be
// read, kResource, kCancelled). A record with a failed check goes into the report.
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
  // text, normalized_text, speaker, language, split; or speaker_number and language_number, if the
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
  bool sources_differ = false;  // by the hash of the audio files, if both caches know it
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
  std::string max_id;  // the clip of max_abs; empty if all values are the same
  std::uint32_t max_row = 0;
  std::uint32_t max_channel = 0;

  [[nodiscard]] double mean_abs() const noexcept {
    return value_count == 0 ? 0.0 : sum_abs / static_cast<double>(value_count);
  }
};

struct DiffReport {
  // Both caches have the same clips with the same facts and numbers. Differences in recipe,
  // numerics and columns are reported, but do not decide.
  bool equal = false;
  std::uint64_t generation_a = 0;
  std::uint64_t generation_b = 0;
  std::uint64_t clip_count_a = 0;
  std::uint64_t clip_count_b = 0;
  std::uint64_t common_count = 0;
  std::uint64_t same_count = 0;                        // clips in both that are the same
  std::vector<std::string> recipe, numerics, columns;  // as from compare_manifests
  // The first `kept_max` of each kind, in A's order (B's order for clips only in B), and their
  // counts.
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
  // The largest allowed distance of two values. Unset: they must have the same bits or, if the
  // dtypes differ, be the same numbers.
  std::optional<double> tolerance = {};
  std::uint64_t kept_max = 1000;
  std::function<void(std::uint64_t clips_done, std::uint64_t clips_total)> progress = {};
  std::function<bool()> cancelled = {};
};

[[nodiscard]] Result<DiffReport> diff_caches(Env& env, const std::string& a, const std::string& b,
                                             const DiffOptions& options);

}  // namespace xtts::maintain
