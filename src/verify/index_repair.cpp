#include "verify/index_repair.hpp"

#include <string>
#include <unordered_map>
#include <vector>

#include "base/option_names.hpp"
#include "base/try.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "formats/reject.hpp"
#include "formats/sound_columns.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/index_build.hpp"
#include "pipeline/published_clip.hpp"
#include "pipeline/sealed_records.hpp"
#include "reader/cache_paths.hpp"
#include "reader/read_exactly.hpp"
#include "records/columns.hpp"
#include "store/durable.hpp"
#include "verify/shard_scan.hpp"

namespace xtts::verify {
namespace {

using store::JournalShard;

constexpr std::uint64_t kRejectsBytesMax = std::uint64_t{1} << 30U;

class IndexRepair {
 public:
  IndexRepair(Env& env, const std::string& cache, const formats::Manifest& manifest,
              store::CacheFolder& folder, const Sources& sources,
              const std::function<bool()>& cancelled)
      : env_(env),
        cache_(cache),
        manifest_(manifest),
        folder_(folder),
        sources_(sources),
        cancelled_(cancelled) {}

  Result<std::optional<std::string>> run() {
    Status status = make();
    switch (status.code()) {
      case StatusCode::kOk:
        return std::optional<std::string>();
      case StatusCode::kCancelled:
      case StatusCode::kResource:
        return status;
      default:
        return std::optional(status.message());
    }
  }

 private:
  Status make() {
    XTTS_ASSIGN(const formats::Recipe recipe, formats::recipe_of(manifest_));
    sound_count_ = formats::sound_columns_of(*recipe.features).size();
    XTTS_TRY(check_columns());
    for (std::size_t column = 0; column < sound_count_; ++column)
      XTTS_TRY(scan_sound(manifest_.columns[column]));
    if (has_tokens()) {
      XTTS_ASSIGN(tokens_, scan_column(manifest_.columns[sound_count_]));
    }
    for (const formats::ColumnEntry& column : manifest_.columns) {
      if (!column.axis) continue;
      XTTS_ASSIGN(auto shards, scan_column(column));
      added_.push_back({.entry = column, .shards = std::move(shards)});
    }
    pipeline::BuildPlan plan;
    XTTS_TRY(list_clips(plan));
    if (!has_tokens() && recipe.text.store && !sources_.data.empty())
      XTTS_TRY(take_texts_of_lists(recipe, plan));
    plan.corpus.has_text = pipeline::has_texts(manifest_, plan.corpus.clips);
    XTTS_ASSIGN(const auto rejects, read_rejects());
    return write(plan, recipe, rejects);
  }

  [[nodiscard]] bool has_tokens() const {
    return manifest_.columns.size() > sound_count_ && !manifest_.columns[sound_count_].axis;
  }

  [[nodiscard]] Status check_columns() const {
    const auto& columns = manifest_.columns;
    const bool known = !has_tokens() || columns[sound_count_].spec.name == "tokens";
    if (!known) return {StatusCode::kUnsupported, "it has columns that no build makes"};
    const auto& shards = columns[records::kMainId].shards;
    for (std::size_t column = 0; column < sound_count_; ++column) {
      if (columns[column].shards.size() != shards.size())
        return {StatusCode::kCorrupt, "its columns have other numbers of shards"};
    }
    for (const auto& shard : shards) {
      if (shard.generation != shards.front().generation) {
        return {StatusCode::kUnsupported,
                "several generations wrote its shards, and the shards do not tell which record is "
                "of which"};
      }
    }
    return {};
  }

  Result<std::vector<JournalShard>> scan_column(const formats::ColumnEntry& column) const {
    std::vector<JournalShard> shards;
    for (std::size_t i = 0; i < column.shards.size(); ++i) {
      if (cancelled_ && cancelled_()) return Status(StatusCode::kCancelled, "repair was stopped");
      XTTS_ASSIGN(auto sealed, scan(column, i));
      shards.push_back({.planned_shard = i, .sealed = {std::move(sealed)}, .rejects = {}});
    }
    return shards;
  }

  // Lists the shards as a build does: a shard's columns together.
  Status scan_sound(const formats::ColumnEntry& column) {
    XTTS_ASSIGN(auto shards, scan_column(column));
    if (sounds_.empty()) {
      sounds_ = std::move(shards);
      return {};
    }
    for (std::size_t i = 0; i < shards.size(); ++i)
      sounds_[i].sealed.push_back(std::move(shards[i].sealed.front()));
    return {};
  }

  Result<store::SealedShard> scan(const formats::ColumnEntry& column, std::size_t ordinal) const {
    const std::string name = reader::shard_name(column, ordinal);
    const auto file = env_.open_for_read(join_path(cache_, name));
    if (file.status().code() == StatusCode::kResource) return file.status();
    if (!file) return Status(StatusCode::kCorrupt, name + " is lost or damaged too");
    XTTS_ASSIGN(const auto bytes, reader::read_exactly(**file, name, 0, (*file)->size_bytes()));
    const auto table = scan_shard(bytes, column.store);
    if (!table || table->digest() != column.shards[ordinal].digest)
      return Status(StatusCode::kCorrupt, name + " is lost or damaged too");
    return store::SealedShard{.column = column.spec.name,
                              .store = column.store,
                              .ordinal = ordinal,
                              .record_count = column.shards[ordinal].record_count,
                              .digest = table->digest(),
                              .table = *table};
  }

