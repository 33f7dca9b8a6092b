#include "loader/selection.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <span>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/split.hpp"
#include "query/expression.hpp"
#include "query/fields.hpp"

namespace xtts::loader {
namespace {

Result<std::uint8_t> split_number(std::string_view name) {
  if (const auto split = formats::split_named(name)) return static_cast<std::uint8_t>(*split);
  return Status(StatusCode::kInvalidArgument,
                formatted("there is no split '{}'; there are: train, validation, test", name));
}

// The positions of these clips, ascending, each once.
Result<std::vector<std::uint64_t>> find_all(const reader::ClipSet& clips,
                                            const std::vector<std::string>& ids) {
  std::vector<std::uint64_t> positions;
  for (const std::string& id : ids) {
    XTTS_ASSIGN(const auto position, clips.find(id));
    if (!position) {
      return Status(StatusCode::kNotFound, formatted("the cache has no clip '{}'", id));
    }
    positions.push_back(*position);
  }
  std::ranges::sort(positions);
  const auto repeated = std::ranges::unique(positions);
  positions.erase(repeated.begin(), repeated.end());
  return positions;
}

// Asks an expression about clips. It reads their facts only where the expression needs them.
class Filter {
 public:
  Filter(reader::ClipTable& table, query::Expression expression)
      : table_(table),
        expression_(std::move(expression)),
        tables_(query::Tables::of(table.manifest())) {}

  [[nodiscard]] Result<bool> takes(std::uint64_t position, const formats::PlanRow& row) {
    if (!expression_.needs_facts()) return expression_.matches({tables_, row, no_facts_});
    XTTS_ASSIGN(const formats::RecordFacts facts, table_.details(position));
    return expression_.matches({tables_, row, facts});
  }

 private:
  reader::ClipTable& table_;
  query::Expression expression_;
  query::Tables tables_;
  formats::RecordFacts no_facts_;
};

}  // namespace

// What the options ask for, parsed.
struct Selection::Wanted {
  std::optional<std::uint8_t> split;
  std::optional<query::Expression> where;
  std::optional<std::vector<std::uint64_t>> only;  // ascending
  std::vector<std::uint64_t> excluded;             // ascending

  [[nodiscard]] bool takes_whole_ranges() const { return !where && !only && excluded.empty(); }
  [[nodiscard]] bool names(std::uint64_t position) const {
    return (!only || std::ranges::binary_search(*only, position)) &&
           !std::ranges::binary_search(excluded, position);
  }
};

void Selection::add(std::uint64_t first_position, std::uint64_t count) {
  if (count == 0) return;
  const bool continues =
      !runs_.empty() &&
      runs_.back().first_position + (size_ - runs_.back().first_sample) == first_position;
  if (!continues) runs_.push_back({size_, first_position});
  size_ += count;
}

std::uint64_t Selection::position_of(std::uint64_t sample) const noexcept {
  const auto after = std::ranges::upper_bound(runs_, sample, {}, &Run::first_sample);
  const Run& run = *std::prev(after);
  return run.first_position + (sample - run.first_sample);
}

bool Selection::contains(std::uint64_t position) const noexcept {
  const auto behind = std::ranges::upper_bound(runs_, position, {}, &Run::first_position);
  if (behind == runs_.begin()) return false;
  const Run& run = *std::prev(behind);
  const std::uint64_t end_sample = behind == runs_.end() ? size_ : behind->first_sample;
  return position - run.first_position < end_sample - run.first_sample;
}

std::vector<PositionRange> Selection::positions_of(std::uint64_t first_sample,
                                                   std::uint64_t sample_count) const {
  std::vector<PositionRange> ranges;
  if (sample_count == 0) return ranges;
  const std::uint64_t end = first_sample + sample_count;
  auto run = std::prev(std::ranges::upper_bound(runs_, first_sample, {}, &Run::first_sample));
  for (std::uint64_t sample = first_sample; sample < end; ++run) {
    const std::uint64_t run_end =
        std::next(run) == runs_.end() ? size_ : std::next(run)->first_sample;
    const std::uint64_t count = std::min(run_end, end) - sample;
    ranges.push_back({run->first_position + (sample - run->first_sample), count});
    sample += count;
  }
  return ranges;
}

Digest Selection::digest() const {
  Hasher128 hasher;
  for (const Run& run : runs_) {
    const std::array<std::uint64_t, 2> numbers{run.first_sample, run.first_position};
    hasher.update(std::as_bytes(std::span(numbers)));
  }
  hasher.update(std::as_bytes(std::span(&size_, 1)));
  return hasher.finish();
}

Result<Selection> Selection::choose(const reader::ClipSet& clips, const ReaderOptions& options,
                                    const std::vector<std::uint64_t>& not_at) {
  Wanted wanted;
  if (!options.split.empty()) {
    XTTS_ASSIGN(wanted.split, split_number(options.split));
  }
  if (!options.where.empty()) {
    XTTS_ASSIGN(wanted.where, query::Expression::parse(options.where));
  }
  if (!options.ids.empty()) {
    XTTS_ASSIGN(wanted.only, find_all(clips, options.ids));
  }
  XTTS_ASSIGN(const auto excluded, find_all(clips, options.exclude));
  std::ranges::set_union(excluded, not_at, std::back_inserter(wanted.excluded));
  Selection selection;
  for (std::size_t i = 0; i < clips.table_count(); ++i)
    XTTS_TRY(selection.add_table(clips, i, wanted));
  return selection;
}

Status Selection::add_table(const reader::ClipSet& clips, std::size_t table, const Wanted& wanted) {
  std::uint64_t first_position = clips.first_position(table);
  if (!wanted.split) return add_from(clips, {first_position, clips.clip_count(table)}, wanted);
  XTTS_ASSIGN(const auto groups, clips.groups(table));
  for (const formats::ClipGroup& group : groups) {
    if (group.split == *wanted.split)
      XTTS_TRY(add_from(clips, {first_position, group.clip_count}, wanted));
    first_position += group.clip_count;
  }
  return {};
}

// `range`: clips of one table.
Status Selection::add_from(const reader::ClipSet& clips, const PositionRange& range,
                           const Wanted& wanted) {
  if (wanted.takes_whole_ranges() || range.count == 0) {
    add(range.first_position, range.count);
    return {};
  }
  const auto place = clips.locate(range.first_position);
  XTTS_ASSIGN(const reader::OpenTable* const open, clips.table(place.table));
  std::optional<Filter> filter;
  if (wanted.where) filter.emplace(*open->table, *wanted.where);
  std::array<formats::PlanRow, 128> rows;
  for (std::uint64_t done = 0; done < range.count; done += rows.size()) {
    const std::uint64_t first = place.position + done;
    const auto now =
        static_cast<std::size_t>(std::min<std::uint64_t>(rows.size(), range.count - done));
    if (filter) XTTS_TRY(open->table->plan_rows(first, std::span(rows).first(now)));
    for (std::size_t i = 0; i < now; ++i) {
      const std::uint64_t position = range.first_position + done + i;
      if (!wanted.names(position)) continue;
      if (filter) {
        XTTS_ASSIGN(const bool is_taken, filter->takes(first + i, rows[i]));
        if (!is_taken) continue;
      }
      add(position, 1);
    }
  }
  return {};
}

}  // namespace xtts::loader
