// Mounts: the places of DATA's tree whose files lie elsewhere, in a folder that --audio-root
// names. A path in the tree does not change, so ids, stored paths and bytes do not depend on where
// a disk is mounted. Plain value; share freely.
//
// A link from DATA into an audio root is such a place: "wavs" for "wavs -> /mnt/hdd". Every root
// also has its own place, for audio that a list names by an absolute path:
// ".audio-root-1/p225/a.wav" is p225/a.wav of the first root. Names that begin with '.' are never
// read from DATA, so no file of DATA has such a path.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "formats/data_folders.hpp"

namespace xtts::corpus {

class Mounts {
 public:
  // `real` is absolute, without links: a folder or a file.
  void add(std::string place, std::string real) {
    places_.insert_or_assign(std::move(place), std::move(real));
  }
  // By place.
  [[nodiscard]] const std::map<std::string, std::string, std::less<>>& places() const noexcept {
    return places_;
  }
  // The path to open for `path`, which is relative to `root`.
  [[nodiscard]] std::string full_path(const std::string& root, std::string_view path) const;

  // The mounts at `folder` and below it, for a tree that begins there.
  [[nodiscard]] Mounts below(std::string_view folder) const;

 private:
  std::map<std::string, std::string, std::less<>> places_;
};

// ".audio-root-1" for index 0.
[[nodiscard]] std::string place_of_root(std::size_t root_index);
// True where a path of the tree lies in the place of an audio root.
[[nodiscard]] bool is_in_root_place(std::string_view path);
// The path without the place: "p225/a.wav" for ".audio-root-1/p225/a.wav".
[[nodiscard]] std::string_view path_in_root(std::string_view path);

// The file path of a source that a cache names by its path in the tree: in DATA, or in one of the
// audio roots of that build.
[[nodiscard]] std::string source_path(const formats::DataFolders& data, std::string_view source);

// `path` relative to `root`, both absolute and without links; nullopt: `path` is not inside.
[[nodiscard]] std::optional<std::string> relative_to(std::string_view root, std::string_view path);

}  // namespace xtts::corpus
