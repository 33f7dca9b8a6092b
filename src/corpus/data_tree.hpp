// DataTree: every file below DATA, from one listing of each folder, without a stat or an open. All
// layouts look here for audio, lists and transcripts, so that what may be read is decided in one
// place.
//
// Refused, with a reason: links that leave DATA, lead nowhere or to themselves, links into hidden
// folders, FIFOs, sockets, devices, folders that cannot be listed. What macOS leaves beside sound
// (._x.wav) is refused too; other hidden files and folders (a name that begins with '.') are only
// counted. A link to a folder inside DATA is not walked, since that folder is walked under its own
// name; resolve() follows it. So no file is met twice and no loop of links can trap the walk. A
// link that leaves DATA for an audio root is walked under the link's name, each folder of the root
// once. Plain value once scanned; share freely.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "corpus/mounts.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {

struct TreeFile {
  std::string path;                        // relative to DATA; bytes as found
  std::optional<std::uint8_t> audio_rank;  // nullopt: not audio
  bool is_named_otherwise = false;         // audio by its content, not by its extension
};

// The path of a file that is audio, without its extension.
[[nodiscard]] std::string_view stem_of(const TreeFile& file) noexcept;

struct Refusal {
  std::string path;
  std::string reason;  // continues a sentence: "is a FIFO, socket or device"
  RejectClass kind = RejectClass::kInput;
  bool is_folder = false;
  bool is_sound = false;  // by a look into it
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
  std::vector<std::string> real_audio_roots;  // beside them: absolute, without links
  Mounts mounts;

  // `path`, relative to DATA, with the links to folders on its way replaced by where they lead.
  [[nodiscard]] std::string resolve(std::string_view path) const;
  [[nodiscard]] bool has_folder(std::string_view path) const;  // links followed
  [[nodiscard]] std::string full_path(std::string_view path) const;
  // Why the walk refused `path`; null: it did not, or there is no such name.
  [[nodiscard]] const Refusal* refusal_of(std::string_view path) const;
};

// kNotFound: no such folder. kInvalidArgument: not a folder. Else what listing DATA itself said.
// kCancelled: `cancelled`, which is asked at each folder and file, said so. `audio_roots`: folders
// outside DATA that hold audio, too (--audio-root).
[[nodiscard]] Result<DataTree> scan_data(Env& env, const std::string& data_folder,
                                         std::span<const std::string> audio_roots = {},
                                         const std::function<bool()>& cancelled = {});

}  // namespace xtts::corpus
