// ClipSet joins the clips of one or several tables that describe the same kind of features: the
// clips of the first table, then those of the second, and so on. It has one table each of
// speakers, languages and data sets; equal names are the same entry. A table is opened when a clip
// of it is first asked for, and stays open.
//
// Owns its tables. Synchronised inside: any number of threads. Failures: as of ClipTable and of
// opening a table; kMismatch (the tables do not go together), kInvalidArgument (no table; an id
// that several tables have), kUnsupported (more names than numbers).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/set_manifest.hpp"
#include "reader/clip_table.hpp"
#include "xtts/reader.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

// A column that all tables of a set have, of the same dtype, shape and recipe.
struct SharedColumn {
  const formats::ColumnEntry* entry = nullptr;  // of the whole set, without shards
  std::size_t number = 0;                       // in OpenTable::column_ids
};

// A table of a set, once it is open.
struct OpenTable {
  std::shared_ptr<ClipTable> table;
  std::vector<std::uint32_t> column_ids;  // in the table, by the set's columns
  // The set's numbers of the table's names; empty where they are equal.
  std::vector<std::int32_t> speakers, languages, datasets;

  void renumber(formats::PlanRow& row) const noexcept;
};

class ClipSet {
 public:
  [[nodiscard]] static Result<std::shared_ptr<ClipSet>> join(
      std::vector<std::shared_ptr<ClipTable>> tables);
  virtual ~ClipSet();
  ClipSet(const ClipSet&) = delete;
  ClipSet& operator=(const ClipSet&) = delete;

  // What the set is called in messages.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  // The manifest of a cache that held all clips, but without shards and an index.
  [[nodiscard]] const formats::Manifest& whole() const noexcept { return set_.whole; }

  // The place of a position of the set, which must be below size().
  struct Place {
    std::size_t table = 0;
    std::uint64_t position = 0;  // in that table
  };
  [[nodiscard]] Place locate(std::uint64_t position) const noexcept;
  [[nodiscard]] std::uint64_t size() const noexcept { return first_positions_.back(); }
  [[nodiscard]] std::size_t table_count() const noexcept { return set_.members.size(); }
  [[nodiscard]] const formats::SetMember& member(std::size_t table) const noexcept {
    return set_.members[table];
  }
  [[nodiscard]] std::uint64_t first_position(std::size_t table) const noexcept {
    return first_positions_[table];
  }
  [[nodiscard]] std::uint64_t clip_count(std::size_t table) const noexcept {
    return first_positions_[table + 1] - first_positions_[table];
  }
  // The groups of a table's clips. set.json tells them; else they are looked for in the plan.
  [[nodiscard]] Result<std::vector<formats::ClipGroup>> groups(std::size_t table) const;
  // Opens the table where it is not open yet. It lives as long as the set.
  [[nodiscard]] Result<const OpenTable*> table(std::size_t index) const;

  [[nodiscard]] const std::vector<SharedColumn>& columns() const noexcept { return columns_; }
  [[nodiscard]] const SharedColumn* find_column(std::string_view name) const noexcept;
  // Rows of the column per frame: its padded length is this multiple of the record's frames. 0:
  // the column follows another axis.
  [[nodiscard]] std::uint32_t rows_per_frame(const formats::ColumnEntry& column) const;
  // kNotFound (the set has none for this column), kMismatch (each cache has its own).
  [[nodiscard]] Result<ColumnStatistics> statistics(const SharedColumn& column) const;
  // Identifies the caches and their generations: 32 hexadecimal digits.
  [[nodiscard]] const std::string& digest() const noexcept { return digest_; }

  // The rows have the numbers of the set's tables.
  [[nodiscard]] Result<formats::PlanRow> plan_row(std::uint64_t position) const;
  [[nodiscard]] Status plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) const;
  [[nodiscard]] Result<formats::RecordFacts> details(std::uint64_t position) const;
  [[nodiscard]] Result<std::optional<std::uint64_t>> find(std::string_view full_id) const;

 protected:
  ClipSet() = default;
  // Called once, on an empty set: with what set.json says, or with tables that are open.
  void take(formats::SetManifest set, std::string path, std::string digest);
  [[nodiscard]] Status take(std::vector<std::shared_ptr<ClipTable>> tables);

 private:
  [[nodiscard]] virtual Result<std::shared_ptr<ClipTable>> open_table(std::size_t index) const;
  void list_columns();
  [[nodiscard]] Result<OpenTable> joined(std::size_t index, std::shared_ptr<ClipTable> table) const;
  [[nodiscard]] Status check_groups(std::size_t index, const OpenTable& open) const;
  const OpenTable* add_open(std::size_t index, OpenTable table) const;

  std::string path_;
  std::string digest_;
  formats::SetManifest set_;
  Status no_statistics_;                              // why the tables together have none
  bool groups_are_told_ = false;                      // by set.json
  std::vector<std::uint64_t> first_positions_ = {0};  // by table, and the end
  std::vector<SharedColumn> columns_;

  mutable std::mutex opening_;  // guards the tables while they are added
  mutable std::vector<std::unique_ptr<const OpenTable>> open_;
  mutable std::unique_ptr<std::atomic<const OpenTable*>[]> found_;  // by table; null: not open yet
};

}  // namespace xtts::reader
