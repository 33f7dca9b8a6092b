// The audio that a line of a list means: where it is looked for, under which id it goes, and why
// there is none. A view of the tree and the index, which must outlive it. One thread at a time
// (hints are made on first use).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "corpus/audio_index.hpp"
#include "corpus/corpus.hpp"
#include "corpus/outside_audio.hpp"

namespace xtts::corpus {

// All paths relative to DATA, links to folders not yet resolved; "" is DATA itself.
struct ListSource {
  std::string list;
  std::string audio_folder;
  std::optional<Split> split;  // of all its clips, where the corpus has a list for each split
};

struct ListedAudio {
  const TreeFile* file = nullptr;
  // A part of the listed name: without extension, and relative to the audio folder where it lies
  // there; so that "LJ001-0001", "LJ001-0001.wav" and "wavs/LJ001-0001.flac" all have the id
  // LJ001-0001.
  std::string_view id;
  bool has_rivals = false;
};

// Why a line has no audio. kEnvironment: the folder it may be in could not be listed.
struct Miss {
  std::string reason;
  RejectClass kind = RejectClass::kInput;
};

class AudioFinder {
 public:
  // `outside` null: there are no audio roots.
  AudioFinder(const DataTree& tree, const AudioIndex& index, OutsideAudio* outside = nullptr)
      : tree_(tree), index_(index), outside_(outside) {}

  // `listed` as path_inside() gives it. Looked for in the audio folder, beside the list, then in
  // DATA; where it begins with '/', in DATA alone, or in the audio root that it names. The id of
  // what lies in a root is its path there, without extension.
  [[nodiscard]] std::optional<ListedAudio> find(const ListSource& source,
                                                std::string_view listed) const;
  // Why find() came back empty.
  [[nodiscard]] Miss explain_miss(const ListSource& source, std::string_view listed);

 private:
  [[nodiscard]] std::optional<ListedAudio> find_outside(const ListSource& source,
                                                        std::string_view path) const;
  void collect_hints();
  [[nodiscard]] const Refusal* refused_folder_of(std::string_view path) const;

  const DataTree& tree_;
  const AudioIndex& index_;
  OutsideAudio* outside_;
  bool has_hints_ = false;
  // Path, with and without extension -> what there is instead of audio.
  std::map<std::string, std::string, std::less<>> refused_;
  std::map<std::string, const Refusal*, std::less<>> refused_folders_;
  std::map<std::string, std::string, std::less<>>
      look_alikes_;  // folded path without extension -> path
};

// What a list names, as find() takes it. An absolute path inside DATA, and ".." worked out from the
// list's folder, can mean one file only: these become '/' and the path relative to DATA, or in the
// place of an audio root. A failure (kInvalidArgument) where it leaves DATA and all roots.
[[nodiscard]] Result<std::string> path_inside(const DataTree& tree, const ListSource& source,
                                              std::string_view listed);

// The folder that lists name from outside of DATA: what --audio-root is to be given. Empty where
// `listed` is inside, or is no path that could be.
[[nodiscard]] std::string folder_outside(const DataTree& tree, const ListSource& source,
                                         std::string_view listed);

// "wavs/", or "the data folder".
[[nodiscard]] std::string folder_name(const std::string& folder);

}  // namespace xtts::corpus
