#include "pipeline/index_build.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "corpus/clips/clip.hpp"
#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "formats/feature_config.hpp"
#include "formats/index.hpp"
#include "formats/recipe.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/clip_rows.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/index_file.hpp"
#include "pipeline/known_sounds.hpp"
#include "pipeline/manifest_parts.hpp"
#include "pipeline/speaker_numbers.hpp"
#include "pipeline/stored_columns.hpp"
#include "pipeline/text_column.hpp"
#include "pipeline/token_rows.hpp"
#include "pipeline/tombstones.hpp"
#include "records/clip_rules.hpp"

namespace xtts::pipeline {
namespace {

using corpus::Clip;
using formats::SectionKind;

// The data that the pass over all clips has found for tables and manifest. The details of the clips
// are already in the file; nothing is added after this point.
struct Gathered {
  std::vector<IndexedColumn> columns;  // by their numbers
  ClipRows clips;
  Tombstones tombstones;
  std::optional<formats::Statistics> mel_statistics;
  std::uint64_t cut_text_count = 0;
};

ClipRows::Names known_names(const IndexJob& job) {
  if (job.previous == nullptr) return {job.known_speakers, job.known_languages, job.known_datasets};
  const formats::Manifest& published = job.previous->manifest();
  return {numbers_to_keep(published.speakers, job.known_speakers), published.languages,
          published.datasets};
}

class Pass {
 public:
  static Result<Gathered> over_clips(const IndexJob& job, store::CacheFolder& folder,
                                     IndexFile& file) {
    XTTS_ASSIGN(auto stored, StoredColumns::open(job, folder.path()));
    std::unique_ptr<TokenRows> tokens;
    if (has_tokens(job.plan, job.recipe)) {
      XTTS_ASSIGN(tokens, TokenRows::open(job, folder));
    }
    return Pass(job, file, std::move(stored), std::move(tokens)).gather();
  }

 private:
  Pass(const IndexJob& job, IndexFile& file, StoredColumns stored,
       std::unique_ptr<TokenRows> tokens)
      : job_(job),
        file_(file),
        stored_(std::move(stored)),
        tokens_(std::move(tokens)),
        clips_(known_names(job), job.plan.corpus.clips, job.recipe.features->max_frames) {}

  Result<Gathered> gather() {
    XTTS_TRY(take_over_tombstones());
    XTTS_TRY(file_.encoder().begin_section(SectionKind::kDetails));
    std::uint64_t planned = 0;
    for (std::size_t i = 0; i < job_.plan.clips.size(); ++i) {
      const ClipFate fate = job_.plan.clips[i].fate;
      if (fate == ClipFate::kRejected || fate == ClipFate::kElsewhere) continue;
      XTTS_TRY(add_clip(i, planned++));
    }
    XTTS_TRY(clips_.end(file_));
    XTTS_TRY(stored_.add_remaining_tombstones(tombstones_));
    const auto statistics = stored_.statistics();
    XTTS_ASSIGN(auto columns, stored_.finish());
    if (tokens_) {
      XTTS_ASSIGN(columns.emplace_back(), tokens_->finish());
    }
    for (IndexedColumn& column : columns) column.entry.shards = std::move(column.rows.shards);
    std::ranges::sort(columns, {}, [](const auto& column) { return column.entry.spec.id; });
    return Gathered{.columns = std::move(columns),
                    .clips = std::move(clips_),
                    .tombstones = std::move(tombstones_),
                    .mel_statistics = statistics,
                    .cut_text_count = cut_text_count_};
  }

  // Takes over the tombstones of shards that stay.
  Status take_over_tombstones() {
    if (job_.previous == nullptr) return {};
    XTTS_ASSIGN(const auto published, job_.previous->tombstones());
    for (const auto& row : published) {
      const bool is_of_tokens =
          tokens_ && tokens_->are_published() && row.column_id == tokens_->id();
      if (is_of_tokens || stored_.has(row.column_id)) tombstones_.add(row);
    }
    return {};
  }

  Status add_clip(std::size_t i, std::uint64_t planned) {
    const Clip& clip = job_.plan.corpus.clips[i];
    std::optional<std::uint64_t> position;
    if (job_.plan.clips[i].fate == ClipFate::kReuse)
      position = job_.plan.clips[i].previous_position;
    formats::PlanRow row;
    formats::RecordFacts facts;
    if (position) {
      XTTS_ASSIGN(row, job_.previous->plan_row(*position));
      XTTS_ASSIGN(facts, job_.previous->details(*position));
      XTTS_TRY(stored_.add_published(*position, differs_except_sound(clip, facts), tombstones_));
    } else {
      // Sealed records come in planned order: the next one is this clip's, or it was rejected.
      XTTS_ASSIGN(auto record, stored_.add_sealed(formats::id_hash(clip.dataset, clip.id)));
      if (!record) return {};
      row.mel_len = frames_of_main_record(*job_.recipe.features, record->length);
      facts = std::move(record->facts);
    }
    add_facts_of_lists(clip, facts);
    XTTS_TRY(add_text(clip, planned, position, row, facts));
    records::judge(job_.recipe.corpus, job_.plan.corpus.has_text && !has_text(clip),
                   first_with_same_sound(i, facts), facts);
    return clips_.add(clip, row, facts, file_);
  }

