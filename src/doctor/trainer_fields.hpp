// The keys of the trainer's config.yaml, with their types and defaults: the rows of keys.yaml in
// the trainer's folder (src/python/xtts_advise/trainers) that have a type. The trainer stops at any
// other key (TypeError in XTTSConfig.from_yaml). Read once; immutable.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::doctor {

enum class FieldKind : std::uint8_t { kInt, kFloat, kBool, kText, kList, kMap };
enum class FieldNull : std::uint8_t { kNeeded, kMayBeNull };
// kUnused: no code in myxtts/ reads the field, or what reads it changes nothing.
enum class FieldUse : std::uint8_t { kUsed, kUnused };

struct TrainerField {
  std::string name;  // "data.batch_size"
  FieldKind kind = FieldKind::kText;
  std::string trainer_default;  // as YAML writes it; empty: null, or made by the code
  FieldNull null = FieldNull::kNeeded;
  FieldUse use = FieldUse::kUsed;
};

[[nodiscard]] std::span<const TrainerField> trainer_fields();
[[nodiscard]] const TrainerField* find_trainer_field(std::string_view name);
// "model", "data", "training".
[[nodiscard]] std::vector<std::string> trainer_sections();

// Says where a key lives that this version of the trainer does not have. Empty: nowhere known.
[[nodiscard]] std::string_view home_of_foreign_key(std::string_view name);

// The key of python -m xtts_precompute.myxtts, which takes it out of what the trainer reads.
inline constexpr std::string_view kLauncherKey = "data.preprocessing_mode";

}  // namespace xtts::doctor
