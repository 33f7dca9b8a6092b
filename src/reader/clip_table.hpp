// ClipTable holds the facts about the clips of one corpus, without their records: a cache's index,
// or the plan of clips that are computed now. Its manifest lists the columns of a record and names
// speakers, languages and data sets.
//
// Synchronised inside: any number of threads. Failures: kNotFound (no such position), kCorrupt,
// kResource.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "formats/facts.hpp"
#include "formats/index.hpp"
#include "formats/manifest.hpp"
#include "xtts/status.hpp"

namespace xtts::reader {

class ClipTable {
 public:
  virtual ~ClipTable() = default;

  // The path of the cache or of the data, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;
  [[nodiscard]] virtual const formats::Manifest& manifest() const = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;  // clips

  [[nodiscard]] virtual Result<formats::PlanRow> plan_row(std::uint64_t position) = 0;
  // Fills several rows, beginning at `first`.
  [[nodiscard]] virtual Status plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) = 0;
  [[nodiscard]] virtual Result<formats::RecordFacts> details(std::uint64_t position) = 0;
  // `full_id`: "id" or "data set/id". nullopt: there is no such clip.
  [[nodiscard]] virtual Result<std::optional<std::uint64_t>> find(std::string_view full_id) = 0;
};

}  // namespace xtts::reader
