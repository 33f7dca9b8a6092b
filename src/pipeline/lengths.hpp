// Lengths that a recipe leaves to the corpus (formats/record_length.hpp): features.max_frames and
// text.max_tokens. A cache that is there gives its own numbers, so updates keep them. Otherwise a
// look at all of DATA finds them: the smallest multiple of 32 frames and of 8 tokens that holds
// 99.9 % of the clips, up to 30 s and 1,024 tokens, and never less than the recipe's least. A clip
// that would be dropped even then has no say: room for a part of it would be padding in all others.
//
// Bytes in: the texts, and the head of each source (audio/header_length.hpp); where that says
// nothing, the source is demuxed, by the run's contained decoders. Bytes out: two numbers. Memory:
// 4 bytes a clip. All parts of a partition look at all of DATA, so they agree. Lengths are those
// before the trim, so the number is an upper bound. A source that cannot be looked at counts for
// nothing here: the build will say what is wrong with it.
//
// With too_long: split, clips are made to fit, so nothing is looked at: the number is the least, or
// 30 s where there is none.
//
// Free functions. Failures: kCancelled, those of the tokenizer, and a want of resources.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "formats/manifest.hpp"
#include "formats/recipe.hpp"
#include "pipeline/chosen_lengths.hpp"
#include "pipeline/run_config.hpp"
#include "text/tokenizer.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

// How a number is chosen.
struct LengthRule {
  std::uint32_t step = 1;
  std::uint32_t least = 0;
  std::uint32_t most = 0;          // rounded up to a step
  std::uint32_t without_clip = 0;  // where there is no clip, if it is more than the least
  bool drops_longer = false;       // what needs more than `most` is dropped, not cut
};
// How many clips need so many frames, or tokens.
using LengthCounts = std::map<std::uint32_t, std::uint64_t>;
[[nodiscard]] ChosenLength choose_length_of(const LengthCounts& needed, const LengthRule& rule);
// `needed`: what each clip needs, in any order.
[[nodiscard]] ChosenLength choose_length(const std::vector<std::uint32_t>& needed,
                                         const LengthRule& rule);

[[nodiscard]] bool has_open_lengths(const formats::Recipe& recipe);
// Takes the published numbers where they are as large as the recipe asks. Numbers that mean nothing
// (of tokens, where there are none) become those of the format.
void take_published_lengths(const formats::Manifest& published, formats::Recipe& recipe);
// The recipe by which DATA is listed before its lengths are known: those that are open are the
// longest that they may become.
[[nodiscard]] formats::Recipe with_longest(formats::Recipe recipe);

struct LookRequest {
  Env& env;
  const corpus::Corpus& corpus;
  const RunConfig& run;
};
// Gives each open length of the recipe its number.
[[nodiscard]] Result<ChosenLengths> choose_lengths(const LookRequest& request,
                                                   formats::Recipe& recipe);
// LengthTally: the same for clips that pass one by one. Lists tell the length of a segment. Of
// clips whose source alone tells it, a seeded sample is looked at: all, if they are 10,000 or
// fewer. Memory: 300 bytes for each clip of the sample. One thread at a time.
class LengthTally {
 public:
  // `recipe`: as it was asked for.
  [[nodiscard]] static Result<LengthTally> create(const formats::Recipe& recipe);

  void add(const corpus::Clip& clip);

  // Gives each open length of `recipe` its number. `corpus` has the folders, and no clips.
  [[nodiscard]] Result<ChosenLengths> choose(Env& env, corpus::Corpus corpus, const RunConfig& run,
                                             formats::Recipe& recipe);
  // Of how many clips the source alone tells the length, and of how many it was looked at.
  [[nodiscard]] std::uint64_t unknown_count() const { return unknown_count_; }
  [[nodiscard]] std::uint64_t sample_count() const { return sample_.size(); }

 private:
  struct Drawn {
    std::uint64_t number = 0;  // by the clip's id
    corpus::Clip clip;

    friend bool operator<(const Drawn& a, const Drawn& b) { return a.number < b.number; }
  };

  explicit LengthTally(const formats::Recipe& recipe) : recipe_(recipe) {}
  void draw(const corpus::Clip& clip);

  formats::Recipe recipe_;
  std::shared_ptr<const text::Tokenizer> tokenizer_;  // null: tokens are not open
  bool frames_are_open_ = false;
  LengthCounts frames_, tokens_;
  std::uint64_t unknown_count_ = 0;
  std::vector<Drawn> sample_;  // a heap: the highest number is first
};

// The numbers of a recipe that leaves nothing open.
[[nodiscard]] ChosenLengths given_lengths(const formats::Recipe& recipe);

}  // namespace xtts::pipeline
