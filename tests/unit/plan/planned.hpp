// A plan in a MemoryEnv, its parts and their merge, for tests.
#pragma once

#include <string>
#include <vector>

#include "../pipeline/build_support.hpp"
#include "maintain/merge.hpp"
#include "plan/make_plan.hpp"
#include "request/build_options.hpp"

namespace xtts::testing {

inline const std::string kPlan = "/plan";
inline const std::string kMerged = "/merged";

inline plan::PlanRequest plan_request(const pipeline::BuildRequest& build,
                                      std::uint32_t part_count) {
  plan::PlanRequest request;
  request.build = build;
  request.folder = kPlan;
  request.part_count = part_count;
  return request;
}

inline std::string part_file(std::uint32_t index) {
  return kPlan + "/" + formats::part_file_name(index);
}
inline std::string part_cache(std::uint32_t index) {
  return "/cache-" + formats::part_file_name(index);
}

// The data of these tests have rejects.
inline BuildOptions accepting_losses() {
  return {.max_rejects = "100%", .max_dropped = "100%"};
}

// What `build --part` asks for.
inline Result<pipeline::BuildRequest> part_request(Env& env, std::uint32_t index,
                                                   const BuildOptions& more = accepting_losses()) {
  BuildOptions options = more;
  options.cache = part_cache(index);
  options.part = part_file(index);
  options.thread_count = 1;
  return request::request_of(env, options,
                             {[] { return Result<audio::MakeDecoder>(in_this_process()); }}, {});
}

inline Result<pipeline::BuildReport> build_part(Env& env, std::uint32_t index,
                                                const BuildOptions& more = accepting_losses()) {
  auto request = part_request(env, index, more);
  if (!request) return request.status();
  return run_build(env, *request);
}

// The caches of all parts, the last first.
inline std::vector<std::string> build_all_parts(Env& env, std::uint32_t count) {
  std::vector<std::string> caches;
  for (std::uint32_t index = count; index >= 1; --index) {
    const auto report = build_part(env, index);
    EXPECT_TRUE(report.ok()) << index << ": " << report.status().message();
    caches.push_back(part_cache(index));
  }
  return caches;
}

inline Result<maintain::MergeReport> merge_parts(Env& env, const std::vector<std::string>& parts) {
  return maintain::merge(env, {.to = kMerged, .parts = parts, .max_rejects = {.count = 100}});
}

}  // namespace xtts::testing
