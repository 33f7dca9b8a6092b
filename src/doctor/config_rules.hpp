// The rules of `config check`: one table. Each rule says when it applies, what is wrong, how that
// is known, and which values mend it. What a rule claims about the trainer holds for
// masoodafar-web/MyXTTSModel at 7e78353, whose code was read for it. Constants.
//
// A key that the trainer's code never reads has no rule: it gets no promise (trainer_fields.hpp).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "doctor/check.hpp"
#include "doctor/config_facts.hpp"

namespace xtts::doctor {

// When a rule is judged at all.
enum class RuleNeeds : std::uint8_t {
  kNothing,
  kNoCache,  // it concerns loading, which a cache replaces
  kGpu,      // it compares with the memory of a known GPU
  kGpuAndNoCache,
  kGpuCount,
};

// A value of "" makes a comment of the key's line.
struct RuleChange {
  std::string_view key;
  std::string_view value;  // may hold {placeholders}
};

// How many times as fast, as a document says. Zeros: no document and no measurement has a figure.
struct RuleGain {
  double low = 0;
  double high = 0;
};

struct ConfigRule {
  std::string_view name;  // "graph-mode"
  std::string_view key;   // the finding names its line
  RuleNeeds needs;
  bool (*applies)(const ConfigFacts& facts);
  CheckStatus status;
  std::string_view text;    // what is wrong; may hold {placeholders}, as ConfigFacts::filled() has
  std::string_view source;  // how it is known, and what it costs: measured, documented or neither
  std::string_view remedy;
  RuleGain gain = {};
  std::array<RuleChange, 2> changes = {};  // an empty key: none
};

[[nodiscard]] std::span<const ConfigRule> config_rules();

}  // namespace xtts::doctor
