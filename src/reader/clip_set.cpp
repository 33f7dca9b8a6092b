#include "reader/clip_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/try.hpp"
#include "reader/joined_set.hpp"

namespace xtts::reader {
namespace {

// Turns a clip's number into the set's. -1 (none) and numbers that the table lacks stay.
template <typename Number>
void change(Number& number, const std::vector<std::int32_t>& numbers) noexcept {
  const auto index = static_cast<std::int64_t>(number);
  if (index < 0 || index >= static_cast<std::int64_t>(numbers.size())) return;
  number = static_cast<Number>(numbers[static_cast<std::size_t>(index)]);
}

// Several tables: clips without a data set's name form a data set of their table.
std::vector<std::string> names_of(std::span<const std::shared_ptr<ClipTable>> tables) {
  std::vector<std::string> names;
  if (tables.size() == 1) return names;
  for (const auto& table : tables) names.push_back(table->path());
  return names;
}

Status no_statistics_of(std::span<const std::shared_ptr<ClipTable>> tables) {
  const ClipTable& first = *tables.front();
  for (const auto& table : tables.subspan(1)) {
    const auto& of_first = first.manifest().mel_statistics;
    const auto& other = table->manifest().mel_statistics;
    if (!of_first) break;
    if (other && other->mean == of_first->mean && other->std_deviation == of_first->std_deviation)
      continue;
    return {StatusCode::kMismatch,
            formatted("{} cannot be read together with {}: each cache has its own statistics: give "
                      "means and deviations, those of the cache that the model is trained on",
                      table->path(), first.path())};
  }
  return {StatusCode::kNotFound,
          formatted("{} has no statistics of column 'mel': it was published without a training "
                    "clip",
                    first.path())};
}

}  // namespace

void OpenTable::renumber(formats::PlanRow& row) const noexcept {
  change(row.speaker, speakers);
  change(row.language, languages);
  change(row.dataset, datasets);
}

ClipSet::~ClipSet() = default;

Result<std::shared_ptr<ClipSet>> ClipSet::join(std::vector<std::shared_ptr<ClipTable>> tables) {
  std::shared_ptr<ClipSet> set(new ClipSet());
  XTTS_TRY(set->take(std::move(tables)));
  return set;
}

Status ClipSet::take(std::vector<std::shared_ptr<ClipTable>> tables) {
  XTTS_ASSIGN(set_.whole, whole_of(tables, names_of(tables)));
  no_statistics_ = no_statistics_of(tables);
  path_ = tables.front()->path();
  digest_ = tables.front()->manifest().index_digest.to_hex();
  std::string digests;
  for (const auto& table : tables) {
    set_.members.push_back({.path = table->path(),
                            .index_digest = table->manifest().index_digest,
                            .groups = {},
                            .column_bytes = {}});
    first_positions_.push_back(size() + table->size());
    digests += table->manifest().index_digest.to_hex();
  }
  if (tables.size() > 1) digest_ = digest128(digests).to_hex();
  list_columns();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    XTTS_ASSIGN(OpenTable open, joined(i, std::move(tables[i])));
    add_open(i, std::move(open));
  }
  return {};
}

void ClipSet::take(formats::SetManifest set, std::string path, std::string digest) {
  set_ = std::move(set);
  groups_are_told_ = true;
  path_ = std::move(path);
  digest_ = std::move(digest);
  no_statistics_ = {StatusCode::kNotFound,
                    path_ + " has no statistics of column 'mel': it has no training clip"};
  for (const formats::SetMember& member : set_.members)
    first_positions_.push_back(size() + member.clip_count());
  list_columns();
}

void ClipSet::list_columns() {
  for (const formats::ColumnEntry& entry : set_.whole.columns)
    columns_.push_back({.entry = &entry, .number = columns_.size()});
  open_.resize(table_count());
  found_ = std::make_unique<std::atomic<const OpenTable*>[]>(table_count());
}

Result<std::shared_ptr<ClipTable>> ClipSet::open_table(std::size_t index) const {
  return Status(StatusCode::kInternal, "no table opens later: " + member(index).path);
}

// Finds the set's columns and names in the table. set.json may tell of others than the cache has.
Result<OpenTable> ClipSet::joined(std::size_t index, std::shared_ptr<ClipTable> table) const {
  const formats::Manifest& manifest = table->manifest();
  const auto tells_of_other = [&](std::string_view what) {
    return Status(StatusCode::kCorrupt,
                  formatted("{} tells of other {} than {} has: make the set anew", path_, what,
                            table->path()));
  };
  OpenTable open;
  for (const SharedColumn& column : columns_) {
    const formats::ColumnSpec& told = column.entry->spec;
    const formats::ColumnEntry* const found = manifest.find_column(told.name);
    if (found == nullptr || !has_same_numbers(told, found->spec)) return tells_of_other("columns");
    open.column_ids.push_back(found->spec.id);
  }
  open.speakers = numbers_in(whole().speakers, manifest.speakers);
  open.languages = numbers_in(whole().languages, manifest.languages);
  if (whole().datasets != manifest.datasets)
    open.datasets = numbers_in(whole().datasets, named_datasets(manifest, member(index).path));
  for (const auto* numbers : {&open.speakers, &open.languages, &open.datasets})
    if (std::ranges::find(*numbers, -1) != numbers->end()) return tells_of_other("names");
  open.table = std::move(table);
  if (groups_are_told_) XTTS_TRY(check_groups(index, open));
  return open;
}