  Status add_text(const Clip& clip, std::uint64_t planned, std::optional<std::uint64_t> position,
                  formats::PlanRow& row, formats::RecordFacts& facts) {
    ClipText text;
    if (tokens_) {
      XTTS_ASSIGN(text, tokens_->add(clip, planned, position));
    } else {
      text.facts = facts_of_untokenized(clip, job_.recipe.text);
    }
    row.text_len = text.token_count;
    row.flags &= static_cast<std::uint8_t>(~formats::kPlanTextCut);
    if (text.was_cut) {
      row.flags |= formats::kPlanTextCut;
      ++cut_text_count_;
    }
    take_text(text.facts, facts);
    return {};
  }

  // The id of the first clip with the same samples; empty if it is this clip.
  std::string first_with_same_sound(std::size_t i, const formats::RecordFacts& facts) {
    if (job_.recipe.corpus.duplicates != formats::OddClip::kWarn || !facts.pcm_digest) return {};
    const auto first = sounds_.add(*facts.pcm_digest, static_cast<std::uint32_t>(i));
    return first ? full_id(job_.plan.corpus.clips[*first]) : std::string();
  }

  const IndexJob& job_;
  IndexFile& file_;
  StoredColumns stored_;
  std::unique_ptr<TokenRows> tokens_;
  ClipRows clips_;
  Tombstones tombstones_;
  KnownSounds sounds_;
  std::uint64_t cut_text_count_ = 0;
};

Status write_tables(const Gathered& gathered, const IndexJob& job, const std::string& rejects_jsonl,
                    IndexFile& file) {
  XTTS_TRY(gathered.clips.write(file));
  for (const IndexedColumn& column : gathered.columns)
    XTTS_TRY(file.write_column(column.entry.spec.id, column.rows, gathered.clips.count()));
  XTTS_TRY(file.write_section(SectionKind::kRejects, 0, rejects_jsonl, job.rejects.size()));
  return file.write_section(SectionKind::kTombstones, 0, gathered.tombstones.rows,
                            gathered.tombstones.count);
}

formats::Manifest describe(const Gathered& gathered, const IndexJob& job) {
  formats::Manifest manifest;
  manifest.generation = job.generation;
  describe_recipe(job.recipe, manifest);
  manifest.numerics = job.previous ? job.previous->manifest().numerics : job.numerics;
  for (const IndexedColumn& column : gathered.columns) manifest.columns.push_back(column.entry);
  manifest.data_layout = job.plan.corpus.layout;
  gathered.clips.describe(manifest);
  const auto& features = *job.recipe.features;
  formats::Counts& counts = manifest.counts;
  counts.planned = job.plan.clip_count();
  counts.seconds =
      static_cast<double>(counts.frames) * features.stft.hop_samples / features.sample_rate_hz;
  for (const auto& reject : job.rejects)
    ++counts.rejects_by_class[std::string(formats::to_string(reject.kind))];
  // Statistics are frozen at the first publication: a model trained with them must find them again.
  manifest.mel_statistics =
      job.previous ? job.previous->manifest().mel_statistics : gathered.mel_statistics;
  if (job.amend_manifest) job.amend_manifest(manifest);
  return manifest;
}

}  // namespace

std::uint64_t stored_count(const BuildPlan& plan, const std::vector<store::JournalShard>& shards) {
  std::uint64_t count = plan.count_of(ClipFate::kReuse);
  for (const auto& shard : shards) count += store::record_count(shard);
  return count;
}

Result<IndexResult> build_index(const IndexJob& job, store::CacheFolder& folder) {
  XTTS_ASSIGN(const auto file,
              IndexFile::begin(folder, job.generation, stored_count(job.plan, job.shards)));
  XTTS_ASSIGN(const Gathered gathered, Pass::over_clips(job, folder, *file));
  std::string rejects_jsonl;
  for (const auto& reject : job.rejects) rejects_jsonl += formats::encode_reject(reject) + "\n";
  XTTS_TRY(write_tables(gathered, job, rejects_jsonl, *file));
  formats::Manifest manifest = describe(gathered, job);
  XTTS_TRY(file->finish(manifest));
  return IndexResult{.manifest = std::move(manifest),
                     .rejects_jsonl = std::move(rejects_jsonl),
                     .cut_count = gathered.clips.cut_count(),
                     .cut_text_count = gathered.cut_text_count,
                     .warned_count = gathered.clips.warned_count(),
                     .warnings = gathered.clips.warnings()};
}

}  // namespace xtts::pipeline
