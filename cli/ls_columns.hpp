// What `ls` shows of a clip: fields of the query language, by name. Values; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/clip_facts.hpp"
#include "query/fields.hpp"
#include "report/table.hpp"
#include "xtts/status.hpp"

namespace xtts::cli {

class LsColumns {
 public:
  static constexpr std::string_view kDefault = "id,frames,seconds,split,speaker,text";

  // "id,seconds,text". kInvalidArgument names the column that is unknown, and the nearest one.
  [[nodiscard]] static Result<LsColumns> parse(std::string_view names);

  [[nodiscard]] std::vector<report::Align> alignment() const;
  [[nodiscard]] std::vector<std::string> header() const;
  // Escaped; an unknown value is empty. An id is the full one, with its data set.
  [[nodiscard]] std::vector<std::string> cells(const query::Tables& tables,
                                               const ClipFacts& clip) const;

 private:
  std::vector<const query::Field*> fields_;
};

}  // namespace xtts::cli
