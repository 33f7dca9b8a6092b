// PlannedPart: one part of a plan (plan-v1.md), as a build takes it in place of a listing of DATA.
// Free functions; they only read. One thread at a time. Memory: about 300 bytes a clip of the part,
// and its texts. Failures: kNotFound (no plan, no such part), kCorrupt, kUnsupported, kMismatch (a
// file of another plan), kInvalidArgument, kResource.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/env.hpp"
#include "corpus/corpus.hpp"
#include "formats/plan.hpp"
#include "pipeline/partition_choice.hpp"
#include "xtts/status.hpp"

namespace xtts::pipeline {

struct BuildRequest;

struct PlannedPart {
  std::string path;  // of the part file, as the caller named it: PLAN/0007
  PartitionChoice choice;
  formats::Plan plan;

  [[nodiscard]] const formats::PlanPart& facts() const { return plan.parts[choice.index - 1]; }
  // Clips and rejects of all parts: what a share of losses is of.
  [[nodiscard]] std::uint64_t considered_count() const noexcept {
    return plan.clip_count() + plan.reject_count();
  }
};

// Reads plan.json beside the part file, and not yet the file itself.
[[nodiscard]] Result<PlannedPart> open_part(Env& env, const std::string& path);

// The part's clips and rejects, with sources below the folders of `request`, which may not be those
// of the plan. Sizes are those of the plan; times and inodes are unset.
[[nodiscard]] Result<corpus::Corpus> read_part(Env& env, const BuildRequest& request);

// Asks for size, times and inode of each source. Returns a note where sources have other sizes than
// the plan says. A source that is not there keeps what the plan says: the build makes a reject of
// it.
[[nodiscard]] std::optional<std::string> look_at_sources(Env& env, corpus::Corpus& corpus);

// kMismatch, with both sides: this machine computes other bits than the plan is for.
[[nodiscard]] Status check_numerics_of_plan(const PlannedPart& part, const formats::Numerics& here);

}  // namespace xtts::pipeline
