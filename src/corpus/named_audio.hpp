// NamedAudio: audio by its bare name, for corpora whose lists say less than where it lies. A view
// of a DataTree, which must outlive it unchanged. Immutable, share freely.
#pragma once

#include <string_view>
#include <unordered_map>

#include "corpus/data_tree.hpp"

namespace xtts::corpus {

class NamedAudio {
 public:
  explicit NamedAudio(const DataTree& tree);

  // Of the audio below `folder` ("" is DATA) that is called `stem` but for its extension, the one
  // of the preferred format; of several such, the one whose path comes first. Null: there is none.
  [[nodiscard]] const TreeFile* find(std::string_view folder, std::string_view stem) const;

 private:
  std::unordered_multimap<std::string_view, const TreeFile*> files_;  // by stem
};

}  // namespace xtts::corpus
