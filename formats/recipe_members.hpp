// The members of a recipe's other sections (member_table.hpp), in the order in which recipes show
// them.
#pragma once

#include "formats/corpus_config.hpp"
#include "formats/member_table.hpp"
#include "formats/storage_config.hpp"
#include "formats/text_config.hpp"

namespace xtts::formats {
namespace members {

inline constexpr Condition kCharacters{"text.tokens", {"characters"}};
inline constexpr Condition kTokens{"text.tokens", {"bytes", "characters"}};
inline constexpr Condition kStoresText{"text.store", {"true"}};
// Texts are printed quoted.
inline constexpr Condition kHasLists{"corpus.layout",
                                     {"\"auto\"", "\"commonvoice\"", "\"ljspeech\"", "\"table\""}};
// huggingface takes a pattern that chooses its files.
inline constexpr Condition kHasTrainList{
    "corpus.layout",
    {"\"auto\"", "\"commonvoice\"", "\"huggingface\"", "\"ljspeech\"", "\"table\""}};
inline constexpr Condition kIsTable{"corpus.layout", {"\"auto\"", "\"table\""}};

inline constexpr auto kCorpusColumns = table_of<CorpusColumns>(
    Member{&CorpusColumns::audio, "audio_column", InJson::kLater,
           "names of the columns of a CSV, TSV or JSONL list, where they are not the usual",
           kIsTable},
    Member{&CorpusColumns::id, "id_column", InJson::kLater, "", kIsTable},
    Member{&CorpusColumns::text, "text_column", InJson::kLater, "", kIsTable},
    Member{&CorpusColumns::normalized, "normalized_column", InJson::kLater, "", kIsTable},
    Member{&CorpusColumns::speaker, "speaker_column", InJson::kLater, "", kIsTable},
    Member{&CorpusColumns::language, "language_column", InJson::kLater, "", kIsTable},
    Member{&CorpusColumns::split, "split_column", InJson::kLater, "", kIsTable},
    Member{&CorpusColumns::start, "start_column", InJson::kLater, "in seconds, as end_column",
           kIsTable},
    Member{&CorpusColumns::end, "end_column", InJson::kLater, "", kIsTable});

}  // namespace members

inline constexpr auto kTextMembers = table_of<TextConfig>(
    Member{&TextConfig::tokens, "tokens", InJson::kAlways,
           "none | bytes: byte + 1 | characters: place in the vocabulary"},
    Member{&TextConfig::vocabulary, "vocabulary", InJson::kAlways,
           "the n-th character is token n; 0 is padding", members::kCharacters},
    Member{&TextConfig::max_tokens, "max_tokens", InJson::kAlways,
           "tokens of a record: a number | auto: what the corpus needs | 200+: auto, at least 200; "
           "shorter texts are padded with 0",
           members::kTokens},
    Member{&TextConfig::too_long, "too_long", InJson::kAlways, "drop | truncate", members::kTokens},
    Member{&TextConfig::unknown, "unknown", InJson::kAlways,
           "drop: leave the character out | unk: token vocabulary + 1 | error: reject the clip",
           members::kCharacters},
    Member{&TextConfig::use_normalized, "use_normalized", InJson::kAlways,
           "tokens of the normalized text, else of the raw one", members::kTokens},
    Member{&TextConfig::store, "store", InJson::kLater,
           "false: sound alone, without texts and tokens (--no-text)"},
    Member{&TextConfig::normalize, "normalize", InJson::kLater,
           "applied in this order before tokens are made", members::kStoresText});

inline constexpr auto kCorpusMembers = table_of<CorpusConfig>(
    Member{&CorpusConfig::layout, "layout", InJson::kAlways,
           "auto, or a layout's name: xtts-precompute build --help lists them"},
    Member{&CorpusConfig::language, "language", InJson::kAlways,
           "language of clips whose list does not say"},
    Member{&CorpusConfig::speaker, "speaker", InJson::kAlways, "one name for all clips"},
    Member{&CorpusConfig::speaker_pattern, "speaker_pattern", InJson::kAlways,
           "regular expression on the file name; its first group is the speaker"},
    Member{&CorpusConfig::train_split, "train_split", InJson::kAlways,
           "share of the clips; what both splits leave is for testing"},
    Member{&CorpusConfig::validation_split, "validation_split", InJson::kAlways,
           "share of the clips"},
    Member{&CorpusConfig::validation_clips_max, "validation_clips_max", InJson::kAlways,
           "more validation clips than this go to training"},
    Member{&CorpusConfig::split_seed, "split_seed", InJson::kAlways,
           "seed of the hash that splits"},
    Member{&CorpusConfig::split_by, "split_by", InJson::kAlways,
           "id | source | speaker | text: what stays together"},
    Member{&CorpusConfig::train_subset_fraction, "train_subset_fraction", InJson::kAlways,
           "share of the training clips to keep"},
    Member{&CorpusConfig::subset_seed, "subset_seed", InJson::kAlways,
           "seed of the hash that picks those clips"},
    Member{&CorpusConfig::metadata_train_file, "metadata_train_file", InJson::kAlways,
           "lists of training and evaluation clips, relative to DATA", members::kHasTrainList},
    Member{&CorpusConfig::metadata_eval_file, "metadata_eval_file", InJson::kAlways, "",
           members::kHasLists},
    Member{&CorpusConfig::wavs_train_folder, "wavs_train_folder", InJson::kAlways,
           "folders of the audio of these lists, relative to DATA", members::kHasLists},
    Member{&CorpusConfig::wavs_eval_folder, "wavs_eval_folder", InJson::kAlways, "",
           members::kHasLists},
    Nested{&CorpusConfig::columns, "", members::kCorpusColumns},
    Member{&CorpusConfig::encoding, "encoding", InJson::kLater,
           "encoding of the lists, such as cp1256; empty: UTF-8, or UTF-16 with its mark"},
    Member{&CorpusConfig::max_source_seconds, "max_source_seconds", InJson::kAlways,
           "longer source files are dropped"},
    Member{&CorpusConfig::max_clip_seconds, "max_clip_seconds", InJson::kAlways,
           "longer clips are dropped; none: no limit"},
    Member{&CorpusConfig::too_short, "too_short", InJson::kAlways,
           "keep | warn | drop: clips shorter than too_short_seconds"},
    Member{&CorpusConfig::too_short_seconds, "too_short_seconds", InJson::kAlways,
           "seconds before the trim"},
    Member{&CorpusConfig::silent, "silent", InJson::kAlways,
           "keep | warn | drop: clips whose peak is below silent_dbfs"},
    Member{&CorpusConfig::silent_dbfs, "silent_dbfs", InJson::kAlways, "dB, where full scale is 0"},
    Member{&CorpusConfig::clipped, "clipped", InJson::kAlways,
           "keep | warn | drop: clips with more than clipped_share of samples at full scale"},
    Member{&CorpusConfig::clipped_share, "clipped_share", InJson::kAlways, "0 to 1"},
    Member{&CorpusConfig::not_finite, "not_finite", InJson::kAlways,
           "keep | warn | drop: clips with NaN or infinite samples, which are taken as 0"},
    Member{&CorpusConfig::low_rate, "low_rate", InJson::kAlways,
           "keep | warn | drop: sources at a lower rate than source_rate_below"},
    Member{&CorpusConfig::source_rate_below, "source_rate_below", InJson::kAlways, "Hz"},
    Member{&CorpusConfig::duplicates, "duplicates", InJson::kAlways,
           "keep | warn | drop: clips with the same samples as an earlier one"},
    Member{&CorpusConfig::no_text, "no_text", InJson::kAlways,
           "keep | warn | drop: clips without a text in a corpus that has texts"},
    Member{&CorpusConfig::truncated, "truncated", InJson::kLater,
           "auto | keep | warn | drop | reject: clips of cut or damaged files; auto rejects them "
           "where they have a text, and warns where they have none"});

inline constexpr auto kStorageMembers = table_of<StorageConfig>(
    Member{&StorageConfig::store, "store", InJson::kAlways, "lmdb | hdf5"},
    Member{&StorageConfig::layout, "layout", InJson::kAlways,
           "padded: ready batches | packed: true lengths, less disk"},
    Member{&StorageConfig::dtype, "dtype", InJson::kAlways, "float32 | float16 | bfloat16"});

}  // namespace xtts::formats
