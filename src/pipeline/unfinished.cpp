#include "pipeline/unfinished.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "formats/canonical_json.hpp"
#include "formats/feature_config.hpp"
#include "formats/json_fields.hpp"
#include "formats/manifest_recipe.hpp"
#include "pipeline/build_plan.hpp"
#include "pipeline/losses.hpp"
#include "pipeline/manifest_parts.hpp"
#include "report/human.hpp"
#include "store/cache_folder.hpp"
#include "store/source_table.hpp"

namespace xtts::pipeline {
namespace {

using nlohmann::json;

// A file of waiting records begins with the digest of its owner (cache-v1.md, section 10).
constexpr std::uint64_t kSpoolHeadBytes = 16;

// The features without the length of records: a record of all frames is the same in each of them.
Digest sound_of(formats::FeatureConfig features) {
  features.max_frames = formats::RecordLength(0);
  return formats::fingerprint(features);
}

json recipe_to_json(const formats::Recipe& recipe) {
  formats::Manifest manifest;
  describe_recipe(recipe, manifest);
  return {{"name", manifest.recipe_name},
          {"features", manifest.features},
          {"text", manifest.text},
          {"corpus", manifest.corpus},
          {"storage", manifest.storage},
          {"max_frames", to_string(recipe.features->max_frames)},
          {"max_tokens", to_string(recipe.text.max_tokens)}};
}

std::optional<formats::Recipe> recipe_from_json(const json& document) {
  Status failure;
  formats::JsonFields fields(document, "", failure);
  formats::Manifest manifest;
  manifest.recipe_name = fields.text("name");
  manifest.features = fields.any_object("features");
  manifest.text = fields.any_object("text");
  manifest.corpus = fields.any_object("corpus");
  manifest.storage = fields.any_object("storage");
  const auto frames = formats::parse_record_length(fields.text("max_frames"));
  const auto tokens = formats::parse_record_length(fields.text("max_tokens"));
  if (!failure.ok() || !frames || !tokens) return std::nullopt;
  auto recipe = formats::recipe_of(manifest);
  if (!recipe) return std::nullopt;
  recipe->features->max_frames = *frames;
  recipe->text.max_tokens = *tokens;
  return std::move(*recipe);
}

// `data`: empty where it is unknown.
std::string build_command(const std::string& data, const std::string& cache,
                          const std::string& options = {}) {
  return formatted("xtts-precompute build {} {}{}", data.empty() ? "DATA" : shell_quoted(data),
                   shell_quoted(cache), options);
}

std::uint64_t size_of(Env& env, const std::string& path) {
  const auto facts = env.stat(path);
  return facts ? facts->size_bytes : 0;
}

std::uint64_t bytes_of(Env& env, const std::string& cache,
                       const std::vector<store::JournalShard>& shards) {
  std::uint64_t bytes = 0;
  for (const auto& shard : shards)
    for (const auto& sealed : shard.sealed) bytes += size_of(env, store::shard_path(cache, sealed));
  const std::string folder = store::build_folder(cache);
  if (const auto entries = env.list(folder)) {
    for (const DirectoryEntry& entry : *entries)
      if (entry.name.starts_with(store::kSpoolPrefix))
        bytes += std::max(size_of(env, join_path(folder, entry.name)), kSpoolHeadBytes) -
                 kSpoolHeadBytes;
  }
  return bytes;
}

// A journal of before these members has features' fingerprint alone.
bool has_same_sound(const Unfinished& unfinished, const formats::Recipe& recipe) {
  if (unfinished.asked.recipe)
    return sound_of(*unfinished.asked.recipe->features) == sound_of(*recipe.features);
  return unfinished.head.features_fingerprint == formats::fingerprint(*recipe.features);
}

Status refusal(const std::string& cache, const Unfinished& unfinished, const std::string& command,
               const std::string& where = {}) {
  return {StatusCode::kMismatch, cache + " holds " + words_of(unfinished) +
                                     ". This goes on with it" + where + ":\n  " +
                                     command_to_continue(cache, unfinished) +
                                     "\nThis gives it up, and builds what its options say:\n  " +
                                     command + " --discard-unfinished"};
}

}  // namespace

std::string encode_asked(const AskedWork& asked) {
  json document = json::object();
  if (!asked.column.empty()) {
    document["column"] = asked.column;
  } else {
    document["data"] = asked.data.path;
    document["audio_roots"] = asked.data.audio_roots;
    document["speakers"] = asked.speakers;
    document["partition"] = asked.partition;
    if (!asked.part.empty()) document["part"] = asked.part;
    document["overwrites"] = asked.overwrites;
    document["keeps_recipe"] = asked.keeps_recipe;
    document["lasting_options"] = asked.lasting_options;
    if (asked.recipe) document["recipe"] = recipe_to_json(*asked.recipe);
  }
  return formats::dump_canonical(document);
}

AskedWork decode_asked(const std::string& text) {
  AskedWork asked;
  const auto document = formats::parse_json(text);
  if (!document || !document->is_object()) return asked;
  Status failure;
  formats::JsonFields fields(*document, "", failure);
  if (fields.find("column") != nullptr) {
    asked.column = fields.text("column");
    return asked;
  }
  asked.data = {fields.text("data"), fields.texts("audio_roots")};
  asked.speakers = fields.texts("speakers");
  asked.partition = fields.text("partition");
  if (fields.find("part") != nullptr) asked.part = fields.text("part");
  if (fields.find("lasting_options") != nullptr)
    asked.lasting_options = fields.text("lasting_options");
  const auto is_set = [&](const char* name) {
    const json* const value = fields.find(name);
    return value != nullptr && *value == true;
  };
  asked.overwrites = is_set("overwrites");
  asked.keeps_recipe = is_set("keeps_recipe");
  if (const json* const recipe = fields.find("recipe")) asked.recipe = recipe_from_json(*recipe);
  return failure.ok() ? asked : AskedWork();
}

AskedWork asked_of(const BuildRequest& request, const formats::Recipe& lengths_of,
                   const BuildPlan& plan) {
  AskedWork asked{.column = {},
                  .data = plan.data,
                  .speakers = request.known_speakers,
                  .partition = {},
                  .part = {},
                  .overwrites = request.options.overwrite,
                  .keeps_recipe = request.recipe_of.has_value(),
                  .lasting_options = request.lasting_options,
                  .recipe = request.recipe};
  if (const auto& part = request.partition)
    asked.partition = formatted("{}/{}", part->index, part->count);
  asked.part = request.options.part;
  asked.recipe->features->max_frames = lengths_of.features->max_frames;
  asked.recipe->text.max_tokens = lengths_of.text.max_tokens;
  return asked;
}

Result<std::optional<Unfinished>> find_unfinished(Env& env, const std::string& cache,
                                                  const formats::Manifest* published) {
  XTTS_ASSIGN(auto journal, store::read_journal(env, cache));
  if (!journal.head) return std::optional<Unfinished>();
  if (published != nullptr && journal.head->generation <= published->generation)
    return std::optional<Unfinished>();
  Unfinished found{.head = *journal.head, .asked = decode_asked(journal.head->about)};
  found.bytes = bytes_of(env, cache, journal.shards);
  return std::optional(std::move(found));
}

std::string words_of(const Unfinished& unfinished) {
  const AskedWork& asked = unfinished.asked;
  std::string what = "an unfinished build";
  if (!asked.column.empty()) {
    what = formatted("the unfinished column '{}'", asked.column);
  } else if (asked.recipe) {
    what += " of the recipe " + asked.recipe->name;
  }
  return formatted("{} ({})", what, report::format_size(unfinished.bytes));
}

std::string command_to_continue(const std::string& cache, const Unfinished& unfinished) {
  const AskedWork& asked = unfinished.asked;
  if (!asked.column.empty()) {
    return formatted("xtts_precompute.open({}).add_column('{}', ...), in Python",
                     json(cache).dump(-1, ' ', false, json::error_handler_t::replace),
                     asked.column);
  }
  if (!asked.part.empty()) {
    return formatted("xtts-precompute build --part {} {}{}{}", shell_quoted(asked.part),
                     shell_quoted(cache), asked.lasting_options,
                     asked.overwrites ? " --overwrite" : "");
  }
  return build_command(asked.data.path, cache, asked.lasting_options) +
         (asked.overwrites ? " --overwrite" : "") +
         (asked.partition.empty() ? "" : " --partition " + asked.partition);
}

Result<bool> check_unfinished(Env& env, const BuildRequest& request,
                              const formats::Manifest* published, bool is_update,
                              const Digest& numerics) {
  XTTS_ASSIGN(const auto found, find_unfinished(env, request.options.cache, published));
  if (!found || request.options.discard_unfinished) return false;
  const bool replaces_what_this_updates = found->asked.overwrites && is_update;
  const bool is_ours =
      found->asked.column.empty() && !replaces_what_this_updates &&
      has_same_sound(*found, request.recipe) &&
      found->head.storage_fingerprint == formats::fingerprint(request.recipe.storage) &&
      found->head.numerics == numerics;
  if (is_ours) return true;
  if (found->bytes == 0) return false;
  return refusal(request.options.cache, *found,
                 request.command.empty() ? build_command(request.data.path, request.options.cache)
                                         : request.command);
}

Status check_no_unfinished(Env& env, const std::string& cache, const formats::Manifest* published) {
  XTTS_ASSIGN(const auto found, find_unfinished(env, cache, published));
  if (!found || found->bytes == 0) return {};
  std::string data = found->asked.data.path;
  if (data.empty()) {
    if (const auto sources = store::load_source_table(env, cache)) data = sources->data.path;
  }
  const bool is_column = !found->asked.column.empty() && published != nullptr;
  return refusal(cache, *found,
                 build_command(data, cache,
                               is_column ? limits_of_last_build(env, cache, *published)
                                         : found->asked.lasting_options));
}

}  // namespace xtts::pipeline
