// Corpora: the entries of a corpora.yaml, which names several corpora that one cache holds. A plain
// value; recipe/corpora_file.hpp reads it, corpus/corpus.hpp uses it.
#pragma once

#include <string>
#include <vector>

#include "formats/data_folders.hpp"

namespace xtts::formats {

// Names of the columns of a list (CSV, TSV, JSON lines) of any origin. An empty name means the
// usual names.
struct CorpusColumns {
  std::string audio = {};
  std::string id = {};
  std::string text = {};
  std::string normalized = {};
  std::string speaker = {};
  std::string language = {};
  std::string split = {};
  std::string start = {};  // in seconds, as end
  std::string end = {};

  friend bool operator==(const CorpusColumns&, const CorpusColumns&) = default;
};

// An empty member takes the value of the recipe's corpus section.
struct CorporaEntry {
  std::string name;    // name of the data set: ids become name/id
  std::string folder;  // folder of the corpus
  std::string layout;
  std::string language;
  std::string speaker;  // used as it is, even if another corpus has a speaker of that name
  std::string speaker_pattern;
  std::string split;  // train, validation or test, for all clips
  CorpusColumns columns = {};
  std::string encoding = {};                  // of its lists
  std::vector<std::string> audio_roots = {};  // folders outside of `folder` that hold audio, too

  // Without audio roots of its own, an entry uses those of `all`.
  [[nodiscard]] DataFolders folders(const DataFolders& all) const {
    return {folder, audio_roots.empty() ? all.audio_roots : audio_roots};
  }
};

}  // namespace xtts::formats
