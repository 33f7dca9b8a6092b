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
#include "corpus/splits.hpp"

namespace xtts::corpus {
namespace {

Result<const Layout*> choose_layout(const LayoutInput& input, std::vector<std::string>& notes) {
  std::string names = "auto";
  for (const Layout& layout : layouts()) {
    if (input.config.layout == "auto") {
      if (auto reason = layout.detect(input)) {
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
    text += " (" + counted(findings.problems.size(), "problem", "problems") +
            ", the first: " + first.path + ": " + first.reason + ")";
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

void note_texts(Corpus& corpus) {
  const auto without_text = static_cast<std::uint64_t>(std::count_if(
      corpus.clips.begin(), corpus.clips.end(),
      [](const Clip& clip) { return clip.text_raw.empty() && clip.text_normalized.empty(); }));
  corpus.has_text = without_text < corpus.clips.size();
  if (corpus.has_text && without_text > 0) {
    corpus.notes.push_back(counted(without_text, "clip has", "clips have") + " no text");
  }
}

// Ids that some file systems, lists and eyes take for one another. They stay different clips.
void note_look_alikes(Corpus& corpus) {
  std::vector<std::pair<std::uint64_t, std::size_t>> keys;
  keys.reserve(corpus.clips.size());
  for (std::size_t i = 0; i < corpus.clips.size(); ++i) {
    keys.emplace_back(check64(as_bytes(folded(corpus.clips[i].id))), i);
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

Result<Corpus> discover(Env& env, const std::string& data_folder,
                        const formats::CorpusConfig& config, const KnownSplits& known_splits) {
  XTTS_ASSIGN(const DataTree tree, scan_data(env, data_folder));
  const LayoutInput input{env, tree, config};
  Corpus corpus;
  XTTS_ASSIGN(const Layout* const layout, choose_layout(input, corpus.notes));
  corpus.layout = layout->name;
  XTTS_ASSIGN(Findings findings, layout->read(input));
  // Ids are unique from here on.
  stat_sources(input, findings);
  XTTS_TRY(check_any_left(findings, tree));

  std::move(findings.notes.begin(), findings.notes.end(), std::back_inserter(corpus.notes));
  for (FoundClip& found : findings.clips) {
    if (found.clip.language.empty()) found.clip.language = config.language;
  }
  XTTS_TRY(apply_speakers(config, findings.clips, corpus.notes));
  assign_splits(config, known_splits, findings.clips, corpus.notes);
  keep_training_subset(config, findings.clips, corpus.notes);

  corpus.clips = in_canonical_order(std::move(findings.clips));
  corpus.problems = std::move(findings.problems);
  sort_problems(corpus.problems);
  note_texts(corpus);
  note_look_alikes(corpus);
  corpus.ignored_file_count = findings.ignored_file_count + tree.hidden_count;
  if (tree.hidden_count > 0) {
    corpus.notes.push_back(
        counted(tree.hidden_count, "hidden file or folder", "hidden files or folders") +
        " ignored (names that begin with '.')");
  }
  return corpus;
}

std::vector<LayoutName> layout_names() {
  std::vector<LayoutName> names{{"auto", "the first of these that DATA looks like"}};
  for (const Layout& layout : layouts()) names.push_back({layout.name, layout.about});
  return names;
}

}  // namespace xtts::corpus
