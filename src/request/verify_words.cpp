#include "request/verify_words.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "base/counted.hpp"
#include "base/shell_words.hpp"
#include "formats/rules.hpp"
#include "pipeline/losses.hpp"
#include "report/reasons.hpp"

namespace xtts::request {
namespace {

using verify::Check;
using verify::Evidence;
using verify::Outcome;
using verify::Remedy;
using verify::RemedyKind;
using verify::Sign;

struct SignInfo {
  Sign sign;
  std::string_view name;
  // {0} and {1}: the numbers, also {0|row|rows} with a noun; {text}; {first} and {last}: clips;
  // {reason}.
  std::string_view words;
};

// The entries are in the order of the enumeration.
constexpr std::array kSigns{
    SignInfo{Sign::kNothing, "nothing", ""},
    SignInfo{Sign::kNotKnown, "not_known", "unknown"},
    SignInfo{Sign::kNumber, "number", "{0}"},
    SignInfo{Sign::kText, "text", "{text}"},
    SignInfo{Sign::kRows, "rows", "{0|row|rows}"},
    SignInfo{Sign::kBytes, "bytes", "{0|byte|bytes}"},
    SignInfo{Sign::kBytesOfRecords, "bytes_of_records", "{0|byte|bytes} with {1|record|records}"},
    SignInfo{Sign::kCheck, "check", "check {text}"},
    SignInfo{Sign::kIdHash, "id_hash", "id hash {text}"},
    SignInfo{Sign::kShard, "shard", "shard {0}"},
    SignInfo{Sign::kNoSuchFile, "no_such_file", "no such file"},
    SignInfo{Sign::kNoRegularFile, "no_regular_file", "no regular file"},
    SignInfo{Sign::kStatus, "status", "{text}"},
    SignInfo{Sign::kOtherBytes, "other_bytes", "other bytes"},
    SignInfo{Sign::kOtherText, "other_text", "another text"},
    SignInfo{Sign::kSoundBytes, "sound_bytes", "bytes whose check is right"},
    SignInfo{Sign::kReadableRows, "readable_rows", "readable block rows in the index"},
    SignInfo{Sign::kDigestOfName, "digest_of_name", "digest {text}, as its name says"},
    SignInfo{Sign::kDigestOfRows, "digest_of_rows", "{text} of the index's rows"},
    SignInfo{Sign::kIdHashOfHeader, "id_hash_of_header", "id hash {text}, as the header says"},
    SignInfo{Sign::kLmdbStructure, "lmdb_structure",
             "check {text} of LMDB's pages and all else between the regions"},
    SignInfo{Sign::kHdf5Structure, "hdf5_structure",
             "check {text} of HDF5's metadata, lengths, ids and all else between the regions"},
    SignInfo{Sign::kNumberOfManifest, "number_of_manifest", "{0}, as the manifest says"},
    SignInfo{Sign::kNumberOfDetails, "number_of_details", "{0}, as the details say"},
    SignInfo{Sign::kNameOfDetails, "name_of_details", "'{text}', as the details say"},
    SignInfo{Sign::kManifestItself, "manifest_itself", "what manifest.json says"},
    SignInfo{Sign::kCopyOfIndex, "copy_of_index", "a copy of the index, {0|byte|bytes}"},
    SignInfo{Sign::kSectionOfRejects, "section_of_rejects",
             "a copy of the index's section, {0|byte|bytes}"},
    SignInfo{Sign::kTextOfBuild, "text_of_build", "the text of the build, '{text}'"},
    SignInfo{Sign::kTextOfLists, "text_of_lists", "'{text}' in the lists"},
    SignInfo{Sign::kSourceOfBuild, "source_of_build", "the source of the build"},
    SignInfo{Sign::kDamagedRow, "damaged_row",
             "row {0} is damaged, so this shard cannot be checked"},
    SignInfo{Sign::kAscendingHashes, "ascending_hashes", "ascending id hashes"},
    SignInfo{Sign::kRowNotAbove, "row_not_above", "row {0} is not above the one before"},
    SignInfo{Sign::kEachPositionOnce, "each_position_once",
             "each position once among the id hashes"},
    SignInfo{Sign::kPositionInRow, "position_in_row", "position {0} in row {1}"},
    SignInfo{Sign::kPlaceAmongNames, "place_among_names", "{0} of {1|name|names}"},
    SignInfo{Sign::kBlockRowOfShard, "block_row_of_shard", "block row {0} in shard {1}"},
    SignInfo{Sign::kRecordThatIsThere, "record_that_is_there", "a record that is there"},
    SignInfo{Sign::kPlaceNotThere, "place_not_there", "row {0}, slot {1}, which is not"},
    SignInfo{Sign::kEachRecordOnce, "each_record_once", "each record named once"},
    SignInfo{Sign::kPlaceTwice, "place_twice", "row {0}, slot {1} is named twice"},
    SignInfo{Sign::kEachRecordNamed, "each_record_named",
             "each record named by the plan or a tombstone"},
    SignInfo{Sign::kPlaceOfNobody, "place_of_nobody", "row {0}, slot {1} is named by none"},
    SignInfo{Sign::kLostHeader, "lost_header", "{text}; its {0|record|records} cannot be checked"},
    SignInfo{Sign::kLostHeaderOfClips, "lost_header_of_clips",
             "{text}; its {0|record|records} cannot be checked: clips {first} to {last}"},
    SignInfo{Sign::kNotListed, "not_listed", "DATA has no such clip any more"},
    SignInfo{Sign::kOtherPart, "other_part", "it is cut out of another place of its source now"},
    SignInfo{Sign::kSourceUnread, "source_unread", "its source cannot be read"},
    SignInfo{Sign::kSourceChanged, "source_changed", "its source has changed since the build"},
    SignInfo{Sign::kRefused, "refused", "{reason}"},
    SignInfo{Sign::kNoRecord, "no_record", "none: {reason}"},
    SignInfo{Sign::kDecodedOtherwise, "decoded_otherwise",
             "{text}; but this machine decodes or trims the same source in another way, so this "
             "proves nothing"},
    SignInfo{Sign::kNoData, "no_data", "no sources: give --data DATA, the folder of the sources"},
    SignInfo{Sign::kAddedColumn, "added_column", "add_column has added it, from Python"},
    SignInfo{Sign::kCannotStandBeside, "cannot_stand_beside",
             "it would differ in numerics from the other records of its shard"},
    SignInfo{Sign::kLengthNow, "length_now", "it has a length of {0} now, and had {1}"},
    SignInfo{Sign::kOtherFill, "other_fill", "it is padded with another value now"},
    SignInfo{Sign::kBytesOfAnother, "bytes_of_another",
             "it came out with other bytes: digest {text}"},
    SignInfo{Sign::kIndexContradicts, "index_contradicts",
             "its bytes are sound: the index contradicts them"},
    SignInfo{Sign::kContradictsManifest, "contradicts_manifest",
             "its bytes are sound: it contradicts the manifest or itself"},
    SignInfo{Sign::kNoCopyOfIndex, "no_copy_of_index", "copy-of-index.bin is lost or damaged, too"},
    SignInfo{Sign::kNoCopyOfManifest, "no_copy_of_manifest",
             "no index that can be read keeps a copy of it"},
    SignInfo{Sign::kMaybeNewerIndex, "maybe_newer_index", "{text} may be newer"},
    SignInfo{Sign::kLostIndexOfSources, "lost_index_of_sources",
             "sources.bin names {text}, which is lost and may be newer"},
    SignInfo{Sign::kShardOfLostIndex, "shard_of_lost_index",
             "{text} is of generation {0}, whose index is lost"},
    SignInfo{Sign::kShardOfNoIndex, "shard_of_no_index", "{text} is of no known generation"},
    SignInfo{Sign::kRejectsRewritten, "rejects_rewritten", "rewritten from the index"},
    SignInfo{Sign::kClipLeftOut, "clip_left_out", "generation {0} is without {text}"},
    SignInfo{Sign::kReplacedBy, "replaced_by", "replaced by files of generation {0}"},
    SignInfo{Sign::kShardRemade, "shard_remade", "made again, byte for byte"},
    SignInfo{Sign::kShardLeftOut, "shard_left_out",
             "left out of generation {0}: no clip names its records any more"},
    SignInfo{Sign::kLiveRecordsKept, "live_records_kept",
             "made of the {0|record|records} that clips name, in generation {1}"},
    SignInfo{Sign::kIndexRestored, "index_restored", "copied from copy-of-index.bin"},
    SignInfo{Sign::kManifestRemade, "manifest_remade",
             "made again from its copy in {text}, generation {0}"},
};
static_assert(std::ranges::all_of(kSigns, [](const SignInfo& info) {
  return &info == &kSigns[static_cast<std::size_t>(info.sign)];
}));

const SignInfo& info_of(Sign sign) {
  return kSigns.at(static_cast<std::size_t>(sign));
}

// Gives "condition: silent".
std::string in_words(const formats::Reason& reason) {
  return std::string(formats::to_string(stage_of(reason))) + ": " + report::words_of(reason);
}

std::string value_of(std::string_view place, const Evidence& evidence) {
  if (place == "0") return std::to_string(evidence.numbers[0]);
  if (place == "1") return std::to_string(evidence.numbers[1]);
  if (const std::size_t bar = place.find('|'); bar != std::string_view::npos) {
    const std::uint64_t number = evidence.numbers.at(place.front() == '0' ? 0 : 1);
    const std::string_view nouns = place.substr(bar + 1);
    const std::size_t next = nouns.find('|');
    return std::to_string(number) + " " +
           std::string(number == 1 ? nouns.substr(0, next) : nouns.substr(next + 1));
  }
  if (place == "first") return evidence.clips[0];
  if (place == "last") return evidence.clips[1];
  if (place == "reason") return evidence.reason ? in_words(*evidence.reason) : std::string();
  return evidence.text;
}

std::string filled(std::string_view words, const Evidence& evidence) {
  std::string text;
  for (std::size_t open = words.find('{'); open != std::string_view::npos; open = words.find('{')) {
    const std::size_t close = words.find('}', open);
    text += words.substr(0, open);
    text += value_of(words.substr(open + 1, close - open - 1), evidence);
    words.remove_prefix(close + 1);
  }
  return text + std::string(words);
}

std::string in_words(const verify::FoundIndex& index) {
  if (!index.generation) return index.name + " (unreadable)";
  std::string text = index.name + " (generation " + std::to_string(*index.generation);
  if (!index.has_manifest) return text + ", unreadable)";
  return text + ", " + counted(index.record_count, "clip", "clips") + ", " +
         std::to_string(static_cast<std::uint64_t>(index.seconds)) + " s)";
}

std::string in_words(const formats::Numerics& numerics) {
  return numerics.device + " " + numerics.isa + " (" + numerics.libraries + ")";
}

std::string verify_command(const Remedy& remedy) {
  return "xtts-precompute verify " + shell_quoted(remedy.cache);
}

std::string data_word(const Remedy& remedy) {
  return remedy.data.empty() ? "DATA" : shell_quoted(remedy.data);
}

std::string root_options(const Remedy& remedy) {
  std::string text;
  for (const std::string& root : remedy.audio_roots) text += " --audio-root " + shell_quoted(root);
  return text;
}

// A build finds its recipe in the cache.
std::string build_command(const Remedy& remedy) {
  std::string text = "xtts-precompute build " + data_word(remedy) + " " +
                     shell_quoted(remedy.cache) + root_options(remedy);
  if (!remedy.partition.empty()) text += " --partition " + remedy.partition;
  return text + remedy.limits;
}

std::string update_command(const Remedy& remedy) {
  // A published part is never updated.
  if (!remedy.partition.empty()) return build_command(remedy) + " --overwrite";
  std::string text = build_command(remedy);
  if (remedy.gone_share > pipeline::LossLimits().gone)
    text += " --max-gone " + pipeline::limit_that_allows(remedy.gone_share);
  return text + (remedy.is_other_machine ? " --allow-mixed" : "");
}

// A repair finds sources that have not moved by itself.
std::string data_option(const Remedy& remedy) {
  const bool is_found_again = !remedy.data.empty() && remedy.data == remedy.data_before;
  return (is_found_again ? "" : " --data " + data_word(remedy)) + root_options(remedy);
}

}  // namespace

std::string_view name_of(Sign sign) noexcept {
  return info_of(sign).name;
}

std::string words_of(const Evidence& evidence) {
  std::string text = filled(info_of(evidence.sign).words, evidence);
  if (evidence.numerics) {
    text += "; this machine computes with other numerics than the cache's: here " +
            in_words(evidence.numerics->here) + ", cache " + in_words(evidence.numerics->cache);
  }
  if (evidence.indexes.empty()) return text;
  text = "which index is the newest cannot be proved (" + text + "); found: ";
  for (const verify::FoundIndex& index : evidence.indexes)
    text += (&index == evidence.indexes.data() ? "" : ", ") + in_words(index);
  return text;
}

std::string what_of(const verify::Finding& finding) {
  std::string words(name_of(finding.check));
  std::ranges::replace(words, '_', ' ');
  if (!finding.part.empty()) words += " " + finding.part;
  if (finding.outcome == Outcome::kUnreadable) return "unreadable " + words;
  if (finding.outcome == Outcome::kNotRepaired) return "not mended, " + words;
  return words;
}

std::string words_of(const verify::RepairedFile& repair) {
  const std::string why = words_of(repair.why);
  return words_of(repair.done) + (why.empty() ? "" : ": " + why);
}

std::string words_of(const verify::DeepComparison& comparison) {
  if (comparison.tolerant_count == 0) return comparison.exact_count == 0 ? "" : "bit for bit";
  char tolerance[32];
  std::snprintf(tolerance, sizeof tolerance, "%.2g", comparison.tolerance);
  const std::string text = "within a tolerance of " + std::string(tolerance) +
                           ", because numerics differ: cache " +
                           (comparison.cache ? in_words(*comparison.cache) : "another machine") +
                           ", here " + in_words(comparison.here);
  if (comparison.exact_count == 0) return text;
  return "bit for bit for " + counted(comparison.exact_count, "record", "records") +
         ", for the others " + text;
}

std::string command_of(const Remedy& remedy) {
  switch (remedy.kind) {
    case RemedyKind::kLookAtDisk:
      return verify_command(remedy) + (remedy.is_after_repair ? " --repair" : "");
    case RemedyKind::kRepair:
      return verify_command(remedy) + " --repair";
    case RemedyKind::kSources:
      return verify_command(remedy) + " --repair" + data_option(remedy);
    case RemedyKind::kChooseIndex:
      return verify_command(remedy) + " --repair --index " + remedy.index;
    case RemedyKind::kAddColumn:
      return "xtts_precompute.open('" + remedy.cache + "').add_column('" + remedy.column +
             "', FUNCTION, version='ANOTHER')";
    case RemedyKind::kBuild:
      return update_command(remedy);
    case RemedyKind::kLeaveOut: {
      const double share =
          static_cast<double>(remedy.lost_clip_count) / static_cast<double>(remedy.clip_count);
      return verify_command(remedy) + " --repair --max-gone " + pipeline::limit_that_allows(share) +
             (remedy.data.empty() ? "" : data_option(remedy));
    }
    case RemedyKind::kOtherMachine:
      return verify_command(remedy) + (remedy.is_after_repair ? " --repair" : " --level deep") +
             " --data " + data_word(remedy) + root_options(remedy);
    case RemedyKind::kOverwrite:
      break;
  }
  return build_command(remedy) + " --overwrite" + (remedy.is_recipe_lost ? " --recipe NAME" : "");
}

std::string note_of(const Remedy& remedy) {
  switch (remedy.kind) {
    case RemedyKind::kLookAtDisk:
      return "look at permissions and at the disk's health, then";
    case RemedyKind::kRepair:
      return {};
    case RemedyKind::kSources:
      if (!remedy.data.empty()) return {};
      return remedy.data_before.empty()
                 ? "DATA is the folder of the sources"
                 : "DATA is where the sources are now that were in " + remedy.data_before;
    case RemedyKind::kChooseIndex:
      return "this takes the newest index that can be read; name another to take that";
    case RemedyKind::kAddColumn:
      return "in Python, to add the column again";
    case RemedyKind::kBuild:
      return std::string("this computes clips again whose sources have changed") +
             (remedy.gone_share > 0.0 ? ", and takes out those that DATA no longer has" : "");
    case RemedyKind::kLeaveOut:
      return std::to_string(remedy.lost_clip_count) + " of " +
             counted(remedy.clip_count, "clip", "clips") +
             (remedy.lost_clip_count == 1
                  ? " cannot be made again: its record is lost, and its source is gone or makes "
                    "another. This leaves it out of the cache"
                  : " cannot be made again: their records are lost, and their sources are gone or "
                    "make others. This leaves them out of the cache");
    case RemedyKind::kOtherMachine:
      return "on a machine with the cache's numerics";
    case RemedyKind::kOverwrite:
      break;
  }
  return std::string(
             "nothing in the cache can mend it: restore the files from a copy, or compute all "
             "clips again") +
         (remedy.is_recipe_lost ? ". NAME is the recipe that the cache had" : "");
}

}  // namespace xtts::request
