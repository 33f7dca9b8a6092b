#include "verify/shard_repair.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <utility>

#include "base/current_exception.hpp"
#include "base/formatted.hpp"
#include "base/run_on_threads.hpp"
#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/clip_id.hpp"
#include "formats/sound_columns.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/shard_assembler.hpp"
#include "reader/cache_paths.hpp"
#include "records/columns.hpp"
#include "verify/run.hpp"

namespace xtts::verify {
namespace {

using formats::BlockFacts;
using formats::RecordFacts;

class ShardRepair {
 public:
  explicit ShardRepair(const ShardRepairJob& job)
      : job_(job),
        entry_(job.column.entry->shards[job.ordinal]),
        first_row_(job.column.first_row_of_shard[job.ordinal]),
        spec_(job.column.entry->spec),
        numerics_(spec_.numerics) {
    shard_.name = reader::shard_name(*job.column.entry, job.ordinal);
  }

  Result<RemadeShard> run() {
    open_file();
    find_numerics();
    if (has_lost_the_dead()) {
      made_.needs_renewal = true;
      return std::move(made_);
    }
    for (std::size_t block = 0; block < block_count(); ++block) {
      if (job_.cancelled && job_.cancelled())
        return Status(StatusCode::kCancelled, "repair was stopped");
      XTTS_TRY(remake_block(block));
    }
    if (made_.obstacles.empty() && !are_facts_lost_) XTTS_TRY(prove());
    made_.needs_renewal = made_.obstacles.empty() && are_facts_lost_;
    if (!made_.obstacles.empty() || are_facts_lost_) made_.image.reset();
    return std::move(made_);
  }

  Result<RemadeShard> renew(std::uint64_t generation) {
    open_file();
    find_numerics();
    is_renewed_ = true;
    formats::ColumnSpec column = spec_;
    column.numerics = numerics_;
    assembler_.emplace(column, job_.column.entry->store, generation);
    for (std::size_t block = 0; block < block_count(); ++block) {
      if (job_.cancelled && job_.cancelled())
        return Status(StatusCode::kCancelled, "repair was stopped");
      XTTS_TRY(remake_block(block));
    }
    if (made_.obstacles.empty()) {
      XTTS_ASSIGN(made_.image, assembler_->end_shard());
      XTTS_ASSIGN(made_.finished, made_.image->finish());
    }
    return std::move(made_);
  }

 private:
  // A record on its way into the image.
  struct Record {
    std::uint32_t owner = kNoOwner;
    std::optional<RecordFacts> details;  // of its owner
  };

  [[nodiscard]] bool is_tokens() const { return spec_.name == "tokens"; }
  [[nodiscard]] bool is_sound() const {
    return spec_.id < formats::sound_columns_of(*job_.texts.recipe().features).size();
  }
  [[nodiscard]] std::size_t block_count() const {
    return job_.column.first_row_of_shard[job_.ordinal + 1] - first_row_;
  }
  [[nodiscard]] const formats::BlockPlace& place_of(std::size_t block) const {
    return job_.column.rows[first_row_ + block]->place;
  }

  [[nodiscard]] bool is_dead(std::size_t block, std::size_t slot) const {
    return job_.column.owner(first_row_ + block, slot) >= job_.plan.clips.size();
  }

  // A dead record cannot be made again, nor the facts of a block that holds one.
  [[nodiscard]] bool has_lost_the_dead() const {
    for (std::size_t block = 0; block < block_count(); ++block) {
      std::vector<std::size_t> dead;
      for (std::size_t slot = 0; slot < place_of(block).record_count; ++slot)
        if (is_dead(block, slot)) dead.push_back(slot);
      if (dead.empty()) continue;
      const SalvagedBlock salvaged = salvage_block(shard_, place_of(block), wanted_header(block));
      const bool are_there = std::ranges::all_of(
          dead, [&](std::size_t slot) { return salvaged.records[slot].rows.has_value(); });
      if (!are_there || !salvaged.facts) return true;
    }
    return false;
  }

  void open_file() {
    auto file = job_.env.open_for_read(join_path(job_.cache, shard_.name));
    if (!file) return;
    file_ = std::move(*file);
    shard_.file = file_.get();
  }

