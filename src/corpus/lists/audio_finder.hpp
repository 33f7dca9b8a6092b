// AudioFinder finds the audio that a line of a list means, gives its id, or says why there is
// none. A view of the tree and the index, which must outlive it. One thread at a time (hints are
// made on first use).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "corpus/clips/clip.hpp"
#include "corpus/files/audio_index.hpp"
#include "corpus/files/outside_audio.hpp"

namespace xtts::corpus {

// All paths are relative to DATA, before links to folders are resolved; "" is DATA itself.
struct ListSource {
  std::string list;
  std::string audio_folder;
  std::optional<Split> split;  // for all its clips, where the corpus has a list for each split
};

struct ListedAudio {
  const TreeFile* file = nullptr;
  // A part of the listed name: without extension, and relative to the audio folder if it lies
  // there. So "LJ001-0001", "LJ001-0001.wav" and "wavs/LJ001-0001.flac" all give the id
  // LJ001-0001.
  std::string_view id;
  bool has_rivals = false;
};

// Why a line has no audio. kEnvironment: a folder that may hold it could not be listed.
struct Miss {
  std::string reason;
  RejectClass kind = RejectClass::kInput;
};

class AudioFinder {
 public:
  // `outside` null: there are no audio roots.
  AudioFinder(const DataTree& tree, const AudioIndex& index, OutsideAudio* outside = nullptr)
      : tree_(tree), index_(index), outside_(outside) {}

  // `listed` comes from path_inside(). It is looked for in the audio folder, then beside the list,
  // then in DATA. With a leading '/', it is looked for in DATA only, or in the audio root that it
  // names. The id of audio in a root is its path there, without extension.
  [[nodiscard]] std::optional<ListedAudio> find(const ListSource& source,
                                                std::string_view listed) const;
  // Why find() found nothing.
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
  // Path, with and without extension -> why it is no audio.
  std::map<std::string, std::string, std::less<>> refused_;
  std::map<std::string, const Refusal*, std::less<>> refused_folders_;
  std::map<std::string, std::string, std::less<>>
      look_alikes_;  // folded path without extension -> path
};

// Turns a listed path into the form that find() takes. An absolute path inside DATA, and one with
// ".." from the list's folder, mean one file only: they become '/' and the path relative to DATA,
// or to the place of an audio root. kInvalidArgument: the path leaves DATA and all roots.
[[nodiscard]] Result<std::string> path_inside(const DataTree& tree, const ListSource& source,
                                              std::string_view listed);

// The outside folder that `listed` needs as --audio-root. Empty: `listed` is inside DATA, or
// cannot be a path.
[[nodiscard]] std::string folder_outside(const DataTree& tree, const ListSource& source,
                                         std::string_view listed);

// "wavs/", or "the data folder".
[[nodiscard]] std::string folder_name(const std::string& folder);

}  // namespace xtts::corpus
