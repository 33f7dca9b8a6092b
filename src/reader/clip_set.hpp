// ClipSet: the clips of one table, or of several that describe the same kind of features, as one:
// the clips of the first, then those of the second, and so on, with one table each of speakers,
// languages and data sets (a name is the same one wherever it stands).
//
// Owns its tables; synchronised inside as they are. Failures: as ClipTable's; kMismatch where
// tables do not go together, kInvalidArgument (none at all; an id that several of them have),
// kUnsupported (more names than numbers).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reader/clip_table.hpp"
#include "xtts/reader.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// A column that all tables of a set have, of the same numbers.
struct SharedColumn {
  const formats::ColumnEntry* entry = nullptr;  // of the first table
  std::vector<std::uint32_t> ids;               // by table
};

class ClipSet {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ClipSet>> join(
      std::vector<std::shared_ptr<ClipTable>> tables);

  // Where a position of the set, below size(), lies.
  struct Place {
    std::size_t table = 0;
    std::uint64_t position = 0;  // in that table
  };
  [[nodiscard]] Place locate(std::uint64_t position) const noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept { return first_positions_.back(); }
  [[nodiscard]] std::size_t table_count() const noexcept { return tables_.size(); }
  [[nodiscard]] ClipTable& table(std::size_t index) const noexcept { return *tables_[index]; }
  [[nodiscard]] std::uint64_t first_position(std::size_t table) const noexcept {
    return first_positions_[table];
  }

  [[nodiscard]] const std::vector<SharedColumn>& columns() const noexcept { return columns_; }
  [[nodiscard]] const SharedColumn* find_column(std::string_view name) const noexcept;
  // Of the first cache, as Manifest::max_frames: columns that all share are of the same.
  [[nodiscard]] std::uint32_t max_frames() const;
  // Rows of the column that belong to one frame: its padded length is so many times that of the
  // record. 0: it goes along something else.
  [[nodiscard]] std::uint32_t rows_per_frame(const formats::ColumnEntry& column) const;
  [[nodiscard]] const std::vector<std::string>& speakers() const noexcept { return speakers_; }
  [[nodiscard]] const std::vector<std::string>& languages() const noexcept { return languages_; }
  [[nodiscard]] const std::vector<std::string>& datasets() const noexcept { return datasets_; }
  // kNotFound (the caches have none for it), kMismatch (not all of them the same). Of several, how
  // many frames they are of is told of the first.
  [[nodiscard]] Result<ColumnStatistics> statistics(const SharedColumn& column) const;
  // Which generation of which caches: 32 hexadecimal digits.
  [[nodiscard]] std::string digest() const;

  // With the numbers of the set's tables.
  [[nodiscard]] Result<formats::PlanRow> plan_row(std::uint64_t position) const;
  [[nodiscard]] Status plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) const;
  [[nodiscard]] Result<formats::RecordFacts> details(std::uint64_t position) const;
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(std::string_view full_id) const;

 protected:
  ClipSet() = default;
  [[nodiscard]] Status add(std::vector<std::shared_ptr<ClipTable>> tables);

 private:
  // A table's numbers in those of the set; empty where they are the same.
  struct Renumbering {
    std::vector<std::int32_t> speakers, languages, datasets;
    void apply(formats::PlanRow& row) const noexcept;
  };
  [[nodiscard]] Status join_columns();
  [[nodiscard]] Status join_tables();

  std::vector<std::shared_ptr<ClipTable>> tables_;
  std::vector<std::uint64_t> first_positions_ = {0};  // by table, and the end
  std::vector<SharedColumn> columns_;
  std::vector<std::string> speakers_, languages_, datasets_;
  std::vector<Renumbering> renumberings_;  // by table
};

}  // namespace xtts::reader