  // All of a shard has the same numerics. The manifest only has those of the column, and later
  // shards may have others.
  void find_numerics() {
    for (std::size_t block = 0; block < block_count(); ++block) {
      const auto header = sound_header(shard_, place_of(block), spec_);
      if (!header) continue;
      numerics_ = header->column.numerics;
      return;
    }
  }

  void add(Obstacle obstacle) {
    const std::scoped_lock lock(mutex_);
    made_.obstacles.push_back(std::move(obstacle));
  }
  void add_obstacle(const Record& record, Evidence why, RemedyKind remedy) {
    add({.clip = record.details ? formats::full_id(*record.details) : "",
         .check = Check::kRecord,
         .why = std::move(why),
         .remedy = remedy,
         .position = record.owner});
  }

  // Returns the header as the plan tells it. If a tombstone's length is not known, the header is
  // wrong and proves nothing.
  [[nodiscard]] formats::BlockHeader wanted_header(std::size_t block) const {
    formats::BlockHeader header{.column = spec_,
                                .block_index = static_cast<std::uint32_t>(block),
                                .generation = entry_.generation,
                                .payload_bytes = 0,
                                .records = {}};
    header.column.numerics = numerics_;
    for (std::size_t slot = 0; slot < place_of(block).record_count; ++slot) {
      const std::uint32_t owner = job_.column.owner(first_row_ + block, slot);
      formats::BlockRecord record;
      record.fill_bits = job_.column.entry->fill_bits;
      if (owner < job_.plan.clips.size()) {
        record.id_hash = job_.plan.clips[owner].id_hash;
        record.length = job_.plan.length_of(*job_.column.entry, owner).value_or(0);
      }
      header.records.push_back(record);
    }
    header.payload_bytes = formats::lay_out_records(spec_, header.records);
    return header;
  }

  Status remake_block(std::size_t block) {
    SalvagedBlock salvaged = salvage_block(shard_, place_of(block), wanted_header(block));
    std::vector<Record> records(salvaged.records.size());
    for (std::size_t slot = 0; slot < records.size(); ++slot) {
      records[slot].owner = job_.column.owner(first_row_ + block, slot);
      if (records[slot].owner >= job_.plan.clips.size()) continue;
      XTTS_ASSIGN(records[slot].details, job_.index.details(records[slot].owner));
    }
    std::vector<std::size_t> to_make;
    for (std::size_t slot = 0; slot < records.size(); ++slot) {
      if (!salvaged.records[slot].rows && records[slot].details) to_make.push_back(slot);
    }
    XTTS_TRY(is_tokens() ? make_tokens(to_make, salvaged, records)
                         : make_sounds(to_make, salvaged, records));
    if (is_renewed_) return made_.obstacles.empty() ? assemble(salvaged, records) : Status();
    if (!salvaged.facts) make_facts(block, salvaged, records);
    // The other blocks are only searched for obstacles.
    if (!made_.obstacles.empty() || are_facts_lost_) return {};
    return add_block(salvaged);
  }

  // Adds the records that clips name, in the order of before.
  Status assemble(SalvagedBlock& salvaged, const std::vector<Record>& records) {
    for (std::size_t slot = 0; slot < records.size(); ++slot) {
      if (!records[slot].details) continue;
      SalvagedRecord& from = salvaged.records[slot];
      const RecordFacts& details = *records[slot].details;
      pipeline::AssembledRecord record;
      record.made.length = from.length;
      record.made.fill_bits = from.fill_bits.value_or(job_.column.entry->fill_bits);
      if (records::has_sums(spec_)) record.sums = sums_of(from);
      record.facts = facts_of(details);
      record.made.rows = std::move(*from.rows);
      XTTS_TRY(assembler_->add(std::move(record)));
    }
    return {};
  }

  Status add_block(SalvagedBlock& salvaged) {
    if (!made_.image) {
      formats::ColumnSpec column = spec_;
      column.numerics = numerics_;
      XTTS_ASSIGN(made_.image,
                  store::make_image(column, job_.column.entry->store, entry_.generation));
    }
    std::vector<store::PendingRecord> pending;
    for (const SalvagedRecord& record : salvaged.records) {
      pending.push_back({.id_hash = record.id_hash,
                         .length = record.length,
                         .fill_bits = *record.fill_bits,
                         .rows = *record.rows});
    }
    return made_.image->add_block(pending, std::move(*salvaged.facts));
  }

