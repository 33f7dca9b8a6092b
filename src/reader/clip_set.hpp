// ClipSet joins the clips of one or several tables that describe the same kind of features: the
// clips of the first table, then those of the second, and so on. It has one table each of
// speakers, languages and data sets; equal names are the same entry.
//
// Owns its tables; synchronised like them. Failures: as of ClipTable; kMismatch (the tables do not
// go together), kInvalidArgument (no table; an id that several tables have), kUnsupported (more
// names than numbers).
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

// A column that all tables of a set have, of the same dtype, shape and recipe.
struct SharedColumn {
  const formats::ColumnEntry* entry = nullptr;  // of the first table
  std::vector<std::uint32_t> ids;               // by table
};

class ClipSet {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ClipSet>> join(
      std::vector<std::shared_ptr<ClipTable>> tables);

  // The place of a position of the set, which must be below size().
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
  // Manifest::max_frames of the first cache; it is the same for all shared columns.
  [[nodiscard]] std::uint32_t max_frames() const;
  // Rows of the column per frame: its padded length is this multiple of the record's frames. 0:
  // the column follows another axis.
  [[nodiscard]] std::uint32_t rows_per_frame(const formats::ColumnEntry& column) const;
  [[nodiscard]] const std::vector<std::string>& speakers() const noexcept { return speakers_; }
  [[nodiscard]] const std::vector<std::string>& languages() const noexcept { return languages_; }
  [[nodiscard]] const std::vector<std::string>& datasets() const noexcept { return datasets_; }
  // kNotFound (the caches have none for this column), kMismatch (the caches differ). With several
  // caches, the frame count is that of the first.
  [[nodiscard]] Result<ColumnStatistics> statistics(const SharedColumn& column) const;
  // Identifies the caches and their generations: 32 hexadecimal digits.
  [[nodiscard]] std::string digest() const;

  // The rows have the numbers of the set's tables.
  [[nodiscard]] Result<formats::PlanRow> plan_row(std::uint64_t position) const;
  [[nodiscard]] Status plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) const;
  [[nodiscard]] Result<formats::RecordFacts> details(std::uint64_t position) const;
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(std::string_view full_id) const;

 protected:
  ClipSet() = default;
  [[nodiscard]] Status add(std::vector<std::shared_ptr<ClipTable>> tables);

 private:
  // Maps a table's numbers to the set's; empty where they are equal.
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
