// The three switches of the trainer that decide together what happens to the sound, and what
// follows from its rate and window. From MyXTTSModel: ljspeech.py calls preprocess_audio only where
// normalize_audio is true, and that trims, sets the loudness and divides by the peak; audio.py
// trims with frames of win_length and hop_length and ends the mel filters at sample_rate // 2. Pure
// functions.
#pragma once

#include <optional>
#include <string_view>

#include "recipe/trainer_config.hpp"

namespace xtts::recipe {

struct SoundSwitches {
  std::optional<bool> trim;       // data.trim_silence
  std::optional<bool> normalize;  // data.normalize_audio
  std::optional<bool> loudness;   // data.enable_loudness_normalization
};

[[nodiscard]] bool is_sound_switch(std::string_view name);

// Values that no switch asks for stay as the recipe has them.
void apply_sound_switches(const SoundSwitches& switches, formats::Recipe& recipe);
[[nodiscard]] TrainerKey describe_sound_switch(std::string_view name, const SoundSwitches& switches,
                                               const formats::Recipe& recipe);

// `recipe` has the rate, window and hop of the config; `base` those before.
void sample_rate_and_trim_follow(const formats::Recipe& base, formats::Recipe& recipe);

}  // namespace xtts::recipe