  Status make_tokens(const std::vector<std::size_t>& slots, SalvagedBlock& salvaged,
                     std::vector<Record>& records) {
    for (const std::size_t slot : slots) {
      const RecordFacts& details = *records[slot].details;
      const auto made = job_.texts.tokens(details);
      if (made.refusal) {
        add_obstacle(records[slot], refused(*made.refusal), RemedyKind::kLeaveOut);
        continue;
      }
      const auto bytes = std::as_bytes(std::span(made.tokens));
      put_rows(salvaged.records[slot], made.token_count, 0, {bytes.begin(), bytes.end()},
               records[slot]);
    }
    return {};
  }

  Status make_sounds(const std::vector<std::size_t>& slots, SalvagedBlock& salvaged,
                     std::vector<Record>& records) {
    if (slots.empty()) return {};
    if (!is_sound()) {
      add({.why = {"added_column", "add_column has added it, from Python"},
           .remedy = RemedyKind::kAddColumn});
      return {};
    }
    const auto found = job_.sounds();
    if (!found) return without_sources(found.status());
    Recomputer* const sounds = *found;
    if (sounds == nullptr) {
      add_missing_sources({"no_data", "no sources: give --data DATA, the folder of the sources"});
      return {};
    }
    sounds_ = sounds;
    std::atomic<std::size_t> next = 0;
    Status failure;
    const auto work = [&]() noexcept {
      for (std::size_t i = next++; i < slots.size(); i = next++) {
        Status status = make_sound(*sounds, salvaged.records[slots[i]], records[slots[i]]);
        if (status.ok() && !(job_.cancelled && job_.cancelled())) continue;
        const std::scoped_lock lock(mutex_);
        if (failure.ok()) failure = std::move(status);
        next = slots.size();
      }
    };
    run_on_threads(std::min<std::size_t>(job_.thread_count, slots.size()), work);
    if (failure.ok() && job_.cancelled && job_.cancelled())
      return {StatusCode::kCancelled, "repair was stopped"};
    return failure;
  }

  Status without_sources(const Status& status) {
    if (status.code() == StatusCode::kResource || status.code() == StatusCode::kInternal ||
        status.code() == StatusCode::kCancelled) {
      return status;
    }
    add_missing_sources({"status", status.message()});
    return {};
  }

  // All records of the shard lack the same sources, so one obstacle tells of them.
  void add_missing_sources(Evidence why) {
    if (std::exchange(is_missing_sources_told_, true)) return;
    add({.check = Check::kShard, .why = std::move(why), .remedy = RemedyKind::kSources});
  }

  Status make_sound(Recomputer& sounds, SalvagedRecord& salvaged, Record& record) {
    try {
      XTTS_ASSIGN(auto made, sounds.sound(*record.details, {}));
      if (made.result != RecomputeResult::kRecord) {
        add_obstacle(record, made.why_not, remedy_of(made.result));
        return {};
      }
      // No mark would tell these records from their neighbours.
      if (is_renewed_ && other_numerics()) {
        add_obstacle(
            record,
            with_numerics({"cannot_stand_beside",
                           "it would differ in numerics from the other records of its shard"}),
            RemedyKind::kOtherMachine);
        return {};
      }
      RecordRows& row = made.outcome.records[spec_.id];
      put_rows(salvaged, row.length, row.fill_bits, std::move(row.rows), record);
      return {};
    } catch (...) {  // memory may be too short for our own message
      return status_of_current_exception();
    }
  }

  void put_rows(SalvagedRecord& salvaged, std::uint32_t length, std::uint32_t fill_bits,
                std::vector<std::byte> rows, const Record& record) {
    if (length != salvaged.length) {
      return add_obstacle(record,
                          with_numerics({"length_now",
                                         formatted("it has a length of {} now, and had {}", length,
                                                   salvaged.length),
                                         length, salvaged.length}),
                          remedy_of(RecomputeResult::kRefused));
    }
    if (salvaged.fill_bits && fill_bits != *salvaged.fill_bits) {
      return add_obstacle(record,
                          with_numerics({"other_fill", "it is padded with another value now"}),
                          remedy_of(RecomputeResult::kRefused));
    }
    // If the header is lost, the shard's digest finally decides whether this is the old value.
    salvaged.fill_bits = fill_bits;
    salvaged.rows = std::move(rows);
    const std::scoped_lock lock(mutex_);
    ++made_.recomputed_count;
  }

