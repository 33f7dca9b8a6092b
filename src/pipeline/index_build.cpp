#include "pipeline/index_build.hpp"

#include <algorithm>
#include <optional>

#include "base/try.hpp"
#include "corpus/corpus.hpp"
#include "formats/canonical_json.hpp"
#include "formats/index.hpp"
#include "pipeline/clip_rules.hpp"
#include "pipeline/column_rows.hpp"
#include "pipeline/columns.hpp"
#include "pipeline/manifest_parts.hpp"
#include "pipeline/name_table.hpp"
#include "pipeline/sealed_records.hpp"
#include "pipeline/text_column.hpp"
#include "text/tokenizer.hpp"

namespace xtts::pipeline {
namespace {

using corpus::Clip;
using formats::SectionKind;

constexpr const char* kTemporaryIndex = "index.tmp";

class IndexBuilder {
 public:
  IndexBuilder(const IndexJob& job, store::CacheFolder& folder)
      : job_(job),
        folder_(folder),
        speakers_(job.previous ? job.previous->manifest().speakers : job.known_speakers,
                  names_of(job.plan.corpus.clips, &Clip::speaker)),
        languages_(job.previous ? job.previous->manifest().languages : job.known_languages,
                   names_of(job.plan.corpus.clips, &Clip::language)),
        datasets_(job.previous ? job.previous->manifest().datasets : std::vector<std::string>{""},
                  names_of(job.plan.corpus.clips, &Clip::dataset)),
        columns_(job.columns.size()),
        has_tokens_(has_tokens(job.plan, job.recipe)) {
    for (std::size_t column = 0; column < columns_.size(); ++column)
      records_.emplace_back(job.env, folder.path(), job.shards, column);
    if (!job.added.empty())
      added_ = AddedColumns(job.env, folder.path(), job.added, job.generation);
  }

  Result<IndexResult> run() {
    XTTS_TRY(begin());
    XTTS_TRY(take_over_published());
    for (const auto& shard : job_.shards) {
      for (std::size_t column = 0; column < shard.sealed.size(); ++column)
        columns_[column].rows.add_shard(shard.sealed[column], job_.generation);
    }
    std::uint64_t planned = 0;
    for (std::size_t i = 0; i < job_.plan.clips.size(); ++i) {
      const ClipFate fate = job_.plan.clips[i].fate;
      if (fate == ClipFate::kRejected || fate == ClipFate::kElsewhere) continue;
      XTTS_TRY(add_clip(i, planned++));
    }
    XTTS_TRY(finish_tokens());
    XTTS_TRY(write_tables());
    return finish();
  }

 private:
  // One that is made of sound.
  struct Column {
    ColumnRows rows;
    std::uint64_t published_block_count = 0;
    std::optional<SealedRecords::Record> next_record;
  };

  Status begin() {
    XTTS_ASSIGN(file_, folder_.begin_file(kTemporaryIndex));
    encoder_.emplace([this](std::span<const std::byte> bytes) { return file_->append(bytes); },
                     job_.generation, surviving_count());
    if (has_tokens_) {
      XTTS_ASSIGN(tokenizer_, make_tokenizer());
      const auto* old = job_.previous ? job_.previous->manifest().find_column("tokens") : nullptr;
      reuse_tokens_ = old != nullptr && !job_.plan.texts_changed;
      if (!reuse_tokens_ && job_.token_shards == nullptr) {
        token_writer_ =
            TextColumnWriter::create(tokens_column(job_.recipe, job_.numerics),
                                     job_.recipe.storage.store, job_.generation, folder_);
      }
    }
    return encoder_->begin_section(SectionKind::kDetails);
  }

  Result<std::unique_ptr<text::Tokenizer>> make_tokenizer() const {
    XTTS_ASSIGN(auto tokenizer, text::Tokenizer::create(job_.recipe.text));
    return std::make_unique<text::Tokenizer>(std::move(tokenizer));
  }

