#include "reader/joined_set.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::reader {
namespace {

using formats::ColumnEntry;
using formats::Manifest;

// Joins lists of names: each name once, in the order in which they come.
class JoinedNames {
 public:
  void add(const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (known_.insert(name).second) names_.push_back(name);
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::unordered_set<std::string> known_;
};

// A row of the plan has this many bits for the number of a name.
template <typename Number>
Status check_numbers(const std::vector<std::string>& names, std::string_view what) {
  constexpr auto kNamesMax = static_cast<std::uint64_t>(std::numeric_limits<Number>::max()) + 1;
  if (names.size() <= kNamesMax) return {};
  return {StatusCode::kUnsupported,
          formatted("the caches name {} {}, and together there can be {}: open fewer at once",
                    names.size(), what, kNamesMax)};
}

Status mismatch(const ClipTable& first, const ClipTable& other, const std::string& what) {
  return {StatusCode::kMismatch,
          formatted("{} cannot be read together with {}: {}", other.path(), first.path(), what)};
}

// Checks that one batch can hold records of both columns.
Status check_same_numbers(const ClipTable& first, const formats::ColumnSpec& wanted,
                          const ClipTable& other, const formats::ColumnSpec& found) {
  const std::string column = formatted("column '{}' ", found.name);
  if (found.dtype != wanted.dtype) {
    return mismatch(
        first, other,
        formatted(
            "{}holds {}, there {}: 'xtts-precompute convert CACHE NEW' makes one like the other",
            column, to_string(found.dtype), to_string(wanted.dtype)));
  }
  if (found.shape != wanted.shape) {
    return mismatch(first, other,
                    column + "has another shape: 'xtts-precompute diff A B' shows both");
  }
  if (found.fingerprint != wanted.fingerprint) {
    return mismatch(
        first, other,
        column + "was made by another recipe: 'xtts-precompute diff A B' shows what differs");
  }
  return {};
}

// Without the shards: a manifest may have thousands.
Manifest without_shards(const Manifest& manifest) {
  Manifest whole;
  whole.generation = manifest.generation;
  whole.recipe_name = manifest.recipe_name;
  whole.features = manifest.features;
  whole.text = manifest.text;
  whole.corpus = manifest.corpus;
  whole.storage = manifest.storage;
  whole.features_fingerprint = manifest.features_fingerprint;
  whole.text_fingerprint = manifest.text_fingerprint;
  whole.corpus_fingerprint = manifest.corpus_fingerprint;
  whole.storage_fingerprint = manifest.storage_fingerprint;
  whole.numerics = manifest.numerics;
  for (const ColumnEntry& column : manifest.columns)
    whole.columns.push_back({.spec = column.spec,
                             .axis = column.axis,
                             .version = column.version,
                             .missing_count = column.missing_count,
                             .store = column.store,
                             .fill_bits = column.fill_bits,
                             .records_per_shard = column.records_per_shard,
                             .shards = {}});
  whole.datasets = manifest.datasets;
  whole.speakers = manifest.speakers;
  whole.languages = manifest.languages;
  whole.counts = manifest.counts;
  whole.mel_statistics = manifest.mel_statistics;
  whole.data_layout = manifest.data_layout;
  return whole;
}

// Keeps the columns that all tables have.
Status join_columns(std::span<const std::shared_ptr<ClipTable>> tables, Manifest& whole) {
  const ClipTable& first = *tables.front();
  std::vector<ColumnEntry> shared;
  for (ColumnEntry& column : whole.columns) {
    bool is_in_all = true;
    for (const auto& table : tables.subspan(1)) {
      const ColumnEntry* const found = table->manifest().find_column(column.spec.name);
      is_in_all = found != nullptr;
      if (!is_in_all) break;
      XTTS_TRY(check_same_numbers(first, column.spec, *table, found->spec));
      column.missing_count += found->missing_count;
    }
    if (!is_in_all) continue;
    column.spec.id = static_cast<std::uint32_t>(shared.size());
    shared.push_back(std::move(column));
  }
  if (shared.empty() && !whole.columns.empty())
    return {StatusCode::kMismatch, "the caches have no column in common"};
  whole.columns = std::move(shared);
  return {};
}

void add_counts(const formats::Counts& counts, formats::Counts& sum) {
  sum.planned += counts.planned;
  sum.records += counts.records;
  sum.frames += counts.frames;
  sum.seconds += counts.seconds;
  for (const auto& [name, count] : counts.rejects_by_class) sum.rejects_by_class[name] += count;
  for (const auto& [name, count] : counts.records_by_split) sum.records_by_split[name] += count;
}

bool has_same_statistics(const Manifest& a, const Manifest& b) {
  if (!a.mel_statistics || !b.mel_statistics) return false;
  return a.mel_statistics->mean == b.mel_statistics->mean &&
         a.mel_statistics->std_deviation == b.mel_statistics->std_deviation;
}

bool in_same_group(const formats::PlanRow& a, const formats::PlanRow& b) {
  return a.dataset == b.dataset && a.split == b.split;
}

// Finds the end of the clips that have the data set and split of position `first`. They follow one
// another, so a search by doubling and halving finds it without reading them all.
Result<std::uint64_t> end_of_group(ClipTable& table, const formats::PlanRow& group,
                                   std::uint64_t first) {
  std::uint64_t inside = first;
  std::uint64_t step = 1;
  std::uint64_t outside = table.size();
  while (inside + step < outside) {
    XTTS_ASSIGN(const formats::PlanRow row, table.plan_row(inside + step));
    if (!in_same_group(row, group)) {
      outside = inside + step;
      break;
    }
    inside += step;
    step *= 2;
  }
  while (outside - inside > 1) {
    const std::uint64_t middle = inside + (outside - inside) / 2;
    XTTS_ASSIGN(const formats::PlanRow row, table.plan_row(middle));
    (in_same_group(row, group) ? inside : outside) = middle;
  }
  return outside;
}

}  // namespace

bool has_same_numbers(const formats::ColumnSpec& a, const formats::ColumnSpec& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.fingerprint == b.fingerprint;
}

std::vector<std::string> named_datasets(const Manifest& manifest, const std::string& name) {
  std::vector<std::string> names = manifest.datasets;
  if (names.empty()) names.emplace_back();
  for (std::string& dataset : names) {
    if (dataset.empty()) dataset = name;
  }
  return names;
}

Result<Manifest> whole_of(std::span<const std::shared_ptr<ClipTable>> tables,
                          std::span<const std::string> names) {
  Manifest whole = without_shards(tables.front()->manifest());
  XTTS_TRY(join_columns(tables, whole));
  if (tables.size() == 1 && names.empty()) return whole;
  JoinedNames speakers;
  JoinedNames languages;
  JoinedNames datasets;
  whole.counts = {};
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const Manifest& manifest = tables[i]->manifest();
    speakers.add(manifest.speakers);
    languages.add(manifest.languages);
    datasets.add(names.empty() ? manifest.datasets : named_datasets(manifest, names[i]));
    add_counts(manifest.counts, whole.counts);
    if (whole.mel_statistics && !has_same_statistics(whole, manifest)) whole.mel_statistics.reset();
  }
  whole.speakers = speakers.take();
  whole.languages = languages.take();
  whole.datasets = datasets.take();
  XTTS_TRY(check_numbers<decltype(formats::PlanRow::speaker)>(whole.speakers, "speakers"));
  XTTS_TRY(check_numbers<decltype(formats::PlanRow::language)>(whole.languages, "languages"));
  XTTS_TRY(check_numbers<decltype(formats::PlanRow::dataset)>(whole.datasets, "data sets"));
  return whole;
}

std::vector<std::int32_t> numbers_in(std::span<const std::string> names,
                                     std::span<const std::string> of_table) {
  if (std::ranges::equal(names, of_table)) return {};
  std::unordered_map<std::string_view, std::int32_t> number_of;
  for (std::size_t i = 0; i < names.size(); ++i)
    number_of.emplace(names[i], static_cast<std::int32_t>(i));
  std::vector<std::int32_t> numbers;
  for (const std::string& name : of_table) {
    const auto found = number_of.find(name);
    numbers.push_back(found == number_of.end() ? -1 : found->second);
  }
  return numbers;
}

Result<std::vector<formats::ClipGroup>> groups_of(ClipTable& table) {
  std::vector<formats::ClipGroup> groups;
  for (std::uint64_t first = 0; first < table.size();) {
    XTTS_ASSIGN(const formats::PlanRow row, table.plan_row(first));
    XTTS_ASSIGN(const std::uint64_t end, end_of_group(table, row, first));
    groups.push_back({.dataset = row.dataset, .split = row.split, .clip_count = end - first});
    first = end;
  }
  return groups;
}

}  // namespace xtts::reader
