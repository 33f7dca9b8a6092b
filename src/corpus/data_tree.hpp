// DataTree: every file below DATA, from one listing of each folder, without a stat or an open. All
// layouts look here for audio, lists and transcripts, so that what may be read is decided in one
// place.
//
// Refused, with a reason: links that leave DATA, lead nowhere or to themselves, links into hidden
// folders, FIFOs, sockets, devices, folders that cannot be listed. What macOS leaves beside sound (._x.wav)
// is refused too; other hidden files and folders (a name that begins with '.') are only counted. A link to a folder inside DATA is not walked, since that
// folder is walked under its own name; resolve() follows it. So no file is met twice and no loop of
// links can trap the walk. Plain value once scanned; share freely.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "corpus/corpus.hpp"

namespace xtts::corpus {

struct TreeFile {
  std::string path;                        // relative to DATA; bytes as found
  std::optional<std::uint8_t> audio_rank;  // nullopt: not audio, by its extension
};

struct Refusal {
  std::string path;
  std::string reason;  // continues a sentence: "is a FIFO, socket or device"
  ProblemClass kind = ProblemClass::kInput;
  bool is_folder = false;
};

struct DataTree {
  std::string root;                  // DATA as the caller named it
  std::string real_root;             // absolute, without links
  std::vector<TreeFile> files;       // regular files, folder by folder, sorted by name in each
  std::vector<std::string> folders;  // relative; "" is DATA itself
  std::vector<Refusal> refusals;     // sorted by path
  std::map<std::string, std::string, std::less<>>
      folder_links;  // a link to a folder in DATA -> that folder
  std::uint64_t hidden_count = 0;

  // `path`, relative to DATA, with the links to folders on its way replaced by where they lead.
  [[nodiscard]] std::string resolve(std::string_view path) const;
  [[nodiscard]] bool has_folder(std::string_view path) const;  // links followed
  [[nodiscard]] std::string full_path(std::string_view path) const;
  // Why the walk refused `path`; null: it did not, or there is no such name.
  [[nodiscard]] const Refusal* refusal_of(std::string_view path) const;
};

// kNotFound: no such folder. kInvalidArgument: not a folder. Else what listing DATA itself said.
[[nodiscard]] Result<DataTree> scan_data(Env& env, const std::string& data_folder);

}  // namespace xtts::corpus
