#include "corpus/listed_clips.hpp"

#include <algorithm>
#include <utility>

#include "corpus/audio_extensions.hpp"
#include "corpus/list_text.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

// It bounds what a hostile file of a gigabyte of line ends can make us keep.
constexpr std::size_t kProblemsMax = 1'000'000;

// A corpus with a list for each chapter has thousands.
constexpr std::size_t kSourcesNamed = 4;

std::optional<std::string> fault_of_segment(const std::optional<Segment>& segment) {
  if (!segment) return std::nullopt;
  const double end_s = segment->end_s.value_or(kSegmentSecondsMax);
  // Written so that not-a-number is a fault too.
  if (segment->start_s >= 0.0 && segment->start_s < end_s && end_s <= kSegmentSecondsMax)
    return std::nullopt;
  return "is a segment that ends before it begins, or begins before its source";
}

}  // namespace

ListedClips::ListedClips(const LayoutInput& input)
    : input_(input), index_(input.tree), finder_(input.tree, index_) {
  found_.clips.reserve(index_.audio_count());
  ids_.reserve(index_.audio_count());
}

bool ListedClips::has_audio(const ListSource& source, std::string_view listed) const {
  return finder_.find(source, listed).has_value();
}

void ListedClips::refuse(const ListSource& source, std::uint64_t line, std::string_view id,
                         std::string reason, ProblemClass kind) {
  // An id of a megabyte is no use to anybody.
  found_.problems.push_back({printable(id.substr(0, kIdBytesMax)), printable(source.list), line,
                             "list", kind, std::move(reason)});
}

void ListedClips::refuse_file(std::string_view path, std::string_view id, std::string reason,
                              ProblemClass kind) {
  found_.problems.push_back({printable(id.substr(0, kIdBytesMax)), printable(path), std::nullopt,
                             "discover", kind, std::move(reason)});
}

void ListedClips::refuse_folders() {
  for (const Refusal& refusal : input_.tree.refusals) {
    if (refusal.is_folder) refuse_file(refusal.path, {}, refusal.reason, refusal.kind);
  }
}

void ListedClips::refuse_clip(const ListSource& source, const ListedClip& clip, std::string_view id,
                              std::string reason, ProblemClass kind) {
  if (clip.file.empty()) return refuse(source, clip.line, id, std::move(reason), kind);
  refuse_file(clip.file, id, std::move(reason), kind);
}

std::string ListedClips::Mention::place() const {
  if (!file.empty()) return printable(file);
  return "line " + std::to_string(line) + " of " + printable(source->list);
}

void ListedClips::add(const ListSource& source, const ListedClip& clip) {
  const std::string_view name = clip.id.empty() ? clip.audio : clip.id;
  if (auto fault = fault_of_id(name)) return refuse_clip(source, clip, name, *fault);
  const auto path = path_inside(input_.tree, source, clip.audio);
  if (!path.ok()) return refuse_clip(source, clip, name, path.status().message());
  ++named_count_;
  const auto audio = finder_.find(source, *path);
  if (!audio) {
    if (clip.file.empty()) ++miss_counts_[&source];
    Miss miss = finder_.explain_miss(source, *path);
    return refuse_clip(source, clip, name, std::move(miss.reason), miss.kind);
  }
  add_found(source, clip, *audio);
}

void ListedClips::add_found(const ListSource& source, const ListedClip& clip,
                            const ListedAudio& audio) {
  std::string id(clip.id.empty() ? audio.id : clip.id);
  if (clip.id.empty()) id += clip.id_suffix;
  if (const auto fault = fault_of_id(id)) return refuse_clip(source, clip, id, *fault);
  if (const auto fault = fault_of_id(audio.file->path)) {
    return refuse_clip(source, clip, id, "the path of its audio will not do: " + *fault);
  }
  for (const auto& [what, value] :
       {std::pair("speaker", clip.speaker), std::pair("language", clip.language)}) {
    if (value.empty()) continue;
    if (const auto fault = fault_of_label(value)) {
      return refuse_clip(source, clip, id, std::string("the ") + what + " " + *fault);
    }
  }
  if (const auto fault = fault_of_segment(clip.segment))
    return refuse_clip(source, clip, id, *fault);
  const auto [mention, is_new] = ids_.try_emplace(digest128(id), Mention{&source, clip.line, clip.file});
  if (!is_new) {
    const Mention& first = mention->second;
    const bool in_other_split = first.source->split != source.split;
    return refuse_clip(source, clip, id,
                       "the same id is in " + first.place() + ", which is used" +
                           (in_other_split ? "; a clip can be in one split only" : ""));
  }
  used_.insert(audio.file);
  rival_count_ += audio.has_rivals ? 1 : 0;
  FoundClip& found = found_.clips.emplace_back();
  found.own_split = clip.split ? clip.split : source.split;
  found.clip.id = std::move(id);
  found.clip.source = audio.file->path;
  found.clip.text_raw = clip.text_raw;
  found.clip.text_normalized = on_one_line(clip.text_normalized);
  found.clip.speaker = clip.speaker;
  found.clip.language = clip.language;
  found.clip.segment = clip.segment;
  found.clip.extra_json = clip.extra_json;
  normalized_count_ += clip.text_normalized.empty() ? 0 : 1;
  if (clip.text_normalized.empty() && !clip.text_raw.empty()) {
    found.clip.text_normalized = on_one_line(clip.text_raw);
    ++raw_only_count_;
  }
}