  std::uint64_t surviving_count() const {
    std::uint64_t count = 0;
    for (const auto& clip : job_.plan.clips) count += clip.fate == ClipFate::kReuse ? 1U : 0U;
    for (const auto& shard : job_.shards) count += store::record_count(shard);
    return count;
  }

  // Shards that stay keep their numbers and block rows; what this build sealed comes behind them.
  Status take_over_published() {
    if (job_.previous == nullptr) return {};
    for (std::uint32_t column = 0; column < columns_.size(); ++column) {
      XTTS_TRY(take_over(*job_.previous, column, columns_[column].rows));
      columns_[column].published_block_count = columns_[column].rows.block_count;
    }
    if (reuse_tokens_) XTTS_TRY(take_over(*job_.previous, tokens_id(), tokens_));
    XTTS_ASSIGN(added_, AddedColumns::take_over(*job_.previous));
    still_used_.assign(job_.previous->size(), false);
    XTTS_ASSIGN(const auto tombstones, job_.previous->tombstones());
    for (const auto& row : tombstones) {
      const bool is_of_sound = row.column_id < columns_.size();
      const bool is_of_tokens = row.column_id == tokens_id() && reuse_tokens_;
      if (is_of_sound || is_of_tokens || added_.has(row.column_id)) add_tombstone(row);
    }
    return {};
  }

  void add_tombstone(const formats::TombstoneRow& row) {
    append_row(row, tombstones_);
    ++tombstone_count_;
  }

  Status add_clip(std::size_t i, std::uint64_t planned) {
    const Clip& clip = job_.plan.corpus.clips[i];
    formats::PlanRow row;
    formats::RecordFacts facts;
    if (job_.plan.clips[i].fate == ClipFate::kReuse) {
      const std::uint64_t position = job_.plan.clips[i].previous_position;
      XTTS_TRY(take_published_record(position, row, facts));
      XTTS_TRY(added_.add_published(position, is_said_otherwise(clip, facts),
                                    [this](const auto& left) { add_tombstone(left); }));
    } else {
      XTTS_ASSIGN(const bool stored, take_sealed_record(clip, row, facts));
      if (!stored) return {};
      XTTS_TRY(added_.add_new(formats::id_hash(clip.dataset, clip.id)));
    }
    facts.id = clip.id;
    facts.split = static_cast<std::uint8_t>(clip.split);
    facts.source_path = clip.source;
    set_name(facts.dataset, clip.dataset);
    set_name(facts.speaker, clip.speaker);
    set_name(facts.language, clip.language);
    set_name(facts.extra_json, clip.extra_json);
    if (has_tokens_) XTTS_TRY(add_text(clip, planned, row, facts));
    judge(job_.recipe.corpus, job_.plan.corpus.has_text && !has_text(clip),
          first_with_same_sound(i, facts), facts);
    return put_row(clip, row, facts);
  }

  // The id of the first clip that has the same samples; empty where it is this one.
  std::string first_with_same_sound(std::size_t i, const formats::RecordFacts& facts) {
    if (job_.recipe.corpus.duplicates != formats::OddClip::kWarn || !facts.pcm_digest) return {};
    const auto first = sounds_.add(*facts.pcm_digest, static_cast<std::uint32_t>(i));
    return first ? full_id(job_.plan.corpus.clips[*first]) : std::string();
  }

  // What an added column was made from, beside the sound.
  static bool is_said_otherwise(const Clip& clip, const formats::RecordFacts& published) {
    return published.text_raw.value_or("") != clip.text_raw ||
           published.text_normalized.value_or("") != clip.text_normalized ||
           published.speaker.value_or("") != clip.speaker ||
           published.language.value_or("") != clip.language;
  }

  static void set_name(std::optional<std::string>& field, const std::string& name) {
    field = name.empty() ? std::nullopt : std::optional(name);
  }

