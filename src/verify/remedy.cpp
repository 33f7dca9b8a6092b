#include "verify/remedy.hpp"

#include <algorithm>
#include <vector>

#include "base/shell_words.hpp"
#include "pipeline/losses.hpp"
#include "store/source_table.hpp"

namespace xtts::verify {
namespace {

class RemedyChooser {
 public:
  RemedyChooser(Run& run, const Report& report) : run_(run), report_(report) {}

  std::optional<Remedy> choose() {
    const Finding* const cheapest = cheapest_of(Weight::kDamage);
    if (cheapest != nullptr) return remedy_of(*cheapest);
    const Finding* const note = report_.ok ? cheapest_of(Weight::kNote) : nullptr;
    if (note != nullptr) return remedy_of(*note);
    // Only what a repair has just failed to mend, without an obstacle of its own.
    return report_.ok ? std::nullopt : std::optional(overwrite());
  }

 private:
  // What checks have told is no news to a repair: it has tried.
  [[nodiscard]] const Finding* cheapest_of(Weight weight) const {
    const Finding* cheapest = nullptr;
    for (const Finding& finding : report_.findings) {
      if (finding.weight != weight) continue;
      if (run_.options.repair && finding.is_of_checks) continue;
      if (cheapest == nullptr || finding.cure < cheapest->cure) cheapest = &finding;
    }
    return cheapest;
  }

  [[nodiscard]] bool any_needs_sources() const {
    return std::ranges::any_of(report_.findings, [](const Finding& finding) {
      return finding.weight == Weight::kDamage && finding.cure == Cure::kSources;
    });
  }

  Remedy remedy_of(const Finding& finding) {
    switch (finding.cure) {
      case Cure::kLookAtDisk:
        return {.command = verify() + (run_.options.repair ? " --repair" : ""),
                .note = "look at permissions and at the disk's health, then"};
      case Cure::kRepair:
      case Cure::kSources:
        return any_needs_sources() ? repair_with_sources()
                                   : Remedy{.command = verify() + " --repair", .note = {}};
      case Cure::kChooseIndex:
        return {.command = verify() + " --repair --index " + run_.index_to_name,
                .note = "the newest of those that can be read; another name takes another"};
      case Cure::kAddColumn:
        return {.command = "xtts_precompute.open('" + run_.cache + "').add_column('" +
                           finding.column + "', FUNCTION, version='ANOTHER')",
                .note = "in Python, which adds the column again"};
      case Cure::kBuild:
        return {.command = build(),
                .note = "clips whose sources have changed are computed again by"};
      case Cure::kLeaveOut:
        return leave_out();
      case Cure::kOtherMachine:
        return {.command = verify() + (run_.options.repair ? " --repair" : " --level deep") +
                           " --data " + data_word(),
                .note = "on a machine with the cache's numerics"};
      case Cure::kOverwrite:
        break;
    }
    return overwrite();
  }

  // A repair finds the sources by itself where they still are.
  Remedy repair_with_sources() {
    const std::string command = verify() + " --repair";
    const std::string& told = run_.options.sources.data;
    const bool was_in_vain = run_.options.repair && !told.empty();
    const std::string data = was_in_vain ? std::string() : known_data();
    if (!data.empty() && data == remembered() && !was_in_vain)
      return {.command = command, .note = {}};
    if (!data.empty()) return {.command = command + " --data " + shell_quoted(data), .note = {}};
    const std::string before = remembered();
    return {.command = command + " --data DATA",
            .note = before.empty() ? "DATA is the folder of the sources"
                                   : "DATA is where the sources are now that were in " + before};
  }

  Remedy leave_out() {
    const double share =
        static_cast<double>(run_.lost_clip_count) / static_cast<double>(run_.clip_count);
    const bool is_one = run_.lost_clip_count == 1;
    const std::string data = known_data();
    const bool is_found_again = data.empty() || data == remembered();
    return {.command = verify() + " --repair --max-gone " + pipeline::limit_that_allows(share) +
                       (is_found_again ? "" : " --data " + shell_quoted(data)),
            .note = std::to_string(run_.lost_clip_count) + " of " +
                    std::to_string(run_.clip_count) + " clips" +
                    (is_one ? " cannot be had again: its record is lost, and its source is gone "
                              "or makes another. This leaves it out of the cache"
                            : " cannot be had again: their records are lost, and their sources "
                              "are gone or make others. This leaves them out of the cache")};
  }

  Remedy overwrite() {
    return {.command = build() + " --overwrite",
            .note =
                "nothing in the cache can mend it: restore the files from a copy, or compute "
                "all clips again"};
  }

  [[nodiscard]] std::string verify() const {
    return "xtts-precompute verify " + shell_quoted(run_.cache);
  }
  std::string build() {
    return "xtts-precompute build " + data_word() + " " + shell_quoted(run_.cache);
  }

  std::string data_word() {
    const std::string data = known_data();
    return data.empty() ? "DATA" : shell_quoted(data);
  }

  // As it was given, else where the last build found it, if it is still there.
  std::string known_data() {
    for (const std::string& data : {run_.options.sources.data, remembered()})
      if (!data.empty() && run_.env.stat(data)) return data;
    return {};
  }

  const std::string& remembered() {
    if (!remembered_) {
      const auto table = store::load_source_table(run_.env, run_.cache);
      remembered_ = table ? table->data_path : std::string();
    }
    return *remembered_;
  }

  Run& run_;
  const Report& report_;
  std::optional<std::string> remembered_;
};

}  // namespace

std::optional<Remedy> remedy_of(Run& run, const Report& report) {
  return RemedyChooser(run, report).choose();
}

}  // namespace xtts::verify
