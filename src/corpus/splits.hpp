// Splits: which clips train and which validate, by a seeded hash, so that neither the order of the
// clips nor the presence of others matters. Pure functions, apart from the calls of `known`.
//
// A clip's place is a number u in [0, 1): XXH3 of its key (id, source, speaker or text), seeded. u
// < validation_split: validation; then, where train and validation leave a rest, test; the others
// train. Clips of one key always go together.
//
// At most validation_clips_max clips validate. No rule without memory can keep both that bound and
// "adding clips moves no other": so splits of earlier builds are handed in, and only new clips are
// dealt out, from the lowest u up, as long as there is room. A new clip whose key is known follows
// its key even beyond the bound: a speaker in two splits is worse.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/corpus.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::corpus {

// The corpus's own split wins, then the known one, then the hash.
void assign_splits(const formats::CorpusConfig& config, const KnownSplits& known,
                   std::vector<Clip>& clips, std::vector<std::string>& notes);

// Takes out the training clips that are not in the subset: those whose number (of the id, by
// subset_seed) is not below train_subset_fraction. A larger fraction keeps all clips of a smaller
// one.
void keep_training_subset(const formats::CorpusConfig& config, std::vector<Clip>& clips,
                          std::vector<std::string>& notes);

// --- The split that a word or the name of a list or folder means. Pure functions. ---

// "train" or "training"; "validation", "valid", "val", "dev" or "eval"; "test"; in any letter case.
[[nodiscard]] std::optional<Split> split_of_word(std::string_view word);

// By the words of a file's name, which letters and digits make: "ljs_audio_text_val_filelist.txt".
// nullopt where no word means a split, or where two mean different ones.
[[nodiscard]] std::optional<Split> split_of_name(std::string_view path);

}  // namespace xtts::corpus
