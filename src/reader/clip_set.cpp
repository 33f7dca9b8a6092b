#include "reader/clip_set.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"

namespace xtts::reader {
namespace {

// Merges several tables of names into one.
class JoinedNames {
 public:
  // Adds a table's names; returns their numbers in the merged table.
  [[nodiscard]] std::vector<std::int32_t> add(const std::vector<std::string>& names) {
    std::vector<std::int32_t> numbers;
    for (const std::string& name : names) {
      const auto [entry, is_new] =
          number_of_.try_emplace(name, static_cast<std::int32_t>(names_.size()));
      if (is_new) names_.push_back(name);
      numbers.push_back(entry->second);
    }
    return numbers;
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(names_); }

 private:
  std::vector<std::string> names_;
  std::unordered_map<std::string, std::int32_t> number_of_;
};

// Clips without a data set's name form a data set of their cache.
std::vector<std::string> named_datasets(const ClipTable& cache) {
  std::vector<std::string> names = cache.manifest().datasets;
  if (names.empty()) names.emplace_back();
  for (std::string& name : names) {
    if (name.empty()) name = cache.path();
  }
  return names;
}

// Turns a clip's number into the set's. -1 (none) and numbers that the table lacks stay.
template <typename Number>
void renumber(Number& number, const std::vector<std::int32_t>& numbers) noexcept {
  const auto index = static_cast<std::int64_t>(number);
  if (index < 0 || index >= static_cast<std::int64_t>(numbers.size())) return;
  number = static_cast<Number>(numbers[static_cast<std::size_t>(index)]);
}

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

}  // namespace

void ClipSet::Renumbering::apply(formats::PlanRow& row) const noexcept {
  renumber(row.speaker, speakers);
  renumber(row.language, languages);
  renumber(row.dataset, datasets);
}

Result<std::shared_ptr<ClipSet>> ClipSet::join(std::vector<std::shared_ptr<ClipTable>> tables) {
  std::shared_ptr<ClipSet> set(new ClipSet());
  XTTS_TRY(set->add(std::move(tables)));
  return set;
}

// Called once, on an empty set.
Status ClipSet::add(std::vector<std::shared_ptr<ClipTable>> tables) {
  tables_ = std::move(tables);
  for (const auto& table : tables_) first_positions_.push_back(size() + table->size());
  XTTS_TRY(join_columns());
  return join_tables();
}

Status ClipSet::join_columns() {
  const ClipTable& first = *tables_.front();
  for (const formats::ColumnEntry& entry : first.manifest().columns) {
    SharedColumn column{.entry = &entry, .ids = {}};
    for (const auto& table : tables_) {
      const formats::ColumnEntry* const found = table->manifest().find_column(entry.spec.name);
      if (found == nullptr) break;
      XTTS_TRY(check_same_numbers(first, entry.spec, *table, found->spec));
      column.ids.push_back(found->spec.id);
    }
    if (column.ids.size() == tables_.size()) columns_.push_back(std::move(column));
  }
  if (columns_.empty() && !first.manifest().columns.empty()) {
    return {StatusCode::kMismatch, "the caches have no column in common"};
  }
  return {};
}

Status ClipSet::join_tables() {
  renumberings_.resize(tables_.size());
  if (tables_.size() == 1) {
    const formats::Manifest& manifest = tables_.front()->manifest();
    speakers_ = manifest.speakers;
    languages_ = manifest.languages;
    datasets_ = manifest.datasets;
    return {};
  }
  JoinedNames speakers;
  JoinedNames languages;
  JoinedNames datasets;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const formats::Manifest& manifest = tables_[i]->manifest();
    renumberings_[i] = {.speakers = speakers.add(manifest.speakers),
                        .languages = languages.add(manifest.languages),
                        .datasets = datasets.add(named_datasets(*tables_[i]))};
  }
  speakers_ = speakers.take();
  languages_ = languages.take();
  datasets_ = datasets.take();
  XTTS_TRY(check_numbers<decltype(formats::PlanRow::speaker)>(speakers_, "speakers"));
  XTTS_TRY(check_numbers<decltype(formats::PlanRow::language)>(languages_, "languages"));
  return check_numbers<decltype(formats::PlanRow::dataset)>(datasets_, "data sets");
}

