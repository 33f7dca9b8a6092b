#include "corpus/corpus.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/hash.hpp"
#include "base/try.hpp"
#include "corpus/data_tree.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/names.hpp"
#include "corpus/speakers.hpp"
#include "corpus/split_long.hpp"
#include "corpus/splits.hpp"

namespace xtts::corpus {
namespace {

constexpr std::size_t kCorporaMax = 1000;

Result<const Layout*> choose_layout(const LayoutInput& input, std::vector<std::string>& notes) {
  std::string names = "auto";
  for (const Layout& layout : layouts()) {
    if (input.config.layout == "auto") {
      XTTS_ASSIGN(auto reason, layout.detect(input));
      if (reason) {
        notes.push_back(std::move(*reason));
        return &layout;
      }
    } else if (input.config.layout == layout.name) {
      return &layout;
    }
    names += ", ";
    names += layout.name;
  }
  return Status(StatusCode::kInvalidArgument,
                "there is no layout '" + input.config.layout + "'; known are " + names);
}

Problem source_problem(const Clip& clip, ProblemClass kind, std::string reason) {
  return {clip.id, clip.source, std::nullopt, "discover", kind, std::move(reason)};
}

// The one stat of each clip. A source that is no longer what the listing said is left out.
void stat_sources(const LayoutInput& input, Findings& findings) {
  std::erase_if(findings.clips, [&](FoundClip& found) {
    Clip& clip = found.clip;
    const auto facts = input.env.stat(input.tree.full_path(clip.source));
    if (!facts.ok()) {
      findings.problems.push_back(
          source_problem(clip, ProblemClass::kEnvironment, facts.status().message()));
      return true;
    }
    if (facts->kind != FileKind::kRegular) {
      findings.problems.push_back(
          source_problem(clip, ProblemClass::kInput, "is not a regular file any more"));
      return true;
    }
    clip.source_bytes = facts->size_bytes;
    clip.source_mtime_ns = facts->mtime_ns;
    clip.source_inode = facts->inode;
    return false;
  });
}

Status check_any_left(const Findings& findings, const DataTree& tree) {
  if (!findings.clips.empty()) return {};
  std::string text = "no clip of " + tree.root + " can be used";
  if (!findings.problems.empty()) {
    const Problem& first = findings.problems.front();
    text += " (" + counted(findings.problems.size(), "problem", "problems") + ", the first in " +
            place_of(first) + ": " + first.reason + ")";
  }
  // A disk that did not answer is no fault of the corpus.
  const bool may_pass =
      !findings.problems.empty() && findings.problems.front().kind == ProblemClass::kEnvironment;
  return {may_pass ? StatusCode::kResource : StatusCode::kInvalidArgument, std::move(text)};
}

auto canonical_key(const Clip& clip) {
  return std::tuple<std::string_view, Split, std::string_view>(clip.dataset, clip.split, clip.id);
}

// Sorted by index first: moving each clip once is a third of the cost of sorting values of 200
// bytes.
std::vector<Clip> in_canonical_order(std::vector<FoundClip> found) {
  std::vector<std::size_t> order(found.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return canonical_key(found[a].clip) < canonical_key(found[b].clip);
  });
  std::vector<Clip> clips;
  clips.reserve(found.size());
  for (const std::size_t index : order) clips.push_back(std::move(found[index].clip));
  return clips;
}

void sort_problems(std::vector<Problem>& problems) {
  const auto key = [](const Problem& p) { return std::tie(p.path, p.line, p.id, p.reason); };
  std::sort(problems.begin(), problems.end(),
            [&](const Problem& a, const Problem& b) { return key(a) < key(b); });
}

std::string full_id(const Clip& clip) {
  return clip.dataset.empty() ? clip.id : clip.dataset + "/" + clip.id;
}

void note_texts(Corpus& corpus) {
  std::uint64_t without_text = 0;
  const Clip* first = nullptr;
  for (const Clip& clip : corpus.clips) {
    if (!clip.text_raw.empty() || !clip.text_normalized.empty()) continue;
    if (first == nullptr) first = &clip;
    ++without_text;
  }
  corpus.has_text = without_text < corpus.clips.size();
  if (corpus.has_text && without_text > 0) {
    corpus.notes.push_back(counted(without_text, "clip has", "clips have") + " no text (" +
                           full_id(*first) + (without_text > 1 ? ", ...)" : ")"));
  }
}

// Ids that some file systems, lists and eyes take for one another. They stay different clips.
void note_look_alikes(Corpus& corpus) {
  std::vector<std::pair<std::uint64_t, std::size_t>> keys;
  keys.reserve(corpus.clips.size());
  for (std::size_t i = 0; i < corpus.clips.size(); ++i) {
    const Clip& clip = corpus.clips[i];
    keys.emplace_back(check64(as_bytes(folded(clip.id)), check64(as_bytes(clip.dataset))), i);
  }
  std::sort(keys.begin(), keys.end());
  std::uint64_t pair_count = 0;
  std::pair<std::size_t, std::size_t> example{corpus.clips.size(), 0};
  for (std::size_t i = 1; i < keys.size(); ++i) {
    if (keys[i].first != keys[i - 1].first) continue;
    ++pair_count;
    example = std::min(example, {keys[i - 1].second, keys[i].second});
  }
  if (pair_count == 0) return;
  corpus.notes.push_back(counted(pair_count, "pair", "pairs") +
                         " of ids differ only in letter case, accents or their encoding (" +
                         corpus.clips[example.first].id + ", " + corpus.clips[example.second].id +
                         "); they are different clips");
}

// One corpus as its layout reads it: sources known, speakers set; splits and order still to come.
Result<Findings> read_corpus(Env& env, const std::string& folder,
                             const formats::CorpusConfig& config,
                             std::optional<double> split_above_s, Corpus& corpus) {
  XTTS_ASSIGN(const DataTree tree, scan_data(env, folder));
  const LayoutInput input{env, tree, config};
  XTTS_ASSIGN(const Layout* const layout, choose_layout(input, corpus.notes));
  corpus.layout = layout->name;
  corpus.folders = {tree.real_root};
  XTTS_ASSIGN(Findings findings, layout->read(input));
  // Ids are unique from here on.
  stat_sources(input, findings);
  XTTS_TRY(check_any_left(findings, tree));
  std::move(findings.notes.begin(), findings.notes.end(), std::back_inserter(corpus.notes));
  for (FoundClip& found : findings.clips) {
    if (found.clip.language.empty()) found.clip.language = config.language;
  }
  XTTS_TRY(apply_speakers(config, findings.clips, corpus.notes));
  if (split_above_s) split_long_clips(*split_above_s, findings.clips, corpus.notes);
  findings.ignored_file_count += tree.hidden_count;
  if (tree.hidden_count > 0) {
    corpus.notes.push_back(
        counted(tree.hidden_count, "hidden file or folder", "hidden files or folders") +
        " ignored (names that begin with '.')");
  }
  return findings;
}

Result<Corpus> finish(const formats::CorpusConfig& config, const KnownSplits& known_splits,
                      Findings findings, Corpus corpus) {
  assign_splits(config, known_splits, findings.clips, corpus.notes);
  keep_training_subset(config, findings.clips, corpus.notes);
  corpus.clips = in_canonical_order(std::move(findings.clips));
  corpus.problems = std::move(findings.problems);
  sort_problems(corpus.problems);
  note_texts(corpus);
  note_look_alikes(corpus);
  corpus.ignored_file_count = findings.ignored_file_count;
  return corpus;
}

formats::CorpusConfig config_of(const formats::CorporaEntry& entry, formats::CorpusConfig config) {
  if (!entry.layout.empty()) config.layout = entry.layout;
  if (!entry.language.empty()) config.language = entry.language;
  if (!entry.speaker.empty() || !entry.speaker_pattern.empty()) {
    config.speaker = entry.speaker;
    config.speaker_pattern = entry.speaker_pattern;
  }
  return config;
}

Status check_entries(std::span<const formats::CorporaEntry> entries,
                     const formats::CorpusConfig& config) {
  if (entries.empty()) return {StatusCode::kInvalidArgument, "no corpus is named"};
  if (entries.size() > kCorporaMax)
    return {StatusCode::kInvalidArgument, "more than " + std::to_string(kCorporaMax) + " corpora"};
  if (config.metadata_train_file.empty() && config.wavs_train_folder.empty()) return {};
  return {StatusCode::kInvalidArgument,
          "metadata_train_file and wavs_train_folder say where one corpus has its list and audio; "
          "with several corpora, let the layout find them"};
}

std::optional<Split> split_named(std::string_view name) {
  for (const Split split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    if (to_string(split) == name) return split;
  }
  return std::nullopt;
}

void add_corpus(const formats::CorporaEntry& entry, Corpus one, Findings findings, Corpus& corpus,
                Findings& all) {
  const std::string prefix = entry.name + "/";
  const std::optional<Split> split = split_named(entry.split);
  const auto folder = static_cast<std::uint16_t>(corpus.folders.size());
  corpus.folders.push_back(one.folders.front());
  corpus.notes.push_back(entry.name + ": layout " + one.layout + ", " +
                         counted(findings.clips.size(), "clip", "clips"));
  for (const std::string& note : one.notes) corpus.notes.push_back(entry.name + ": " + note);
  for (FoundClip& found : findings.clips) {
    Clip& clip = found.clip;
    clip.dataset = entry.name;
    clip.folder = folder;
    if (entry.speaker.empty() && !clip.speaker.empty()) clip.speaker.insert(0, prefix);
    if (split) found.own_split = split;
    all.clips.push_back(std::move(found));
  }
  for (Problem& problem : findings.problems) {
    if (!problem.id.empty()) problem.id.insert(0, prefix);
    problem.path.insert(0, prefix);
    all.problems.push_back(std::move(problem));
  }
  all.ignored_file_count += findings.ignored_file_count;
}

}  // namespace

