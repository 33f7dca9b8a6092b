// Converts a reject to the library's public type. A pure function.
#pragma once

#include "formats/reject.hpp"
#include "formats/rules.hpp"
#include "report/reasons.hpp"
#include "xtts/builder.hpp"

namespace xtts {

[[nodiscard]] inline RejectedClip public_reject(const formats::Reject& reject) {
  const formats::RuleInfo& rule = formats::info_of(reject.reason.rule);
  RejectedClip shown{.kind = std::string(formats::to_string(reject.kind)),
                     .stage = std::string(formats::to_string(reject.stage())),
                     .id = reject.id,
                     .place = formats::place_of(reject),
                     .reason = report::words_of(reject),
                     .rule = formats::name_of(reject.reason),
                     .about = reject.reason.detail};
  for (std::size_t i = 0; i < rule.numbers.size(); ++i) {
    if (!rule.numbers[i].empty()) shown.numbers.emplace(rule.numbers[i], reject.reason.numbers[i]);
  }
  return shown;
}

}  // namespace xtts
