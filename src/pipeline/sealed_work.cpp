#include "pipeline/sealed_work.hpp"

#include <algorithm>
#include <utility>

#include "base/check_cancelled.hpp"
#include "base/try.hpp"
#include "dsp/channel_sums.hpp"
#include "formats/clip_id.hpp"
#include "formats/facts.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/rules.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/published_clip.hpp"
#include "pipeline/source_rows.hpp"
#include "reader/block_reader.hpp"
#include "records/clip_rules.hpp"
#include "records/columns.hpp"
#include "records/segment.hpp"
#include "records/source_file.hpp"
#include "records/too_long.hpp"

namespace xtts::pipeline {

using corpus::Clip;
using formats::RecordFacts;
using formats::Reject;
using store::JournalShard;
using store::SealedShard;

namespace {

Result<reader::ShardFile> open_shard(Env& env, const std::string& cache, const SealedShard& shard) {
  reader::ShardFile file{.name = store::shard_path("", shard), .file = {}, .wrong_length = {}};
  XTTS_ASSIGN(file.file, env.open_for_read(store::shard_path(cache, shard)));
  return file;
}

// The header as it was sealed, of whatever column.
Result<formats::BlockHeader> sealed_header(const reader::ShardFile& file,
                                           const formats::BlockPlace& place) {
  XTTS_ASSIGN(const auto bytes,
              reader::read_of_shard(file, place.header_offset, formats::kBlockHeaderBytes));
  XTTS_ASSIGN(auto header, formats::decode_block_header(bytes));
  return reader::check_block_header(bytes, file.name, place, header.column);
}

// The block that holds the shard's record, and the record's slot in it.
std::pair<const formats::BlockPlace*, std::size_t> place_of(const SealedShard& shard,
                                                            std::size_t number) {
  for (const formats::BlockPlace& place : shard.table.blocks) {
    if (number < place.record_count) return {&place, number};
    number -= place.record_count;
  }
  return {nullptr, 0};
}

bool is_alike_but_for_length(const formats::ColumnSpec& found, const formats::ColumnSpec& wanted) {
  return found.name == wanted.name && found.dtype == wanted.dtype &&
         found.shape.size() == wanted.shape.size() &&
         std::equal(found.shape.begin() + 1, found.shape.end(), wanted.shape.begin() + 1);
}

bool is_alike(const formats::ColumnSpec& found, const formats::ColumnSpec& wanted) {
  return is_alike_but_for_length(found, wanted) && found.id == wanted.id &&
         found.shape == wanted.shape && found.layout == wanted.layout &&
         found.fingerprint == wanted.fingerprint && found.numerics == wanted.numerics;
}

}  // namespace

// Goes through all sealed shards, then decides which of them stay.
class SealedWorkFinder {
 public:
  explicit SealedWorkFinder(const SealedWorkJob& job)
      : job_(job), per_shard_(records::clips_per_shard(job.columns)) {}

  Result<SealedWork> run(std::vector<JournalShard> shards) {
    const auto& to_compute = job_.plan.to_compute;
    for (std::size_t place = 0; place < to_compute.size(); ++place) {
      const Clip& clip = job_.plan.corpus.clips[to_compute[place]];
      places_.emplace(formats::id_hash(clip.dataset, clip.id), place);
    }
    work_.records_.resize(to_compute.size());
    whole_.resize(shards.size());
    ids_.resize(shards.size());
    work_.contents_.resize(to_compute.size());
    // Newer work first: a kept shard may hold an older record of a clip, too.
    for (const bool is_kept : {false, true}) {
      for (std::size_t i = 0; i < shards.size(); ++i)
        if (shards[i].is_kept == is_kept)
          XTTS_TRY(look_at(static_cast<std::uint32_t>(i), shards[i]));
    }
    keep(std::move(shards));
    return std::move(work_);
  }

 private:
  struct IdHash {
    std::size_t operator()(const Digest& digest) const noexcept { return digest.low; }
  };

  // The origin of a shard, compared with this build. A kept shard may be older than the interrupted
  // one.
  struct Origin {
    bool is_kept;
    bool has_same_features;
    bool has_same_rules;
  };

  [[nodiscard]] Origin origin_of(const JournalShard& shard) const {
    return {.is_kept = shard.is_kept,
            .has_same_features = job_.interrupted.has_same_features && !shard.has_other_features,
            .has_same_rules = job_.interrupted.has_same_rules && !shard.has_other_rules};
  }

  Status look_at(std::uint32_t number, const JournalShard& shard) {
    if (!is_of_columns(shard)) return {};
    whole_[number] = may_stay(shard);
    XTTS_TRY(take_records(number, shard));
    return take_rejects(number, shard);
  }

