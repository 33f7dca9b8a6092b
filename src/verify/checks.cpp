#include "verify/checks.hpp"

#include <array>
#include <cstddef>

namespace xtts::verify {
namespace {

// The entries are in the order of the enumeration.
constexpr std::array kChecks{
    CheckInfo{Check::kFile, "file"},
    CheckInfo{Check::kMissingFile, "missing_file"},
    CheckInfo{Check::kFileSize, "file_size"},
    CheckInfo{Check::kManifest, "manifest"},
    CheckInfo{Check::kManifestCopy, "copy_of_the_manifest"},
    CheckInfo{Check::kIndexCopy, "copy_of_the_index"},
    CheckInfo{Check::kRejects, "rejects"},
    CheckInfo{Check::kIndex, "index"},
    CheckInfo{Check::kIndexChunk, "index_chunk"},
    CheckInfo{Check::kPlan, "plan"},
    CheckInfo{Check::kBlockTable, "block_table"},
    CheckInfo{Check::kBlockHeader, "block_header"},
    CheckInfo{Check::kRecord, "record"},
    CheckInfo{Check::kFacts, "facts"},
    CheckInfo{Check::kStructure, "structure"},
    CheckInfo{Check::kShard, "shard"},
    CheckInfo{Check::kSource, "source"},
    CheckInfo{Check::kText, "text"},
    CheckInfo{Check::kRecomputed, "recomputed"},
};

}  // namespace

std::span<const CheckInfo> all_checks() noexcept {
  return kChecks;
}

std::string_view name_of(Check check) noexcept {
  return kChecks.at(static_cast<std::size_t>(check)).name;
}

std::string_view name_of(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kUnreadable:
      return "unreadable";
    case Outcome::kNotRepaired:
      return "not_mended";
  }
  return "";
}

std::string_view name_of(RemedyKind kind) noexcept {
  switch (kind) {
    case RemedyKind::kLookAtDisk:
      return "look_at_disk";
    case RemedyKind::kRepair:
      return "repair";
    case RemedyKind::kSources:
      return "sources";
    case RemedyKind::kChooseIndex:
      return "choose_index";
    case RemedyKind::kAddColumn:
      return "add_column";
    case RemedyKind::kBuild:
      return "build";
    case RemedyKind::kLeaveOut:
      return "leave_out";
    case RemedyKind::kOtherMachine:
      return "other_machine";
    case RemedyKind::kOverwrite:
      return "overwrite";
  }
  return "";
}

}  // namespace xtts::verify