  Status take_published_record(std::uint64_t position, formats::PlanRow& row,
                               formats::RecordFacts& facts) {
    XTTS_ASSIGN(row, job_.previous->plan_row(position));
    XTTS_ASSIGN(facts, job_.previous->details(position));
    for (std::uint32_t column = 0; column < columns_.size(); ++column) {
      XTTS_ASSIGN(const auto location, job_.previous->location(column, position));
      append_row(location, columns_[column].rows.locations);
    }
    still_used_[position] = true;
    if (reuse_tokens_) {
      XTTS_ASSIGN(const auto text_location, job_.previous->location(tokens_id(), position));
      append_row(text_location, tokens_.locations);
    }
    return {};
  }

  // Sealed records come in planned order: the next one is this clip's, or the clip was rejected.
  Result<bool> take_sealed_record(const Clip& clip, formats::PlanRow& row,
                                  formats::RecordFacts& facts) {
    const Digest id_hash = formats::id_hash(clip.dataset, clip.id);
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      auto& record = columns_[column].next_record;
      if (!record) {
        XTTS_ASSIGN(record, records_[column].next());
      }
      if (record && record->id_hash == id_hash) continue;
      if (column == kMainId) return false;
      return Status(StatusCode::kInternal, "its columns hold other clips");
    }
    facts = std::move(columns_[kMainId].next_record->facts);
    row.mel_len = frame_count_of(*columns_[kMainId].next_record);
    for (Column& column : columns_) {
      append_row(formats::LocationRow{.block_row = static_cast<std::uint32_t>(
                                          column.published_block_count + column.next_record->block),
                                      .slot = column.next_record->slot},
                 column.rows.locations);
      column.next_record.reset();
    }
    return true;
  }

  // A wave has samples, of which hop_samples are a frame; the last one's may be fewer.
  [[nodiscard]] std::uint32_t frame_count_of(const SealedRecords::Record& record) const {
    const auto& features = job_.recipe.features;
    if (features.sound_columns().front() != formats::SoundColumn::kWave) return record.length;
    return (record.length + features.stft.hop_samples - 1) / features.stft.hop_samples;
  }

  Status add_text(const Clip& clip, std::uint64_t planned, formats::PlanRow& row,
                  formats::RecordFacts& facts) {
    XTTS_ASSIGN(auto text, tokenize_clip(clip, *tokenizer_, job_.recipe.text));
    row.text_len = text.token_count;
    if (text.was_cut) {
      row.flags |= formats::kPlanTextCut;
      ++result_.cut_text_count;
    }
    facts.text_raw = text.facts.text_raw;
    facts.text_normalized = text.facts.text_normalized;
    facts.character_count = text.facts.character_count;
    facts.unknown_characters_json = text.facts.unknown_characters_json;
    facts.text_was_cut = text.facts.text_was_cut;
    return token_writer_ ? token_writer_->add(planned, clip, std::move(text)) : Status();
  }

  Status put_row(const Clip& clip, formats::PlanRow& row, const formats::RecordFacts& facts) {
    row.speaker = speakers_.number_of(clip.speaker);
    row.language = static_cast<std::int16_t>(languages_.number_of(clip.language));
    row.dataset = static_cast<std::uint16_t>(std::max(datasets_.number_of(clip.dataset), 0));
    row.split = static_cast<std::uint8_t>(clip.split);
    row.flags &= static_cast<std::uint8_t>(~(formats::kPlanAudioCut | formats::kPlanWarnings));
    if (facts.frame_count_before_cut.value_or(0) > job_.recipe.features.max_frames) {
      row.flags |= formats::kPlanAudioCut;
      ++result_.cut_count;
    }
    if (facts.warnings) {
      row.flags |= formats::kPlanWarnings;
      ++result_.warned_count;
      result_.warnings.add(full_id(clip), *facts.warnings);
    }
    std::string details;
    append_facts(facts, details);
    row.details_offset = encoder_->section_bytes();
    row.details_bytes = static_cast<std::uint32_t>(details.size());
    append_row(row, plan_rows_);
    id_hashes_.push_back(
        {formats::id_hash(clip.dataset, clip.id), static_cast<std::uint32_t>(record_count_)});
    ++record_count_;
    counts_.frames += row.mel_len;
    ++counts_.records_by_split[std::string(corpus::to_string(clip.split))];
    return encoder_->append(as_bytes(details));
  }