  [[nodiscard]] bool is_of_columns(const JournalShard& shard) const {
    return shard.sealed.empty() || std::ranges::equal(shard.sealed, job_.columns,
                                                      [](const auto& sealed, const auto& column) {
                                                        return sealed.column == column.name;
                                                      });
  }

  // True where a shard of just this plan's clips would have the same bytes.
  [[nodiscard]] bool may_stay(const JournalShard& shard) const {
    const Interrupted& before = job_.interrupted;
    if (shard.is_kept || !before.is_same_generation || !before.has_same_features) return false;
    // With the plan, other clips may be the duplicates.
    return before.is_same_plan || (before.has_same_rules && job_.request.recipe.corpus.duplicates !=
                                                                formats::OddClip::kDrop);
  }

  // Damage ends the look at a shard. What was found before stays found.
  Status take_records(std::uint32_t number, const JournalShard& shard) {
    std::vector<Digest> ids;
    for (std::size_t column = shard.sealed.size(); column-- > 0;) {  // the main one, 0, comes last
      auto found = ids_of(number, shard.sealed[column], job_.columns[column]);
      if (!found || (column + 1 < shard.sealed.size() && *found != ids)) {
        whole_[number] = false;
        return {};
      }
      ids = std::move(*found);
    }
    ids_[number] = ids;
    if (shard.sealed.empty()) return {};
    const auto file = open_shard(job_.env, job_.request.options.cache, shard.sealed.front());
    if (!file) return {};
    std::size_t record = 0;
    for (const formats::BlockPlace& place : shard.sealed.front().table.blocks) {
      const auto facts = reader::read_block_facts(*file, place);
      const auto header = sealed_header(*file, place);
      if (!facts || !header) {
        whole_[number] = false;
        return {};
      }
      for (std::size_t slot = 0; slot < facts->records.size(); ++slot, ++record) {
        XTTS_TRY(check_cancelled(job_.request.run.cancelled));
        take_record(number, origin_of(shard), record, ids[record], header->records[slot].length,
                    facts->records[slot]);
      }
    }
    return {};
  }

  // Of all records, in their order; nothing if the shard is not what was sealed.
  std::optional<std::vector<Digest>> ids_of(std::uint32_t number, const SealedShard& shard,
                                            const formats::ColumnSpec& column) {
    const auto file = open_shard(job_.env, job_.request.options.cache, shard);
    if (!file || file->file->size_bytes() != shard.table.file_bytes) return std::nullopt;
    std::vector<Digest> ids;
    for (const formats::BlockPlace& place : shard.table.blocks) {
      const auto header = sealed_header(*file, place);
      if (!header || !is_alike_but_for_length(header->column, column)) return std::nullopt;
      if (!is_alike(header->column, column) || header->generation != job_.generation)
        whole_[number] = false;
      for (const auto& record : header->records) ids.push_back(record.id_hash);
    }
    return ids;
  }

  void take_record(std::uint32_t shard, const Origin& origin, std::size_t number, const Digest& id,
                   std::uint32_t length, const RecordFacts& facts) {
    const auto found = places_.find(id);
    if (found == places_.end()) return;
    const std::size_t place = found->second;
    if (is_taken(place)) return;
    const Clip& clip = job_.plan.corpus.clips[job_.plan.to_compute[place]];
    if (!is_record_of(clip, origin, length, facts) ||
        !has_content(clip, id, facts.content_digest, origin.is_kept))
      return;
    work_.records_[place] = {shard, static_cast<std::uint32_t>(number)};
    work_.contents_[place] = *facts.content_digest;
    // The shard may stay only if its facts would be written again.
    RecordFacts again = facts;
    add_facts_of_lists(clip, again);
    if (facts_of_sound(std::move(again)) != facts) whole_[shard] = false;
  }

  [[nodiscard]] bool is_taken(std::size_t place) const {
    return work_.records_[place].shard != UINT32_MAX || work_.rejects_.contains(place);
  }

  [[nodiscard]] bool is_record_of(const Clip& clip, const Origin& origin, std::uint32_t length,
                                  const RecordFacts& facts) const {
    const formats::FeatureConfig& features = *job_.request.recipe.features;
    if (!records::is_same_part(clip.segment, facts) || !is_decoded_alike(clip, facts)) return false;
    // The facts of a part do not tell how long its source is, and a rule may ask.
    if (clip.segment && !origin.has_same_rules) return false;
    if (!origin.has_same_features) {
      // Only a record of all frames is the same for another max_frames.
      return features.pad == formats::PadWhat::kFrames && facts.frame_count_before_cut &&
             *facts.frame_count_before_cut <= features.max_frames &&
             *facts.frame_count_before_cut == frames_of_main_record(features, length);
    }
    return !(records::was_cut(features, facts) && has_text(clip) &&
             records::depends_on_text(features));
  }

