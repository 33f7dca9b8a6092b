// What several layouts share: what the names of folders say, transcripts in files of their own, the
// lines of a list. Free functions; views of what they are given.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/layouts/layout.hpp"
#include "corpus/list_text.hpp"
#include "corpus/listed_clips.hpp"
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

// Whether the walk of DATA met such a folder, be it only a link that it refused: then that is what
// the corpus's missing audio is to be explained by.
[[nodiscard]] bool met_folder(const DataTree& tree, const std::string& folder);
// The same of a file that is not audio: what a refused one would have said must not go missing in
// silence, and reading it gives the reason.
[[nodiscard]] bool met_file(const DataTree& tree, std::string_view path);

// --- Files ---

// A file that the walk of DATA found, or refused: one of the two is set.
struct MetFile {
  std::string_view path;
  const TreeFile* file = nullptr;
  const Refusal* refusal = nullptr;
};

// Whether it is audio: by what the walk and a look into it found, or, where it was refused, by its
// name.
[[nodiscard]] bool is_audio(const MetFile& file);
// Its path without its extension, where it is.
[[nodiscard]] std::string_view stem_of_audio(const MetFile& file);

enum class FilesAsked : std::uint8_t { kAll, kNotAudio };

// Those found, in the order of the tree, then those refused; until `visit` returns true, and
// whether it did. Every layout asks on the way to the one that fits: who looks for a list leaves
// the audio out, which is nearly all there is (100,000 clips, five layouts: a tenth of discovery).
template <typename Visit>
bool any_file(const DataTree& tree, FilesAsked asked, Visit visit) {
  for (const TreeFile& file : tree.files) {
    if (asked == FilesAsked::kNotAudio && file.audio_rank) continue;
    if (visit(MetFile{file.path, &file, nullptr})) return true;
  }
  for (const Refusal& refusal : tree.refusals) {
    if (!refusal.is_folder && visit(MetFile{refusal.path, nullptr, &refusal})) return true;
  }
  return false;
}

template <typename Visit>
void for_each_file(const DataTree& tree, FilesAsked asked, Visit visit) {
  any_file(tree, asked, [&](const MetFile& file) {
    visit(file);
    return false;
  });
}

// "train.tsv is a symbolic link that leads nowhere": where nothing can go on without the file.
[[nodiscard]] Status status_of(const Refusal& refusal);

struct Fault {
  std::string reason;
  ProblemClass kind = ProblemClass::kInput;
};

// The text of one clip in a file of its own.
struct Transcript {
  std::string text;            // trimmed; lines as in the file
  std::optional<Fault> fault;  // set: no good. Sound and text must stay a pair, so the clip goes
};
[[nodiscard]] Transcript read_transcript(const LayoutInput& input, const MetFile& file);

// --- Lists ---

// A list, inflated on the way where its name ends in ".gz". A failure names it: it was refused,
// cannot be read, is damaged, UTF-16 or too big. What goes wrong further on ends its lines early,
// and the ReadLog makes a failure of the corpus of it.
[[nodiscard]] Result<ListText> read_list(const LayoutInput& input, std::string_view list);
// Counts each line that is not blank and hands it on, until too many were unusable.
[[nodiscard]] Status read_lines(ListText& list, const ListSource& source, ListedClips& clips,
                                const std::function<void(const ListText::Line&)>& read);

// --- Choosing a layout ---

// Whether there is a list of the user's own, which goes before what folders look like.
[[nodiscard]] bool has_metadata_list(const LayoutInput& input);

// What a layout says of DATA that is known by one file which `fits`: "VCTK recordings (a/b.wav) are
// in DATA (layout vctk)". `fits` returns bool or Result<bool>.
template <typename Fits>
Detected detect_by_file(const LayoutInput& input, FilesAsked asked, std::string_view what,
                        std::string_view layout, Fits fits) {
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
  return Detected(std::string(what) + " (" + printable(found) + ") are in DATA (layout " +
                  std::string(layout) + ")");
}

// That a layout was asked for which DATA does not have.
[[nodiscard]] Status not_this_layout(const LayoutInput& input, std::string_view expected);

}  // namespace xtts::corpus
