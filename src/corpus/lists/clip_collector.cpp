#include "corpus/lists/clip_collector.hpp"

#include <algorithm>
#include <utility>

#include "base/check_cancelled.hpp"
#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"
#include "corpus/lists/id_twice.hpp"
#include "corpus/lists/line_reader.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {
namespace {

// Bounds the memory for a hostile file: a gigabyte of line ends.
constexpr std::size_t kProblemsMax = 1'000'000;

// A corpus with a list for each chapter has thousands.
constexpr std::size_t kSourcesNamed = 4;

// A message names at most this many roots.
constexpr std::size_t kRootsNamed = 4;

// "/mnt/hdd" for "/mnt/hdd/a" and "/mnt/hdd/b".
std::string shared_folder(std::string_view a, std::string_view b) {
  std::size_t end = 0;
  for (std::size_t i = 0;; ++i) {
    const bool a_ends = i == a.size() || a[i] == '/';
    const bool b_ends = i == b.size() || b[i] == '/';
    if (a_ends && b_ends) end = i;
    if (i == a.size() || i == b.size() || a[i] != b[i]) break;
  }
  return std::string(a.substr(0, end));
}

// The estimated overhead of an allocation: its header, and the unused rest of its size class.
constexpr std::uint64_t kAllocationBytes = 16;
// The estimated memory of a clip beside its texts, until the build ends: the clip, its entry by id
// and its first mention; later its fate, its place in the order and its index rows.
constexpr std::uint64_t kClipBytes = sizeof(Clip) + 200;

std::uint64_t bytes_of(const SharedText& text) {
  return text.empty() ? 0 : text.size() + sizeof(std::uint64_t) + kAllocationBytes;
}

std::uint64_t bytes_of(const Clip& clip) {
  const bool has_one_text = clip.text_normalized.view().data() == clip.text_raw.view().data();
  return kClipBytes + bytes_of(clip.id) + bytes_of(clip.source) + bytes_of(clip.text_raw) +
         (has_one_text ? 0 : bytes_of(clip.text_normalized)) + bytes_of(clip.extra_json);
}

// A normalized text that equals the raw text shares its letters.
SharedText normalized_text(const ListedClip& clip) {
  const bool is_raw = clip.text_normalized.empty() || clip.text_normalized == clip.text_raw;
  return shared_on_one_line(is_raw ? clip.text_raw : clip.text_normalized);
}

std::optional<std::string> fault_of_segment(const std::optional<Segment>& segment) {
  if (!segment) return std::nullopt;
  const double end_s = segment->end_s.value_or(kSegmentSecondsMax);
  // The condition also rejects not-a-number.
  if (segment->start_s >= 0.0 && segment->start_s < end_s && end_s <= kSegmentSecondsMax)
    return std::nullopt;
  if (std::max(segment->start_s, segment->end_s.value_or(0.0)) > kSegmentSecondsMax)
    return "is a segment that ends after 115 days: its times are in seconds";
  return "is a segment that ends before it begins, or begins before its source";
}

}  // namespace

ClipCollector::ClipCollector(const LayoutInput& input)
    : input_(input),
      index_(input.tree),
      outside_(input.env, input.tree),
      finder_(input.tree, index_, &outside_),
      held_bytes_(input.held_bytes) {
  if (input.found_clips != nullptr) return;
  found_.clips.reserve(index_.audio_count());
  mentions_.reserve(index_.audio_count());
}

bool ClipCollector::has_audio(const ListSource& source, std::string_view listed) const {
  return finder_.find(source, listed).has_value();
}

void ClipCollector::refuse(const ListSource& source, std::uint64_t line, std::string_view id,
                           std::string reason, RejectClass kind, formats::Rule rule) {
  // Longer ids are cut: an id of a megabyte helps nobody.
  add_problem({.kind = kind,
               .id = printable(id.substr(0, kIdBytesMax)),
               .path = printable(source.list),
               .line = line,
               .reason = {.rule = rule, .detail = std::move(reason)}});
}

void ClipCollector::refuse_file(std::string_view path, std::string_view id, std::string reason,
                                RejectClass kind, formats::Rule rule) {
  add_problem({.kind = kind,
               .id = printable(id.substr(0, kIdBytesMax)),
               .path = printable(path),
               .line = {},
               .reason = {.rule = rule, .detail = std::move(reason)}});
}

