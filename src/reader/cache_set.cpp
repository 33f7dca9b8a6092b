#include "reader/cache_set.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "base/hash.hpp"
#include "base/try.hpp"
#include "reader/block_map.hpp"

namespace xtts::reader {
namespace {

// One table of names out of several.
class JoinedNames {
 public:
  // The numbers here of the names of a further table.
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

// Clips without a data set's name are their cache's own.
std::vector<std::string> named_datasets(const CacheView& cache) {
  std::vector<std::string> names = cache.manifest().datasets;
  if (names.empty()) names.emplace_back();
  for (std::string& name : names) {
    if (name.empty()) name = cache.path();
  }
  return names;
}

// What the numbers of a clip are in the set; -1, none, and what the table does not have stay.
template <typename Number>
void renumber(Number& number, const std::vector<std::int32_t>& numbers) noexcept {
  const auto index = static_cast<std::int64_t>(number);
  if (index < 0 || index >= static_cast<std::int64_t>(numbers.size())) return;
  number = static_cast<Number>(numbers[static_cast<std::size_t>(index)]);
}

// A row of the plan has so many bits for the number of a name.
template <typename Number>
Status check_numbers(const std::vector<std::string>& names, std::string_view what) {
  constexpr auto kNamesMax = static_cast<std::uint64_t>(std::numeric_limits<Number>::max()) + 1;
  if (names.size() <= kNamesMax) return {};
  return {StatusCode::kUnsupported, "the caches name " + std::to_string(names.size()) + " " +
                                        std::string(what) + ", and together there can be " +
                                        std::to_string(kNamesMax) + ": open fewer at once"};
}

Status mismatch(const CacheView& first, const CacheView& other, const std::string& what) {
  return {StatusCode::kMismatch,
          other.path() + " cannot be read together with " + first.path() + ": " + what};
}

// Whether one batch can hold records of both.
Status check_same_numbers(const CacheView& first, const formats::ColumnSpec& wanted,
                          const CacheView& other, const formats::ColumnSpec& found) {
  const std::string column = "column '" + found.name + "' ";
  if (found.dtype != wanted.dtype) {
    return mismatch(first, other,
                    column + "holds " + std::string(to_string(found.dtype)) + ", there " +
                        std::string(to_string(wanted.dtype)) +
                        "; xtts-precompute convert makes one as the other");
  }
  if (found.shape != wanted.shape) {
    return mismatch(first, other, column + "has another shape; xtts-precompute diff shows both");
  }
  if (found.fingerprint != wanted.fingerprint) {
    return mismatch(first, other,
                    column + "was made by another recipe; xtts-precompute diff shows what differs");
  }
  return {};
}

}  // namespace

void CacheSet::Renumbering::apply(formats::PlanRow& row) const noexcept {
  renumber(row.speaker, speakers);
  renumber(row.language, languages);
  renumber(row.dataset, datasets);
}

Result<std::shared_ptr<CacheSet>> CacheSet::open(Env& env, std::span<const std::string> paths) {
  std::vector<std::shared_ptr<CacheView>> caches;
  for (const std::string& path : paths) {
    XTTS_ASSIGN(auto cache, CacheView::open(env, path));
    caches.push_back(std::move(cache));
  }
  return join(std::move(caches));
}

Result<std::shared_ptr<CacheSet>> CacheSet::join(std::vector<std::shared_ptr<CacheView>> caches) {
  if (caches.empty()) return Status(StatusCode::kInvalidArgument, "no cache was named");
  auto set = std::make_shared<CacheSet>();
  set->caches_ = std::move(caches);
  for (const auto& cache : set->caches_) {
    set->first_positions_.push_back(set->size() + cache->size());
  }
  XTTS_TRY(set->join_columns());
  XTTS_TRY(set->join_tables());
  return set;
}

Status CacheSet::join_columns() {
  const CacheView& first = *caches_.front();
  for (const formats::ColumnEntry& entry : first.manifest().columns) {
    SharedColumn column{.entry = &entry, .ids = {}};
    for (const auto& cache : caches_) {
      const formats::ColumnEntry* const found = cache->manifest().find_column(entry.spec.name);
      if (found == nullptr) break;
      XTTS_TRY(check_same_numbers(first, entry.spec, *cache, found->spec));
      column.ids.push_back(found->spec.id);
    }
    if (column.ids.size() == caches_.size()) columns_.push_back(std::move(column));
  }
  if (columns_.empty() && !first.manifest().columns.empty()) {
    return {StatusCode::kMismatch, "the caches have no column in common"};
  }
  return {};
}

Status CacheSet::join_tables() {
  renumberings_.resize(caches_.size());
  if (caches_.size() == 1) {
    const formats::Manifest& manifest = caches_.front()->manifest();
    speakers_ = manifest.speakers;
    languages_ = manifest.languages;
    datasets_ = manifest.datasets;
    return {};
  }
  JoinedNames speakers;
  JoinedNames languages;
  JoinedNames datasets;
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    const formats::Manifest& manifest = caches_[i]->manifest();
    renumberings_[i] = {.speakers = speakers.add(manifest.speakers),
                        .languages = languages.add(manifest.languages),
                        .datasets = datasets.add(named_datasets(*caches_[i]))};
  }
  speakers_ = speakers.take();
  languages_ = languages.take();
  datasets_ = datasets.take();
  XTTS_TRY(check_numbers<decltype(formats::PlanRow::speaker)>(speakers_, "speakers"));
  XTTS_TRY(check_numbers<decltype(formats::PlanRow::language)>(languages_, "languages"));
  return check_numbers<decltype(formats::PlanRow::dataset)>(datasets_, "data sets");
}

CacheSet::Place CacheSet::locate(std::uint64_t position) const noexcept {
  std::size_t cache = 0;
  while (cache + 1 < caches_.size() && position >= first_positions_[cache + 1]) ++cache;
  return {cache, position - first_positions_[cache]};
}

const SharedColumn* CacheSet::find_column(std::string_view name) const noexcept {
  const auto found = std::ranges::find_if(
      columns_, [&](const SharedColumn& column) { return column.entry->spec.name == name; });
  return found == columns_.end() ? nullptr : &*found;
}

std::uint32_t CacheSet::max_frames() const {
  return first()->manifest().max_frames();
}

std::uint32_t CacheSet::rows_per_frame(const formats::ColumnEntry& column) const {
  const std::uint32_t frames = max_frames();
  if (axis_of(column) != formats::Axis::kFrames || frames == 0) return 0;
  const std::uint32_t rows = column.spec.shape[0];
  return rows % frames == 0 ? rows / frames : 0;
}

Result<ColumnStatistics> CacheSet::statistics(const SharedColumn& column) const {
  const std::string& name = column.entry->spec.name;
  const auto& of_first = first()->manifest().mel_statistics;
  if (name != "mel" || !of_first) {
    return Status(StatusCode::kNotFound,
                  first()->path() + " has no statistics of column '" + name + "'" +
                      (name == "mel" ? ": it was published without a frame to train with"
                                     : ": only the mel has, for others give means and deviations"));
  }
  for (const auto& cache : caches_) {
    const auto& other = cache->manifest().mel_statistics;
    if (other && other->mean == of_first->mean && other->std_deviation == of_first->std_deviation)
      continue;
    return mismatch(*first(), *cache,
                    "each has its own statistics, and by which of them a model's mels are "
                    "normalized is for you to say: give means and deviations, those of the cache "
                    "that it is or was trained with alone");
  }
  return ColumnStatistics{.frame_count = of_first->frame_count,
                          .mean = of_first->mean,
                          .deviation = of_first->std_deviation,
                          .is_baked = first()->manifest().features.contains("baked")};
}

std::string CacheSet::digest() const {
  if (caches_.size() == 1) return first()->manifest().index_digest.to_hex();
  std::string digests;
  for (const auto& cache : caches_) digests += cache->manifest().index_digest.to_hex();
  return digest128(digests).to_hex();
}

Result<RecordPlace> CacheSet::locate_record(const SharedColumn& column,
                                            std::uint64_t position) const {
  const Place place = locate(position);
  return caches_[place.cache]->blocks().locate(column.ids[place.cache], place.position);
}

Result<std::optional<MappedArray>> CacheSet::find_array(const SharedColumn& column,
                                                        std::uint64_t first_position,
                                                        std::uint32_t count) const {
  const Place place = locate(first_position);
  if (count > first_positions_[place.cache + 1] - first_position) {
    return std::optional<MappedArray>();
  }
  return caches_[place.cache]->blocks().find_array(column.ids[place.cache], place.position, count);
}

Result<formats::PlanRow> CacheSet::plan_row(std::uint64_t position) const {
  const Place place = locate(position);
  XTTS_ASSIGN(formats::PlanRow row, caches_[place.cache]->plan_row(place.position));
  renumberings_[place.cache].apply(row);
  return row;
}

Status CacheSet::plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) const {
  while (!rows.empty()) {
    const Place place = locate(first);
    const std::uint64_t left = first_positions_[place.cache + 1] - first;
    const std::size_t now = std::min<std::uint64_t>(rows.size(), left);
    // Beyond the last cache's end it is the one to say so.
    const auto part = rows.first(now == 0 ? rows.size() : now);
    XTTS_TRY(caches_[place.cache]->plan_rows(place.position, part));
    for (formats::PlanRow& row : part) renumberings_[place.cache].apply(row);
    first += part.size();
    rows = rows.subspan(part.size());
  }
  return {};
}

Result<formats::RecordFacts> CacheSet::details(std::uint64_t position) const {
  const Place place = locate(position);
  return caches_[place.cache]->details(place.position);
}

Result<std::optional<std::uint64_t>> CacheSet::find(std::string_view full_id) const {
  std::optional<std::uint64_t> found;
  std::size_t found_in = 0;
  for (std::size_t i = 0; i < caches_.size(); ++i) {
    XTTS_ASSIGN(const auto position, caches_[i]->find(full_id));
    if (!position) continue;
    if (found) {
      return Status(StatusCode::kInvalidArgument,
                    "clip '" + std::string(full_id) + "' is in " + caches_[found_in]->path() +
                        " and in " + caches_[i]->path() + ": name it by its position");
    }
    found = first_positions_[i] + *position;
    found_in = i;
  }
  return found;
}

}  // namespace xtts::reader
