// DataFolders: the folders that a cache's sources lie in. Plain value.
#pragma once

#include <string>
#include <vector>

namespace xtts::formats {

struct DataFolders {
  std::string path = {};  // DATA: a folder, or a corpora.yaml
  // Folders outside of DATA that lists and links may lead to, in the order of their numbers.
  std::vector<std::string> audio_roots = {};

  // Takes from `known` what is empty here.
  void complete_from(const DataFolders& known);
  // " --audio-root /mnt/hdd", for a command to be pasted.
  [[nodiscard]] std::string audio_root_options() const;
  friend bool operator==(const DataFolders&, const DataFolders&) = default;
};

}  // namespace xtts::formats
