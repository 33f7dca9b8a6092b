// OutsideAudio: the files of audio roots that lists name by their paths. A root may be a whole
// disk, so it is never walked: only the folders that lists ask for are listed, once each. Files
// that it found stay at their address while it lives. One thread at a time.
//
// Roots are as confined as DATA. Refused, with a reason: a folder or link whose real path lies
// outside DATA and all roots, a hidden name, a FIFO, a device.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/env.hpp"
#include "corpus/files/data_tree.hpp"

namespace xtts::corpus {

class OutsideAudio {
 public:
  OutsideAudio(Env& env, const DataTree& tree) : env_(env), tree_(tree) {}

  struct Match {
    const TreeFile* file = nullptr;  // null: none
    std::optional<std::string> data =
        {};                       // the file lies in DATA, under this path; look for it there
    bool with_extension = false;  // as AudioIndex::Match
    bool has_rivals = false;
    std::string reason = {};  // why there is none
    RejectClass kind = RejectClass::kInput;
  };
  // `path` is in the place of a root: ".audio-root-1/p225/a.wav", or without the extension.
  [[nodiscard]] Match find(std::string_view path);

 private:
  struct Entry {
    FileKind kind = FileKind::kOther;
    bool is_symlink = false;
    std::unique_ptr<TreeFile> found;  // set by the first find()
  };
  struct Folder {
    std::string place;                     // in the tree, links resolved
    std::optional<std::string> data = {};  // set: the folder lies in DATA, at this path
    std::string reason;                    // set: the folder cannot be used
    RejectClass kind = RejectClass::kInput;
    std::map<std::string, Entry, std::less<>> entries;
  };

  Folder& folder(std::string_view path);
  void open(std::string_view path, Folder& folder);
  [[nodiscard]] std::optional<std::string> place_of(std::string_view real) const;
  Match use(Folder& folder, std::string_view name, Entry& entry);
  Match best_of_stem(Folder& folder, std::string_view stem);

  Env& env_;
  const DataTree& tree_;
  std::unordered_map<std::string, std::unique_ptr<Folder>> folders_;
};

}  // namespace xtts::corpus