ClipSet::Place ClipSet::locate(std::uint64_t position) const noexcept {
  std::size_t table = 0;
  while (table + 1 < tables_.size() && position >= first_positions_[table + 1]) ++table;
  return {table, position - first_positions_[table]};
}

const SharedColumn* ClipSet::find_column(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      columns_, [&](const SharedColumn& column) { return column.entry->spec.name == name; });
  return found == columns_.end() ? nullptr : &*found;
}

std::uint32_t ClipSet::max_frames() const {
  return tables_.front()->manifest().max_frames();
}

std::uint32_t ClipSet::rows_per_frame(const formats::ColumnEntry& column) const {
  const std::uint32_t frames = max_frames();
  if (axis_of(column) != formats::Axis::kFrames || frames == 0) return 0;
  const std::uint32_t rows = column.spec.shape[0];
  return rows % frames == 0 ? rows / frames : 0;
}

Result<ColumnStatistics> ClipSet::statistics(const SharedColumn& column) const {
  const std::string& name = column.entry->spec.name;
  const auto& of_first = tables_.front()->manifest().mel_statistics;
  if (name != "mel" || !of_first) {
    return Status(
        StatusCode::kNotFound,
        formatted("{} has no statistics of column '{}'{}", tables_.front()->path(), name,
                  name == "mel" ? ": it was published without a training clip"
                                : ": only the mel has; give means and deviations for others"));
  }
  for (const auto& table : tables_) {
    const auto& other = table->manifest().mel_statistics;
    if (other && other->mean == of_first->mean && other->std_deviation == of_first->std_deviation)
      continue;
    return mismatch(*tables_.front(), *table,
                    "each cache has its own statistics: give means and deviations, those of the "
                    "cache that the model is trained on");
  }
  return ColumnStatistics{.frame_count = of_first->frame_count,
                          .mean = of_first->mean,
                          .deviation = of_first->std_deviation,
                          .is_baked = tables_.front()->manifest().features.contains("baked")};
}

std::string ClipSet::digest() const {
  if (tables_.size() == 1) return tables_.front()->manifest().index_digest.to_hex();
  std::string digests;
  for (const auto& table : tables_) digests += table->manifest().index_digest.to_hex();
  return digest128(digests).to_hex();
}

Result<formats::PlanRow> ClipSet::plan_row(std::uint64_t position) const {
  const Place place = locate(position);
  XTTS_ASSIGN(formats::PlanRow row, tables_[place.table]->plan_row(place.position));
  renumberings_[place.table].apply(row);
  return row;
}

Status ClipSet::plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) const {
  while (!rows.empty()) {
    const Place place = locate(first);
    const std::uint64_t left = first_positions_[place.table + 1] - first;
    const std::size_t now = std::min<std::uint64_t>(rows.size(), left);
    // Beyond the end of the last cache, that cache reports the failure.
    const auto part = rows.first(now == 0 ? rows.size() : now);
    XTTS_TRY(tables_[place.table]->plan_rows(place.position, part));
    for (formats::PlanRow& row : part) renumberings_[place.table].apply(row);
    first += part.size();
    rows = rows.subspan(part.size());
  }
  return {};
}

Result<formats::RecordFacts> ClipSet::details(std::uint64_t position) const {
  const Place place = locate(position);
  return tables_[place.table]->details(place.position);
}

Result<std::optional<std::uint64_t>> ClipSet::find(std::string_view full_id) const {
  std::optional<std::uint64_t> found;
  std::size_t found_in = 0;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    XTTS_ASSIGN(const auto position, tables_[i]->find(full_id));
    if (!position) continue;
    if (found) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("clip '{}' is in {} and in {}: name it by its position", full_id,
                              tables_[found_in]->path(), tables_[i]->path()));
    }
    found = first_positions_[i] + *position;
    found_in = i;
  }
  return found;
}

}  // namespace xtts::reader
