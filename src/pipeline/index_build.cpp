#include "pipeline/index_build.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "corpus/corpus.hpp"
#include "formats/canonical_json.hpp"
#include "formats/clip_id.hpp"
#include "formats/index.hpp"
#include "formats/recipe.hpp"
#include "pipeline/clip_facts.hpp"
#include "pipeline/clip_rows.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/index_file.hpp"
#include "pipeline/known_sounds.hpp"
#include "pipeline/manifest_parts.hpp"
#include "pipeline/sound_rows.hpp"
#include "pipeline/token_rows.hpp"
#include "pipeline/tombstones.hpp"
#include "records/clip_rules.hpp"
#include "records/columns.hpp"

namespace xtts::pipeline {
namespace {

using corpus::Clip;
using formats::SectionKind;

// Phases: begin -> clips, one pass in canonical order -> left -> written tables -> manifest.
class IndexBuild {
 public:
  static Result<IndexResult> run(const IndexJob& job, store::CacheFolder& folder) {
    IndexBuild build(job, folder);
    XTTS_TRY(build.begin(folder));
    XTTS_TRY(build.add_clips());
    XTTS_TRY(build.leave_behind());
    XTTS_TRY(build.write_tables());
    return build.finish();
  }

 private:
  IndexBuild(const IndexJob& job, store::CacheFolder& folder)
      : job_(job),
        sound_(job.env, folder.path(), job.previous, job.shards, job.columns.size()),
        clips_(known_names(job), job.plan.corpus.clips, job.recipe.features.max_frames) {
    if (!job.added.empty())
      added_ = AddedColumns(job.env, folder.path(), job.added, job.generation);
  }

  static ClipRows::Names known_names(const IndexJob& job) {
    if (job.previous == nullptr) return {job.known_speakers, job.known_languages, {""}};
    const formats::Manifest& published = job.previous->manifest();
    return {published.speakers, published.languages, published.datasets};
  }

  Status begin(store::CacheFolder& folder) {
    XTTS_ASSIGN(file_, IndexFile::begin(folder, job_.generation, surviving_count()));
    XTTS_TRY(file_->encoder().begin_section(formats::SectionKind::kDetails));
    XTTS_TRY(sound_.begin(job_.generation));
    if (has_tokens(job_.plan, job_.recipe)) {
      const auto* old = job_.previous ? job_.previous->manifest().find_column("tokens") : nullptr;
      const TokenRows::Source source{
          .published = old != nullptr && job_.keeps_texts ? job_.previous : nullptr,
          .sealed = job_.token_shards};
      XTTS_ASSIGN(auto tokens,
                  TokenRows::begin(job_.recipe, job_.numerics, source, job_.generation, folder));
      tokens_.emplace(std::move(tokens));
    }
    return take_over_published();
  }

  [[nodiscard]] std::uint64_t surviving_count() const {
    std::uint64_t count = 0;
    for (const auto& clip : job_.plan.clips) count += clip.fate == ClipFate::kReuse ? 1U : 0U;
    for (const auto& shard : job_.shards) count += store::record_count(shard);
    return count;
  }

  // Tombstones of shards that stay.
  Status take_over_published() {
    if (job_.previous == nullptr) return {};
    XTTS_ASSIGN(added_, AddedColumns::take_over(*job_.previous));
    XTTS_ASSIGN(const auto published, job_.previous->tombstones());
    for (const auto& row : published) {
      const bool is_of_sound = row.column_id < sound_.count();
      const bool is_of_tokens =
          tokens_ && tokens_->reuses_published() && row.column_id == tokens_->id();
      if (is_of_sound || is_of_tokens || added_.has(row.column_id)) tombstones_.add(row);
    }
    return {};
  }

  Status add_clips() {
    std::uint64_t planned = 0;
    for (std::size_t i = 0; i < job_.plan.clips.size(); ++i) {
      const ClipFate fate = job_.plan.clips[i].fate;
      if (fate == ClipFate::kRejected || fate == ClipFate::kElsewhere) continue;
      XTTS_TRY(add_clip(i, planned++));
    }
    return sound_.check_all_are_named();
  }

  Status add_clip(std::size_t i, std::uint64_t planned) {
    const Clip& clip = job_.plan.corpus.clips[i];
    std::optional<std::uint64_t> position;
    if (job_.plan.clips[i].fate == ClipFate::kReuse)
      position = job_.plan.clips[i].previous_position;
    formats::PlanRow row;
    formats::RecordFacts facts;
    if (position) {
      XTTS_TRY(take_published(clip, *position, row, facts));
    } else {
      XTTS_ASSIGN(const bool is_stored, take_sealed(clip, row, facts));
      if (!is_stored) return {};
    }
    add_facts_of_lists(clip, facts);
    if (tokens_) XTTS_TRY(add_text(clip, planned, position, row, facts));
    records::judge(job_.recipe.corpus, job_.plan.corpus.has_text && !has_text(clip),
                   first_with_same_sound(i, facts), facts);
    return clips_.add(clip, row, facts, *file_);
  }

  Status take_published(const Clip& clip, std::uint64_t position, formats::PlanRow& row,
                        formats::RecordFacts& facts) {
    XTTS_ASSIGN(row, job_.previous->plan_row(position));
    XTTS_ASSIGN(facts, job_.previous->details(position));
    XTTS_TRY(sound_.add_published(position));
    return added_.add_published(position, is_said_otherwise(clip, facts), tombstones_);
  }

