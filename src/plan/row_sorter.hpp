// RowSorter: sorts any number of rows by their keys, in bounded memory. Rows are gathered; a full
// memory is sorted and appended to a scratch file as a run; reading merges the runs. Rows with
// equal keys stay in the order in which they were added. So many runs that the memory has no room
// to read them at once are merged to fewer first, which needs twice the disk for a while.
//
// The scratch file (and its name with .tmp, after a failure) is the caller's to remove, and its
// bytes are no format: only this process reads them. One thread at a time. Failures: kResource (the
// disk is full), kCorrupt (the file was cut).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

// Rows in order. Views are valid until the next call.
class SortedRows {
 public:
  virtual ~SortedRows() = default;
  // False: no more rows.
  [[nodiscard]] virtual Result<bool> next() = 0;
  [[nodiscard]] virtual std::string_view key() const = 0;
  [[nodiscard]] virtual std::string_view row() const = 0;
};

class RowSorter {
 public:
  // `memory_bytes`: for rows that are gathered, and for reading later; 1 MiB at least.
  RowSorter(Env& env, std::string scratch_path, std::uint64_t memory_bytes);
  ~RowSorter();

  [[nodiscard]] Status add(std::string_view key, std::string_view row);
  // No row is added after this. What did not fit into memory is in the file.
  [[nodiscard]] Status finish();
  // All rows from the first, as often as they are wanted. The result may not outlive the sorter.
  [[nodiscard]] Result<std::unique_ptr<SortedRows>> read() const;

  [[nodiscard]] std::uint64_t row_count() const { return row_count_; }

 private:
  friend class RowsInMemory;

  struct Entry {
    std::uint64_t prefix = 0;  // of the key, so that most comparisons need nothing else
    std::uint64_t offset = 0;  // of key and row in gathered_
    std::uint32_t key_bytes = 0;
    std::uint32_t row_bytes = 0;
  };
  struct Run {
    std::uint64_t offset_bytes = 0;
    std::uint64_t size_bytes = 0;
  };

  [[nodiscard]] std::string_view key_of(const Entry& entry) const;
  [[nodiscard]] std::string_view row_of(const Entry& entry) const;
  void sort_entries();
  [[nodiscard]] Status spill();
  // Appends all of `rows` to the file.
  [[nodiscard]] Status write_run(SortedRows& rows);
  // How many windows the memory has room for.
  [[nodiscard]] std::size_t runs_at_once() const;
  [[nodiscard]] Status merge_neighbours();
  [[nodiscard]] Result<std::unique_ptr<SortedRows>> merge(std::span<const Run> runs) const;

  Env& env_;
  const std::string scratch_path_;
  const std::uint64_t memory_bytes_;
  std::string gathered_;
  std::vector<Entry> entries_;
  std::unique_ptr<WritableFile> file_;  // null: nothing was spilled
  std::uint64_t file_bytes_ = 0;
  std::vector<Run> runs_;
  std::uint64_t row_count_ = 0;
};

}  // namespace xtts::plan
