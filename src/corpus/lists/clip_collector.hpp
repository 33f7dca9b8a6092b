// ClipCollector turns the lines of lists into clips, in one way for every layout: where each
// clip's audio is, its id, repeated ids, what is missing and why, and the notes on all that.
// Layouts without lists use it too: their clips come from single files. A view of LayoutInput and
// of the sources, which must outlive it and keep their addresses. The contents of a ListedClip are
// copied, except `file`. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/shared_text.hpp"
#include "corpus/clips/shared_labels.hpp"
#include "corpus/files/audio_index.hpp"
#include "corpus/files/outside_audio.hpp"
#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/layout_input.hpp"
#include "corpus/lists/places_by_id.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {

// Audio that is a member of an archive; `data` is its byte range there.
struct ArchiveMember {
  std::string_view archive;  // its path in the tree
  std::string_view name;
  ByteRange data;
  std::optional<std::uint64_t> row = {};  // as in SourcePlace
};

// One clip as a list names it, before any look-up. Members that few lists have come last, with
// initializers, so that a designated initializer may omit them.
struct ListedClip {
  std::uint64_t line = 0;
  std::string_view file = {};  // the clip's own audio or transcript, in place of a line
  std::string_view audio;      // a path or a bare name, with or without extension
  std::string_view id;         // empty: the id of its audio
  SharedText text_raw;         // copies share the letters
  SharedText text_normalized;  // empty: the raw text
  std::string_view speaker;
  std::string_view language;
  std::optional<Split> split;  // unset: the split of the list
  std::optional<Segment> segment = {};
  SharedText extra_json = {};             // further fields as canonical JSON
  const ArchiveMember* member = nullptr;  // set: the audio is this; nothing is looked up
  std::string_view id_suffix = {};        // appended if `id` is empty or `member` is set
};

class ClipCollector {
 public:
  explicit ClipCollector(const LayoutInput& input);

  // Counts a line, or a clip that no list names, good or bad. Call it once for each, before add()
  // or refuse().
  void count_line() { ++line_count_; }
  // Adds a clip, or the problem why it is none.
  void add(const ListSource& source, const ListedClip& clip);
  void refuse(const ListSource& source, std::uint64_t line, std::string_view id, std::string reason,
              RejectClass kind = RejectClass::kInput, formats::Rule rule = formats::Rule::kBadRow);
  void refuse_file(std::string_view path, std::string_view id, std::string reason,
                   RejectClass kind = RejectClass::kInput,
                   formats::Rule rule = formats::Rule::kBadFile);
  // Reports refused folders, for clips that the walk of DATA finds: no line will mention what such
  // a folder holds.
  void refuse_folders();
  void note(std::string text) { found_.notes.push_back(std::move(text)); }
  // Counts a file that was read beside the lists, so that it is not noted as ignored.
  void count_read_file() { ++read_file_count_; }
  // Marks audio that the layout skips by a rule; the layout's own note explains it.
  void pass_over(const TreeFile& audio) { used_.insert(&audio); }
  // True where the audio that a line names exists.
  [[nodiscard]] bool has_audio(const ListSource& source, std::string_view listed) const;

  // Memory that the layout itself holds for clips, beside what it adds here.
  void hold(std::uint64_t bytes) { held_bytes_ += bytes; }
  void release(std::uint64_t bytes) { held_bytes_ -= bytes; }
  // kInvalidArgument: a list with so many unusable lines is not a list of this corpus. kResource:
  // the clips need more than LayoutInput::clip_bytes_max. Call it after each line, or each step
  // that adds a bounded number of clips.
  [[nodiscard]] Status check_bounds(const ListSource& source) const;
  // Fails if no clip was found; `expected` describes a good line: "lines id|text|normalized text".
  // No sources: no list names the clips.
  [[nodiscard]] Result<Findings> finish(std::span<const ListSource> sources,
                                        std::string_view expected);

 private:
  // The first mention of each clip; parallel to found_.clips.
  struct Mention {
    std::uint32_t source = 0;  // index in named_sources_
    std::uint32_t line = 0;    // 0: no list names it
  };

  [[nodiscard]] ClipPlace place_of_first(std::uint32_t clip) const;
  [[nodiscard]] static ClipPlace place_of(const ListSource& source, const ListedClip& clip);
  void remember_mention(const ListSource& source, const ListedClip& clip);
  [[nodiscard]] Clip make_clip(const ListSource& source, const ListedClip& clip, SharedText id,
                               std::string_view path);
  void add_problem(Reject problem);
  [[nodiscard]] std::uint64_t held_bytes() const { return held_bytes_ + labels_.held_bytes(); }
  [[nodiscard]] Status too_much_memory(const ListSource& source) const;
  void refuse_clip(const ListSource& source, const ListedClip& clip, std::string_view id,
                   std::string reason, RejectClass kind = RejectClass::kInput,
                   formats::Rule rule = formats::Rule::kBadRow);
  void add_member(const ListSource& source, const ListedClip& clip);
  void add_found(const ListSource& source, const ListedClip& clip, const ListedAudio& audio);
  [[nodiscard]] Status nothing_found(std::span<const ListSource> sources,
                                     std::string_view expected) const;
  void note_misses(std::span<const ListSource> sources);
  void remember_outside(const ListSource& source, std::string_view listed);
  // "--audio-root /mnt/hdd/wavs": the option that admits the audio outside of DATA; empty: none.
  [[nodiscard]] std::string audio_root_option() const;
  void add_notes(std::span<const ListSource> sources);

  const LayoutInput& input_;
  AudioIndex index_;
  OutsideAudio outside_;
  AudioFinder finder_;
  PlacesById places_;
  std::vector<Mention> mentions_;
  std::vector<const ListSource*> named_sources_;
  SharedLabels labels_;           // speakers and languages
  std::uint64_t held_bytes_ = 0;  // memory, without labels_
  SharedText last_source_;
  std::uint64_t kept_count_ = 0;  // clips that were found, or taken by LayoutInput::found_clips
  std::unordered_set<const TreeFile*> used_;
  std::uint64_t line_count_ = 0;
  std::uint64_t named_count_ = 0;  // whose audio may be looked for
  std::unordered_map<const ListSource*, std::uint64_t> miss_counts_;  // clips without audio
  std::map<std::string, std::string> outside_folders_;  // first two steps -> shared folder
  std::uint64_t outside_count_ = 0;
  std::uint64_t raw_only_count_ = 0;
  std::uint64_t normalized_count_ = 0;
  std::uint64_t rival_count_ = 0;
  std::uint64_t read_file_count_ = 0;
  Findings found_;
};

}  // namespace xtts::corpus
