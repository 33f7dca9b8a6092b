// Files and folders that the walk of DATA met: it found them, or refused them with a reason. Free
// functions; views of the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "corpus/files/data_tree.hpp"
#include "xtts/status.hpp"

namespace xtts::corpus {

// A file that the walk of DATA found or refused: one of the two pointers is set.
struct WalkedFile {
  std::string_view path;
  const TreeFile* file = nullptr;
  const Refusal* refusal = nullptr;
};

// True where the file is audio: for a found file by the walk and a look into it, for a refused file
// by its name.
[[nodiscard]] bool is_audio(const WalkedFile& file);
// The path of an audio file without its extension.
[[nodiscard]] std::string_view stem_of_audio(const WalkedFile& file);

// "train.tsv is a symbolic link that leads nowhere", for a file that is required.
[[nodiscard]] Status status_of(const Refusal& refusal);

enum class FileFilter : std::uint8_t { kAll, kNotAudio };

// Visits the found files in the order of the tree, then the refused ones, until `visit` returns
// true; returns whether it did. Detection calls this for one layout after another. A layout that
// looks for a list leaves out the audio, which is nearly all files (100,000 clips, five layouts: a
// tenth of discovery).
template <typename Visit>
bool any_file(const DataTree& tree, FileFilter asked, Visit visit) {
  for (const TreeFile& file : tree.files) {
    if (asked == FileFilter::kNotAudio && file.audio_rank) continue;
    if (visit(WalkedFile{file.path, &file, nullptr})) return true;
  }
  for (const Refusal& refusal : tree.refusals) {
    if (!refusal.is_folder && visit(WalkedFile{refusal.path, nullptr, &refusal})) return true;
  }
  return false;
}

template <typename Visit>
void for_each_file(const DataTree& tree, FileFilter asked, Visit visit) {
  any_file(tree, asked, [&](const WalkedFile& file) {
    visit(file);
    return false;
  });
}

// True where the walk of DATA met this folder. A link that it refused counts: it explains the
// corpus's missing audio.
[[nodiscard]] bool has_walked_folder(const DataTree& tree, const std::string& folder);
// True where the walk met this file and it is not audio. A refused file counts: reading it gives
// the reason, so that its content is not lost in silence.
[[nodiscard]] bool has_non_audio_file(const DataTree& tree, std::string_view path);

}  // namespace xtts::corpus
