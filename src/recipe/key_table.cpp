#include "recipe/key_table.hpp"

#include <algorithm>
#include <utility>

#include "base/utf8.hpp"
#include "formats/feature_config.hpp"
#include "recipe/feature_keys.hpp"
#include "recipe/make_key.hpp"
#include "recipe/named_files.hpp"
#include "recipe/text_tables.hpp"

namespace xtts::recipe {
namespace {

using formats::Recipe;

Key fits_key() {
  Key key;
  key.name = "fits";
  key.about = "vocoders and models that take these features";
  key.takes = "a list of texts";
  key.is_list = true;
  key.print = [](const Recipe& recipe) {
    std::vector<std::string> printed;
    for (const std::string& name : recipe.fits) printed.push_back(quote_yaml(name));
    return printed;
  };
  key.set = [](Recipe& recipe, const std::vector<Scalar>& values, const FileAccess&) {
    recipe.fits.clear();
    for (const Scalar& value : values) recipe.fits.push_back(value.text);
    return std::string();
  };
  key.reset = [](Recipe& recipe) { recipe.fits.clear(); };
  return key;
}

Key vocabulary_key(Condition applies_when) {
  Key key = scalar_key(
      "text.vocabulary", [](auto& recipe) -> auto& { return recipe.text.vocabulary; },
      "the n-th character is token n; 0 is padding", std::move(applies_when));
  key.set = [](Recipe& recipe, const std::vector<Scalar>& values, const FileAccess&) {
    auto characters = canonical_vocabulary(values.front().text);
    if (!characters.ok()) return characters.status().message();
    recipe.text.vocabulary = std::move(characters).value();
    return std::string();
  };
  return key;
}

Key vocabulary_file_key() {
  Key key;
  key.name = "text.vocabulary_file";
  key.about = "a file of characters; they enter the recipe, not its path";
  key.takes = "a path";
  key.is_printed = false;
  key.applies_when = {"text.tokens", {"characters"}};
  key.print = [](const Recipe&) { return std::vector<std::string>(); };
  key.set = [](Recipe& recipe, const std::vector<Scalar>& values, const FileAccess& files) {
    auto characters = read_vocabulary_file(files.env, files.folder, values.front().text);
    if (!characters.ok()) return characters.status().message();
    recipe.text.vocabulary = std::move(characters).value();
    return std::string();
  };
  key.reset = [](Recipe&) {};
  return key;
}

Key normalize_key() {
  Key key;
  key.name = "text.normalize";
  key.about = "applied in this order before tokens are made";
  key.takes = "a list of " + text_table_names();
  key.is_list = true;
  key.applies_when = {"text.store", {"true"}};
  key.print = [](const Recipe& recipe) {
    std::vector<std::string> printed;
    for (const formats::TextTable& table : recipe.text.normalize) printed.push_back(table.name);
    return printed;
  };
  key.set = [](Recipe& recipe, const std::vector<Scalar>& values, const FileAccess&) {
    std::vector<formats::TextTable> tables;
    for (const Scalar& value : values) {
      auto table = text_table(value.text);
      if (!table) return "'" + value.text + "' is none of " + text_table_names();
      tables.push_back(std::move(*table));
    }
    recipe.text.normalize = std::move(tables);
    return std::string();
  };
  key.reset = [](Recipe& recipe) { recipe.text.normalize.clear(); };
  return key;
}

std::vector<Key> general_keys() {
  std::vector<Key> keys;
  keys.push_back(XTTS_KEY(name, "the name of the recipe"));
  keys.push_back(XTTS_KEY(about, "one line for people"));
  keys.push_back(fits_key());
  return keys;
}

std::vector<Key> text_keys() {
  const Condition characters{"text.tokens", {"characters"}};
  const Condition any{"text.tokens", {"bytes", "characters"}};
  return {
      XTTS_KEY(text.tokens, "none | bytes: byte + 1 | characters: place in the vocabulary"),
      vocabulary_key(characters),
      vocabulary_file_key(),
      XTTS_KEY(
          text.max_tokens,
          "tokens of a record: a number | auto: what the corpus needs | 200+: auto, at least 200; "
          "shorter texts are padded with 0",
          any),
      XTTS_KEY(text.too_long, "drop | truncate", any),
      XTTS_KEY(text.unknown,
               "drop: leave the character out | unk: token vocabulary + 1 | error: reject the clip",
               characters),
      XTTS_KEY(text.use_normalized, "tokens of the normalized text, else of the raw one", any),
      XTTS_KEY(text.store, "false: sound alone, without texts and tokens (--no-text)"),
      normalize_key(),
  };
}

std::vector<Key> corpus_keys() {
  const Condition lists{
      "corpus.layout",
      {"\"auto\"", "\"commonvoice\"", "\"ljspeech\"", "\"table\""}};  // texts are printed quoted
  const Condition table{"corpus.layout", {"\"auto\"", "\"table\""}};
  return {
      XTTS_KEY(corpus.layout, "auto, or a layout's name: xtts-precompute build --help lists them"),
      XTTS_KEY(corpus.language, "language of clips whose list does not say"),
      XTTS_KEY(corpus.speaker, "one name for all clips"),
      XTTS_KEY(corpus.speaker_pattern,
               "regular expression on the file name; its first group is the speaker"),
      XTTS_KEY(corpus.train_split, "share of the clips; what both splits leave is for testing"),
      XTTS_KEY(corpus.validation_split, "share of the clips"),
      XTTS_KEY(corpus.validation_clips_max, "more validation clips than this go to training"),
      XTTS_KEY(corpus.split_seed, "seed of the hash that splits"),
      XTTS_KEY(corpus.split_by, "id | source | speaker | text: what stays together"),
      XTTS_KEY(corpus.train_subset_fraction, "share of the training clips to keep"),
      XTTS_KEY(corpus.subset_seed, "seed of the hash that picks those clips"),
      XTTS_KEY(corpus.metadata_train_file,
               "lists of training and evaluation clips, relative to DATA", lists),
      XTTS_KEY(corpus.metadata_eval_file, "", lists),
      XTTS_KEY(corpus.wavs_train_folder, "folders of the audio of these lists, relative to DATA",
               lists),
      XTTS_KEY(corpus.wavs_eval_folder, "", lists),
      scalar_key("corpus.audio_column", XTTS_AT(corpus.columns.audio),
                 "names of the columns of a CSV, TSV or JSONL list, where they are not the usual",
                 table),
      scalar_key("corpus.id_column", XTTS_AT(corpus.columns.id), "", table),
      scalar_key("corpus.text_column", XTTS_AT(corpus.columns.text), "", table),
      scalar_key("corpus.normalized_column", XTTS_AT(corpus.columns.normalized), "", table),
      scalar_key("corpus.speaker_column", XTTS_AT(corpus.columns.speaker), "", table),
      scalar_key("corpus.language_column", XTTS_AT(corpus.columns.language), "", table),
      scalar_key("corpus.split_column", XTTS_AT(corpus.columns.split), "", table),
      scalar_key("corpus.start_column", XTTS_AT(corpus.columns.start), "in seconds, as end_column",
                 table),
      scalar_key("corpus.end_column", XTTS_AT(corpus.columns.end), "", table),
      XTTS_KEY(corpus.encoding,
               "encoding of the lists, such as cp1256; empty: UTF-8, or UTF-16 with its mark"),
      XTTS_KEY(corpus.max_source_seconds, "longer source files are dropped"),
      XTTS_KEY(corpus.max_clip_seconds, "longer clips are dropped; none: no limit"),
  };
}

std::vector<Key> odd_clip_keys() {
  return {
      XTTS_KEY(corpus.too_short, "keep | warn | drop: clips shorter than too_short_seconds"),
      XTTS_KEY(corpus.too_short_seconds, "seconds before the trim"),
      XTTS_KEY(corpus.silent, "keep | warn | drop: clips whose peak is below silent_dbfs"),
      XTTS_KEY(corpus.silent_dbfs, "dB, where full scale is 0"),
      XTTS_KEY(corpus.clipped,
               "keep | warn | drop: clips with more than clipped_share of samples at full scale"),
      XTTS_KEY(corpus.clipped_share, "0 to 1"),
      XTTS_KEY(corpus.not_finite,
               "keep | warn | drop: clips with NaN or infinite samples, which are taken as 0"),
      XTTS_KEY(corpus.low_rate,
               "keep | warn | drop: sources at a lower rate than source_rate_below"),
      XTTS_KEY(corpus.source_rate_below, "Hz"),
      XTTS_KEY(corpus.duplicates,
               "keep | warn | drop: clips with the same samples as an earlier one"),
      XTTS_KEY(corpus.no_text,
               "keep | warn | drop: clips without a text in a corpus that has texts"),
      XTTS_KEY(
          corpus.truncated,
          "auto | keep | warn | drop | reject: clips of cut or damaged files; auto rejects them "
          "where they have a text, and warns where they have none"),
  };
}

std::vector<Key> storage_keys() {
  return {
      XTTS_KEY(storage.store, "lmdb | hdf5"),
      XTTS_KEY(storage.layout, "padded: ready batches | packed: true lengths, less disk"),
      XTTS_KEY(storage.dtype, "float32 | float16 | bfloat16"),
  };
}

void check_names(const Recipe& recipe, std::vector<std::string>& problems) {
  const auto is_name_character = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  const std::string& name = recipe.name;
  if (name.empty() || name.size() > 64 ||
      !std::all_of(name.begin(), name.end(), is_name_character)) {
    problems.emplace_back("name: 1 to 64 letters, digits, '-', '_' or '.'");
  }
  if (recipe.about.size() > 1024 || !is_utf8(recipe.about))
    problems.emplace_back("about: at most 1024 bytes of UTF-8");
  for (const std::string& fit : recipe.fits) {
    if (fit.size() > 1024 || !is_utf8(fit))
      problems.emplace_back("fits: at most 1024 bytes of UTF-8 each");
  }
}

}  // namespace

Recipe default_recipe() {
  Recipe recipe;
  recipe.features->max_frames = formats::RecordLength::of_corpus();
  recipe.text.max_tokens = formats::RecordLength::of_corpus();
  return recipe;
}

const std::vector<Key>& key_table() {
  static const std::vector<Key> table = [] {
    std::vector<Key> all;
    for (const auto& part : {general_keys(), feature_keys(), text_keys(), corpus_keys(),
                             odd_clip_keys(), storage_keys()}) {
      all.insert(all.end(), part.begin(), part.end());
    }
    return all;
  }();
  return table;
}

const Key* find_key(std::string_view name) {
  const auto& table = key_table();
  const auto found =
      std::find_if(table.begin(), table.end(), [&](const Key& key) { return key.name == name; });
  return found == table.end() ? nullptr : &*found;
}

bool is_section(std::string_view name) {
  const auto& table = key_table();
  return std::any_of(table.begin(), table.end(), [&](const Key& key) {
    return key.name.size() > name.size() && key.name[name.size()] == '.' &&
           key.name.starts_with(name);
  });
}

std::string why_ignored(const Key& key, const Recipe& recipe) {
  const Condition& condition = key.applies_when;
  if (condition.key.empty()) return {};
  const Key& other = *find_key(condition.key);
  if (std::string reason = why_ignored(other, recipe); !reason.empty()) return reason;
  const std::string value = other.print(recipe).front();
  if (std::find(condition.values.begin(), condition.values.end(), value) != condition.values.end())
    return {};
  return std::string(condition.key) + " is " + value;
}

void reset_ignored(Recipe& recipe) {
  for (const Key& key : key_table()) {
    if (!why_ignored(key, recipe).empty()) key.reset(recipe);
  }
}

std::vector<std::string> problems_of(const Recipe& recipe) {
  std::vector<std::string> problems;
  check_names(recipe, problems);
  const auto add = [&](std::string_view section, const std::vector<std::string>& found) {
    for (const std::string& problem : found) problems.push_back(std::string(section) + problem);
  };
  add("features.", recipe.features->validate());
  add("text.", recipe.text.validate());
  add("corpus.", recipe.corpus.validate());
  add("storage.", recipe.storage.validate());
  return problems;
}

}  // namespace xtts::recipe
