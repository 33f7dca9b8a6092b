#include "verify/deep.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <new>

#include "base/current_exception.hpp"
#include "base/formatted.hpp"
#include "base/run_on_threads.hpp"
#include "base/try.hpp"
#include "formats/clip_id.hpp"
#include "formats/sound_columns.hpp"
#include "records/columns.hpp"
#include "verify/compare.hpp"
#include "verify/recompute.hpp"
#include "verify/stored_records.hpp"

namespace xtts::verify {
namespace {

using formats::RecordFacts;

// The facts that are measured from the sound, and those that follow from the text (cache-v1.md,
// section 6.2). Other facts, such as names of speakers, come from lists, which may change while
// records stay.
const std::set<std::uint16_t> kSoundTags = {9,  10, 11, 12, 13, 14, 15, 16, 17, 18,
                                            19, 20, 21, 22, 23, 24, 27, 31, 32, 34};
const std::set<std::uint16_t> kTextTags = {7, 8, 28, 29, 30};

class Deep {
 public:
  Deep(Run& run, reader::IndexReader& index, const formats::Manifest& manifest, const Plan& plan)
      : run_(run),
        index_(index),
        manifest_(manifest),
        plan_(plan),
        files_(run.env, run.cache, manifest),
        positions_(sampled_positions(plan.clips, run.options.sample)) {}

  Status check(Report& report) {
    XTTS_ASSIGN(recomputer_, Recomputer::create(run_.env, manifest_, index_, run_.options.sources,
                                                thread_count(), run_.options.cancelled));
    recomputer_->expect(full_ids());
    sound_count_ = formats::sound_columns_of(*recomputer_->recipe().features).size();
    for (std::size_t column = 0; column < sound_count_; ++column)
      tolerances_.push_back(tolerance_of(recomputer_->recipe(), manifest_.columns[column].spec));
    run_on_threads(thread_count(), [this] { work(); });
    XTTS_TRY(failure_);
    report.sampled_of = plan_.clips.size();
    report.comparison = comparison();
    return {};
  }

 private:
  // The data of one thread.
  struct Worker {
    std::vector<StoredRecords> sounds;  // of the columns made of sound
    std::optional<StoredRecords> tokens;
    std::vector<RecordRows> buffers;
  };

  [[nodiscard]] std::uint32_t thread_count() const {
    return static_cast<std::uint32_t>(std::clamp<std::size_t>(
        run_.options.thread_count, 1, std::max<std::size_t>(positions_.size(), 1)));
  }

  [[nodiscard]] std::vector<std::string> full_ids() {
    std::vector<std::string> ids;
    for (const std::uint64_t position : positions_) {
      const auto facts = index_.details(position);
      if (facts) ids.push_back(formats::full_id(*facts));
    }
    return ids;
  }

  void work() noexcept {
    try {
      Worker worker;
      for (std::size_t column = 0; column < sound_count_; ++column)
        worker.sounds.emplace_back(index_, files_, manifest_.columns[column]);
      if (const auto* column = manifest_.find_column("tokens"))
        worker.tokens.emplace(index_, files_, *column);
      for (std::size_t i = next_++; i < positions_.size() && !stops(); i = next_++) {
        const Status status = check_clip(worker, positions_[i]);
        if (!status.ok()) return fail(status);
        const std::uint64_t done = ++done_count_;
        if (run_.options.recompute_progress)
          run_.options.recompute_progress(done, positions_.size());
      }
    } catch (...) {  // memory may be too short for our own message
      fail(status_of_current_exception());
    }
  }

  [[nodiscard]] bool stops() const { return failed_ || run_.cancelled(); }
  void fail(Status status) noexcept {
    const std::scoped_lock lock(mutex_);
    failed_ = true;
    if (failure_.ok()) failure_ = std::move(status);
  }