Status ListedClips::check_problem_count(const ListSource& source) const {
  if (found_.problems.size() <= kProblemsMax) return {};
  return {StatusCode::kInvalidArgument,
          "more than " + counted(kProblemsMax, "line", "lines") + " of " + source.list +
              " cannot be used, the last because: " + found_.problems.back().reason};
}

Result<Findings> ListedClips::finish(std::span<const ListSource> sources,
                                     std::string_view expected) {
  if (found_.clips.empty()) return nothing_found(sources, expected);
  add_notes(sources);
  return std::move(found_);
}

Status ListedClips::nothing_found(std::span<const ListSource> sources,
                                  std::string_view expected) const {
  std::string text;
  std::string lists = sources.empty() ? std::string() : sources.front().list;
  if (sources.size() > 1) lists += " and " + counted(sources.size() - 1, "more list", "more lists");
  if (sources.empty()) {
    text = "none of the " + counted(line_count_, "clip", "clips") + " in " + input_.tree.root +
           " can be used; expected " + std::string(expected);
  } else if (line_count_ == 0) {
    text = lists + (sources.size() > 1 ? " hold" : " holds") + " no line; expected " +
           std::string(expected);
  } else if (named_count_ == 0) {
    text = "none of the " + counted(line_count_, "line", "lines") + " of " + lists +
           " can be used; expected " + std::string(expected) + " in UTF-8";
  } else {
    text = "none of the " + counted(named_count_, "clip", "clips") + " named in " + lists +
           " has audio in " + folder_name(sources.front().audio_folder);
  }
  if (!found_.problems.empty()) {
    const Problem& first = found_.problems.front();
    text += " (the first, " + place_of(first) + ": " + first.reason + ")";
  }
  text += index_.audio_count() == 0
              ? "; there is no audio file in " + input_.tree.root + " at all"
              : "; " + counted(index_.audio_count(), "audio file is", "audio files are") +
                    " there, which layout folder would take without text";
  const bool may_pass =
      !found_.problems.empty() && found_.problems.front().kind == ProblemClass::kEnvironment;
  return {may_pass ? StatusCode::kResource : StatusCode::kInvalidArgument, std::move(text)};
}

// Where all is found, nobody needs to know where.
void ListedClips::note_misses(std::span<const ListSource> sources) {
  std::size_t named_count = 0;
  for (const ListSource& source : sources) {
    const auto missed = miss_counts_.find(&source);
    if (missed == miss_counts_.end()) continue;
    if (++named_count > kSourcesNamed) break;
    found_.notes.push_back(
        counted(missed->second, "clip", "clips") + " of " + source.list +
        (missed->second == 1 ? " has" : " have") + " no audio: it is looked for in " +
        folder_name(source.audio_folder) +
        (source.audio_folder.empty() ? "" : ", beside the list and in the data folder"));
  }
  if (miss_counts_.size() > kSourcesNamed) {
    found_.notes.push_back("and so on for " + counted(miss_counts_.size(), "list", "lists"));
  }
}

void ListedClips::add_notes(std::span<const ListSource> sources) {
  const auto note_count = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count > 0) found_.notes.push_back(counted(count, one, many));
  };
  note_misses(sources);
  // A corpus that has one text for each clip lacks nothing.
  if (normalized_count_ > 0) {
    note_count(raw_only_count_, "clip has no normalized text: its raw text is used",
               "clips have no normalized text: their raw text is used");
  }
  note_count(rival_count_, "clip is there in several audio formats: wav, else flac, is used",
             "clips are there in several audio formats: wav, else flac, is used");
  // What a listed clip outdid in preference is not "unlisted", but it is unused all the same.
  note_count(index_.audio_count() - used_.size(), "audio file is not used by the list",
             "audio files are not used by the list");
  for (const Refusal& refusal : input_.tree.refusals) {
    if (refusal.is_folder) {
      found_.notes.push_back("the folder " + printable(refusal.path) + " " + refusal.reason);
    }
  }
  const auto list_count = std::count_if(
      sources.begin(), sources.end(),
      [](const ListSource& source) { return !audio_rank(file_extension(source.list)); });
  found_.ignored_file_count = input_.tree.files.size() - index_.audio_count() -
                              static_cast<std::uint64_t>(list_count) - read_file_count_;
}

}  // namespace xtts::corpus