  Status take_rejects(std::uint32_t number, const JournalShard& shard) {
    for (const Reject& reject : shard.rejects) {
      XTTS_TRY(check_cancelled(job_.request.run.cancelled));
      const auto found = places_.find(digest128(reject.id));
      if (found == places_.end() || is_taken(found->second)) continue;
      const Clip& clip = job_.plan.corpus.clips[job_.plan.to_compute[found->second]];
      const bool is_of_plan = job_.interrupted.is_same_plan && !shard.is_kept;
      if (!is_of_plan && !still_stands(reject, clip, found->first, origin_of(shard))) continue;
      work_.rejects_.emplace(found->second, reject);
      work_.contents_[found->second] = reject.content_digest.value_or(Digest());
      reject_shards_.emplace(found->second, number);
    }
    return {};
  }

  [[nodiscard]] bool still_stands(const Reject& reject, const Clip& clip, const Digest& id,
                                  const Origin& origin) {
    const formats::Rule rule = reject.reason.rule;
    // A reject does not tell the part of the source. A duplicate's twin may be gone.
    if (!origin.has_same_rules || !origin.has_same_features || clip.segment ||
        reject.kind == formats::RejectClass::kEnvironment || rule == formats::Rule::kSameSound ||
        rule == formats::Rule::kUnknown || reject.path != std::string_view(clip.source))
      return false;
    if (!has_text(clip) && records::is_void_without_text(rule, job_.request.recipe)) return false;
    return has_content(clip, id, reject.content_digest, origin.is_kept);
  }

  // True where the clip's source is what the work was made of. A file that is still as the
  // interrupted build saw it before reading need not be hashed; but kept work is older.
  bool has_content(const Clip& clip, const Digest& id, const std::optional<Digest>& content,
                   bool is_kept) {
    if (!content) return false;
    const store::SourceRow* const row = row_of_same_file(clip, id);
    if (row != nullptr && row->content != Digest()) return row->content == content;
    if (!is_kept && (row != nullptr || job_.interrupted.is_same_plan)) return true;
    const corpus::SourcePlace place = job_.plan.corpus.place_of(clip);
    if (last_source_ != place) {
      const auto source = source_file_.read(job_.env, place);
      last_source_ = place;
      last_digest_ = source ? std::optional(source->content_digest) : std::nullopt;
    }
    return last_digest_ == content;
  }

  [[nodiscard]] const store::SourceRow* row_of_same_file(const Clip& clip, const Digest& id) const {
    if (job_.sources == nullptr || job_.sources->data != job_.plan.data) return nullptr;
    const store::SourceRow* const row = job_.sources->find(id);
    return row != nullptr && is_same_file(*row, clip) ? row : nullptr;
  }

  // True where the line has all clips of the planned shard, and nothing else.
  [[nodiscard]] bool is_whole(std::size_t number, const JournalShard& shard,
                              std::size_t planned) const {
    const std::size_t begin = planned * per_shard_;
    const std::size_t end = std::min(begin + per_shard_, work_.records_.size());
    if (!whole_[number] || shard.planned_shard != planned || begin >= end) return false;
    std::uint32_t next = 0;
    std::size_t reject_count = 0;
    for (std::size_t place = begin; place < end; ++place) {
      const SealedWork::Record& record = work_.records_[place];
      if (record.shard == number && record.number == next) {
        ++next;
      } else if (const auto of = reject_shards_.find(place);
                 of != reject_shards_.end() && of->second == number) {
        ++reject_count;
      } else {
        return false;
      }
    }
    return next == store::record_count(shard) && reject_count == shard.rejects.size();
  }

  // True where another shard that stays holds each of its clips. A clip that a rule of this plan
  // drops, or that DATA no longer has, lies nowhere else until a generation is published.
  [[nodiscard]] bool is_superseded(std::size_t number) const {
    return ids_[number] && std::ranges::all_of(*ids_[number], [&](const Digest& id) {
             const auto place = places_.find(id);
             if (place == places_.end()) return false;
             const std::uint32_t shard = work_.records_[place->second].shard;
             return shard != UINT32_MAX && shard != number;
           });
  }

