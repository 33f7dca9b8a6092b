// Corpora: the entries of a corpora.yaml, which names several corpora that one cache holds. A plain
// value; recipe/corpora_file.hpp reads it, corpus/corpus.hpp uses it.
#pragma once

#include <string>

namespace xtts::formats {

// What is empty is as the recipe's corpus section says.
struct CorporaEntry {
  std::string name;    // the data set: ids become name/id
  std::string folder;  // where it lies
  std::string layout;
  std::string language;
  std::string speaker;  // as it is, also beside other corpora's speakers of that name
  std::string speaker_pattern;
  std::string split;  // train, validation or test, for all of its clips
};

}  // namespace xtts::formats