// Splits are chosen by the groups, so they must be those of the plan.
Status ClipSet::check_groups(std::size_t index, const OpenTable& open) const {
  XTTS_ASSIGN(auto groups, groups_of(*open.table));
  for (formats::ClipGroup& group : groups) change(group.dataset, open.datasets);
  if (groups == member(index).groups) return {};
  return {StatusCode::kCorrupt, formatted("{} tells of other splits than {} has: make the set anew",
                                          path_, open.table->path())};
}

// Another thread may have been faster; then its table stays.
const OpenTable* ClipSet::add_open(std::size_t index, OpenTable table) const {
  const std::scoped_lock lock(opening_);
  if (open_[index] == nullptr) {
    open_[index] = std::make_unique<const OpenTable>(std::move(table));
    found_[index].store(open_[index].get(), std::memory_order_release);
  }
  return open_[index].get();
}

Result<const OpenTable*> ClipSet::table(std::size_t index) const {
  if (const OpenTable* const open = found_[index].load(std::memory_order_acquire)) return open;
  XTTS_ASSIGN(auto opened, open_table(index));
  XTTS_ASSIGN(OpenTable open, joined(index, std::move(opened)));
  return add_open(index, std::move(open));
}

ClipSet::Place ClipSet::locate(std::uint64_t position) const noexcept {
  // A position beyond the end belongs to the last table, which reports the failure.
  const auto behind =
      std::upper_bound(first_positions_.begin() + 1, first_positions_.end() - 1, position);
  const auto table = static_cast<std::size_t>(behind - first_positions_.begin()) - 1;
  return {table, position - first_positions_[table]};
}

Result<std::vector<formats::ClipGroup>> ClipSet::groups(std::size_t index) const {
  if (groups_are_told_) return member(index).groups;
  XTTS_ASSIGN(const OpenTable* const open, table(index));
  return groups_of(*open->table);
}

const SharedColumn* ClipSet::find_column(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      columns_, [&](const SharedColumn& column) { return column.entry->spec.name == name; });
  return found == columns_.end() ? nullptr : &*found;
}

std::uint32_t ClipSet::rows_per_frame(const formats::ColumnEntry& column) const {
  const std::uint32_t frames = whole().max_frames();
  if (axis_of(column) != formats::Axis::kFrames || frames == 0) return 0;
  const std::uint32_t rows = column.spec.shape[0];
  return rows % frames == 0 ? rows / frames : 0;
}

Result<ColumnStatistics> ClipSet::statistics(const SharedColumn& column) const {
  const std::string& name = column.entry->spec.name;
  if (name != "mel")
    return Status(StatusCode::kNotFound,
                  formatted("{} has no statistics of column '{}': only the mel has; give means and "
                            "deviations for others",
                            path_, name));
  const auto& found = whole().mel_statistics;
  if (!found) return no_statistics_;
  return ColumnStatistics{.frame_count = found->frame_count,
                          .mean = found->mean,
                          .deviation = found->std_deviation,
                          .is_baked = whole().features.contains("baked")};
}

Result<formats::PlanRow> ClipSet::plan_row(std::uint64_t position) const {
  const Place place = locate(position);
  XTTS_ASSIGN(const OpenTable* const open, table(place.table));
  XTTS_ASSIGN(formats::PlanRow row, open->table->plan_row(place.position));
  open->renumber(row);
  return row;
}

Status ClipSet::plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) const {
  while (!rows.empty()) {
    const Place place = locate(first);
    const std::uint64_t left = first_positions_[place.table + 1] - first;
    const std::size_t now = std::min<std::uint64_t>(rows.size(), left);
    // Beyond the end of the last table, that table reports the failure.
    const auto part = rows.first(now == 0 ? rows.size() : now);
    XTTS_ASSIGN(const OpenTable* const open, table(place.table));
    XTTS_TRY(open->table->plan_rows(place.position, part));
    for (formats::PlanRow& row : part) open->renumber(row);
    first += part.size();
    rows = rows.subspan(part.size());
  }
  return {};
}

Result<formats::RecordFacts> ClipSet::details(std::uint64_t position) const {
  const Place place = locate(position);
  XTTS_ASSIGN(const OpenTable* const open, table(place.table));
  return open->table->details(place.position);
}

Result<std::optional<std::uint64_t>> ClipSet::find(std::string_view full_id) const {
  std::optional<std::uint64_t> found;
  std::size_t found_in = 0;
  for (std::size_t i = 0; i < table_count(); ++i) {
    XTTS_ASSIGN(const OpenTable* const open, table(i));
    XTTS_ASSIGN(const auto position, open->table->find(full_id));
    if (!position) continue;
    if (found) {
      return Status(StatusCode::kInvalidArgument,
                    formatted("clip '{}' is in {} and in {}: name it by its position", full_id,
                              member(found_in).path, member(i).path));
    }
    found = first_positions_[i] + *position;
    found_in = i;
  }
  return found;
}

}  // namespace xtts::reader
