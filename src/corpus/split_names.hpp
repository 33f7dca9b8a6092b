// The split that a word or the name of a list or folder means. Pure functions.
#pragma once

#include <optional>
#include <string_view>

#include "corpus/corpus.hpp"

namespace xtts::corpus {

// "train" or "training"; "validation", "valid", "val", "dev" or "eval"; "test"; in any letter case.
[[nodiscard]] std::optional<Split> split_of_word(std::string_view word);

// By the words of a file's name, which letters and digits make: "ljs_audio_text_val_filelist.txt".
// nullopt where no word means a split, or where two mean different ones.
[[nodiscard]] std::optional<Split> split_of_name(std::string_view path);

}  // namespace xtts::corpus
