// Shared parts of layouts: the meaning of folder names, transcripts in their own files, detection
// by one file. Shared parts for lists are in lists/. Free functions; views of their arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "corpus/files/names.hpp"
#include "corpus/files/walked_files.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/lists/audio_finder.hpp"

namespace xtts::corpus {

// --- The names of folders ---

// Removes the last name from `path` and returns it: "c" of "a/b/c", which becomes "a/b".
[[nodiscard]] std::string_view take_last_name(std::string_view& path);
// The name of DATA, and its name on disk if it was reached through a link.
[[nodiscard]] std::vector<std::string_view> data_names(const DataTree& tree);

// The name of a file's folder and of the folder above it. If these lie outside DATA: DATA's own
// name and that of its parent.
struct NearestFolders {
  std::string_view nearest;
  std::string_view above;
};
[[nodiscard]] NearestFolders nearest_folders(const DataTree& tree, std::string_view file_path);

// The official split of LibriSpeech and LibriTTS for a folder: the nearest name train-*, dev-* or
// test-* among it and the folders above it. DATA's own name counts only as train-clean* or
// train-other*: a folder that a user named test-7 must not become a corpus without training clips.
[[nodiscard]] std::optional<Split> libri_split(const DataTree& tree, std::string_view folder);
// The split for "train", "dev" or "test".
[[nodiscard]] std::optional<Split> official_split(std::string_view name);

// "de" for "german", in any letter case, as in folder names of MLS and CSS10; empty: unknown.
[[nodiscard]] std::string_view language_named(std::string_view name);
// The result of `of_name` for the nearest folder name that it knows: `folder`, the folders above
// it, then DATA's own name. Empty: it knows none.
[[nodiscard]] std::string_view language_by_folders(const DataTree& tree, std::string_view folder,
                                                   std::string_view (*of_name)(std::string_view));

// Files that each hold many clips, in tree order; `is_shard` selects them by path. Names of shards
// or their folders are splits, unless all shards have the same one: that means nothing.
[[nodiscard]] std::vector<ListSource> shards_by_split(
    const DataTree& tree, const std::function<bool(std::string_view)>& is_shard);

// --- Files ---

struct Fault {
  std::string reason;
  RejectClass kind = RejectClass::kInput;
};

// The text of one clip, from a file of its own.
struct Transcript {
  std::string text;            // trimmed; lines as in the file
  std::optional<Fault> fault;  // set: unusable. The clip goes too: sound and text stay a pair
};
[[nodiscard]] Transcript read_transcript(const LayoutInput& input, const WalkedFile& file);

// --- Choosing a layout ---

// True where the user has a list of their own, which has priority over the look of folders.
[[nodiscard]] bool has_metadata_list(const LayoutInput& input);

// Detects a layout by one file for which `fits` holds: "VCTK recordings (a/b.wav) are in DATA".
// `fits` returns bool or Result<bool>.
template <typename Fits>
Detected detect_by_file(const LayoutInput& input, FileFilter asked, std::string_view what,
                        Fits fits) {
  std::string_view found;
  Status failure;
  const bool is_found = any_file(input.tree, asked, [&](const WalkedFile& file) {
    const Result<bool> answer = fits(file);
    found = file.path;
    if (!answer.ok()) failure = answer.status();
    return !answer.ok() || *answer;
  });
  if (!is_found || has_metadata_list(input)) return Detected(std::nullopt);
  if (!failure.ok()) return failure;
  return Detected(formatted("{} ({}) are in DATA", what, printable(found)));
}

}  // namespace xtts::corpus
