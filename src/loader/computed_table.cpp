#include "loader/computed_table.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/current_exception.hpp"
#include "base/formatted.hpp"
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

// The state that the threads of learn() share.
struct ComputedTable::LearnPass {
  const Selection& clips;
  const LearnOptions& options;
  const std::vector<std::uint64_t> known_rejects;
  const std::thread::id caller = std::this_thread::get_id();
  std::atomic<std::uint64_t> next = 0;
  std::atomic<bool> has_failed = false;
  std::mutex mutex = {};  // guards what stands below, and the table's facts
  Status failure = {};
  std::map<std::uint64_t, std::string> without_record = {};  // why, by position

  void fail(Status status) {
    const std::scoped_lock lock(mutex);
    if (failure.ok()) failure = std::move(status);
    has_failed = true;
  }
  [[nodiscard]] Status check_cancelled() const {
    if (!options.cancelled || std::this_thread::get_id() != caller) return {};
    try {
      if (!options.cancelled()) return {};
    } catch (...) {
      return {StatusCode::kCancelled, status_of_current_exception().message()};
    }
    return {StatusCode::kCancelled, "stopped while the lengths of clips were found out"};
  }
};

Result<std::shared_ptr<ComputedTable>> ComputedTable::open(
    std::shared_ptr<const ClipSource> source) {
  XTTS_ASSIGN(const std::string text, source->manifest());
  const auto digest = Digest::from_hex(source->digest());
  if (!digest) return Status(StatusCode::kInternal, "a source of clips has an invalid digest");
  // A source has no index, so the shortest possible size stands for it.
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
  return Status(StatusCode::kNotFound, formatted("there is no clip {}", position));
}

Status ComputedTable::plan_rows(std::uint64_t first, std::span<formats::PlanRow> rows) {
  if (first > rows_.size() || rows.size() > rows_.size() - first) {
    return {StatusCode::kNotFound, formatted("there is no clip {}", rows_.size())};
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

Status ComputedTable::learn(const Selection& clips, const LearnOptions& options) {
  LearnPass pass{.clips = clips, .options = options, .known_rejects = source_->rejected()};
  run_on_threads(options.thread_count, [&] {
    try {
      learn_next_clips(pass);
    } catch (...) {
      pass.fail(status_of_current_exception());
    }
  });
  XTTS_TRY(pass.failure);
  XTTS_TRY(source_->check_rejects());
  return check_complete(pass);
}

void ComputedTable::learn_next_clips(LearnPass& pass) {
  SourceRecord record;
  while (!pass.has_failed) {
    Status status = pass.check_cancelled();
    const std::uint64_t sample = pass.next++;
    if (status.ok() && sample >= pass.clips.size()) return;
    if (status.ok()) status = learn_one(pass, pass.clips.position_of(sample), record);
    if (!status.ok()) pass.fail(std::move(status));
  }
}

// Only the thread that has taken a clip writes its row.
Status ComputedTable::learn_one(LearnPass& pass, std::uint64_t position, SourceRecord& record) {
  std::string facts;
  XTTS_TRY(source_->compute(position, record, pass.options.keeps_facts ? &facts : nullptr));
  if (!record.reject.empty()) {
    return note_without_record(pass, position, std::move(record.reject));
  }
  formats::PlanRow& row = rows_[position];
  row.mel_len = record.frame_count;
  row.text_len = record.token_count;
  row.flags = record.flags;
  if (!pass.options.keeps_facts) return {};
  const std::scoped_lock lock(pass.mutex);
  facts_.insert_or_assign(position, std::move(facts));
  return {};
}

// Asks whether there are too many rejects, unless this clip was known to be one. Rejects of an
// earlier attempt prove nothing yet: the environment may have caused them, and they are counted
// until the clips were tried again.
Status ComputedTable::note_without_record(LearnPass& pass, std::uint64_t position,
                                          std::string why) const {
  {
    const std::scoped_lock lock(pass.mutex);
    pass.without_record.emplace(position, std::move(why));
  }
  if (std::ranges::binary_search(pass.known_rejects, position)) return {};
  return source_->check_rejects();
}

// Fails where a clip has no record and is not rejected. Its length would count as 0 frames: it
// would get into the wrong bucket, or `where` would leave it out without a word.
Status ComputedTable::check_complete(const LearnPass& pass) const {
  const auto rejected = source_->rejected();
  for (const auto& [position, why] : pass.without_record) {
    if (std::ranges::binary_search(rejected, position)) continue;
    return {StatusCode::kSourceIo,
            why +
                ". Buckets, and a where on facts of the sound, need each clip: mend this one and "
                "open the reader again, or leave it out with exclude"};
  }
  return {};
}

}  // namespace xtts::loader
