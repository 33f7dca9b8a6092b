// Evidence holds as values what a check expected or found, what a repair did, or why it could not.
// Only request/verify_words.hpp turns it into words, where it is shown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formats/manifest.hpp"
#include "formats/reason.hpp"

namespace xtts::verify {

// The comment of a sign lists the `numbers` and `text` of its evidence.
enum class Sign : std::uint8_t {
  kNothing,
  // Values of the part that Finding::part names, if it names one.
  kNotKnown,
  kNumber,
  kText,
  kRows,
  kBytes,
  kBytesOfRecords,  // bytes, records
  kCheck,           // the check's digits
  kIdHash,          // its digits
  kShard,           // number
  kNoSuchFile,
  kNoRegularFile,
  kStatus,  // what the system or a lower layer says
  kOtherBytes,
  kOtherText,
  // Data that stands elsewhere and should stand here.
  kSoundBytes,
  kReadableRows,
  kDigestOfName,      // its digits
  kDigestOfRows,      // its digits
  kIdHashOfHeader,    // its digits
  kLmdbStructure,     // the check's digits
  kHdf5Structure,     // the check's digits
  kNumberOfManifest,  // number
  kNumberOfDetails,   // number
  kNameOfDetails,     // the name
  kManifestItself,
  kCopyOfIndex,
  kSectionOfRejects,  // bytes
  kTextOfBuild,       // it
  kTextOfLists,       // it
  kSourceOfBuild,
  // The plan contradicts itself.
  kDamagedRow,  // row
  kAscendingHashes,
  kRowNotAbove,  // row
  kEachPositionOnce,
  kPositionInRow,    // position, row
  kPlaceAmongNames,  // place, names
  kBlockRowOfShard,  // row, shard
  kRecordThatIsThere,
  kPlaceNotThere,  // row, slot
  kEachRecordOnce,
  kPlaceTwice,  // row, slot
  kEachRecordNamed,
  kPlaceOfNobody,      // row, slot
  kLostHeader,         // records; what is wrong with it
  kLostHeaderOfClips,  // records; the same, with the first clip and the last
  // Reasons why a record is not made again, or is another one.
  kNotListed,
  kOtherPart,
  kSourceUnread,
  kSourceChanged,
  kRefused,           // by `reason`
  kNoRecord,          // for `reason`
  kDecodedOtherwise,  // the value
  kNoData,
  kAddedColumn,
  kCannotStandBeside,
  kLengthNow,  // rows, those of before
  kOtherFill,
  kBytesOfAnother,  // their digest
  kIndexContradicts,
  kContradictsManifest,
  kNoCopyOfIndex,
  kNoCopyOfManifest,
  // It is not proved which index is the newest: `text` may be newer. The indexes follow it.
  kMaybeNewerIndex,
  kLostIndexOfSources,
  kShardOfLostIndex,  // generation
  kShardOfNoIndex,
  // Results of a repair.
  kRejectsRewritten,
  kClipLeftOut,  // generation; the clip
  kReplacedBy,   // generation
  kShardRemade,
  kShardLeftOut,     // generation
  kLiveRecordsKept,  // records, generation
  kIndexRestored,
  kManifestRemade,  // generation; the index
};

// An index in a cache whose manifest is lost.
struct FoundIndex {
  std::string name;
  std::optional<std::uint64_t> generation = {};  // nothing: it cannot be read
  bool has_manifest = false;                     // a copy that can be read, with these counts
  std::uint64_t record_count = 0;
  double seconds = 0.0;
};

// The numerics of two machines, where they differ.
struct OtherNumerics {
  formats::Numerics here;
  formats::Numerics cache;
};

struct Evidence {
  Evidence() = default;
  Evidence(Sign sign_in) : sign(sign_in) {}
  Evidence(Sign sign_in, std::uint64_t first, std::uint64_t second = 0)
      : sign(sign_in), numbers{first, second} {}
  Evidence(Sign sign_in, std::string text_in, std::uint64_t first = 0)
      : sign(sign_in), numbers{first, 0}, text(std::move(text_in)) {}

  Sign sign = Sign::kNothing;
  std::array<std::uint64_t, 2> numbers = {};
  std::string text = {};
  std::array<std::string, 2> clips = {};       // the first and the last
  std::optional<formats::Reason> reason = {};  // of kRefused and kNoRecord
  std::vector<FoundIndex> indexes = {};        // the highest generation first
  std::optional<OtherNumerics> numerics = {};  // a possible cause
};

[[nodiscard]] inline Evidence refused(formats::Reason reason, Sign sign = Sign::kRefused) {
  Evidence evidence(sign);
  evidence.reason = std::move(reason);
  return evidence;
}

}  // namespace xtts::verify
