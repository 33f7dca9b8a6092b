// Which files of DATA are sound though their names do not say so, and what is left over.
//
// A name decides where it can: audio_extensions.hpp knows the usual suffixes of sound, and
// names_no_sound() those of text, tables, pictures and archives, which nobody opens. All other
// files are looked into: plain text is known here, anything else is shown to a LookAtSound. One
// thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "corpus/data_tree.hpp"

namespace xtts::corpus {

// By its suffix, without its dot and in any letter case: text, tables, pictures, archives, arrays,
// programs. A file of these is counted and never opened to see whether it is sound.
[[nodiscard]] bool names_no_sound(std::string_view suffix);

// Sets TreeFile::audio_rank of what turns out to be sound; what is sound that cannot be read goes
// from the files to the refusals. A failure is that of the look itself, not of a file.
[[nodiscard]] Status look_into_unknown_files(Env& env, const LookAtSound& look, DataTree& tree);

// "not audio: 12 .txt, 3 .pdf, 1 without a suffix"; empty where the counts are.
[[nodiscard]] std::string not_audio_note(const std::map<std::string, std::uint64_t>& counts);

// The files of the tree that are neither sound nor in `read`, by suffix: lower case, "" for none.
[[nodiscard]] std::map<std::string, std::uint64_t> not_audio_by_suffix(
    const DataTree& tree, const std::unordered_set<std::string>& read);

}  // namespace xtts::corpus
