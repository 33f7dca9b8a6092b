#include "formats/manifest_recipe.hpp"

#include "base/try.hpp"
#include "formats/feature_config_json.hpp"
#include "formats/section_members.hpp"

namespace xtts::formats {
namespace {

void copy_text(SectionMembers members, TextConfig& config) {
  members.copy("tokens", config.tokens);
  members.copy("vocabulary", config.vocabulary);
  members.copy("max_tokens", config.max_tokens);
  members.copy("too_long", config.too_long);
  members.copy("unknown", config.unknown);
  members.copy("use_normalized", config.use_normalized);
}

void copy_sources(SectionMembers& members, CorpusConfig& config) {
  members.copy("layout", config.layout);
  members.copy("language", config.language);
  members.copy("speaker", config.speaker);
  members.copy("speaker_pattern", config.speaker_pattern);
  members.copy("metadata_train_file", config.metadata_train_file);
  members.copy("metadata_eval_file", config.metadata_eval_file);
  members.copy("wavs_train_folder", config.wavs_train_folder);
  members.copy("wavs_eval_folder", config.wavs_eval_folder);
  members.copy_if_there("audio_column", config.columns.audio);
  members.copy_if_there("id_column", config.columns.id);
  members.copy_if_there("text_column", config.columns.text);
  members.copy_if_there("normalized_column", config.columns.normalized);
  members.copy_if_there("speaker_column", config.columns.speaker);
  members.copy_if_there("language_column", config.columns.language);
  members.copy_if_there("split_column", config.columns.split);
  members.copy_if_there("start_column", config.columns.start);
  members.copy_if_there("end_column", config.columns.end);
}

void copy_splits(SectionMembers& members, CorpusConfig& config) {
  members.copy("train_split", config.train_split);
  members.copy("validation_split", config.validation_split);
  members.copy("validation_clips_max", config.validation_clips_max);
  members.copy("split_seed", config.split_seed);
  members.copy("split_by", config.split_by);
  members.copy("train_subset_fraction", config.train_subset_fraction);
  members.copy("subset_seed", config.subset_seed);
}

void copy_rules(SectionMembers& members, CorpusConfig& config) {
  members.copy("max_source_seconds", config.max_source_seconds);
  members.copy("max_clip_seconds", config.max_clip_seconds);
  members.copy("too_short", config.too_short);
  members.copy("too_short_seconds", config.too_short_seconds);
  members.copy("silent", config.silent);
  members.copy("silent_dbfs", config.silent_dbfs);
  members.copy("clipped", config.clipped);
  members.copy("clipped_share", config.clipped_share);
  members.copy("not_finite", config.not_finite);
  members.copy("low_rate", config.low_rate);
  members.copy("source_rate_below", config.source_rate_below);
  members.copy("duplicates", config.duplicates);
  members.copy("no_text", config.no_text);
}

void copy_storage(SectionMembers members, StorageConfig& config) {
  members.copy("store", config.store);
  members.copy("layout", config.layout);
  members.copy("dtype", config.dtype);
}

}  // namespace

Result<Recipe> recipe_of(const Manifest& manifest) {
  Recipe recipe;
  recipe.name = manifest.recipe_name;
  XTTS_ASSIGN(recipe.features, feature_config_from_json(manifest.features));
  std::string problem;
  copy_text({manifest.text, "text", problem}, recipe.text);
  SectionMembers corpus(manifest.corpus, "corpus", problem);
  copy_sources(corpus, recipe.corpus);
  copy_splits(corpus, recipe.corpus);
  copy_rules(corpus, recipe.corpus);
  copy_storage({manifest.storage, "storage", problem}, recipe.storage);
  if (!problem.empty()) return Status(StatusCode::kUnsupported, problem);
  return recipe;
}

}  // namespace xtts::formats
