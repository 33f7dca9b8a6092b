// Splits: which clips train and which validate. A seeded hash decides, so neither the order of
// clips nor other clips matter. Pure functions, apart from the calls of `known`.
//
// Each clip has a number u in [0, 1): the seeded XXH3 of its key (id, source, speaker or text). u
// < validation_split: validation. Then, if the shares of train and validation leave a rest: test.
// All others: train. Clips of one key always share a split.
//
// At most validation_clips_max clips validate. A rule without memory cannot keep both this bound
// and "adding clips moves no other". So the caller passes the splits of earlier builds, and only
// new clips are assigned, from the lowest u up, while there is room. A new clip whose key is known
// follows its key even beyond the bound: a speaker in two splits is worse.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/clips/clip.hpp"
#include "formats/recipe_fwd.hpp"

namespace xtts::corpus {

// The split that an earlier build published for an id; nullopt: it knows none. Called from one
// thread.
using KnownSplits = std::function<std::optional<Split>(std::string_view full_id)>;

// The corpus's own split wins, then the known one, then the hash.
void assign_splits(const formats::CorpusConfig& config, const KnownSplits& known,
                   std::vector<Clip>& clips, std::vector<std::string>& notes);

// Removes the training clips outside the subset: those whose number (of the id, by subset_seed) is
// not below train_subset_fraction. A larger fraction keeps all clips of a smaller one.
void keep_training_subset(const formats::CorpusConfig& config, std::vector<Clip>& clips,
                          std::vector<std::string>& notes);

// --- The same, for clips that pass one by one. ---

// The number that decides on a clip without a split of its own, by split_seed and split_by.
[[nodiscard]] std::uint64_t split_number(const formats::CorpusConfig& config, const Clip& clip);

// Chooses the splits of numbers. A view of the config. One thread at a time.
class SplitChooser {
 public:
  // `validation_count`: clips that validate already, by their corpus' word or an earlier build's.
  SplitChooser(const formats::CorpusConfig& config, std::uint64_t validation_count);

  // The split of all `clip_count` clips with this number. Call it in ascending order, once each.
  [[nodiscard]] Split choose(std::uint64_t number, std::uint64_t clip_count);
  // Counts clips whose number has a split from an earlier build.
  void follow(Split split, std::uint64_t clip_count);
  [[nodiscard]] std::uint64_t held_back_count() const { return held_back_count_; }

  // False: the number's split is beyond_validation(), however many clips there are.
  [[nodiscard]] bool may_validate(std::uint64_t number) const;
  [[nodiscard]] Split beyond_validation(std::uint64_t number) const;

 private:
  const formats::CorpusConfig& config_;
  double test_share_;
  std::uint64_t validation_count_;
  std::uint64_t held_back_count_ = 0;
};
void note_splits(const formats::CorpusConfig& config, std::uint64_t held_back_count,
                 bool has_validation, std::vector<std::string>& notes);

// Whether a training clip stays in the subset; train_subset_fraction below 1 leaves some out.
[[nodiscard]] bool is_in_training_subset(const formats::CorpusConfig& config, const Clip& clip);
void note_subset(std::uint64_t kept_count, std::uint64_t train_count,
                 std::vector<std::string>& notes);

// --- The split that a word, or the name of a list or folder, means. Pure functions. ---

// "train" or "training"; "validation", "valid", "val", "dev" or "eval"; "test"; in any letter case.
[[nodiscard]] std::optional<Split> split_of_word(std::string_view word);

// The split that a file's name means, by its words of letters and digits:
// "ljs_audio_text_val_filelist.txt". nullopt: no word means a split, or two mean different ones.
[[nodiscard]] std::optional<Split> split_of_name(std::string_view path);

}  // namespace xtts::corpus
