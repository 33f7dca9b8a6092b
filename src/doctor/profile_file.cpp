#include "doctor/profile_file.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/try.hpp"

namespace xtts::doctor {
namespace {

using nlohmann::json;

constexpr std::uint64_t kBytesMax = std::uint64_t{4} << 20U;

Status no_profile(const std::string& path, const std::string& why) {
  return {StatusCode::kInvalidArgument,
          path + " is no profile (" + why +
              "): write one with `xtts-precompute profile --loader M:N --step M:N --json`, or with "
              "report.save(\"profile.json\") of xp.StepProfiler"};
}

std::optional<double> pointed_number(const json& document, const std::string& pointer) {
  const json::json_pointer place(pointer);
  if (!document.contains(place) || !document.at(place).is_number()) return std::nullopt;
  return document.at(place).get<double>();
}

// The mean of N steps is known to two standard errors.
std::optional<Range> range_of_mean(const json& document, const std::string& times,
                                   const std::string& count) {
  const auto mean = pointed_number(document, times + "/mean");
  if (!mean || !(*mean > 0.0)) return std::nullopt;
  const double steps = std::max(pointed_number(document, count).value_or(1.0), 1.0);
  const double error =
      2.0 * pointed_number(document, times + "/std").value_or(0.0) / std::sqrt(steps);
  return Range{std::max(*mean - error, *mean / 2.0), *mean + error};
}

}  // namespace

Result<ProfileFacts> read_profile(Env& env, const std::string& path) {
  XTTS_ASSIGN(const std::string text, read_text_file(env, path, kBytesMax));
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) return no_profile(path, "it is no JSON object");
  const auto step = pointed_number(document, "/step/ms/mean");
  if (!step) return no_profile(path, "it has no step.ms.mean");
  ProfileFacts facts;
  facts.step_ms = range_of_mean(document, "/synthetic/step/ms", "/synthetic/steps");
  facts.data_share = pointed_number(document, "/synthetic/data_share");
  if (!facts.data_share) facts.data_share = pointed_number(document, "/data/share");
  if (!facts.step_ms && facts.data_share && *step > 0.0) {
    // Without steps on one batch, what is not waiting counts as the step's own.
    const double own = *step * (1.0 - std::min(*facts.data_share, 0.99));
    facts.step_ms = Range{own * 0.8, own};
  }
  const auto cache = document.find("cache");
  if (cache != document.end() && cache->is_string()) {
    facts.data_share.reset();
  } else {
    facts.real_step_ms = range_of_mean(document, "/step/ms", "/steps");
  }
  if (const auto size = pointed_number(document, "/batch_size");
      size && *size >= 1.0 && *size < 1e6)
    facts.batch_size = static_cast<std::uint32_t>(*size);
  const auto device = document.find("device");
  facts.is_on_cpu = device != document.end() && *device == "cpu";
  facts.gpu_utilization = pointed_number(document, "/gpu/utilization/mean");
  facts.gpu_utilization_std = pointed_number(document, "/gpu/utilization/std");
  return facts;
}

}  // namespace xtts::doctor
