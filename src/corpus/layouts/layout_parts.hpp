// What several layouts share: what the names of folders say, transcripts in files of their own, how
// a layout is known by one file. What they share of lists is in lists/. Free functions; views of
// what they are given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/layouts/layout.hpp"
#include "corpus/lists/audio_finder.hpp"
#include "corpus/met_files.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {

// --- The names of folders ---

// Takes the last name off `path`: "c" of "a/b/c", which becomes "a/b".
[[nodiscard]] std::string_view take_last_name(std::string_view& path);
// DATA's own name, and what it is called on disk where a link led there.
[[nodiscard]] std::vector<std::string_view> data_names(const DataTree& tree);

// The names of the folder of a file and of the one above. Where that leaves DATA: DATA's own name,
// and that of the folder it lies in.
struct NearestFolders {
  std::string_view nearest;
  std::string_view above;
};
[[nodiscard]] NearestFolders nearest_folders(const DataTree& tree, std::string_view file_path);

// The official split of LibriSpeech and LibriTTS that a folder belongs to: the nearest name
// train-*, dev-* or test-* of it and the folders above it. DATA's own name says so only as
// train-clean* or train-other*: a folder that somebody called test-7 must not become a corpus that
// has nothing to train on.
[[nodiscard]] std::optional<Split> libri_split(const DataTree& tree, std::string_view folder);
// Of "train", "dev" or "test".
[[nodiscard]] std::optional<Split> official_split(std::string_view name);

// "de" of "german", in any letter case, as MLS and CSS10 name their folders; empty: unknown.
[[nodiscard]] std::string_view language_named(std::string_view name);
// What `of_name` says of the nearest folder that it knows: of `folder`, those above it, and DATA's
// own name. Empty: it knows none.
[[nodiscard]] std::string_view language_by_folders(const DataTree& tree, std::string_view folder,
                                                   std::string_view (*of_name)(std::string_view));

// Files that each hold many clips, in the order of the tree: `is_shard` says of a path whether it
// is one. Names of shards or of their folders are splits, but where all have one: that says
// nothing.
[[nodiscard]] std::vector<ListSource> shards_by_split(const DataTree& tree,
                                                      bool (*is_shard)(std::string_view path));

// --- Files ---

struct Fault {
  std::string reason;
  RejectClass kind = RejectClass::kInput;
};

// The text of one clip in a file of its own.
struct Transcript {
  std::string text;            // trimmed; lines as in the file
  std::optional<Fault> fault;  // set: no good. Sound and text must stay a pair, so the clip goes
};
[[nodiscard]] Transcript read_transcript(const LayoutInput& input, const MetFile& file);

// --- Choosing a layout ---

// Whether there is a list of the user's own, which goes before what folders look like.
[[nodiscard]] bool has_metadata_list(const LayoutInput& input);

// What a layout says of DATA that is known by one file which `fits`: "VCTK recordings (a/b.wav) are
// in DATA". `fits` returns bool or Result<bool>.
template <typename Fits>
Detected detect_by_file(const LayoutInput& input, FilesAsked asked, std::string_view what,
                        Fits fits) {
  std::string_view found;
  Status failure;
  const bool is_found = any_file(input.tree, asked, [&](const MetFile& file) {
    const Result<bool> answer = fits(file);
    found = file.path;
    if (!answer.ok()) failure = answer.status();
    return !answer.ok() || *answer;
  });
  if (!is_found || has_metadata_list(input)) return Detected(std::nullopt);
  if (!failure.ok()) return failure;
  return Detected(std::string(what) + " (" + printable(found) + ") are in DATA");
}

}  // namespace xtts::corpus