  void keep(std::vector<JournalShard> shards) {
    std::vector<bool> stays(shards.size());
    for (std::size_t i = 0; i < shards.size(); ++i) {
      if (!is_whole(i, shards[i], work_.whole_.size())) continue;
      work_.whole_.push_back(shards[i]);
      stays[i] = true;
    }
    const std::size_t done = std::min(work_.whole_.size() * per_shard_, work_.records_.size());
    std::vector<bool> has_rejects(shards.size());
    for (const auto& [place, shard] : reject_shards_)
      if (place >= done) has_rejects[shard] = true;
    std::vector<std::uint32_t> moved_to(shards.size(), UINT32_MAX);
    for (std::size_t i = 0; i < shards.size(); ++i) {
      if (stays[i] || (is_superseded(i) && !has_rejects[i])) continue;
      moved_to[i] = static_cast<std::uint32_t>(work_.kept_.size());
      work_.kept_.push_back(std::move(shards[i]));
      JournalShard& kept = work_.kept_.back();
      kept.is_kept = true;
      kept.has_other_rules |= !job_.interrupted.has_same_rules;
      kept.has_other_features |= !job_.interrupted.has_same_features;
    }
    work_.clip_count_ = done;
    for (std::size_t place = 0; place < work_.records_.size(); ++place) {
      SealedWork::Record& record = work_.records_[place];
      if (place < done) {
        record = {};
        work_.contents_[place] = {};
        work_.rejects_.erase(place);
      } else if (record.shard != UINT32_MAX) {
        record.shard = moved_to[record.shard];
        ++work_.clip_count_;
      } else if (work_.rejects_.contains(place)) {
        ++work_.clip_count_;
      }
    }
  }

  const SealedWorkJob& job_;
  const std::uint64_t per_shard_;
  std::unordered_map<Digest, std::size_t, IdHash> places_;        // id -> place in to_compute
  std::unordered_map<std::size_t, std::uint32_t> reject_shards_;  // of the rejects, by place
  std::vector<bool> whole_;                                       // by line: it may stay
  std::vector<std::optional<std::vector<Digest>>> ids_;           // by line; none: unreadable
  records::SourceFile source_file_{0};                            // only for hashing
  std::optional<corpus::SourcePlace> last_source_;
  std::optional<Digest> last_digest_;
  SealedWork work_;
};

Result<SealedWork> SealedWork::find(const SealedWorkJob& job,
                                    std::vector<store::JournalShard> shards) {
  return SealedWorkFinder(job).run(std::move(shards));
}

std::vector<store::JournalShard> SealedWork::lines() const {
  std::vector<store::JournalShard> lines = whole_;
  lines.insert(lines.end(), kept_.begin(), kept_.end());
  return lines;
}

store::SourceTable SealedWork::sources_of(const BuildPlan& plan) const {
  store::SourceTable table;
  table.data = plan.data;
  table.rows.reserve(plan.to_compute.size());
  for (std::size_t place = 0; place < plan.to_compute.size(); ++place) {
    store::SourceRow& row =
        table.rows.emplace_back(source_row_of(plan.corpus.clips[plan.to_compute[place]]));
    if (place < contents_.size()) row.content = contents_[place];
  }
  return table;
}

bool SealedWork::has(std::size_t place) const {
  return place < records_.size() &&
         (records_[place].shard != UINT32_MAX || rejects_.contains(place));
}

Result<records::ClipOutcome> SealedWork::copy(Env& env, const std::string& cache,
                                              std::size_t place) const {
  records::ClipOutcome outcome;
  if (const auto reject = rejects_.find(place); reject != rejects_.end()) {
    outcome.reject = reject->second;
    return outcome;
  }
  const Record& record = records_[place];
  for (const SealedShard& shard : kept_[record.shard].sealed) {
    const auto [block, slot] = place_of(shard, record.number);
    if (block == nullptr) return Status(StatusCode::kCorrupt, "no such record was sealed");
    XTTS_ASSIGN(const auto file, open_shard(env, cache, shard));
    XTTS_ASSIGN(const auto header, sealed_header(file, *block));
    XTTS_ASSIGN(auto rows, reader::read_record_region(file, *block, header, slot));
    const formats::BlockRecord& row = header.records[slot];
    rows.resize(row.length * header.column.row_bytes());
    if (outcome.records.empty()) {
      XTTS_ASSIGN(auto facts, reader::read_block_facts(file, *block));
      outcome.facts = std::move(facts.records[slot]);
    }
    if (records::has_sums(header.column))
      dsp::sum_channels(rows, header.column.dtype, header.column.shape.back(), outcome.sums);
    outcome.records.push_back(
        {.length = row.length, .fill_bits = row.fill_bits, .rows = std::move(rows)});
  }
  return outcome;
}

}  // namespace xtts::pipeline
