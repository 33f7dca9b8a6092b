// Recipe: the four sections that describe a cache, kept apart because they have different
// consequences.
//   features  decides the numbers; its fingerprint is frozen in the cache
//   text      decides the tokens column; its own fingerprint; changed without decoding audio
//   corpus    layout, speakers, splits: the index only, changed without recomputing
//   storage   store, layout, dtype: how the same numbers lie on disk
// Plain values. validate() of each returns every problem at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/corpora.hpp"
#include "formats/feature_config.hpp"
#include "xtts/dtype.hpp"

namespace xtts::formats {

enum class TokenKind { kNone, kBytes, kCharacters };
enum class LongText { kDrop, kTruncate };
enum class UnknownCharacter { kDrop, kUnknownToken, kError };

struct TextConfig {
  TokenKind tokens = TokenKind::kBytes;
  // kCharacters: one character a line or one line of characters; token i+1 is the i-th, 0 is
  // padding. The characters themselves, not the file's path, enter the fingerprint.
  std::string vocabulary;
  std::uint32_t max_tokens = 200;
  LongText too_long = LongText::kDrop;
  // kDrop leaves the character out; kUnknownToken writes token vocabulary_size + 1; kError rejects
  // the clip.
  UnknownCharacter unknown = UnknownCharacter::kDrop;
  // Which text is tokenized.
  bool use_normalized = true;

  [[nodiscard]] std::vector<std::string> validate() const;
};

enum class SplitBy { kId, kSource, kSpeaker, kText };

// What it costs a clip to be odd: nothing, a warning among its facts, or its place in the cache.
enum class OddClip { kKeep, kWarn, kDrop };

struct CorpusConfig {
  std::string layout = "auto";  // or the name of one, which only discovery knows
  std::string language;         // for clips whose list does not say
  std::string speaker;          // one name for all
  std::string
      speaker_pattern;  // regular expression on the file name; its first group is the speaker
  double train_split = 0.9;
  double validation_split = 0.1;
  std::uint32_t validation_clips_max = 2000;
  std::uint64_t split_seed = 0;
  SplitBy split_by = SplitBy::kId;
  double train_subset_fraction = 1.0;  // of the training clips, by a seeded hash of the id
  std::uint64_t subset_seed = 0;
  // Separate train and eval lists (paths relative to DATA); empty where the corpus has one list.
  std::string metadata_train_file;
  std::string metadata_eval_file;
  std::string wavs_train_folder;
  std::string wavs_eval_folder;
  CorpusColumns columns = {};  // of layout table
  double max_source_seconds = 7200.0;
  std::optional<double> max_clip_seconds;  // longer clips are dropped by policy
  // Odd clips, each kind with its bound.
  OddClip too_short = OddClip::kWarn;
  double too_short_seconds = 0.02;  // not one window of speech analysis
  OddClip silent = OddClip::kWarn;
  double silent_dbfs = -80.0;  // a peak below it
  OddClip clipped = OddClip::kWarn;
  double clipped_share = 1e-3;  // of the samples at full scale
  OddClip not_finite = OddClip::kWarn;
  OddClip low_rate = OddClip::kWarn;
  std::uint32_t source_rate_below = 4000;  // nothing of speech is left above 2 kHz
  OddClip duplicates = OddClip::kWarn;     // the same samples as an earlier clip's
  OddClip no_text = OddClip::kWarn;        // in a corpus that has texts

  [[nodiscard]] std::vector<std::string> validate() const;
};

// Persisted in block headers. Values never change.
enum class Layout : std::uint8_t { kPadded = 1, kPacked = 2 };
enum class StoreKind { kLmdb, kHdf5 };
// What the rows of a column go along: so many of them a frame, one a token, a number of their own
// up to the padded shape's, or always all of the shape.
enum class Axis { kFrames, kTokens, kOwn, kFixed };

struct StorageConfig {
  StoreKind store = StoreKind::kLmdb;
  Layout layout = Layout::kPadded;
  DType dtype = DType::kFloat32;

  [[nodiscard]] std::vector<std::string> validate() const;
};

struct Recipe {
  std::string name = "myxtts";
  std::string about;              // one line, for people
  std::vector<std::string> fits;  // vocoders and models that take these features
  FeatureConfig features;
  TextConfig text;
  CorpusConfig corpus;
  StorageConfig storage;
};

}  // namespace xtts::formats
