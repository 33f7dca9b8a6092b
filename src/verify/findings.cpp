#include "verify/findings.hpp"

#include <iterator>

namespace xtts::verify {

void Findings::add(Finding finding) {
  Key key(finding.weight, finding.file, finding.offset_bytes.value_or(0), finding.what,
          finding.found);
  const std::scoped_lock lock(mutex_);
  ++count_;
  damage_ = damage_ || finding.weight == Weight::kDamage;
  kept_.emplace(std::move(key), std::move(finding));
  if (kept_.size() > kept_max_) kept_.erase(std::prev(kept_.end()));
}

void Findings::move_into(Report& report) {
  const std::scoped_lock lock(mutex_);
  report.ok = !damage_;
  report.finding_count = count_;
  for (auto& [key, finding] : kept_) report.findings.push_back(std::move(finding));
  kept_.clear();
}

}  // namespace xtts::verify
