#include "plan/plan_losses.hpp"

#include <utility>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/preamble.hpp"
#include "pipeline/build_checks.hpp"
#include "pipeline/drop_rules.hpp"
#include "pipeline/losses.hpp"
#include "plan/make_plan.hpp"

namespace xtts::plan {
namespace {

using formats::Reject;

// Of each kind, for messages and the report.
constexpr std::size_t kRejectsKept = 10'000;

// A part's number as a key, in whose order parts are sorted.
std::string key_of(std::uint32_t part) {
  std::string key;
  for (int shift = 24; shift >= 0; shift -= 8) key.push_back(static_cast<char>(part >> shift));
  return key;
}

}  // namespace

Result<Reject> RejectsOfParts::next() {
  XTTS_ASSIGN(const bool has_more, rows_->next());
  if (!has_more) return formats::corrupt("a scratch file of the plan was cut");
  return formats::decode_reject(rows_->row());
}

PlanLosses::PlanLosses(Env& env, std::string scratch_path, std::uint64_t memory_bytes,
                       std::uint32_t part_count)
    : sorter_(env, std::move(scratch_path), memory_bytes), count_of_part_(part_count) {}

Status PlanLosses::add(const Reject& reject) {
  const std::string line = formats::encode_reject(reject);
  // Equal lines are in one part: merge takes a line that two parts tell once.
  const auto part = static_cast<std::uint32_t>(check64(as_bytes(line)) % count_of_part_.size()) + 1;
  ++count_of_part_[part - 1];
  if (reject.kind != formats::RejectClass::kPolicy) ++fault_count_;
  if (of_lists_.size() < kRejectsKept) of_lists_.push_back(reject);
  if (pipeline::is_drop(reject) && ++drop_count_ <= kRejectsKept) drops_.push_back(reject);
  return sorter_.add(key_of(part), line);
}

void PlanLosses::add_refused_text(Reject reject) {
  ++refused_text_count_;
  if (pipeline::is_drop(reject) && ++drop_count_ <= kRejectsKept)
    drops_.push_back(std::move(reject));
}

Status PlanLosses::check(const pipeline::BuildRequest& build, std::uint64_t clip_count) const {
  const std::uint64_t found_count = clip_count + list_count();
  XTTS_TRY(pipeline::check_known_faults(fault_count_, found_count, build.max_rejects, of_lists_));
  return check_drops(build, found_count);
}

Status PlanLosses::check_drops(const pipeline::BuildRequest& build,
                               std::uint64_t found_count) const {
  if (drop_count_ == drops_.size()) {
    return pipeline::check_dropped(drops_, build.recipe, build.max_losses, found_count,
                                   found_count - list_count() - refused_text_count_, std::nullopt,
                                   pipeline::LossKnown::kBefore);
  }
  const double share = static_cast<double>(drop_count_) / static_cast<double>(found_count);
  if (share <= build.max_losses.dropped + pipeline::kShareTolerance) return {};
  return {StatusCode::kTooManyRejects,
          formatted("rules of the recipe drop {} for their texts, more than {} allows. Run again "
                    "with {} to plan without them",
                    counted(drop_count_, "clip", "clips"), option("max-dropped"),
                    option("max-dropped", pipeline::limit_that_allows(share)))};
}

Result<std::unique_ptr<RejectsOfParts>> PlanLosses::read() const {
  XTTS_ASSIGN(auto rows, sorter_.read());
  return std::make_unique<RejectsOfParts>(std::move(rows));
}

void PlanLosses::report(PlanReport& report) const {
  report.refused_text_count = refused_text_count_;
  report.rejects = of_lists_;
  report.rejects.insert(report.rejects.end(), drops_.begin(), drops_.end());
}

}  // namespace xtts::plan
