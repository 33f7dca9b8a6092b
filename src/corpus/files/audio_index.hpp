// AudioIndex finds the audio file that a list names, by path with or without extension. Where there
// is none, a file counts whose name is the same letters in another Unicode form (macOS writes two
// code points where Linux has one). Of two such files neither counts: one would be the wrong one.
// It does not ask the file system. A view of a DataTree, which must outlive it unchanged.
// Immutable, share freely.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "corpus/files/data_tree.hpp"

namespace xtts::corpus {

class AudioIndex {
 public:
  explicit AudioIndex(const DataTree& tree);

  struct Match {
    const TreeFile* file = nullptr;  // null: none
    bool with_extension = false;     // `path` named the file with its extension
    bool has_rivals = false;  // other files differ only in the extension; `file` is preferred
  };

  // `path` is relative to DATA. Links to folders are already resolved.
  [[nodiscard]] Match find(std::string_view path) const;
  // The preferred audio file with this path without extension; null: there is none.
  [[nodiscard]] const TreeFile* preferred_of(std::string_view stem) const;
  [[nodiscard]] std::uint64_t audio_count() const noexcept { return audio_count_; }

 private:
  static constexpr std::uint32_t kNone = 0xFFFFFFFF;

  void insert(std::uint32_t file_index);
  [[nodiscard]] Match find_exactly(std::string_view path) const;

  const DataTree& tree_;
  std::unordered_map<std::string_view, std::uint32_t>
      by_name_;  // path with a suffix that is not in the table -> file
  std::unordered_map<std::string_view, std::uint32_t>
      best_;                         // path without extension -> preferred file
  std::vector<std::uint32_t> next_;  // the next less preferred file of the same name
  std::unordered_map<std::string, std::string_view>
      by_form_c_;  // of a stem in another form; empty: of several
  std::uint64_t audio_count_ = 0;
};

// NamedAudio finds audio by its bare file name, for corpora whose lists do not give its folder. A
// view of a DataTree, which must outlive it unchanged. Immutable, share freely.
class NamedAudio {
 public:
  explicit NamedAudio(const DataTree& tree);

  // The audio below `folder` ("" is DATA) that is named `stem` plus an extension. The preferred
  // format wins, then the first path. Null: there is none.
  [[nodiscard]] const TreeFile* find(std::string_view folder, std::string_view stem) const;

 private:
  std::unordered_multimap<std::string_view, const TreeFile*> files_;  // by stem
};

}  // namespace xtts::corpus
