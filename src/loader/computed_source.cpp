#include "loader/computed_source.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "loader/computed_feed.hpp"
#include "query/expression.hpp"

namespace xtts::loader {
namespace {

// The name of an option about stored records that was changed from its default, if there is one.
std::optional<std::string> option_of_storage(const ReaderOptions& options) {
  const ReaderOptions defaults;
  if (options.verify_records != defaults.verify_records) return "verify_records";
  if (options.on_damage != defaults.on_damage) return "on_damage";
  if (options.max_damage != defaults.max_damage) return "max_damage";
  if (options.reading != defaults.reading) return "reading";
  return std::nullopt;
}

// True where the expression asks for something that only the computed clip tells.
Result<bool> needs_sound(const std::string& where) {
  if (where.empty()) return false;
  XTTS_ASSIGN(const auto expression, query::Expression::parse(where));
  return expression.needs_sound();
}

}  // namespace

Result<std::shared_ptr<ComputedSource>> ComputedSource::open(
    std::shared_ptr<const ClipSource> source) {
  XTTS_ASSIGN(auto table, ComputedTable::open(source));
  XTTS_ASSIGN(auto clips, reader::ClipSet::join({table}));
  return std::shared_ptr<ComputedSource>(
      new ComputedSource(std::move(source), std::move(table), std::move(clips)));
}

std::uint32_t ComputedSource::default_thread_count() const {
  return std::max(source_->thread_count(), 1U);
}

Status ComputedSource::check_options(const ReaderOptions& options) const {
  if (options.shuffle == Shuffle::kWindow) {
    return {StatusCode::kInvalidArgument,
            "shuffle window is for caches: take shuffle global or none for clips that are computed "
            "now"};
  }
  if (const auto name = option_of_storage(options)) {
    return {StatusCode::kInvalidArgument,
            *name + " is for caches: leave it at its default for clips that are computed now"};
  }
  for (const ColumnRequest& column : options.columns) {
    if (column.normalize != Normalize::kCorpus) continue;
    return {StatusCode::kUnsupported,
            formatted("column '{}': only a cache knows the statistics of its corpus: give means "
                      "and deviations (in Python a pair, or cache.stats['mel'] of a cache)",
                      column.name)};
  }
  return {};
}

Status ComputedSource::prepare(const ReaderOptions& options) {
  XTTS_ASSIGN(const bool asks_sound, needs_sound(options.where));
  if (!asks_sound && options.buckets.empty()) return {};
  return learn(options, asks_sound);
}

Status ComputedSource::learn(const ReaderOptions& options, bool keeps_facts) {
  ReaderOptions known = options;
  known.where.clear();  // what it asks for is learnt here
  XTTS_ASSIGN(const auto chosen, Selection::choose(*clips_, known));
  XTTS_TRY(table_->learn(
      chosen,
      {.thread_count = options.thread_count != 0 ? options.thread_count : default_thread_count(),
       .keeps_facts = keeps_facts,
       .cancelled = options.cancelled}));
  never_chosen_ = source_->rejected();
  std::erase_if(never_chosen_, [&](std::uint64_t clip) { return !chosen.contains(clip); });
  return {};
}

Result<std::unique_ptr<RecordFeed>> ComputedSource::open_feed(FeedJob job) {
  table_->forget_facts();
  return std::unique_ptr<RecordFeed>(
      std::make_unique<ComputedFeed>(source_, std::move(job.choose_clips)));
}

std::string ComputedSource::state_mismatch_message(const std::string& /*digest*/) const {
  return "the state is of a cache, or of other clips than " + source_->path() +
         " holds now: begin the epoch anew with set_epoch()";
}

}  // namespace xtts::loader
