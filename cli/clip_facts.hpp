// One clip as commands show it: its plan row with its details, and the names behind the numbers.
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
  double seconds = 0.0;                    // of sound in the record

  [[nodiscard]] std::string full_id() const;  // "data set/id" where there are data sets
  [[nodiscard]] std::string split() const;
  [[nodiscard]] std::string text() const;  // normalized where it is, else raw
};

[[nodiscard]] ClipFacts describe_clip(const query::Tables& tables, const formats::PlanRow& plan,
                                      formats::RecordFacts facts);

// {"id", "mel_len", ...}: every fact that is known, under the names of query fields where there is
// one.
[[nodiscard]] nlohmann::json clip_to_json(const ClipFacts& clip);

}  // namespace xtts::cli
