// PlanLosses: what a plan leaves out: rejects of lists, which each go to a part, and clips whose
// texts are refused. Memory: that of its sorter, and some rejects for messages. One thread at a
// time. Failures: kResource.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/reject.hpp"
#include "pipeline/build_request.hpp"
#include "plan/row_sorter.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

struct PlanReport;

// The rejects of lists, of the first part first.
class RejectsOfParts {
 public:
  explicit RejectsOfParts(std::unique_ptr<SortedRows> rows) : rows_(std::move(rows)) {}
  // As many as were added.
  [[nodiscard]] Result<formats::Reject> next();

 private:
  std::unique_ptr<SortedRows> rows_;
};

class PlanLosses {
 public:
  PlanLosses(Env& env, std::string scratch_path, std::uint64_t memory_bytes,
             std::uint32_t part_count);

  // A reject of a list.
  [[nodiscard]] Status add(const formats::Reject& reject);
  void add_refused_text(formats::Reject reject);

  // kTooManyRejects, as a build says it before it computes. `clip_count`: with refused texts.
  [[nodiscard]] Status check(const pipeline::BuildRequest& build, std::uint64_t clip_count) const;

  // No reject of a list is added after this.
  [[nodiscard]] Status finish() { return sorter_.finish(); }
  [[nodiscard]] std::uint64_t count_of_part(std::uint32_t index) const {
    return count_of_part_[index - 1];
  }
  [[nodiscard]] Result<std::unique_ptr<RejectsOfParts>> read() const;

  void report(PlanReport& report) const;

 private:
  [[nodiscard]] std::uint64_t list_count() const { return sorter_.row_count(); }
  [[nodiscard]] Status check_drops(const pipeline::BuildRequest& build,
                                   std::uint64_t found_count) const;

  RowSorter sorter_;
  std::vector<std::uint64_t> count_of_part_;
  std::vector<formats::Reject> of_lists_;  // the first of them
  std::vector<formats::Reject> drops_;     // by rules; the first of them
  std::uint64_t fault_count_ = 0;
  std::uint64_t drop_count_ = 0;
  std::uint64_t refused_text_count_ = 0;
};

}  // namespace xtts::plan