void ClipCollector::add_problem(Reject problem) {
  held_bytes_ +=
      sizeof(Reject) + problem.id.size() + problem.path.size() + problem.reason.detail.size();
  found_.problems.push_back(std::move(problem));
}

void ClipCollector::refuse_folders() {
  for (const Refusal& refusal : input_.tree.refusals) {
    if (refusal.is_folder)
      refuse_file(refusal.path, {}, refusal.reason, refusal.kind, refusal.rule);
  }
}

void ClipCollector::refuse_clip(const ListSource& source, const ListedClip& clip,
                                std::string_view id, std::string reason, RejectClass kind,
                                formats::Rule rule) {
  if (clip.file.empty()) return refuse(source, clip.line, id, std::move(reason), kind, rule);
  if (rule == formats::Rule::kBadRow) rule = formats::Rule::kBadFile;
  refuse_file(clip.file, id, std::move(reason), kind, rule);
}

ClipPlace ClipCollector::place_of_first(std::uint32_t clip) const {
  const Mention& mention = mentions_[clip];
  const ListSource& source = *named_sources_[mention.source];
  return {.list = source.list, .split_of_list = source.split, .line = mention.line, .file = {}};
}

ClipPlace ClipCollector::place_of(const ListSource& source, const ListedClip& clip) {
  return {.list = source.list,
          .split_of_list = source.split,
          .line = clip.file.empty() ? clip.line : 0,
          .file = clip.file};
}

void ClipCollector::remember_mention(const ListSource& source, const ListedClip& clip) {
  if (named_sources_.empty() || named_sources_.back() != &source) named_sources_.push_back(&source);
  mentions_.push_back({.source = static_cast<std::uint32_t>(named_sources_.size() - 1),
                       .line = clip.file.empty() ? static_cast<std::uint32_t>(clip.line) : 0});
}

void ClipCollector::add(const ListSource& source, const ListedClip& clip) {
  if (clip.member != nullptr) return add_member(source, clip);
  const std::string_view name = clip.id.empty() ? clip.audio : clip.id;
  if (auto fault = fault_of_id(name)) return refuse_clip(source, clip, name, *fault);
  const auto path = path_inside(input_.tree, source, clip.audio);
  if (!path.ok()) {
    remember_outside(source, clip.audio);
    return refuse_clip(source, clip, name, path.status().message(), RejectClass::kInput,
                       formats::Rule::kAudioOutsideOfData);
  }
  ++named_count_;
  const auto audio = finder_.find(source, *path);
  if (!audio) {
    if (clip.file.empty()) ++miss_counts_[&source];
    Miss miss = finder_.explain_miss(source, *path);
    return refuse_clip(source, clip, name, std::move(miss.reason), miss.kind,
                       formats::Rule::kAudioMissing);
  }
  add_found(source, clip, *audio);
}

// `id` is set. The member's name is only for showing the path.
void ClipCollector::add_member(const ListSource& source, const ListedClip& clip) {
  ++named_count_;
  const TreeFile audio{join_path(clip.member->archive, clip.member->name), std::nullopt};
  add_found(source, clip, {&audio, clip.id, false});
}

void ClipCollector::add_found(const ListSource& source, const ListedClip& clip,
                              const ListedAudio& audio) {
  std::string id(clip.id.empty() ? audio.id : clip.id);
  if (clip.id.empty() || clip.member != nullptr) id += clip.id_suffix;
  if (const auto fault = fault_of_id(id)) return refuse_clip(source, clip, id, *fault);
  if (const auto fault = fault_of_id(audio.file->path)) {
    return refuse_clip(source, clip, id, "the path of its audio cannot be used: " + *fault);
  }
  for (const auto& [what, value] :
       {std::pair("speaker", clip.speaker), std::pair("language", clip.language)}) {
    if (value.empty()) continue;
    if (const auto fault = fault_of_label(value)) {
      return refuse_clip(source, clip, id, formatted("the {} {}", what, *fault));
    }
  }
  if (const auto fault = fault_of_segment(clip.segment))
    return refuse_clip(source, clip, id, *fault);
  if (input_.found_clips == nullptr) {
    const auto place = static_cast<std::uint32_t>(found_.clips.size());
    if (const auto first = places_.find_or_add(id, place, found_.clips)) {
      return add_problem(reject_of_id_twice(id, place_of(source, clip), place_of_first(*first),
                                            found_.clips[*first].source));
    }
  }
  const bool is_of_tree = clip.member == nullptr && !is_in_root_place(audio.file->path);
  if (is_of_tree) used_.insert(audio.file);
  rival_count_ += audio.has_rivals ? 1 : 0;
  ++kept_count_;
  Clip made = make_clip(source, clip, id, audio.file->path);
  if (input_.found_clips != nullptr)
    return input_.found_clips->take(std::move(made), place_of(source, clip));
  remember_mention(source, clip);
  found_.clips.push_back(std::move(made));
}

