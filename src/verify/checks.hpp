// Checks: a row for each check of verify (README.md says what each compares). A finding names its
// check; request/verify_words.hpp turns it into words.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace xtts::verify {

enum class Check : std::uint8_t {
  kFile,
  kMissingFile,
  kFileSize,
  kManifest,
  kManifestCopy,
  kIndexCopy,
  kRejects,
  kIndex,
  kIndexChunk,
  kPlan,
  kBlockTable,
  kBlockHeader,
  kRecord,
  kFacts,
  kStructure,
  kShard,
  kSource,
  kText,
  kRecomputed,
};

struct CheckInfo {
  Check check;
  std::string_view name;  // "block_header", as --json has it
};
[[nodiscard]] std::span<const CheckInfo> all_checks() noexcept;
[[nodiscard]] std::string_view name_of(Check check) noexcept;

// The outcome of a check.
enum class Outcome : std::uint8_t {
  kWrong,
  kUnreadable,   // the bytes could not be read: they may be sound on a disk that is not
  kNotRepaired,  // a repair has tried
};

[[nodiscard]] std::string_view name_of(Outcome outcome) noexcept;

// The remedies for findings, the cheapest first.
enum class RemedyKind : std::uint8_t {
  kLookAtDisk,    // a file that cannot be read: permissions, or a disk that dies
  kRepair,        // verify --repair, from the cache alone
  kSources,       // verify --repair, from the sources where it must
  kChooseIndex,   // verify --repair, told which index is the newest
  kAddColumn,     // a record of a column that no build makes
  kBuild,         // sources that have changed: the next build
  kLeaveOut,      // nothing makes the record again: a repair that leaves its clip out
  kOtherMachine,  // one with the cache's numerics
  kOverwrite,     // a copy of the files, or all from the beginning
};

[[nodiscard]] std::string_view name_of(RemedyKind kind) noexcept;

}  // namespace xtts::verify
