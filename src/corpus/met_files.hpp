// Files and folders that the walk of DATA met: found, or refused with a reason. Free functions;
// views of the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "corpus/data_tree.hpp"
#include "xtts/status.hpp"

namespace xtts::corpus {

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

// "train.tsv is a symbolic link that leads nowhere": where nothing can go on without the file.
[[nodiscard]] Status status_of(const Refusal& refusal);

enum class FilesAsked : std::uint8_t { kAll, kNotAudio };

// Those found, in the order of the tree, then those refused; until `visit` returns true, and
// whether it did. Every layout asks on the way to the one that fits. A layout that looks for a list
// leaves the audio out, which is nearly all there is (100,000 clips, five layouts: a tenth of
// discovery).
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

// Whether the walk of DATA met such a folder, be it only a link that it refused: then that is what
// the corpus's missing audio is to be explained by.
[[nodiscard]] bool met_folder(const DataTree& tree, const std::string& folder);
// Whether it met such a file that is not audio. What a refused one would have said must not go
// missing in silence, and reading it gives the reason.
[[nodiscard]] bool met_file(const DataTree& tree, std::string_view path);

}  // namespace xtts::corpus