// The caller has checked everything about the clip.
Clip ClipCollector::make_clip(const ListSource& source, const ListedClip& clip, SharedText id,
                              std::string_view path) {
  // Most segments of a source come one after the other, so they share its path.
  const bool has_last_source = !last_source_.empty() && last_source_ == path;
  if (!has_last_source) last_source_ = path;
  Clip found;
  const auto own_split = clip.split ? clip.split : source.split;
  found.has_own_split = own_split.has_value();
  found.split = own_split.value_or(Split::kTrain);
  found.id = std::move(id);
  found.source = last_source_;
  found.text_raw = clip.text_raw;
  found.text_normalized = normalized_text(clip);
  found.speaker = labels_.of(clip.speaker);
  found.language = labels_.of(clip.language);
  found.segment = clip.segment;
  found.extra_json = clip.extra_json;
  if (clip.member != nullptr) {
    found.range = clip.member->data;
    found.row = clip.member->row;
    found.container_bytes = static_cast<std::uint32_t>(clip.member->archive.size());
  }
  normalized_count_ += clip.text_normalized.empty() ? 0 : 1;
  raw_only_count_ += clip.text_normalized.empty() && !clip.text_raw.empty() ? 1 : 0;
  if (input_.found_clips == nullptr)
    held_bytes_ += bytes_of(found) - (has_last_source ? bytes_of(found.source) : 0);
  return found;
}

// Keeps one root for all folders with the same first two steps: "/mnt/hdd", "/home/me".
void ClipCollector::remember_outside(const ListSource& source, std::string_view listed) {
  const std::string folder = folder_outside(input_.tree, source, listed);
  if (folder.empty()) return;
  ++outside_count_;
  const auto second = folder.find('/', 1);
  const auto third = second == std::string::npos ? second : folder.find('/', second + 1);
  const auto [known, is_new] = outside_folders_.try_emplace(folder.substr(0, third), folder);
  if (!is_new) known->second = shared_folder(known->second, folder);
}

std::string ClipCollector::audio_root_option() const {
  std::vector<std::string> named;
  for (const auto& [steps, folder] : outside_folders_) {
    if (named.size() == kRootsNamed) return option("audio-root", named) + " and so on";
    named.push_back(folder);
  }
  return option("audio-root", named);
}

Status ClipCollector::check_bounds(const ListSource& source) const {
  XTTS_TRY(check_cancelled(input_.cancelled));
  if (input_.found_clips != nullptr) XTTS_TRY(input_.found_clips->status());
  if (held_bytes() > input_.clip_bytes_max) return too_much_memory(source);
  if (found_.problems.size() <= kProblemsMax) return {};
  return {StatusCode::kInvalidArgument,
          formatted("more than {} of {} cannot be used, the last because: {}",
                    counted(kProblemsMax, "line", "lines"), source.list,
                    found_.problems.back().reason.detail)};
}

Status ClipCollector::too_much_memory(const ListSource& source) const {
  std::string text = formatted(
      "the clips that DATA's lists name need more than {} MiB of memory, half of what {} allows "
      "({} so far, the last of {})",
      input_.clip_bytes_max >> 20U, option("memory"), counted(line_count_, "line", "lines"),
      printable(source.list));
  // The part of this list that was read lets us estimate the memory for all of it.
  const ListLog list = input_.log == nullptr ? ListLog() : input_.log->list;
  const double share = list.read_bytes == 0 ? 1.0
                                            : static_cast<double>(list.size_bytes) /
                                                  static_cast<double>(list.read_bytes);
  const auto needed = static_cast<std::uint64_t>(2.2 * share * static_cast<double>(held_bytes()));
  return {StatusCode::kResource,
          text + "; give " + option("memory", std::to_string((needed >> 20U) + 1) + "M") +
              " or more, or build parts of DATA and join them with xtts-precompute merge"};
}

