#include "recipe/trainer_sound.hpp"

#include <string>

#include "formats/feature_config.hpp"
#include "recipe/key_codec.hpp"

namespace xtts::recipe {
namespace {

using formats::FeatureConfig;
using formats::LoudnessConfig;
using formats::LoudnessMethod;
using formats::TrimMethod;

bool trims(const FeatureConfig& features) {
  return features.trim.method == TrimMethod::kTopDb;
}
bool sets_rms(const FeatureConfig& features) {
  return features.loudness.method == LoudnessMethod::kRms;
}
bool sets_peak(const FeatureConfig& features) {
  return features.loudness.method == LoudnessMethod::kPeak || features.loudness.then_peak_to_one;
}

void set_trim(bool on, FeatureConfig& features) {
  if (on == trims(features)) return;
  features.trim = {};
  if (!on) return;
  features.trim = {.method = TrimMethod::kTopDb,
                   .top_db = 20.0,
                   .frame_samples = features.stft.win_samples,
                   .hop_samples = features.stft.hop_samples};
}

void set_loudness(bool rms, bool peak, FeatureConfig& features) {
  if (rms == sets_rms(features) && peak == sets_peak(features)) return;
  features.loudness = {};
  if (rms) {
    features.loudness = {.method = LoudnessMethod::kRms,
                         .target = 0.1,
                         .limit_peak = true,
                         .then_peak_to_one = peak};
  } else if (peak) {
    features.loudness.method = LoudnessMethod::kPeak;
    features.loudness.target = 1.0;
  }
}

std::string describe_trim(const FeatureConfig& features) {
  if (!trims(features)) return "features.trim.method = none";
  return "features.trim.method = top_db, top_db = " + Codec<double>::print(features.trim.top_db);
}

std::string describe_loudness(const FeatureConfig& features) {
  const LoudnessConfig& loudness = features.loudness;
  std::string text = "features.loudness.method = " + Codec<LoudnessMethod>::print(loudness.method);
  if (loudness.method != LoudnessMethod::kNone)
    text += ", target = " + Codec<double>::print(loudness.target);
  if (loudness.then_peak_to_one) text += ", then_peak_to_one = true";
  return text;
}

// Half the rate, whole hertz, as Python's sample_rate // 2.
double trainer_f_max_hz(std::uint32_t sample_rate_hz) {
  const std::uint32_t half = sample_rate_hz / 2;
  return half;
}

}  // namespace

bool is_sound_switch(std::string_view name) {
  return name == "data.trim_silence" || name == "data.normalize_audio" ||
         name == "data.enable_loudness_normalization";
}

void apply_sound_switches(const SoundSwitches& switches, formats::Recipe& recipe) {
  FeatureConfig& features = *recipe.features;
  if (!switches.normalize.value_or(true)) {
    set_trim(false, features);
    set_loudness(false, false, features);
    return;
  }
  set_trim(switches.trim.value_or(trims(features)), features);
  set_loudness(switches.loudness.value_or(sets_rms(features)),
               switches.normalize.value_or(sets_peak(features)), features);
}

TrainerKey describe_sound_switch(std::string_view name, const SoundSwitches& switches,
                                 const formats::Recipe& recipe) {
  const bool off = !switches.normalize.value_or(true);
  if (name == "data.normalize_audio") {
    return {
        std::string(name), KeyClass::kHonoured,
        describe_loudness(*recipe.features) + (off ? " and features.trim.method = none: without "
                                                     "it the trainer neither trims nor scales"
                                                   : "")};
  }
  if (off) {
    return {std::string(name), KeyClass::kNoEffect,
            "normalize_audio is false, so the trainer does not do it"};
  }
  const std::string note = name == "data.trim_silence" ? describe_trim(*recipe.features)
                                                       : describe_loudness(*recipe.features);
  return {std::string(name), KeyClass::kHonoured, note};
}

void sample_rate_and_trim_follow(const formats::Recipe& base, formats::Recipe& recipe) {
  const FeatureConfig& before = *base.features;
  FeatureConfig& after = *recipe.features;
  if (before.mel.f_max_hz == trainer_f_max_hz(before.sample_rate_hz)) {
    after.mel.f_max_hz = trainer_f_max_hz(after.sample_rate_hz);
  }
  if (!trims(after)) return;
  if (before.trim.frame_samples == before.stft.win_samples)
    after.trim.frame_samples = after.stft.win_samples;
  if (before.trim.hop_samples == before.stft.hop_samples)
    after.trim.hop_samples = after.stft.hop_samples;
}

}  // namespace xtts::recipe
