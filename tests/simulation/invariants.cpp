// The checks of a World after each run (README.md, "What must hold").
#include <algorithm>

#include "base/hash.hpp"
#include "verify/verify.hpp"
#include "world.hpp"

namespace xtts::simulation {
namespace {

bool has_word(const std::vector<std::string>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool sections_equal(const formats::Manifest& a, const formats::Manifest& b) {
  return a.features == b.features && a.text == b.text && a.corpus == b.corpus &&
         a.storage == b.storage;
}

std::string settings_changed(const formats::Manifest& before, const formats::Manifest& now) {
  std::string text;
  const auto compare = [&](const char* name, const auto& a, const auto& b) {
    for (const auto& [key, value] : a.items())
      if (!b.contains(key) || b[key] != value)
        text += std::string(name) + "." + key + ": before " + value.dump() + ", now " +
                (b.contains(key) ? b[key].dump() : "nothing") + "\n";
  };
  compare("features", before.features, now.features);
  compare("text", before.text, now.text);
  compare("corpus", before.corpus, now.corpus);
  compare("storage", before.storage, now.storage);
  return text;
}

// Returns the changes that would make one manifest of the other, a line each.
std::string manifest_changes(const std::string& expected, const std::string& found) {
  std::string text;
  const auto a = nlohmann::json::parse(expected, nullptr, false);
  const auto b = nlohmann::json::parse(found, nullptr, false);
  for (const auto& change : nlohmann::json::diff(a, b)) text += change.dump() + "\n";
  return text;
}

std::optional<formats::Manifest> read_manifest(testing::MemoryEnv& env) {
  auto manifest = formats::decode_manifest(env.contents(kCache + "/manifest.json"));
  return manifest ? std::optional(std::move(*manifest)) : std::nullopt;
}

}  // namespace

World::Before World::look_before() {
  Before before;
  before.data = files_below(disk_.files, kData);
  before.had_manifest = disk_.files.exists(kCache + "/manifest.json");
  if (auto snapshot = read_snapshot(disk_.files, kCache)) before.cache = std::move(*snapshot);
  before.unfinished = unfinished_work(disk_.files);
  return before;
}

bool World::is_published_whole(std::string& why) {
  const auto report = verify::verify_cache(disk_.files, kCache, {.level = verify::Level::kFull});
  if (!report) {
    why = report.status().message();
  } else if (!report->ok) {
    why = std::to_string(report->finding_count) + " findings, the first in " +
          (report->findings.empty() ? std::string("no file") : report->findings.front().file);
  }
  return why.empty();
}

void World::note_whole() {
  auto now = read_manifest(disk_.files);
  const bool is_other = !now || !last_whole_ || now->generation != last_whole_->generation;
  if (is_other) asked_since_whole_.clear();
  last_whole_ = std::move(now);
}

World::Verdict World::judge_all(const Before& before, const std::deque<Running>& running) {
  for (const Running& one : running) {
    if (one.process.is_dead) continue;
    if (one.outcome.exit_code == 1) return Failure{"ends", "exit code 1: " + one.outcome.err};
    const bool is_reader_harmed = one.words.front() == "read" && one.outcome.exit_code == 4;
    if (is_reader_harmed && !is_damaged_) return Failure{"reader", one.outcome.err};
  }
  if (files_below(disk_.files, kData) != before.data)
    return Failure{"kept", "a command has changed DATA"};
  const bool has_manifest = disk_.files.exists(kCache + "/manifest.json");
  if (before.had_manifest && !has_manifest)
    return Failure{"published", "the published cache is gone"};
  if (has_manifest) {
    std::string why;
    const bool is_whole = is_published_whole(why);
    if (!is_whole && !is_damaged_) return Failure{"published", why};
    if (is_whole) is_damaged_ = false;
    if (is_whole) note_whole();
  }
  const Running& first = running.front();
  if (running.size() > 1 || first.process.is_dead || !first.process.last_call.empty())
    return std::nullopt;
  return judge_alone(before, first);
}

World::Verdict World::judge_alone(const Before& before, const Running& one) {
  const std::string& command = one.words.front();
  if (command == "read" || command == "add_column" || is_damaged_) {
    if (one.outcome.exit_code != 0 && is_damaged_) return judge_failed(before, one);
    return std::nullopt;
  }
  if (one.outcome.exit_code != 0) return judge_failed(before, one);
  const auto cache = read_snapshot(disk_.files, kCache);
  if (!cache) return std::nullopt;
  if (command == "build" && one.words[2] == kCache) return judge_build(before, one, *cache);
  if (command == "compact") {
    if (before.cache) {
      const std::string lost = difference(*before.cache, *cache);
      if (!lost.empty()) return Failure{"kept", "compact has changed the cache:\n" + lost};
    }
    const bool has_unfinished = !before.unfinished.files.empty();  // it is for the next build
    return has_unfinished ? std::nullopt : judge_superseded(*cache);
  }
  return std::nullopt;
}

World::Verdict World::judge_build(const Before& before, const Running& one, const Snapshot& cache) {
  const std::string not_followed = settings_not_followed(one.words, cache.manifest);
  if (!not_followed.empty()) return Failure{"asked", not_followed};
  if (auto failure = judge_fresh(cache)) return failure;
  const bool gives_up =
      has_word(one.words, "--overwrite") || has_word(one.words, "--discard-unfinished");
  const bool is_same_work =
      before.unfinished.features_fingerprint == cache.manifest.features_fingerprint;
  if (is_same_work && !gives_up && history_.corpus == CorpusKind::kFiles) {
    const auto sources = corpus_.sources();
    for (const auto& [id, sealed] : before.unfinished.sources) {
      const auto now = sources.find(id);
      if (now == sources.end()) continue;
      const auto& [path, content] = now->second;  // of headerless sound, a suffix tells the codec
      if (sealed != std::pair(path, digest128(as_bytes(content)))) continue;
      if (has_word(one.outcome.decoded, content))
        return Failure{"kept", id + " lay in a sealed shard of unfinished work, and has not "
                                    "changed; the build decodes it again"};
    }
  }
  const bool was_column = !before.unfinished.files.empty() && before.unfinished.sources.empty();
  if (was_column && one.outcome.decoded.empty() && !gives_up) {
    for (const std::string& path : before.unfinished.files)
      if (!disk_.files.exists(path))
        return Failure{"kept", "a build with nothing to do has removed " + path +
                                   ", of an unfinished add_column"};
    return std::nullopt;  // its work may lie there
  }
  return judge_superseded(cache);
}

World::Verdict World::judge_fresh(const Snapshot& cache) {
  const Files data = files_below(disk_.files, kData);
  std::string key = cache.manifest.features.dump() + cache.manifest.text.dump() +
                    cache.manifest.corpus.dump() + cache.manifest.storage.dump();
  for (const auto& [path, bytes] : data) key += path + "\n" + bytes + "\n";
  auto known = fresh_.find(key);
  if (known == fresh_.end()) {
    auto made = build_afresh(data, cache.manifest);
    if (!made) return Failure{"fresh", "a build from nothing fails: " + made.status().message()};
    known = fresh_.emplace(std::move(key), std::move(*made)).first;
  }
  ++totals_.comparisons;
  const std::string wrong = difference(known->second.snapshot, cache);
  if (!wrong.empty())
    return Failure{"fresh", "the cache is not what a build from nothing makes:\n" + wrong};
  const bool has_added = std::ranges::any_of(
      cache.manifest.columns, [](const auto& column) { return column.axis.has_value(); });
  // Numbers of speakers never change, so gone speakers keep theirs.
  const formats::Manifest& anew = known->second.snapshot.manifest;
  const bool same_tables =
      anew.speakers == cache.manifest.speakers && anew.languages == cache.manifest.languages;
  if (cache.manifest.generation != 1 || has_added || !same_tables) return std::nullopt;
  for (const auto& [name, bytes] : known->second.files) {
    if (disk_.files.contents(kCache + "/" + name) == bytes) continue;
    return Failure{"fresh", "other bytes than a build from nothing's in " + name + ":\n" +
                                manifest_changes(known->second.files.at("manifest.json"),
                                                 disk_.files.contents(kCache + "/manifest.json"))};
  }
  return std::nullopt;
}

World::Verdict World::judge_superseded(const Snapshot& cache) {
  if (!readers_.empty()) return std::nullopt;
  const std::set<std::string> names = names_of(cache.manifest);
  for (const auto& [path, bytes] : files_below(disk_.files, kCache))
    if (!names.contains(path.substr(kCache.size() + 1)))
      return Failure{"superseded", path + " lies there, and the manifest does not name it"};
  return std::nullopt;
}

// True where DATA and the rules, the words' own or the cache's, leave a clip.
bool World::can_be_built(const std::vector<std::string>& words) {
  const Files data = files_below(disk_.files, kData);
  return exit_code_afresh(data, words) == 0 && (!last_whole_ || build_afresh(data, *last_whole_));
}

World::Verdict World::judge_failed(const Before& before, const Running& one) {
  const bool gives_up = has_word(one.words, "--discard-unfinished");
  for (const std::string& path : before.unfinished.files)
    if (!gives_up && !disk_.files.exists(path))
      return Failure{"kept", "a command that failed has removed the unfinished work " + path};
  return is_pasting_ ? std::nullopt : paste(one.words, one.outcome);
}

// Runs what messages print, one after another, until the command that failed would end well: a
// verify is run again, and its next finding may need a next step.
World::Verdict World::paste(const std::vector<std::string>& first, const Outcome& outcome) {
  constexpr int kRoundsMax = 8;
  const auto before = last_whole_;
  const auto asked = asked_since_whole_;
  is_pasting_ = true;
  Outcome last = outcome;
  std::vector<std::string> words = first;
  bool any = false;
  for (int round = 0; round < kRoundsMax; ++round) {
    if (last.exit_code == 0 && (words == first || first.front() != "verify")) break;
    if (last.exit_code == 0) {
      words = first;
    } else {
      auto commands = printed_commands(last.err + "\n" + last.out,
                                       first.front() == "verify" && before ? kData : "DATA");
      std::erase(commands, words);
      const auto options = printed_options(last.err);
      if (!options.empty()) {
        words.insert(words.end(), options.begin(), options.end());
      } else if (!commands.empty()) {
        words = commands[next_seed_ % commands.size()];
      } else {
        break;
      }
      any = true;
      if (std::ranges::find(words, "--isa") == words.end())
        words.insert(words.end(), {"--isa", "scalar"});  // the machine's, so to say
    }
    if (auto failure = run_alone(words, last)) return failure;
  }
  is_pasting_ = false;
  if (!any) return std::nullopt;
  if (last.exit_code != 0) {
    const bool has_no_clip = last.err.find("no clip is left to store") != std::string::npos;
    if (has_no_clip && !can_be_built(words)) return std::nullopt;
    return Failure{"pasted", "what the message says does not help; the last, " + describe(words) +
                                 ", ends with " + std::to_string(last.exit_code) + ": " + last.err};
  }
  if (!before || !last_whole_ || sections_equal(*before, *last_whole_)) return std::nullopt;
  if (first.front() == "build" && settings_not_followed(first, *last_whole_).empty())
    return std::nullopt;
  // A repair takes the newest manifest, and a build goes on, with what an unfinished one asked for.
  const auto is_followed = [&](const std::vector<std::string>& words_of_build) {
    return settings_not_followed(words_of_build, *last_whole_).empty();
  };
  if (last_whole_->generation > before->generation && std::ranges::any_of(asked, is_followed))
    return std::nullopt;
  return Failure{"pasted", "after what the message says, the cache has other settings:\n" +
                               settings_changed(*before, *last_whole_)};
}

}  // namespace xtts::simulation
