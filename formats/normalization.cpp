#include "formats/normalization.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/manifest_recipe.hpp"

namespace xtts::formats {
namespace {

// The shortest text that reads back as the number: "5.536622", "1e-5" (to_chars writes 1e-05).
std::string number_text(double number) {
  std::array<char, 32> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
  std::string text(buffer.data(), end);
  const auto exponent = text.find('e');
  if (exponent != std::string::npos && text[exponent + 2] == '0') text.erase(exponent + 2, 1);
  return text;
}

// "(x + 5.536622) / 2.116101"
std::string affine_text(double offset, double scale) {
  std::string text = "x";
  if (offset != 0.0) text += (offset < 0.0 ? " + " : " - ") + number_text(std::abs(offset));
  if (scale == 1.0) return text;
  return formatted("{} / {}", offset == 0.0 ? text : formatted("({})", text), number_text(scale));
}

std::string floor_text(const LogConfig& log) {
  if (log.base == LogBase::kNone) return ", no logarithm";
  std::string text = log.mode == LogFloor::kAdd ? formatted(", {} added", number_text(log.floor))
                                                : ", floor " + number_text(log.floor);
  if (log.range > 0.0)
    text += formatted(", at most {} below the clip's largest", number_text(log.range));
  return text;
}

std::string method_text(const NormalizeConfig& normalize) {
  switch (normalize.method) {
    case NormalizeMethod::kNone:
      return "";
    case NormalizeMethod::kAffine:
      return ": " + affine_text(normalize.offset, normalize.scale);
    case NormalizeMethod::kMinMax:
      return " over each clip: (x - min) / max(max - min, 1e-6)";
    case NormalizeMethod::kMeanVariance:
      return " over each clip, each channel by its own: (x - mean) / max(deviation, 1e-5)";
    case NormalizeMethod::kChannels: {
      const bool has_offsets = std::ranges::any_of(normalize.channel_offsets,
                                                   [](double offset) { return offset != 0.0; });
      return formatted(": {}, each channel by its own",
                       has_offsets ? "(x - offset) / scale" : "x / scale");
    }
  }
  return "";
}

std::string normalized_text(const FeatureConfig& features) {
  const std::string of_recipe = method_text(features.normalize);
  if (!features.baked.is_baked())
    return of_recipe.empty() ? ", not normalized" : ", normalized" + of_recipe;
  return (of_recipe.empty() ? ", normalized" : formatted(", normalized{}, then", of_recipe)) +
         " by the corpus: (x - mean) / deviation, each channel by its own";
}

void set_inverse(const NormalizeConfig& normalize, Normalization& made) {
  switch (normalize.method) {
    case NormalizeMethod::kNone:
      made.offset = {0.0};
      made.scale = {1.0};
      return;
    case NormalizeMethod::kAffine:
      made.offset = {normalize.offset};
      made.scale = {normalize.scale};
      return;
    case NormalizeMethod::kChannels:
      made.offset = normalize.channel_offsets;
      made.scale = normalize.channel_scales;
      made.offset.resize(made.scale.size());  // a file of scales alone leaves none
      return;
    case NormalizeMethod::kMinMax:
    case NormalizeMethod::kMeanVariance:
      return;
  }
}

// log = (number * deviation + mean) * scale + offset, in one step.
void undo_baking_first(const BakedConfig& baked, Normalization& made) {
  if (made.scale.empty()) return;
  const std::size_t count = baked.mean.size();
  std::vector<double> offset(count);
  std::vector<double> scale(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double outer_scale = made.scale[made.scale.size() == 1 ? 0 : i];
    const double outer_offset = made.offset[made.offset.size() == 1 ? 0 : i];
    scale[i] = std::max(baked.std_deviation[i], 1e-5) * outer_scale;
    offset[i] = baked.mean[i] * outer_scale + outer_offset;
  }
  made.offset = std::move(offset);
  made.scale = std::move(scale);
}

nlohmann::json one_or_all(const std::vector<double>& values) {
  if (values.empty()) return nullptr;
  return values.size() == 1 ? nlohmann::json(values.front()) : nlohmann::json(values);
}

}  // namespace

std::string log_text(const FeatureConfig& features) {
  const std::string spectrum = features.spectrum == SpectrumKind::kPower ? "power" : "magnitude";
  switch (features.log.base) {
    case LogBase::kNone:
      return spectrum;
    case LogBase::kNatural:
      return "ln " + spectrum;
    case LogBase::kTen:
      return "log10 " + spectrum;
  }
  return spectrum;
}

std::optional<Normalization> normalization_of(const FeatureConfig& features) {
  if (!features.columns.mel) return std::nullopt;
  Normalization made;
  const bool has_log = features.log.base != LogBase::kNone;
  made.log = std::string(name_of(features.log.base));
  made.floor = has_log ? features.log.floor : 0.0;
  made.is_floor_added = has_log && features.log.mode == LogFloor::kAdd;
  made.range = has_log ? features.log.range : 0.0;
  made.method = std::string(name_of(features.normalize.method));
  made.is_baked = features.baked.is_baked();
  set_inverse(features.normalize, made);
  if (made.is_baked) undo_baking_first(features.baked, made);
  made.text = log_text(features) + floor_text(features.log) + normalized_text(features);
  return made;
}

Result<std::optional<Normalization>> normalization_of(const Manifest& manifest) {
  XTTS_ASSIGN(const FeatureConfig features, feature_config_from_json(manifest.features));
  return normalization_of(features);
}

nlohmann::json to_json(const std::optional<Normalization>& normalization) {
  if (!normalization) return nullptr;
  return {{"text", normalization->text},
          {"log", normalization->log},
          {"floor", normalization->floor},
          {"floor_mode", normalization->is_floor_added ? "add" : "clamp"},
          {"range", normalization->range},
          {"method", normalization->method},
          {"baked", normalization->is_baked},
          {"offset", one_or_all(normalization->offset)},
          {"scale", one_or_all(normalization->scale)}};
}

}  // namespace xtts::formats
