// A clip for display: its plan row with the details, and the names behind the numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "query/expression.hpp"
#include "reader/cache_view.hpp"
#include "xtts/status.hpp"

namespace xtts::cli {

struct ClipFacts {
  formats::PlanRow plan;
  formats::RecordFacts facts;
  std::string dataset, speaker, language;  // empty where unknown
  double seconds = 0.0;                    // length of the sound in the record

  [[nodiscard]] std::string full_id() const;  // "data set/id" where there are data sets
  [[nodiscard]] std::string split() const;
  [[nodiscard]] std::string text() const;  // the normalized text if there is one, else the raw text
};

[[nodiscard]] ClipFacts describe_clip(const query::Tables& tables, const formats::PlanRow& plan,
                                      formats::RecordFacts facts);

// Gives {"id", "mel_len", ...}: every known fact. A fact with a query field has that field's name.
[[nodiscard]] nlohmann::json clip_to_json(const ClipFacts& clip);

}  // namespace xtts::cli
