// ClipCollector: what lists say of clips -> clips, in one way for every layout that has lists:
// where the audio of each is, under which id it goes, which ids come twice, what is missing and
// why, and the notes on all that. It serves as well where no list names the clips and each is known
// by files of its own. A view of LayoutInput and of the sources, which must outlive it and stay
// where they are; what a ListedClip shows is copied, but for `file`. One thread at a time.
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
#include "corpus/audio_index.hpp"
#include "corpus/layout_input.hpp"
#include "corpus/lists/audio_finder.hpp"
#include "corpus/lists/places_by_id.hpp"
#include "corpus/outside_audio.hpp"
#include "corpus/shared_labels.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {

// Audio that is a member of an archive, which ends where `data` says.
struct ArchiveMember {
  std::string_view archive;  // its path in the tree
  std::string_view name;
  ByteRange data;
  std::shared_ptr<const PackedPage> page = {};  // set: `data` is within it, unpacked
};

// One clip as a list has it, before anything is looked up. Members that few lists have come last,
// with initializers, so that a designated one may leave them out.
struct ListedClip {
  std::uint64_t line = 0;
  std::string_view file = {};  // instead of a line of the list: the clip's own audio or transcript
  std::string_view audio;      // a path or a bare name, with or without extension
  std::string_view id;         // empty: that of its audio
  SharedText text_raw;         // kept by all who have it: a layout that holds it need not copy it
  SharedText text_normalized;  // empty: the raw one
  std::string_view speaker;
  std::string_view language;
  std::optional<Split> split;  // unset: that of the list
  std::optional<Segment> segment = {};
  SharedText extra_json = {};             // further fields as canonical JSON
  const ArchiveMember* member = nullptr;  // set: this is its audio, and nothing is looked for
  std::string_view id_suffix = {};        // put behind the id of the audio, where `id` is empty
};

class ClipCollector {
 public:
  explicit ClipCollector(const LayoutInput& input);

  // Counts a line, or a clip that no list names, good or bad. Each is told once, before add() or
  // refuse().
  void count_line() { ++line_count_; }
  // A clip, or a problem that says why it is none.
  void add(const ListSource& source, const ListedClip& clip);
  void refuse(const ListSource& source, std::uint64_t line, std::string_view id, std::string reason,
              RejectClass kind = RejectClass::kInput, formats::Rule rule = formats::Rule::kBadRow);
  void refuse_file(std::string_view path, std::string_view id, std::string reason,
                   RejectClass kind = RejectClass::kInput,
                   formats::Rule rule = formats::Rule::kBadFile);
  // For lists and clips that the walk of DATA meets: nobody knows what a refused folder holds, so
  // that no line will tell of it.
  void refuse_folders();
  void note(std::string text) { found_.notes.push_back(std::move(text)); }
  // A file that was read beside the lists is no ignored file.
  void count_read_file() { ++read_file_count_; }
  // Audio that the layout passes over by a rule which its own note tells.
  void pass_over(const TreeFile& audio) { used_.insert(&audio); }
  // Whether the audio that a line would name is there.
  [[nodiscard]] bool has_audio(const ListSource& source, std::string_view listed) const;

  // What the layout itself keeps of the clips, beside what is added here.
  void hold(std::uint64_t bytes) { held_bytes_ += bytes; }
  void release(std::uint64_t bytes) { held_bytes_ -= bytes; }
  // kInvalidArgument: a list with so many unusable lines is not a list of this corpus. kResource:
  // all that is kept takes more than LayoutInput::memory. Asked after each line, or what else adds
  // a bounded number of clips.
  [[nodiscard]] Status check_bounds(const ListSource& source) const;
  // A failure where no clip was found; `expected` says what lines should have been: "lines
  // id|text|normalized text". No sources: no list names the clips.
  [[nodiscard]] Result<Findings> finish(std::span<const ListSource> sources,
                                        std::string_view expected);

 private:
  // Where a clip was named first, beside found_.clips.
  struct Mention {
    std::uint32_t source = 0;  // in named_sources_
    std::uint32_t line = 0;    // 0: no list names it
  };

  [[nodiscard]] std::string place_of_first(std::uint32_t clip) const;  // "line 3 of train.csv"
  void remember_mention(const ListSource& source, const ListedClip& clip);
  void keep(const ListSource& source, const ListedClip& clip, SharedText id, std::string_view path);
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
  // "--audio-root /mnt/hdd/wavs": what would let in the audio outside of DATA; empty: none is.
  [[nodiscard]] std::string roots_to_give() const;
  void add_notes(std::span<const ListSource> sources);

  const LayoutInput& input_;
  AudioIndex index_;
  OutsideAudio outside_;
  AudioFinder finder_;
  PlacesById places_;
  std::vector<Mention> mentions_;
  std::vector<const ListSource*> named_sources_;
  SharedLabels labels_;           // speakers and languages
  std::uint64_t held_bytes_ = 0;  // of memory, without them
  std::unordered_set<const TreeFile*> used_;
  std::uint64_t line_count_ = 0;
  std::uint64_t named_count_ = 0;  // with audio that may be looked for
  std::unordered_map<const ListSource*, std::uint64_t> miss_counts_;  // clips without audio
  std::map<std::string, std::string> outside_folders_;  // by their first step: what they share
  std::uint64_t outside_count_ = 0;
  std::uint64_t raw_only_count_ = 0;
  std::uint64_t normalized_count_ = 0;
  std::uint64_t rival_count_ = 0;
  std::uint64_t read_file_count_ = 0;
  Findings found_;
};

}  // namespace xtts::corpus