  Status check_clip(Worker& worker, std::uint64_t position) {
    const auto facts = index_.details(position);
    if (!facts) return {};  // full has told it
    const Digest& id_hash = plan_.clips[position].id_hash;
    if (worker.tokens) {
      const auto stored = worker.tokens->read(position, id_hash);
      if (stored) check_tokens(*facts, *stored);
    }
    XTTS_ASSIGN(auto made, recomputer_->sound(*facts, std::move(worker.buffers)));
    for (std::size_t column = 0; column < sound_count_; ++column) {
      auto stored = worker.sounds[column].read(position, id_hash);
      if (!stored) continue;  // full has told it
      if (column == records::kMainId) {
        count(*stored, made);
      } else {
        stored->facts = *facts;  // its own facts only name its owner
      }
      check_sound(*facts, column, *stored, made);
      if (made.result != RecomputeResult::kRecord) break;  // one failure is enough
    }
    worker.buffers = std::move(made.outcome.records);
    return {};
  }

  void count(const StoredRecord& stored, const RecomputedClip& made) {
    if (made.result != RecomputeResult::kRecord) return;
    ++(has_same_numerics(stored) ? exact_count_ : tolerant_count_);
    if (has_same_numerics(stored)) return;
    const std::scoped_lock lock(mutex_);
    if (!other_numerics_) other_numerics_ = stored.numerics;
  }

  [[nodiscard]] bool has_same_numerics(const StoredRecord& stored) const {
    return stored.numerics == recomputer_->numerics().hash();
  }

  void check_tokens(const RecordFacts& facts, const StoredRecord& stored) {
    if (const auto text = recomputer_->other_text(facts)) {
      note(facts, "tokens", stored, Check::kText,
           {"text_of_build", formatted("the text of the build, '{}'", *facts.text_raw)},
           {"text_of_lists", formatted("'{}' in the lists", *text)}, RemedyKind::kBuild);
    }
    const auto made = recomputer_->tokens(facts);
    if (made.refusal) {
      return damage(facts, "tokens", stored,
                    {.part = "tokens",
                     .offset_bytes = stored.offset_bytes,
                     .expected = no_record(refused(*made.refusal)),
                     .found = number(stored.length)});
    }
    const auto difference = compare_bits({.length = made.token_count,
                                          .fill_bits = 0,
                                          .rows = std::as_bytes(std::span(made.tokens)),
                                          .facts = made.facts},
                                         stored, kTextTags);
    if (difference) damage(facts, "tokens", stored, *difference);
  }

  void check_sound(const RecordFacts& facts, std::size_t column, const StoredRecord& stored,
                   const RecomputedClip& made) {
    const formats::ColumnSpec& spec = manifest_.columns[column].spec;
    const bool same_numerics = has_same_numerics(stored);
    const bool has_no_source =
        made.result == RecomputeResult::kOtherSource || made.result == RecomputeResult::kUnread;
    if (has_no_source || (made.result == RecomputeResult::kRefused && !same_numerics)) {
      return note(facts, spec.name, stored, Check::kSource,
                  {"source_of_build", "the source of the build"}, made.why_not,
                  has_no_source ? RemedyKind::kBuild : RemedyKind::kOtherMachine);
    }
    if (made.result == RecomputeResult::kRefused) {
      return damage(facts, spec.name, stored,
                    {.part = "record",
                     .offset_bytes = stored.offset_bytes,
                     .expected = no_record(made.why_not),
                     .found = {"rows", counted(stored.length, "row", "rows"), stored.length}});
    }
    const RecordRows& record = made.outcome.records[column];
    const ExpectedRecord expected{.length = record.length,
                                  .fill_bits = record.fill_bits,
                                  .rows = record.rows,
                                  .facts = made.outcome.facts};
    if (!same_numerics) return check_within(facts, column, stored, expected);
    const bool is_main = column == records::kMainId;
    if (const auto difference =
            compare_bits(expected, stored, is_main ? kSoundTags : std::set<std::uint16_t>()))
      damage(facts, spec.name, stored, *difference);
  }

