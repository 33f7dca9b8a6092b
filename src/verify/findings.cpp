#include "verify/findings.hpp"

#include <iterator>

#include "reader/cache_paths.hpp"
#include "store/index_copy.hpp"

namespace xtts::verify {

void Findings::add(Finding finding) {
  Key key(finding.weight, finding.file, finding.offset_bytes.value_or(0), finding.check,
          finding.outcome, finding.part, finding.found.kind, finding.found.numbers,
          finding.found.text);
  const std::scoped_lock lock(mutex_);
  Tally& tally = by_file_[finding.file];
  const bool is_damage = finding.weight == Weight::kDamage;
  ++(finding.is_of_checks ? tally.by_checks : tally.other);
  if (is_damage) {
    (finding.is_of_checks ? tally.has_damage_by_checks : tally.has_other_damage) = true;
  }
  kept_.emplace(std::move(key), std::move(finding));
  if (kept_.size() > kept_max_) kept_.erase(std::prev(kept_.end()));
}

std::set<std::string> Findings::files_to_repair() {
  const std::scoped_lock lock(mutex_);
  std::set<std::string> files;
  for (const auto& [file, tally] : by_file_) {
    const bool is_copy = file == reader::kRejectsName || file == store::kIndexCopyName;
    if (tally.has_damage_by_checks || (is_copy && tally.by_checks > 0)) files.insert(file);
  }
  return files;
}

void Findings::forget(const std::string& file) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(kept_, [&](const auto& entry) {
    return entry.second.file == file && entry.second.is_of_checks;
  });
  Tally& tally = by_file_[file];
  tally.by_checks = 0;
  tally.has_damage_by_checks = false;
}

bool Findings::is_empty() {
  const std::scoped_lock lock(mutex_);
  return by_file_.empty();
}

void Findings::move_into(Report& report) {
  const std::scoped_lock lock(mutex_);
  report.ok = true;
  for (const auto& [file, tally] : by_file_) {
    report.ok = report.ok && !tally.has_damage_by_checks && !tally.has_other_damage;
    report.finding_count += tally.by_checks + tally.other;
  }
  for (auto& [key, finding] : kept_) report.findings.push_back(std::move(finding));
  kept_.clear();
}

}  // namespace xtts::verify