  Status finish_tokens() {
    if (const auto& left = columns_[kMainId].next_record) {
      return {StatusCode::kInternal,
              "a sealed record belongs to no planned clip: " + *left->facts.id};
    }
    for (std::size_t position = 0; position < still_used_.size(); ++position) {
      if (still_used_[position]) continue;
      for (std::uint32_t column = 0; column < columns_.size(); ++column) {
        XTTS_ASSIGN(const auto location, job_.previous->location(column, position));
        add_tombstone(
            {.column_id = column, .block_row = location.block_row, .slot = location.slot});
      }
      XTTS_TRY(added_.leave_behind(position, [this](const auto& left) { add_tombstone(left); }));
    }
    if (job_.token_shards != nullptr) return add_token_shards(*job_.token_shards);
    if (!token_writer_) return {};
    XTTS_ASSIGN(const auto shards, token_writer_->finish());
    return add_token_shards(shards);
  }

  Status add_token_shards(const std::vector<store::JournalShard>& shards) {
    for (const auto& shard : shards) {
      tokens_.add_shard(shard.sealed.front(), job_.generation);
    }
    // Blocks hold the survivors in order, so locations follow from the counts.
    std::uint32_t block = 0;
    for (const auto& shard : shards) {
      for (const auto& place : shard.sealed.front().table.blocks) {
        for (std::uint16_t slot = 0; slot < place.record_count; ++slot) {
          append_row(formats::LocationRow{.block_row = block, .slot = slot}, tokens_.locations);
        }
        ++block;
      }
    }
    return {};
  }

  [[nodiscard]] std::uint32_t tokens_id() const {
    return static_cast<std::uint32_t>(columns_.size());
  }

  Status write_section(SectionKind kind, std::uint32_t column, std::string_view bytes,
                       std::uint64_t rows) {
    XTTS_TRY(encoder_->begin_section(kind, column));
    XTTS_TRY(encoder_->append(as_bytes(bytes)));
    return encoder_->end_section(rows);
  }

  Status write_tables() {
    XTTS_TRY(encoder_->end_section(record_count_));
    XTTS_TRY(write_section(SectionKind::kPlan, 0, plan_rows_, record_count_));
    std::sort(id_hashes_.begin(), id_hashes_.end(),
              [](const auto& a, const auto& b) { return a.hash < b.hash; });
    std::string id_rows;
    for (const auto& row : id_hashes_) append_row(row, id_rows);
    XTTS_TRY(write_section(SectionKind::kIdHashes, 0, id_rows, record_count_));
    for (std::uint32_t column = 0; column < columns_.size(); ++column)
      XTTS_TRY(write_column(column, columns_[column].rows));
    if (has_tokens_) XTTS_TRY(write_column(tokens_id(), tokens_));
    XTTS_TRY(added_.write(
        [this](std::uint32_t id, const ColumnRows& rows) { return write_column(id, rows); }));
    for (const auto& reject : job_.rejects)
      result_.rejects_jsonl += formats::encode_reject(reject) + "\n";
    XTTS_TRY(write_section(SectionKind::kRejects, 0, result_.rejects_jsonl, job_.rejects.size()));
    return write_section(SectionKind::kTombstones, 0, tombstones_, tombstone_count_);
  }

  Status write_column(std::uint32_t id, const ColumnRows& rows) {
    XTTS_TRY(write_section(SectionKind::kBlocks, id, rows.block_rows, rows.block_count));
    return write_section(SectionKind::kLocations, id, rows.locations, record_count_);
  }

