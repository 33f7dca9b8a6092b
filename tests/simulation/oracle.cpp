#include "oracle.hpp"

#include <algorithm>
#include <sstream>

#include "base/try.hpp"
#include "corpus_model.hpp"
#include "formats/canonical_json.hpp"
#include "formats/manifest_recipe.hpp"
#include "formats/recipe.hpp"
#include "pipeline/build.hpp"
#include "pipeline/build_observer.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/sealed_records.hpp"
#include "program.hpp"
#include "recipe/recipe_file.hpp"
#include "store/journal_line.hpp"
#include "stub_decoder.hpp"

namespace xtts::simulation {
namespace {

class Silent final : public pipeline::BuildObserver {
 public:
  [[nodiscard]] bool wants_estimate() const override { return false; }
  void before(const pipeline::BuildPreview&) override {}
  void progress(const pipeline::BuildProgress&) override {}
  [[nodiscard]] bool cancelled() const override { return false; }
};

// The value of "features.columns.energy" as the manifest stores it; null where it has no such key.
nlohmann::json value_of(const formats::Recipe& recipe, std::string key) {
  const nlohmann::json sections = {{"features", formats::to_json(*recipe.features)},
                                   {"text", formats::to_json(recipe.text)},
                                   {"corpus", formats::to_json(recipe.corpus)},
                                   {"storage", formats::to_json(recipe.storage)}};
  std::ranges::replace(key, '.', '/');
  const nlohmann::json::json_pointer place("/" + key);
  return sections.contains(place) ? sections[place] : nlohmann::json();
}

// "--store lmdb" is short for "storage.store=lmdb".
std::vector<std::string> settings_of(const std::vector<std::string>& words) {
  std::vector<std::string> settings;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i + 1 == words.size()) break;
    for (const std::string key : {"store", "layout", "dtype"})
      if (words[i] == "--" + key) settings.push_back("storage." + key + "=" + words[i + 1]);
    if (words[i] == "--set") settings.push_back(words[i + 1]);
  }
  // It has the last word, wherever it stands.
  if (std::ranges::find(words, "--no-text") != words.end()) settings.push_back("text.store=false");
  return settings;
}

}  // namespace

Files files_below(testing::MemoryEnv& env, const std::string& folder) {
  Files files;
  for (const std::string& path : env.all_files())
    if (path.starts_with(folder + "/")) files[path] = env.contents(path);
  return files;
}

Result<FreshCache> build_afresh(const Files& data, const formats::Manifest& manifest) {
  testing::MemoryEnv env;
  env.add_folder("/tmp");
  for (const auto& [path, bytes] : data) env.add_file(path, bytes);
  pipeline::BuildRequest request;
  request.data.path = kData;
  request.options.cache = kCache;
  XTTS_ASSIGN(request.recipe, formats::recipe_of(manifest));
  request.run.thread_count = 1;
  request.run.make_decoder = make_stub_decoders(nullptr);
  request.isa = dsp::Isa::kScalar;
  request.max_losses = {.dropped = 1.0, .gone = 1.0};
  request.max_rejects.share = 1.0;
  Silent observer;
  XTTS_TRY(pipeline::build(env, request, observer).status());
  FreshCache cache;
  XTTS_ASSIGN(cache.snapshot, read_snapshot(env, kCache));
  for (const auto& [path, bytes] : files_below(env, kCache))
    if (!path.ends_with("/sources.bin")) cache.files[path.substr(kCache.size() + 1)] = bytes;
  return cache;
}

int exit_code_afresh(const Files& data, const std::vector<std::string>& words) {
  testing::MemoryEnv env;
  env.add_folder("/tmp");
  for (const auto& [path, bytes] : data) env.add_file(path, bytes);
  Outcome outcome;
  run_program(env, words, outcome);
  return outcome.exit_code;
}

std::string settings_not_followed(const std::vector<std::string>& words,
                                  const formats::Manifest& manifest) {
  const auto stored = formats::recipe_of(manifest);
  if (!stored) return stored.status().message();
  std::string text;
  std::vector<std::string> settings = settings_of(words);
  std::ranges::reverse(settings);  // of two for one key the last counts
  std::set<std::string> seen;
  for (const std::string& setting : settings) {
    const std::string key = setting.substr(0, setting.find('='));
    formats::Recipe wanted = *stored;
    if (!seen.insert(key).second || !recipe::apply_setting(Env::real(), wanted, setting).ok())
      continue;
    if (value_of(wanted, key) != value_of(*stored, key))
      text +=
          setting + " was asked for, and the manifest has " + value_of(*stored, key).dump() + "\n";
  }
  return text;
}

std::set<std::string> names_of(const formats::Manifest& manifest) {
  std::set<std::string> names = {"manifest.json", "rejects.jsonl", "sources.bin",
                                 "copy-of-index.bin",
                                 formats::index_file_name(manifest.index_digest)};
  for (const formats::ColumnEntry& column : manifest.columns) {
    for (std::size_t i = 0; i < column.shards.size(); ++i) {
      names.insert("shards/" + column.spec.name + "/" +
                   formats::shard_file_name(i, column.shards[i].digest, column.store));
    }
  }
  return names;
}

Unfinished unfinished_work(testing::MemoryEnv& env) {
  Unfinished unfinished;
  std::istringstream journal(env.contents(kCache + "/.build/journal"));
  std::vector<store::JournalShard> shards;
  for (std::string line; std::getline(journal, line);) {
    if (const auto head = store::decode_head_line(line))
      unfinished.features_fingerprint = head->features_fingerprint;
    const auto shard = store::decode_shard_line(line);
    if (!shard) continue;
    shards.push_back(*shard);
    for (const store::SealedShard& sealed : shard->sealed) {
      const std::string path = store::shard_path(kCache, sealed);
      if (env.exists(path)) unfinished.files.insert(path);
    }
  }
  pipeline::SealedRecords records(env, kCache, shards);
  for (;;) {
    const auto record = records.next();
    if (!record || !*record) break;
    const formats::RecordFacts& facts = (*record)->facts;
    if (facts.id && facts.source_path && facts.content_digest)
      unfinished.sources.emplace(*facts.id, std::pair(*facts.source_path, *facts.content_digest));
  }
  return unfinished;
}

}  // namespace xtts::simulation
