// The corpus section of a recipe: layout, speakers, splits, and the treatment of odd clips. It
// decides only the index. Plain values; validate() returns every problem at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "formats/corpora.hpp"

namespace xtts::formats {

enum class SplitBy { kId, kSource, kSpeaker, kText };

// The treatment of an odd clip: keep it, keep it with a warning among its facts, or drop it.
enum class OddClip { kKeep, kWarn, kDrop };

// The treatment of a clip whose source is cut or damaged. kAuto: reject it if it has a text, for
// its sound and text are no pair any more; else warn. kDrop counts as a choice (--max-dropped),
// kReject as a fault (--max-rejects).
enum class CutClip { kAuto, kKeep, kWarn, kDrop, kReject };

struct CorpusConfig {
  std::string layout = "auto";  // or a layout's name; only discovery knows them
  std::string language;         // for clips without one in their list
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
  std::string encoding = {};   // of lists, as iconv names it; empty: UTF-8, or UTF-16 with its mark
  double max_source_seconds = 7200.0;
  std::optional<double> max_clip_seconds;  // longer clips are dropped by policy
  // Odd clips, each kind with its bound.
  OddClip too_short = OddClip::kWarn;
  double too_short_seconds = 0.02;  // not one window of speech analysis
  OddClip silent = OddClip::kWarn;
  double silent_dbfs = -80.0;  // the peak is below this
  OddClip clipped = OddClip::kWarn;
  double clipped_share = 1e-3;  // share of samples at full scale
  OddClip not_finite = OddClip::kWarn;
  OddClip low_rate = OddClip::kWarn;
  std::uint32_t source_rate_below = 4000;  // such a source holds no speech above 2 kHz
  OddClip duplicates = OddClip::kWarn;     // the same samples as an earlier clip's
  OddClip no_text = OddClip::kWarn;        // in a corpus that has texts
  CutClip truncated = CutClip::kAuto;

  [[nodiscard]] std::vector<std::string> validate() const;
};

}  // namespace xtts::formats