  // A cache without rejects may have lost the empty file. The digest shows it.
  Result<std::vector<formats::Reject>> read_rejects() const {
    const auto lines =
        read_text_file(env_, join_path(cache_, reader::kRejectsName), kRejectsBytesMax);
    if (lines.status().code() == StatusCode::kNotFound) return std::vector<formats::Reject>();
    if (!lines) return lines.status();
    return formats::decode_rejects(*lines);
  }

  // Lists the clips as discovery and the text policies left them, as far as an index records it.
  Status list_clips(pipeline::BuildPlan& plan) const {
    pipeline::SealedRecords sounds(env_, cache_, sounds_);
    pipeline::SealedRecords texts(env_, cache_, tokens_);
    for (;;) {
      XTTS_ASSIGN(const auto sound, sounds.next());
      if (!sound) break;
      corpus::Clip clip;
      take_names(sound->facts, clip);
      if (has_tokens()) {
        XTTS_ASSIGN(const auto text, texts.next());
        if (!text || text->id_hash != sound->id_hash)
          return {StatusCode::kCorrupt, "its columns hold other clips"};
        take_names(text->facts, clip);  // the newer of the two, where texts were mended
        clip.text_raw = text->facts.text_raw.value_or("");
        clip.text_normalized = text->facts.text_normalized.value_or("");
        clip.extra_json = text->facts.extra_json.value_or("");
      }
      plan.corpus.clips.push_back(std::move(clip));
    }
    plan.clips.resize(plan.corpus.clips.size());
    return {};
  }

  Status take_texts_of_lists(const formats::Recipe& recipe, pipeline::BuildPlan& plan) const {
    XTTS_ASSIGN(const auto listed, listed_corpus(env_, sources_, recipe, {}, cancelled_));
    std::unordered_map<std::string, const corpus::Clip*> by_id;
    for (const corpus::Clip& clip : listed.clips) by_id.emplace(full_id(clip), &clip);
    for (corpus::Clip& clip : plan.corpus.clips) {
      const auto found = by_id.find(full_id(clip));
      if (found == by_id.end()) continue;
      clip.text_raw = found->second->text_raw;
      clip.text_normalized = found->second->text_normalized;
      clip.extra_json = found->second->extra_json;
    }
    return {};
  }

  static void take_names(const formats::RecordFacts& facts, corpus::Clip& clip) {
    clip.id = facts.id.value_or("");
    clip.dataset = facts.dataset.value_or("");
    clip.split = static_cast<corpus::Split>(facts.split.value_or(0));
    clip.speaker = facts.speaker.value_or("");
    clip.language = facts.language.value_or("");
    if (facts.source_path) clip.source = *facts.source_path;
  }

  Status write(const pipeline::BuildPlan& plan, const formats::Recipe& recipe,
               const std::vector<formats::Reject>& rejects) {
    std::vector<formats::ColumnSpec> columns;
    for (std::size_t column = 0; column < sound_count_; ++column)
      columns.push_back(manifest_.columns[column].spec);
    const auto made = pipeline::build_index(
        {.env = env_,
         .plan = plan,
         .recipe = recipe,
         .numerics = manifest_.numerics,
         .columns = columns,
         .shards = sounds_,
         .token_shards = &tokens_,
         .rejects = rejects,
         .known_speakers = manifest_.speakers,
         .known_languages = manifest_.languages,
         .generation = manifest_.generation,
         .added = added_,
         .amend_manifest = [this](formats::Manifest& copied) { copied = manifest_; }},
        folder_);
    if (!made) return made.status();
    if (made->manifest.index_digest == manifest_.index_digest) return {};
    XTTS_TRY(store::remove_if_there(
        env_, join_path(cache_, formats::index_file_name(made->manifest.index_digest))));
    return {StatusCode::kCorrupt,
            "it came out with other bytes than the manifest names: lists or rejects have changed "
            "since its shards were written" +
                std::string(has_tokens() || !sources_.data.empty()
                                ? ""
                                : ". Without tokens its texts are in the index alone: say where "
                                  "the corpus is with " +
                                      option("data", "DATA"))};
  }

  Env& env_;
  const std::string& cache_;
  const formats::Manifest& manifest_;
  store::CacheFolder& folder_;
  const Sources& sources_;
  const std::function<bool()>& cancelled_;
  std::size_t sound_count_ = 0;
  std::vector<JournalShard> sounds_, tokens_;
  std::vector<pipeline::AddedColumn> added_;
};

}  // namespace

Result<std::optional<std::string>> remake_index(Env& env, const std::string& cache,
                                                const formats::Manifest& manifest,
                                                store::CacheFolder& folder, const Sources& sources,
                                                const std::function<bool()>& cancelled) {
  return IndexRepair(env, cache, manifest, folder, sources, cancelled).run();
}

}  // namespace xtts::verify