  void check_within(const RecordFacts& facts, std::size_t column, const StoredRecord& stored,
                    const ExpectedRecord& expected) {
    const formats::ColumnSpec& spec = manifest_.columns[column].spec;
    const auto difference =
        compare_within(tolerances_[column], spec, expected, stored, recomputer_->recipe());
    if (!difference) return;
    if (!difference->is_beyond_comparison) return damage(facts, spec.name, stored, *difference);
    note(facts, spec.name, stored, Check::kRecomputed, difference->expected,
         {"decoded_otherwise", difference->found.text +
                                   "; but this machine decodes or trims the same source in another "
                                   "way, so this proves nothing"},
         RemedyKind::kOtherMachine, difference->part);
  }

  void damage(const RecordFacts& facts, const std::string& column, const StoredRecord& stored,
              const Difference& difference) {
    run_.findings.add({.file = stored.file,
                       .offset_bytes = difference.offset_bytes.value_or(stored.offset_bytes),
                       .clip = formats::full_id(facts),
                       .column = column,
                       .check = Check::kRecomputed,
                       .part = difference.part,
                       .expected = difference.expected,
                       .found = difference.found,
                       .remedy = RemedyKind::kOverwrite,
                       .is_of_checks = false});
  }

  void note(const RecordFacts& facts, const std::string& column, const StoredRecord& stored,
            Check check, Evidence expected, Evidence found, RemedyKind remedy,
            std::string part = {}) {
    run_.findings.add({.weight = Weight::kNote,
                       .file = stored.file,
                       .offset_bytes = stored.offset_bytes,
                       .clip = formats::full_id(facts),
                       .column = column,
                       .check = check,
                       .part = std::move(part),
                       .expected = std::move(expected),
                       .found = std::move(found),
                       .remedy = remedy,
                       .is_of_checks = false});
  }

  [[nodiscard]] DeepComparison comparison() const {
    const Tolerance& first = tolerances_.front();
    DeepComparison made{.exact_count = exact_count_,
                        .tolerant_count = tolerant_count_,
                        .tolerance = first.absolute > 0.0 ? first.absolute : first.relative,
                        .here = recomputer_->numerics()};
    if (other_numerics_ == manifest_.numerics.hash()) made.cache = manifest_.numerics;
    return made;
  }

  Run& run_;
  reader::IndexReader& index_;
  const formats::Manifest& manifest_;
  const Plan& plan_;
  reader::ShardFiles files_;
  const std::vector<std::uint64_t> positions_;
  std::unique_ptr<Recomputer> recomputer_;
  std::size_t sound_count_ = 0;
  std::vector<Tolerance> tolerances_;  // of the columns made of sound
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::uint64_t> done_count_ = 0;
  std::atomic<std::uint64_t> exact_count_ = 0;
  std::atomic<std::uint64_t> tolerant_count_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // guards the members below
  Status failure_;
  std::optional<Digest> other_numerics_;
};

}  // namespace

std::vector<std::uint64_t> sampled_positions(const std::vector<ClipPlan>& clips,
                                             const Sample& sample) {
  std::vector<std::uint64_t> positions;
  std::optional<std::uint64_t> lowest;
  std::uint64_t lowest_hash = 0;
  for (std::uint64_t i = 0; i < clips.size(); ++i) {
    const std::string id = clips[i].id_hash.to_hex();
    const std::uint64_t hash = check64(as_bytes(id), sample.seed);
    if (!lowest || hash < lowest_hash) {
      lowest = i;
      lowest_hash = hash;
    }
    // Takes 53 bits of the hash, which a double holds.
    if (std::ldexp(static_cast<double>(hash >> 11U), -53) < sample.share) positions.push_back(i);
  }
  if (positions.empty() && lowest) positions.push_back(*lowest);
  return positions;
}

Status recompute_and_compare(Run& run, reader::IndexReader& index,
                             const formats::Manifest& manifest, const Plan& plan, Report& report) {
  return Deep(run, index, manifest, plan).check(report);
}

}  // namespace xtts::verify
