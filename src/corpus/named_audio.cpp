#include "corpus/named_audio.hpp"

#include <tuple>

#include "corpus/audio_extensions.hpp"

namespace xtts::corpus {
namespace {

bool is_below(std::string_view folder, std::string_view path) {
  return folder.empty() ||
         (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

}  // namespace

NamedAudio::NamedAudio(const DataTree& tree) {
  files_.reserve(tree.files.size());
  for (const TreeFile& file : tree.files) {
    if (!file.audio_rank) continue;
    files_.emplace(file_name(without_audio_extension(file.path)), &file);
  }
}

const TreeFile* NamedAudio::find(std::string_view folder, std::string_view stem) const {
  const TreeFile* best = nullptr;
  const auto [begin, end] = files_.equal_range(stem);
  for (auto it = begin; it != end; ++it) {
    const TreeFile* file = it->second;
    if (!is_below(folder, file->path)) continue;
    const bool is_better = best == nullptr || std::tie(*file->audio_rank, file->path) <
                                                  std::tie(*best->audio_rank, best->path);
    if (is_better) best = file;
  }
  return best;
}

}  // namespace xtts::corpus
