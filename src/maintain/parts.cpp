#include "maintain/parts.hpp"

#include <algorithm>
#include <optional>

#include "base/counted.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "pipeline/published_clip.hpp"
#include "reader/repair_advice.hpp"

namespace xtts::maintain {
namespace {

using formats::Manifest;
using formats::Partition;

constexpr std::size_t kNamedMax = 20;

Status mismatch(std::string message) {
  return {StatusCode::kMismatch, std::move(message)};
}

const Partition& partition_of(const reader::CacheView& view) {
  return *view.manifest().partition;
}

std::string name_of(const reader::CacheView& view) {
  return formatted("{} (part {})", view.path(), partition_of(view).name());
}

Status check_is_part(const reader::CacheView& view) {
  if (view.manifest().partition) return {};
  return {StatusCode::kInvalidArgument,
          view.path() +
              " is a whole cache: merge joins parts, which 'xtts-precompute build DATA PART "
              "--partition I/N' makes"};
}

// The first section in which the recipes differ, with each of its differences.
std::optional<std::string> recipe_difference(const Manifest& a, const Manifest& b) {
  const auto of = [&](const nlohmann::json& first, const nlohmann::json& second,
                      const char* section) {
    std::string lines;
    for (const auto& line : formats::describe_differences(first, second, section))
      lines += "\n  " + line;
    return lines;
  };
  const std::string all = of(a.features, b.features, "features") + of(a.text, b.text, "text") +
                          of(a.corpus, b.corpus, "corpus") + of(a.storage, b.storage, "storage");
  return all.empty() ? std::nullopt : std::optional(all);
}

Status check_same_cache(const reader::CacheView& first, const reader::CacheView& other,
                        bool allow_mixed) {
  const Manifest& a = first.manifest();
  const Manifest& b = other.manifest();
  const std::string both = formatted("{} and {}", name_of(first), name_of(other));
  if (a.partition->count != b.partition->count)
    return mismatch(both + " are of caches with other numbers of parts");
  if (const auto lines = recipe_difference(a, b))
    return mismatch(both + " were built with other settings:" + *lines +
                    "\nbuild one of them anew with " + option_on("overwrite"));
  if (a.partition->plan != b.partition->plan) {
    return mismatch(
        formatted("{} saw other clips, texts or files in DATA: build those that saw an older one "
                  "anew with {}",
                  both, option_on("overwrite")));
  }
  if (a.speakers != b.speakers || a.languages != b.languages)
    return mismatch(formatted("{} number their speakers otherwise: give all the same {}", both,
                              option("speakers")));
  if (allow_mixed || a.numerics.hash() == b.numerics.hash()) return {};
  return mismatch(formatted(
      "{} were computed by {} {} ({}) and {} {} ({}); results agree within the recipe's tolerance "
      "but not bit for bit: give {} to join them all the same, or build one of them anew",
      both, a.numerics.device, a.numerics.isa, a.numerics.libraries, b.numerics.device,
      b.numerics.isa, b.numerics.libraries, option_on("allow-mixed")));
}

// Lists the names; of a long list, only the beginning.
std::string list(const std::vector<std::string>& names) {
  std::string text;
  const std::size_t shown = shown_of(names.size(), kNamedMax);
  for (std::size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > shown) text += formatted(" and {} more", names.size() - shown);
  return text;
}

Status check_all_are_there(const Parts& parts) {
  std::vector<std::string> missing;
  Partition wanted = partition_of(*parts.front());
  std::size_t next = 0;
  for (wanted.index = 1; wanted.index <= wanted.count; ++wanted.index) {
    if (next < parts.size() && partition_of(*parts[next]).index == wanted.index) {
      ++next;
    } else {
      missing.push_back(wanted.name());
    }
  }
  if (missing.empty()) return {};
  return mismatch(formatted(
      "{}{}{} missing: name all parts of the plan; build those that are missing as the others were",
      missing.size() == 1 ? "part " : "parts ", list(missing),
      missing.size() == 1 ? " is" : " are"));
}

Status check_has_no_added_columns(const reader::CacheView& view) {
  for (const formats::ColumnEntry& column : view.manifest().columns) {
    if (!column.axis) continue;
    return mismatch(
        formatted("{} has the added column '{}', which merge does not join: build the part anew "
                  "with {}, merge, then add the column to the whole cache",
                  name_of(view), column.spec.name, option_on("overwrite")));
  }
  return {};
}

Status check_none_is_doubled(const Parts& parts) {
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const reader::CacheView& a = *parts[i - 1];
    const reader::CacheView& b = *parts[i];
    if (partition_of(a).index != partition_of(b).index) continue;
    return mismatch(
        formatted("part {} is given twice: {} and {}", partition_of(a).name(), a.path(), b.path()));
  }
  return {};
}

}  // namespace

Result<Parts> open_parts(Env& env, const std::vector<std::string>& paths, bool allow_mixed) {
  Parts parts;
  for (const std::string& path : paths) {
    XTTS_ASSIGN(auto view, reader::CacheView::open(env, path));
    XTTS_TRY(check_is_part(*view));
    XTTS_TRY(view->manifest().allows_changes());
    XTTS_TRY(check_has_no_added_columns(*view));
    XTTS_ASSIGN(const auto lost, pipeline::lost_shard(env, path, view->manifest()));
    if (lost) return reader::with_repair(Status(StatusCode::kCorrupt, *lost), path);
    parts.push_back(std::move(view));
  }
  return in_order(std::move(parts), allow_mixed);
}

Result<Parts> in_order(Parts parts, bool allow_mixed) {
  for (const auto& part : parts) XTTS_TRY(check_same_cache(*parts.front(), *part, allow_mixed));
  std::ranges::stable_sort(parts, {}, [](const auto& part) { return partition_of(*part).index; });
  XTTS_TRY(check_none_is_doubled(parts));
  XTTS_TRY(check_all_are_there(parts));
  return parts;
}

}  // namespace xtts::maintain
