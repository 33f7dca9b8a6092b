// Finds the files of DATA that are sound though their names do not say so, and those left over.
//
// The name decides where it can. audio_extensions.hpp knows the usual suffixes of sound.
// is_non_audio_suffix() knows those of text, tables, pictures and archives, which are not opened.
// All other files are looked into: plain text is recognised here, anything else goes to a
// ProbeContent.
// One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/env.hpp"
#include "corpus/files/data_tree.hpp"

namespace xtts::corpus {

// The result of a look into a file.
struct ProbeResult {
  enum class Kind : std::uint8_t {
    kSound,
    kNotSound,
    kRefused,  // sound that we do not read, or a file whose name promised sound
  };
  Kind kind = Kind::kNotSound;
  std::string reason;  // of kRefused; continues a sentence
};
// Looks at the first bytes of a file whose suffix (without its dot) does not say whether it is
// sound. kBadInput, kCrashed and kSourceIo are about this file; any other failure ends discovery.
// An empty function: only names decide. Called from one thread.
using ProbeContent =
    std::function<Result<ProbeResult>(const RandomAccessFile& file, std::string_view suffix)>;

// True where `suffix` (without its dot, in any letter case) means text, a table, a picture, an
// archive, an array or a program. Such files are counted, never opened in search of sound.
[[nodiscard]] bool is_non_audio_suffix(std::string_view suffix);

// Sets TreeFile::audio_rank of each file that is sound. Sound that cannot be read moves from the
// files to the refusals. A failure is that of the look itself, not of a file.
[[nodiscard]] Status probe_unknown_files(Env& env, const ProbeContent& probe, DataTree& tree);

// "not audio: 12 .txt, 3 .pdf, 1 without a suffix"; empty for empty counts.
[[nodiscard]] std::string not_audio_note(const std::map<std::string, std::uint64_t>& counts);

// The files of the tree that are neither sound nor in `read`, by suffix: lower case, "" for none.
[[nodiscard]] std::map<std::string, std::uint64_t> not_audio_by_suffix(
    const DataTree& tree, const std::unordered_set<std::string>& read);

}  // namespace xtts::corpus
