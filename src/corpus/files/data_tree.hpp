// DataTree: every file below DATA, from one listing of each folder, without a stat or an open. All
// layouts look here for audio, lists and transcripts, so one place decides what may be read.
//
// Refused, with a reason: links that leave DATA, lead nowhere or lead to themselves; links into
// hidden folders; FIFOs, sockets and devices; folders that cannot be listed; the files that macOS
// leaves beside sound (._x.wav). Other hidden files and folders (a name that begins with '.') are
// only counted. A link to a folder inside DATA is not walked, because that folder is walked under
// its own name; resolve() follows the link. So no file is met twice and no loop of links traps the
// walk. A link into an audio root is walked under the link's name, each folder of the root once.
// Plain value once scanned; share freely.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "corpus/files/mounts.hpp"
#include "formats/data_folders.hpp"
#include "formats/reject.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {

using formats::RejectClass;

struct TreeFile {
  std::string path;                        // relative to DATA; bytes as found
  std::optional<std::uint8_t> audio_rank;  // nullopt: not audio
  bool is_named_otherwise = false;         // audio by its content, not by its extension
};

// The path of an audio file, without its extension.
[[nodiscard]] std::string_view stem_of(const TreeFile& file) noexcept;

struct Refusal {
  std::string path;
  std::string reason;  // continues a sentence: "is a FIFO, socket or device"
  RejectClass kind = RejectClass::kInput;
  bool is_folder = false;
  bool is_sound = false;  // a look into the file found sound
  formats::Rule rule = formats::Rule::kBadFile;
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
  std::vector<std::string> audio_roots;       // as the caller named them, without a '/' at the end
  std::vector<std::string> real_audio_roots;  // one for each: absolute, without links
  Mounts mounts;

  // `path`, relative to DATA, with each link to a folder replaced by its target.
  [[nodiscard]] std::string resolve(std::string_view path) const;
  [[nodiscard]] bool has_folder(std::string_view path) const;  // links followed
  [[nodiscard]] std::string full_path(std::string_view path) const;
  // Why the walk refused `path`; null: it did not, or there is no such path.
  [[nodiscard]] const Refusal* refusal_of(std::string_view path) const;
};

// kNotFound: no such folder. kInvalidArgument: not a folder. kCancelled: `cancelled`, called for
// each folder and file, returned true. Other failures: of listing DATA itself.
[[nodiscard]] Result<DataTree> scan_data(Env& env, const formats::DataFolders& data,
                                         const std::function<bool()>& cancelled = {});

}  // namespace xtts::corpus