  void make_facts(std::size_t block, SalvagedBlock& salvaged, const std::vector<Record>& records) {
    BlockFacts facts;
    facts.block_index = static_cast<std::uint32_t>(block);
    for (std::size_t slot = 0; slot < records.size(); ++slot) {
      // Either an obstacle was reported, or this is a dead record whose facts are there.
      if (!records[slot].details || !salvaged.records[slot].rows) return;
      facts.records.push_back(facts_of(*records[slot].details));
      if (!records::has_sums(spec_)) continue;
      dsp::add_sums(sums_of(salvaged.records[slot]), salvaged.records[slot].length, facts);
    }
    const std::string encoded = formats::encode_block_facts(facts);
    const formats::BlockPlace& place = place_of(block);
    if (encoded.size() != place.facts_bytes ||
        formats::stored_facts_check(as_bytes(encoded)) != place.facts_check) {
      // The facts were written before their lists changed.
      are_facts_lost_ = true;
      return;
    }
    salvaged.facts = std::move(facts);
  }

  [[nodiscard]] RecordFacts facts_of(const RecordFacts& details) const {
    if (is_tokens()) return pipeline::facts_of_text(details);
    return spec_.id == records::kMainId ? pipeline::facts_of_sound(details)
                                        : pipeline::facts_of_further_column(details);
  }

  [[nodiscard]] std::vector<double> sums_of(const SalvagedRecord& salvaged) const {
    std::vector<double> sums;
    dsp::sum_channels(*salvaged.rows, spec_.dtype, spec_.shape.back(), sums);
    return sums;
  }

  Status prove() {
    XTTS_ASSIGN(made_.finished, made_.image->finish());
    if (made_.finished.table.digest() == entry_.digest) return {};
    add({.check = Check::kShard,
         .expected = {"digest_of_name",
                      formatted("digest {}, as its name says", entry_.digest.to_hex())},
         .why = with_numerics({"bytes_of_another", "it came out with other bytes: digest " +
                                                       made_.finished.table.digest().to_hex()}),
         .remedy = other_numerics() ? RemedyKind::kOtherMachine : RemedyKind::kOverwrite});
    return {};
  }

  // Returns the remedy for a record that was not made.
  [[nodiscard]] RemedyKind remedy_of(RecomputeResult result) const {
    switch (result) {
      case RecomputeResult::kOtherSource:
        return RemedyKind::kBuild;
      case RecomputeResult::kUnread:
        return RemedyKind::kLookAtDisk;
      case RecomputeResult::kRefused:
      case RecomputeResult::kRecord:
        break;
    }
    return other_numerics() ? RemedyKind::kOtherMachine : RemedyKind::kLeaveOut;
  }

  // Returns other numerics as the likely reason, if records were made again.
  [[nodiscard]] std::optional<OtherNumerics> other_numerics() const {
    if (sounds_ == nullptr || sounds_->numerics().hash() == numerics_) return std::nullopt;
    return OtherNumerics{.here = sounds_->numerics(), .cache = job_.manifest.numerics};
  }

  [[nodiscard]] Evidence with_numerics(Evidence evidence) const {
    evidence.numerics = other_numerics();
    return evidence;
  }

  const ShardRepairJob& job_;
  const formats::ShardEntry& entry_;
  const std::uint64_t first_row_;
  const formats::ColumnSpec& spec_;
  DamagedShard shard_;
  std::unique_ptr<RandomAccessFile> file_;
  Digest numerics_;
  bool is_missing_sources_told_ = false;
  const Recomputer* sounds_ = nullptr;  // once a record was made from its source
  bool is_renewed_ = false;
  bool are_facts_lost_ = false;
  std::optional<pipeline::ShardAssembler> assembler_;  // of a renewal
  std::mutex mutex_;                                   // guards what threads add to `made_`
  RemadeShard made_;
};

}  // namespace

Result<RemadeShard> remake_shard(const ShardRepairJob& job) {
  return ShardRepair(job).run();
}

Result<RemadeShard> renew_shard(const ShardRepairJob& job, std::uint64_t generation) {
  return ShardRepair(job).renew(generation);
}

}  // namespace xtts::verify