Result<Findings> ClipCollector::finish(std::span<const ListSource> sources,
                                       std::string_view expected) {
  const ListSource none;
  XTTS_TRY(check_bounds(sources.empty() ? none : sources.back()));
  if (kept_count_ == 0) return nothing_found(sources, expected);
  add_notes(sources);
  found_.held_bytes = held_bytes();
  return std::move(found_);
}

Status ClipCollector::nothing_found(std::span<const ListSource> sources,
                                    std::string_view expected) const {
  std::string text;
  std::string lists = sources.empty() ? std::string() : sources.front().list;
  if (sources.size() > 1) lists += " and " + counted(sources.size() - 1, "more list", "more lists");
  if (sources.empty()) {
    text = formatted("none of the {} in {} can be used; expected {}",
                     counted(line_count_, "clip", "clips"), input_.tree.root, expected);
  } else if (line_count_ == 0) {
    text = formatted("{}{} no line; expected {}", lists, sources.size() > 1 ? " hold" : " holds",
                     expected);
  } else if (named_count_ == 0) {
    text = formatted("none of the {} of {} can be used; expected {} in UTF-8",
                     counted(line_count_, "line", "lines"), lists, expected);
  } else {
    text = formatted("none of the {} named in {} has audio in {}",
                     counted(named_count_, "clip", "clips"), lists,
                     folder_name(sources.front().audio_folder));
  }
  if (!found_.problems.empty()) {
    const Reject& first = found_.problems.front();
    text += formatted(" (the first, {}: {})", place_in_words(first), first.reason.detail);
  }
  if (outside_count_ > 0) text += "; audio outside of DATA is read with " + audio_root_option();
  text += index_.audio_count() == 0
              ? formatted("; there is no audio file in {} at all", input_.tree.root)
              : formatted("; {} there, which layout folder would take without text",
                          counted(index_.audio_count(), "audio file is", "audio files are"));
  const bool may_pass =
      !found_.problems.empty() && found_.problems.front().kind == RejectClass::kEnvironment;
  return {may_pass ? StatusCode::kResource : StatusCode::kInvalidArgument, std::move(text)};
}

// Says where audio was looked for, only for lists that miss some.
void ClipCollector::note_misses(std::span<const ListSource> sources) {
  std::size_t named_count = 0;
  for (const ListSource& source : sources) {
    const auto missed = miss_counts_.find(&source);
    if (missed == miss_counts_.end()) continue;
    if (++named_count > kSourcesNamed) break;
    found_.notes.push_back(formatted(
        "{} of {}{} no audio: it is looked for in {}{}", counted(missed->second, "clip", "clips"),
        source.list, missed->second == 1 ? " has" : " have", folder_name(source.audio_folder),
        source.audio_folder.empty() ? "" : ", beside the list and in the data folder"));
  }
  if (miss_counts_.size() > kSourcesNamed) {
    found_.notes.push_back("and so on for " + counted(miss_counts_.size(), "list", "lists"));
  }
}

void ClipCollector::add_notes(std::span<const ListSource> sources) {
  const auto note_count = [&](std::uint64_t count, std::string_view one, std::string_view many) {
    if (count > 0) found_.notes.push_back(counted(count, one, many));
  };
  note_misses(sources);
  if (outside_count_ > 0) {
    found_.notes.push_back(formatted("{} audio outside of DATA, which is read with {}",
                                     counted(outside_count_, "clip has its", "clips have their"),
                                     audio_root_option()));
  }
  // A corpus with one text for each clip lacks no normalized text, so it gets no note.
  if (normalized_count_ > 0) {
    note_count(raw_only_count_, "clip has no normalized text: its raw text is used",
               "clips have no normalized text: their raw text is used");
  }
  note_count(rival_count_, "clip is there in several audio formats: wav, else flac, is used",
             "clips are there in several audio formats: wav, else flac, is used");
  // A file that a preferred format replaces is not "unlisted", but it counts as unused.
  note_count(index_.audio_count() - used_.size(), "audio file is not used by the list",
             "audio files are not used by the list");
  for (const Refusal& refusal : input_.tree.refusals) {
    if (refusal.is_folder) {
      found_.notes.push_back(
          formatted("the folder {} {}", printable(refusal.path), refusal.reason));
    }
  }
  const auto list_count = std::count_if(
      sources.begin(), sources.end(),
      [](const ListSource& source) { return !audio_rank(file_extension(source.list)); });
  found_.ignored_file_count = input_.tree.files.size() - index_.audio_count() -
                              static_cast<std::uint64_t>(list_count) - read_file_count_;
}

}  // namespace xtts::corpus
