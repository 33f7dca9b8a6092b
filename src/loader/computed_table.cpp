#include "loader/computed_table.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/current_exception.hpp"
#include "base/run_on_threads.hpp"
#include "base/try.hpp"
#include "formats/constants.hpp"

namespace xtts::loader {
namespace {

formats::PlanRow row_of(const SourceClip& clip) {
  formats::PlanRow row;
  row.speaker = clip.speaker;
  row.language = static_cast<std::int16_t>(clip.language);
  row.dataset = static_cast<std::uint16_t>(clip.dataset);
  row.split = clip.split;
  return row;
}

}  // namespace

// What the threads of learn() share.
struct ComputedTable::Lesson {
  const Selection& clips;
  bool keeps_facts = false;
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> has_failed = false;
  std::mutex mutex = {};  // guards what stands below, and the table's facts
  Status failure = {};
};

Result<std::shared_ptr<ComputedTable>> ComputedTable::open(
    std::shared_ptr<const ClipSource> source) {
  XTTS_ASSIGN(const std::string text, source->manifest());
  const auto digest = Digest::from_hex(source->digest());
  if (!digest) return Status(StatusCode::kInternal, "a source of clips has a digest that is none");
  // There is no index, and so the shortest there can be.
  XTTS_ASSIGN(auto manifest, formats::decode_manifest_copy(text, formats::kPageBytes, *digest));
  std::shared_ptr<ComputedTable> table(new ComputedTable(std::move(source), std::move(manifest)));
  table->rows_.reserve(table->source_->size());
  for (std::uint64_t position = 0; position < table->source_->size(); ++position) {
    table->rows_.push_back(row_of(table->source_->clip(position)));
  }
  return table;
}

Result<formats::PlanRow> ComputedTable::plan_row(std::uint64_t position) {
  if (position < rows_.size()) return rows_[position];
  return Status(StatusCode::kNotFound, "there is no clip " + std::to_string(position));
}

Status ComputedTable::plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) {
  if (first > rows_.size() || rows.size() > rows_.size() - first) {
    return {StatusCode::kNotFound, "there is no clip " + std::to_string(rows_.size())};
  }
  std::ranges::copy(std::span(rows_).subspan(first, rows.size()), rows.begin());
  return {};
}

Result<formats::RecordFacts> ComputedTable::details(std::uint64_t position) {
  const auto learned = facts_.find(position);
  const std::string facts = learned == facts_.end() ? source_->facts(position) : learned->second;
  return formats::decode_facts(std::as_bytes(std::span(facts)));
}

Result<std::optional<std::uint64_t>> ComputedTable::find(std::string_view full_id) {
  return source_->find(full_id);
}

Status ComputedTable::learn(const Selection& clips, std::uint32_t thread_count, bool keeps_facts) {
  Lesson lesson{.clips = clips, .keeps_facts = keeps_facts};
  run_on_threads(thread_count, [&] {
    try {
      learn_in_turn(lesson);
    } catch (...) {
      const std::scoped_lock lock(lesson.mutex);
      lesson.failure = status_of_current_exception();
      lesson.has_failed = true;
    }
  });
  return lesson.failure;
}

void ComputedTable::learn_in_turn(Lesson& lesson) {
  SourceRecord record;
  std::string facts;
  while (!lesson.has_failed) {
    const std::uint64_t sample = lesson.next++;
    if (sample >= lesson.clips.size()) return;
    const std::uint64_t position = lesson.clips.position_of(sample);
    Status status = learn_one(position, record, lesson.keeps_facts ? &facts : nullptr);
    if (status.ok() && (!lesson.keeps_facts || !record.reject.empty())) continue;
    const std::scoped_lock lock(lesson.mutex);
    if (status.ok()) {
      facts_.insert_or_assign(position, facts);
    } else {
      lesson.failure = std::move(status);
      lesson.has_failed = true;
    }
  }
}

// A row is written by the one thread that has taken its clip.
Status ComputedTable::learn_one(std::uint64_t position, SourceRecord& record, std::string* facts) {
  XTTS_TRY(source_->compute(position, record, facts));
  if (!record.reject.empty()) return {};
  formats::PlanRow& row = rows_[position];
  row.mel_len = record.frame_count;
  row.text_len = record.token_count;
  row.flags = record.flags;
  return {};
}

}  // namespace xtts::loader
