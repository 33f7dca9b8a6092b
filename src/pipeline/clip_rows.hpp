// ClipRows: what an index holds for each clip, beside the places of its records: its plan row,
// details and id hash. It also counts clips. One thread at a time. Memory: 64 bytes a clip.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "corpus/clips/clip.hpp"
#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "pipeline/index_file.hpp"
#include "pipeline/name_table.hpp"
#include "pipeline/warning_kinds.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

class ClipRows {
 public:
  // Published names keep their numbers; if nothing is published, `known` names come first.
  struct Names {
    std::vector<std::string> speakers, languages, datasets;
  };
  ClipRows(const Names& known, const std::vector<corpus::Clip>& clips, std::uint32_t max_frames);

  // Writes the details to `file` at once. `row` has its lengths, and flags that stay.
  [[nodiscard]] Status add(const corpus::Clip& clip, formats::PlanRow row,
                           const formats::RecordFacts& facts, IndexFile& file);
  // Call it after the last clip: no details follow.
  [[nodiscard]] Status end(IndexFile& file);

  // Writes the tables of all clips; call it after end().
  [[nodiscard]] Status write(IndexFile& file) const;

  [[nodiscard]] std::uint64_t count() const noexcept { return counts_.records; }
  [[nodiscard]] std::uint64_t cut_count() const noexcept { return cut_count_; }
  [[nodiscard]] std::uint64_t warned_count() const noexcept { return warned_count_; }
  [[nodiscard]] const WarningKinds& warnings() const noexcept { return warnings_; }
  // Sets names, frames, records and records by split.
  void describe(formats::Manifest& manifest) const;

 private:
  NameTable speakers_, languages_, datasets_;
  std::uint32_t max_frames_;
  std::string plan_rows_;
  std::vector<formats::IdHashRow> id_hashes_;
  formats::Counts counts_;
  std::uint64_t cut_count_ = 0;
  std::uint64_t warned_count_ = 0;
  WarningKinds warnings_;
};

}  // namespace xtts::pipeline
