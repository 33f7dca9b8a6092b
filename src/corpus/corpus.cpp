#include "corpus/corpus.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/check_cancelled.hpp"
#include "base/encoding.hpp"
#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "base/option_names.hpp"
#include "base/try.hpp"
#include "corpus/clips/shared_labels.hpp"
#include "corpus/clips/speakers.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/column_files.hpp"
#include "corpus/files/content_probe.hpp"
#include "corpus/files/data_tree.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/lists/unread_lists.hpp"
#include "corpus/passing_clips.hpp"
#include "corpus/several_corpora.hpp"
#include "corpus/split_long.hpp"
#include "formats/block.hpp"
#include "formats/corpus_config.hpp"
#include "formats/rules.hpp"
#include "formats/split.hpp"

namespace xtts::corpus {
namespace {

constexpr std::size_t kCorporaMax = 1000;
constexpr std::string_view kTable = "table";
constexpr std::string_view kColumnFiles = "huggingface";

// Parquet and Arrow files without a table: their own columns count, whatever is configured.
Status refuse_columns_of_column_files(const LayoutInput& input) {
  XTTS_ASSIGN(const auto table, detect_layout(*layout_named(kTable), input));
  if (table) return {};
  XTTS_ASSIGN(const auto found, detect_layout(*layout_named(kColumnFiles), input));
  if (!found) return {};
  return Status(
      StatusCode::kInvalidArgument,
      formatted("{} holds no table, but Parquet or Arrow files (layout {}), whose columns are "
                "known by their own names: leave out {}, {} and so on",
                input.tree.root, kColumnFiles, option("audio-column"), option("text-column")));
}

// Configured columns mean the table layout: no other layout lets the user name columns.
Result<const Layout*> table_of_columns(const LayoutInput& input, std::vector<std::string>& notes) {
  if (input.config.layout != "auto" && input.config.layout != kTable) {
    return Status(StatusCode::kInvalidArgument,
                  "audio_column, text_column, ... are for layout table: set corpus.layout=table, "
                  "or leave them out; corpus.layout is " +
                      input.config.layout);
  }
  if (input.config.layout == "auto") {
    XTTS_TRY(refuse_columns_of_column_files(input));
    notes.emplace_back("columns are named (layout table)");
  }
  return layout_named(kTable);
}

Result<const Layout*> choose_layout(const LayoutInput& input, std::vector<std::string>& notes) {
  if (input.config.columns != formats::CorpusColumns()) return table_of_columns(input, notes);
  std::string names = "auto";
  for (const Layout& layout : layouts()) {
    if (input.config.layout == "auto") {
      XTTS_ASSIGN(auto reason, detect_layout(layout, input));
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
                formatted("there is no layout '{}'; known are {}", input.config.layout, names));
}

Reject source_problem(const Clip& clip, RejectClass kind, std::string reason) {
  return {.kind = kind,
          .id = clip.id,
          .path = clip.source,
          .line = {},
          .reason = {.rule = formats::Rule::kBadFile, .detail = std::move(reason)}};
}

std::string_view file_of(const Clip& clip) {
  const std::string_view source = clip.source;
  return clip.range ? source.substr(0, clip.container_bytes) : source;
}

// Asks for the facts of sources, one clip after the other.
class SourceFacts {
 public:
  explicit SourceFacts(const LayoutInput& input) : input_(input) {}

  // Sets size, times and inode. A failure, or no regular file any more, makes the clip a problem.
  std::optional<Reject> set(Clip& clip) {
    // The members of an archive come one after the other, and share its times and inode.
    const std::string path = input_.tree.full_path(file_of(clip));
    const bool is_shared = clip.range || clip.segment;
    if (!is_shared || path != last_path_ || !last_facts_) {
      last_facts_.emplace(input_.env.stat(path));
      last_path_ = path;
    }
    const Result<FileFacts>& facts = *last_facts_;
    if (!facts.ok())
      return source_problem(clip, RejectClass::kEnvironment, facts.status().message());
    if (facts->kind != FileKind::kRegular)
      return source_problem(clip, RejectClass::kInput, "is not a regular file any more");
    clip.source_bytes = clip.range ? clip.range->size_bytes : facts->size_bytes;
    clip.source_mtime_ns = facts->mtime_ns;
    clip.source_ctime_ns = facts->ctime_ns;
    clip.source_inode = facts->inode;
    return std::nullopt;
  }

 private:
  const LayoutInput& input_;
  std::string last_path_;
  std::optional<Result<FileFacts>> last_facts_;
};

Status stat_sources(const LayoutInput& input, Findings& findings) {
  Status cancelled;
  SourceFacts sources(input);
  std::erase_if(findings.clips, [&](Clip& clip) {
    if (cancelled.ok()) cancelled = check_cancelled(input.cancelled);
    if (!cancelled.ok()) return false;
    auto problem = sources.set(clip);
    if (problem) findings.problems.push_back(std::move(*problem));
    return problem.has_value();
  });
  return cancelled;
}

Status check_any_left(const Findings& findings, const DataTree& tree) {
  if (!findings.clips.empty() || findings.passed_count > 0) return {};
  std::string text = formatted("no clip of {} can be used", tree.root);
  if (!findings.problems.empty()) {
    const Reject& first = findings.problems.front();
    text += formatted(" ({}, the first in {}: {})",
                      counted(findings.problems.size(), "problem", "problems"),
                      place_in_words(first), first.reason.detail);
  }
  // An environment failure (a disk that did not answer) is no fault of the corpus.
  const bool may_pass =
      !findings.problems.empty() && findings.problems.front().kind == RejectClass::kEnvironment;
  return {may_pass ? StatusCode::kResource : StatusCode::kInvalidArgument, std::move(text)};
}

auto canonical_key(const Clip& clip) {
  return std::tuple<std::string_view, Split, std::string_view>(clip.dataset, clip.split, clip.id);
}

// Sorts places, then moves each clip once within the vector. A copy would double the memory of a
// million clips.
void put_in_canonical_order(std::vector<Clip>& clips) {
  std::vector<std::uint32_t> order(clips.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return canonical_key(clips[a]) < canonical_key(clips[b]);
  });
  for (std::uint32_t first = 0; first < order.size(); ++first) {
    Clip displaced = std::move(clips[first]);
    std::uint32_t place = first;
    while (order[place] != first) {
      const std::uint32_t next = order[place];
      clips[place] = std::move(clips[next]);
      order[place] = place;
      place = next;
    }
    clips[place] = std::move(displaced);
    order[place] = place;
  }
}

void sort_problems(std::vector<Reject>& problems) {
  const auto key = [](const Reject& p) { return std::tie(p.path, p.line, p.id, p.reason.detail); };
  std::sort(problems.begin(), problems.end(),
            [&](const Reject& a, const Reject& b) { return key(a) < key(b); });
}

void note_texts(Corpus& corpus) {
  std::uint64_t without_text = 0;
  const Clip* first = nullptr;
  for (const Clip& clip : corpus.clips) {
    if (has_text(clip)) continue;
    if (first == nullptr) first = &clip;
    ++without_text;
  }
  corpus.has_text = without_text < corpus.clips.size();
  if (corpus.has_text && without_text > 0) {
    corpus.notes.push_back(formatted("{} no text ({}{}",
                                     counted(without_text, "clip has", "clips have"),
                                     full_id(*first), without_text > 1 ? ", ...)" : ")"));
  }
}

// Notes ids that some file systems, lists or readers confuse. They stay different clips.
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

// Only a detected layout is checked: a user who names a layout has looked at DATA.
// `clips`: some or all of the corpus.
Status note_what_is_unread(const LayoutInput& input, std::span<const Clip> clips, Corpus& corpus) {
  if (input.config.layout != "auto") return {};
  if (corpus.layout == "folder") {
    XTTS_ASSIGN(auto lists, find_unread_lists(input));
    if (lists) {
      corpus.unread_lists.push_back(std::move(*lists));
      corpus.corpus_below = only_corpus_in(input);
    }
    if (corpus.corpus_below) {
      const std::string_view folder = file_name(corpus.corpus_below->folder);
      XTTS_ASSIGN(auto beside, find_unread_lists(input, folder));
      corpus.unread_beside_it = std::move(beside).value_or("");
    }
  }
  if (auto text = find_unread_text(clips)) corpus.unread_lists.push_back(std::move(*text));
  return {};
}

// Clips may take one half of the memory; the other half is for the work on them.
constexpr std::uint64_t kShareOfClips = 2;

// One of the corpora that are read.
struct OneCorpus {
  formats::DataFolders data;
  formats::CorpusConfig config;
  const formats::CorporaEntry* entry = nullptr;  // null: the only one
  std::uint16_t folder = 0;                      // in Corpus::folders
  std::uint64_t held_bytes = 0;                  // memory that corpora read before hold
};

// Sends on what the layout has held, and ends the passing of clips.
void pass_on(PassingClips& passing, Findings& findings, Corpus& corpus) {
  for (Clip& clip : findings.clips) passing.take(std::move(clip), {});
  findings.clips.clear();
  findings.passed_count = passing.count();
  std::ranges::move(passing.problems(), std::back_inserter(findings.problems));
  if (auto note = passing.speaker_note()) corpus.notes.push_back(std::move(*note));
}

// What is done to all clips once a layout has found them.
Status finish_clips(const DiscoveryRequest& request, const OneCorpus& one, const LayoutInput& input,
                    Findings& findings, Corpus& corpus) {
  XTTS_TRY(note_what_is_unread(input, findings.clips, corpus));
  // Ids are unique from here on.
  XTTS_TRY(stat_sources(input, findings));
  XTTS_TRY(check_any_left(findings, input.tree));
  std::ranges::move(findings.notes, std::back_inserter(corpus.notes));
  const SharedText language = one.config.language;
  for (Clip& clip : findings.clips) {
    if (clip.language.empty()) clip.language = language;
  }
  XTTS_TRY(apply_speakers(one.config, findings.clips, corpus.notes));
  if (request.split_above_s) split_long_clips(*request.split_above_s, findings.clips, corpus.notes);
  return {};
}

// The same where the clips have gone on, one by one.
Status finish_passing(PassingClips& passing, const LayoutInput& input, Findings& findings,
                      Corpus& corpus) {
  pass_on(passing, findings, corpus);
  XTTS_TRY(passing.status());
  XTTS_TRY(note_what_is_unread(input, passing.telling_clips(), corpus));
  XTTS_TRY(check_any_left(findings, input.tree));
  std::ranges::move(findings.notes, std::back_inserter(corpus.notes));
  return {};
}

// Reads one corpus by its layout: sources are known and speakers set; splits and order are not.
Result<Findings> read_corpus(const DiscoveryRequest& request, const OneCorpus& one,
                             Corpus& corpus) {
  const formats::DataFolders& data = one.data;
  const formats::CorpusConfig& config = one.config;
  XTTS_TRY(check_encoding(config.encoding));
  XTTS_ASSIGN(DataTree tree, scan_data(request.env, data, request.cancelled));
  XTTS_TRY(probe_unknown_files(request.env, request.probe, tree));
  // From here on, the tree says which files are audio.
  ReadLog log;
  std::unique_ptr<PassingClips> passing;
  if (request.receiver != nullptr && !request.split_above_s) {
    XTTS_ASSIGN(passing, PassingClips::create(config, one.entry, one.folder, *request.receiver));
  }
  const LayoutInput input{.env = request.env,
                          .tree = tree,
                          .config = config,
                          .log = &log,
                          .clip_bytes_max = request.memory_bytes / kShareOfClips,
                          .held_bytes = one.held_bytes,
                          .cancelled = request.cancelled,
                          .found_clips = passing.get()};
  SourceFacts sources(input);
  if (passing) passing->set_facts_by([&sources](Clip& clip) { return sources.set(clip); });
  XTTS_ASSIGN(const Layout* const layout, choose_layout(input, corpus.notes));
  if (config.layout == "auto" && config.columns == formats::CorpusColumns()) {
    XTTS_ASSIGN(const auto several, corpora_in(input, *layout));
    if (!several.empty()) return refusal_of_several(data.path, several);
  }
  corpus.layout = layout->name;
  corpus.folders = {tree.real_root};
  corpus.mounts = {tree.mounts};
  auto read = read_layout(*layout, input);
  // A list that ended early is a failure, not a shorter list.
  XTTS_TRY(log.list.failure);
  XTTS_ASSIGN(Findings findings, std::move(read));
  XTTS_TRY(passing ? finish_passing(*passing, input, findings, corpus)
                   : finish_clips(request, one, input, findings, corpus));
  corpus.not_audio = not_audio_by_suffix(tree, log.paths);
  if (auto note = not_audio_note(corpus.not_audio); !note.empty())
    corpus.notes.push_back(std::move(note));
  findings.ignored_file_count += tree.hidden_count;
  if (tree.hidden_count > 0) {
    corpus.notes.push_back(
        counted(tree.hidden_count, "hidden file or folder", "hidden files or folders") +
        " ignored (names that begin with '.')");
  }
  return findings;
}

Result<Corpus> finish(const DiscoveryRequest& request, Findings findings, Corpus corpus) {
  corpus.ignored_file_count = findings.ignored_file_count;
  corpus.is_stream = findings.is_stream;
  corpus.held_bytes = findings.held_bytes;
  corpus.problems = std::move(findings.problems);
  sort_problems(corpus.problems);
  if (request.receiver != nullptr) {
    for (Clip& clip : findings.clips) request.receiver->take(std::move(clip), {});
    XTTS_TRY(request.receiver->status());
    return corpus;
  }
  assign_splits(request.config, request.known_splits, findings.clips, corpus.notes);
  keep_training_subset(request.config, findings.clips, corpus.notes);
  corpus.clips = std::move(findings.clips);
  put_in_canonical_order(corpus.clips);
  note_texts(corpus);
  note_look_alikes(corpus);
  return corpus;
}

formats::CorpusConfig config_of(const formats::CorporaEntry& entry, formats::CorpusConfig config) {
  if (!entry.layout.empty()) config.layout = entry.layout;
  if (!entry.language.empty()) config.language = entry.language;
  if (!entry.speaker.empty() || !entry.speaker_pattern.empty()) {
    config.speaker = entry.speaker;
    config.speaker_pattern = entry.speaker_pattern;
  }
  if (entry.columns != formats::CorpusColumns()) config.columns = entry.columns;
  if (!entry.encoding.empty()) config.encoding = entry.encoding;
  return config;
}

Status check_entries(std::span<const formats::CorporaEntry> entries,
                     const formats::CorpusConfig& config) {
  if (entries.size() > kCorporaMax)
    return {StatusCode::kInvalidArgument, formatted("more than {} corpora", kCorporaMax)};
  if (config.metadata_train_file.empty() && config.wavs_train_folder.empty()) return {};
  return {StatusCode::kInvalidArgument,
          "metadata_train_file and wavs_train_folder are for one corpus, and DATA holds several: "
          "leave them out, and the layout finds the lists"};
}

void add_corpus(const formats::CorporaEntry& entry, Corpus one, Findings findings, Corpus& corpus,
                Findings& all) {
  const std::string prefix = entry.name + "/";
  const SharedText dataset = entry.name;
  SharedLabels speakers;
  const std::optional<Split> split = formats::split_named(entry.split);
  const auto folder = static_cast<std::uint16_t>(corpus.folders.size());
  corpus.folders.push_back(one.folders.front());
  corpus.mounts.push_back(std::move(one.mounts.front()));
  corpus.notes.push_back(
      formatted("{}: layout {}, {}", entry.name, one.layout,
                counted(findings.clips.size() + findings.passed_count, "clip", "clips")));
  for (const std::string& note : one.notes)
    corpus.notes.push_back(formatted("{}: {}", entry.name, note));
  for (const std::string& list : one.unread_lists)
    corpus.unread_lists.push_back(formatted("{}: {}", entry.name, list));
  for (Clip& clip : findings.clips) {
    clip.dataset = dataset;
    clip.folder = folder;
    if (entry.speaker.empty() && !clip.speaker.empty())
      clip.speaker = speakers.of(prefix + clip.speaker);
    if (split) {
      clip.split = *split;
      clip.has_own_split = true;
    }
    all.clips.push_back(std::move(clip));
  }
  for (Reject& problem : findings.problems) {
    if (!problem.id.empty()) problem.id.insert(0, prefix);
    problem.path.insert(0, prefix);
    all.problems.push_back(std::move(problem));
  }
  for (const auto& [suffix, count] : one.not_audio) corpus.not_audio[suffix] += count;
  all.ignored_file_count += findings.ignored_file_count;
  all.is_stream = all.is_stream || findings.is_stream;
  all.passed_count += findings.passed_count;
  all.held_bytes = std::max(all.held_bytes, findings.held_bytes);
}

}  // namespace

std::string Corpus::path_of(const Clip& clip) const {
  const std::string& folder = folders[clip.folder];
  // A corpus that was not made by discovery has no mounts.
  if (clip.folder >= mounts.size()) return join_path(folder, file_of(clip));
  return mounts[clip.folder].full_path(folder, file_of(clip));
}

SourcePlace Corpus::place_of(const Clip& clip) const {
  return {path_of(clip), clip.range, clip.row};
}

Result<Corpus> discover(const DiscoveryRequest& request) {
  Corpus corpus;
  Findings all;
  if (request.corpora.empty()) {
    XTTS_ASSIGN(all,
                read_corpus(request, {.data = request.data, .config = request.config}, corpus));
    return finish(request, std::move(all), std::move(corpus));
  }
  XTTS_TRY(check_entries(request.corpora, request.config));
  for (const auto& entry : request.corpora) {
    Corpus one;
    auto findings = read_corpus(request,
                                {.data = entry.folders(request.data),
                                 .config = config_of(entry, request.config),
                                 .entry = &entry,
                                 .folder = static_cast<std::uint16_t>(corpus.folders.size()),
                                 .held_bytes = all.held_bytes},
                                one);
    if (!findings) return findings.status().with_context("corpus " + entry.name);
    add_corpus(entry, std::move(one), std::move(*findings), corpus, all);
  }
  corpus.layout = "corpora";
  return finish(request, std::move(all), std::move(corpus));
}

std::vector<LayoutName> layout_names() {
  std::vector<LayoutName> names{{"auto", "the first of these that DATA looks like"}};
  for (const Layout& layout : layouts()) names.push_back({layout.name, layout.about});
  return names;
}

}  // namespace xtts::corpus