  // What an added column was made from, beside the sound.
  static bool is_said_otherwise(const Clip& clip, const formats::RecordFacts& published) {
    return published.text_raw.value_or("") != clip.text_raw ||
           published.text_normalized.value_or("") != clip.text_normalized ||
           published.speaker.value_or("") != clip.speaker ||
           published.language.value_or("") != clip.language;
  }

  // Sealed records come in planned order: the next one is this clip's, or the clip was rejected.
  Result<bool> take_sealed(const Clip& clip, formats::PlanRow& row, formats::RecordFacts& facts) {
    const Digest id_hash = formats::id_hash(clip.dataset, clip.id);
    XTTS_ASSIGN(auto record, sound_.add_sealed(id_hash));
    if (!record) return false;
    row.mel_len = frames_of_main_record(job_.recipe.features, record->length);
    facts = std::move(record->facts);
    XTTS_TRY(added_.add_new(id_hash));
    return true;
  }

  Status add_text(const Clip& clip, std::uint64_t planned, std::optional<std::uint64_t> position,
                  formats::PlanRow& row, formats::RecordFacts& facts) {
    XTTS_ASSIGN(const ClipText text, tokens_->add(clip, planned, position));
    row.text_len = text.token_count;
    if (text.was_cut) {
      row.flags |= formats::kPlanTextCut;
      ++cut_text_count_;
    }
    add_facts_of_text(text, facts);
    return {};
  }

  // The id of the first clip that has the same samples; empty where it is this one.
  std::string first_with_same_sound(std::size_t i, const formats::RecordFacts& facts) {
    if (job_.recipe.corpus.duplicates != formats::OddClip::kWarn || !facts.pcm_digest) return {};
    const auto first = sounds_.add(*facts.pcm_digest, static_cast<std::uint32_t>(i));
    return first ? full_id(job_.plan.corpus.clips[*first]) : std::string();
  }

  Status leave_behind() {
    for (const std::uint64_t position : sound_.left_positions()) {
      XTTS_TRY(sound_.leave_behind(position, tombstones_));
      XTTS_TRY(added_.leave_behind(position, tombstones_));
    }
    return tokens_ ? tokens_->finish() : Status();
  }

  Status write_tables() {
    XTTS_TRY(clips_.write(*file_));
    const auto write_column = [this](std::uint32_t id, const ColumnRows& rows) {
      return file_->write_column(id, rows, clips_.count());
    };
    for (std::uint32_t id = 0; id < sound_.count(); ++id)
      XTTS_TRY(write_column(id, sound_.rows(id)));
    if (tokens_) XTTS_TRY(write_column(tokens_->id(), tokens_->rows()));
    XTTS_TRY(added_.write(write_column));
    for (const auto& reject : job_.rejects) rejects_jsonl_ += formats::encode_reject(reject) + "\n";
    XTTS_TRY(file_->write_section(SectionKind::kRejects, 0, rejects_jsonl_, job_.rejects.size()));
    return file_->write_section(SectionKind::kTombstones, 0, tombstones_.rows, tombstones_.count);
  }

  Result<IndexResult> finish() {
    formats::Manifest manifest = describe();
    XTTS_TRY(file_->finish(manifest));
    return IndexResult{.manifest = std::move(manifest),
                       .rejects_jsonl = std::move(rejects_jsonl_),
                       .cut_count = clips_.cut_count(),
                       .cut_text_count = cut_text_count_,
                       .warned_count = clips_.warned_count(),
                       .warnings = clips_.warnings()};
  }

  formats::Manifest describe() {
    formats::Manifest manifest;
    manifest.generation = job_.generation;
    describe_recipe(job_.recipe, manifest);
    manifest.numerics = job_.previous ? job_.previous->manifest().numerics : job_.numerics;
    for (std::uint32_t id = 0; id < sound_.count(); ++id) {
      manifest.columns.push_back(records::entry_of(job_.columns[id], job_.recipe));
      manifest.columns.back().shards = std::move(sound_.rows(id).shards);
    }
    if (tokens_) manifest.columns.push_back(tokens_->entry());
    added_.describe(manifest);
    manifest.data_layout = job_.plan.corpus.layout;
    clips_.describe(manifest);
    count(manifest.counts);
    // Frozen at the first publication: a model that was trained with them must find them again.
    manifest.mel_statistics =
        job_.previous ? job_.previous->manifest().mel_statistics : sound_.statistics();
    if (job_.amend_manifest) job_.amend_manifest(manifest);
    return manifest;
  }

  void count(formats::Counts& counts) const {
    const auto& features = job_.recipe.features;
    counts.planned = job_.plan.clip_count();
    counts.seconds =
        static_cast<double>(counts.frames) * features.stft.hop_samples / features.sample_rate_hz;
    for (const auto& reject : job_.rejects)
      ++counts.rejects_by_class[std::string(formats::to_string(reject.kind))];
  }

  const IndexJob& job_;
  SoundRows sound_;
  std::optional<TokenRows> tokens_;
  AddedColumns added_;
  Tombstones tombstones_;
  ClipRows clips_;
  std::unique_ptr<IndexFile> file_;
  KnownSounds sounds_;
  std::uint64_t cut_text_count_ = 0;
  std::string rejects_jsonl_;
};

}  // namespace

Result<IndexResult> build_index(const IndexJob& job, store::CacheFolder& folder) {
  return IndexBuild::run(job, folder);
}

}  // namespace xtts::pipeline
