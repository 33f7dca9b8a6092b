#include "formats/data_folders.hpp"

#include "base/shell_words.hpp"

namespace xtts::formats {

void DataFolders::complete_from(const DataFolders& known) {
  if (path.empty()) path = known.path;
  if (audio_roots.empty()) audio_roots = known.audio_roots;
}

std::string DataFolders::audio_root_options() const {
  std::string options;
  for (const std::string& root : audio_roots) options += " --audio-root " + shell_quoted(root);
  return options;
}

}  // namespace xtts::formats
