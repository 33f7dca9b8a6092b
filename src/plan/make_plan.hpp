// make_plan: lists DATA once, and decides for all parts of a cache what each of them makes
// (plan-v1.md). `xtts-precompute plan` is this function; README.md beside it has the steps.
//
// kill -9 at any moment leaves no plan, or a whole one; the same call begins again. One thread at a
// time in a folder: kBusy. Failures: those of a build before it decodes, and kMismatch where PLAN
// holds another plan.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/env.hpp"
#include "formats/plan.hpp"
#include "formats/reject.hpp"
#include "pipeline/build_request.hpp"
#include "pipeline/chosen_lengths.hpp"
#include "plan/shared_sources.hpp"
#include "xtts/status.hpp"

namespace xtts::plan {

struct PlanRequest {
  // What a build of the whole would be asked for. `options.cache` is not looked at.
  pipeline::BuildRequest build;
  std::string folder;  // PLAN
  std::uint32_t part_count = 1;
  bool overwrite = false;  // replaces another plan
  std::function<void(const std::string& text)> notice = {};
  std::function<bool()> cancelled = {};
  // `total`: clips that DATA names; 0 while they are listed.
  std::function<void(const char* step, std::uint64_t done, std::uint64_t total)> progress = {};
};

struct PlanReport {
  bool unchanged = false;  // PLAN holds the plan of this request; the members below it are unset
  formats::Plan plan;
  pipeline::ChosenLengths lengths;
  std::optional<double> sound_seconds;  // set where the lists tell the length of each clip
  std::uint64_t refused_text_count = 0;
  std::vector<formats::Reject> rejects;  // some, for a person
  std::vector<std::string> notes;
  std::map<std::string, std::uint64_t> unknown_characters;
  SharedSources shared;
};

[[nodiscard]] Result<PlanReport> make_plan(Env& env, const PlanRequest& request);

}  // namespace xtts::plan