std::string_view to_string(Split split) noexcept {
  switch (split) {
    case Split::kTrain:
      return "train";
    case Split::kValidation:
      return "validation";
    case Split::kTest:
      return "test";
  }
  return "unknown";
}

std::string_view to_string(ProblemClass problem) noexcept {
  switch (problem) {
    case ProblemClass::kPolicy:
      return "policy";
    case ProblemClass::kInput:
      return "input";
    case ProblemClass::kCrash:
      return "crash";
    case ProblemClass::kEnvironment:
      return "environment";
  }
  return "unknown";
}

std::string place_of(const Problem& problem) {
  return (problem.line ? "line " + std::to_string(*problem.line) + " of " : "") + problem.path;
}

std::string Corpus::path_of(const Clip& clip) const {
  return join_path(folders[clip.folder], clip.source);
}

Result<Corpus> discover(Env& env, const std::string& data_folder,
                        const formats::CorpusConfig& config, const KnownSplits& known_splits,
                        std::optional<double> split_above_s) {
  Corpus corpus;
  XTTS_ASSIGN(Findings findings, read_corpus(env, data_folder, config, split_above_s, corpus));
  return finish(config, known_splits, std::move(findings), std::move(corpus));
}

Result<Corpus> discover(Env& env, std::span<const formats::CorporaEntry> entries,
                        const formats::CorpusConfig& config, const KnownSplits& known_splits,
                        std::optional<double> split_above_s) {
  XTTS_TRY(check_entries(entries, config));
  Corpus corpus;
  Findings all;
  for (const auto& entry : entries) {
    Corpus one;
    auto findings = read_corpus(env, entry.folder, config_of(entry, config), split_above_s, one);
    if (!findings) return findings.status().with_context("corpus " + entry.name);
    add_corpus(entry, std::move(one), std::move(*findings), corpus, all);
  }
  corpus.layout = "corpora";
  return finish(config, known_splits, std::move(all), std::move(corpus));
}

std::vector<LayoutName> layout_names() {
  std::vector<LayoutName> names{{"auto", "the first of these that DATA looks like"}};
  for (const Layout& layout : layouts()) names.push_back({layout.name, layout.about});
  return names;
}

}  // namespace xtts::corpus