  Result<IndexResult> finish() {
    describe_manifest();
    formats::Manifest& manifest = result_.manifest;
    XTTS_ASSIGN(const std::string copy, encode_manifest_copy(manifest));
    XTTS_TRY(write_section(SectionKind::kManifest, 0, copy, 1));
    XTTS_ASSIGN(const auto finished, encoder_->finish());
    XTTS_TRY(file_->sync());
    XTTS_TRY(file_->close());
    XTTS_TRY(folder_.commit_file(kTemporaryIndex, formats::index_file_name(finished.digest)));
    manifest.index_bytes = finished.file_bytes;
    manifest.index_digest = finished.digest;
    return std::move(result_);
  }

  void describe_manifest() {
    formats::Manifest& manifest = result_.manifest;
    manifest.generation = job_.generation;
    describe_recipe(job_.recipe, manifest);
    manifest.numerics = job_.previous ? job_.previous->manifest().numerics : job_.numerics;
    describe_columns(manifest);
    manifest.datasets = datasets_.names();
    manifest.speakers = speakers_.names();
    manifest.languages = languages_.names();
    manifest.data_layout = job_.plan.corpus.layout;
    describe_counts(manifest);
    // Frozen at the first publication: a model that was trained with them must find them again.
    manifest.mel_statistics = job_.previous ? job_.previous->manifest().mel_statistics
                                            : statistics_of(records_[kMainId].train_frame_count(),
                                                            records_[kMainId].train_sums());
    if (job_.amend_manifest) job_.amend_manifest(manifest);
  }

  void describe_columns(formats::Manifest& manifest) {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      manifest.columns.push_back(entry_of(job_.columns[column], job_.recipe));
      manifest.columns.back().shards = std::move(columns_[column].rows.shards);
    }
    if (has_tokens_) describe_tokens(manifest);
    added_.describe(manifest);
  }

  void describe_tokens(formats::Manifest& manifest) {
    formats::ColumnEntry tokens =
        entry_of(reuse_tokens_ ? job_.previous->manifest().columns[tokens_id()].spec
                               : tokens_column(job_.recipe, job_.numerics),
                 job_.recipe);
    tokens.shards = std::move(tokens_.shards);
    manifest.columns.push_back(std::move(tokens));
  }

  void describe_counts(formats::Manifest& manifest) {
    counts_.planned = job_.plan.clip_count();
    counts_.records = record_count_;
    const auto& features = job_.recipe.features;
    counts_.seconds =
        static_cast<double>(counts_.frames) * features.stft.hop_samples / features.sample_rate_hz;
    for (const auto& reject : job_.rejects) {
      ++counts_.rejects_by_class[std::string(formats::to_string(reject.kind))];
    }
    manifest.counts = counts_;
  }

  const IndexJob& job_;
  store::CacheFolder& folder_;
  const NameTable speakers_, languages_, datasets_;
  std::vector<Column> columns_;         // made of sound
  std::vector<SealedRecords> records_;  // of each of them
  const bool has_tokens_;
  bool reuse_tokens_ = false;
  std::unique_ptr<text::Tokenizer> tokenizer_;
  std::unique_ptr<TextColumnWriter> token_writer_;
  std::unique_ptr<WritableFile> file_;
  std::optional<formats::IndexEncoder> encoder_;
  KnownSounds sounds_;
  ColumnRows tokens_;
  AddedColumns added_;
  std::vector<bool> still_used_;  // previous positions that the new plan names
  std::string plan_rows_, tombstones_;
  std::uint64_t tombstone_count_ = 0;
  std::uint64_t record_count_ = 0;
  std::vector<formats::IdHashRow> id_hashes_;
  formats::Counts counts_;
  IndexResult result_;
};

}  // namespace

Result<IndexResult> build_index(const IndexJob& job, store::CacheFolder& folder) {
  return IndexBuilder(job, folder).run();
}

}  // namespace xtts::pipeline
