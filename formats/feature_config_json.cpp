#include "formats/feature_config_json.hpp"

#include "formats/enum_names.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

// Copies members out of an object; the first problem is kept and makes what follows keep its
// default.
class Members {
 public:
  Members(const json& object, std::string path, std::string& problem)
      : object_(object), path_(std::move(path)), problem_(problem) {
    if (!object_.is_object() && problem_.empty()) problem_ = path_ + " is not an object";
  }

  template <typename T>
  void copy(const char* key, T& target) {
    const json* value = find(key);
    if (value == nullptr) return;
    if constexpr (std::is_enum_v<T>) {
      const auto parsed =
          value->is_string() ? parse_enum<T>(value->get<std::string>()) : std::nullopt;
      parsed ? void(target = *parsed) : refuse(key);
    } else if constexpr (std::is_same_v<T, bool>) {
      value->is_boolean() ? void(target = value->get<bool>()) : refuse(key);
    } else if constexpr (std::is_same_v<T, double>) {
      value->is_number() ? void(target = value->get<double>()) : refuse(key);
    } else if constexpr (std::is_same_v<T, std::string>) {
      value->is_string() ? void(target = value->get<std::string>()) : refuse(key);
    } else {
      value->is_number_unsigned() ? void(target = value->get<T>()) : refuse(key);
    }
  }

  Members object(const char* key) {
    static const json kEmpty = json::object();
    const json* value = find(key);
    return {value == nullptr ? kEmpty : *value, path_ + "." + key, problem_};
  }

 private:
  const json* find(const char* key) {
    if (!problem_.empty()) return nullptr;
    const auto found = object_.find(key);
    if (found != object_.end()) return &*found;
    refuse(key);
    return nullptr;
  }
  void refuse(const char* key) {
    if (problem_.empty()) problem_ = path_ + "." + key + " is missing or unknown to this version";
  }

  const json& object_;
  std::string path_;
  std::string& problem_;
};

void copy_sound(Members& members, FeatureConfig& config) {
  members.copy("sample_rate_hz", config.sample_rate_hz);
  members.copy("channels", config.channels);
  members.copy("resampler", config.resampler);
  Members trim = members.object("trim");
  trim.copy("method", config.trim.method);
  trim.copy("top_db", config.trim.top_db);
  trim.copy("frame_samples", config.trim.frame_samples);
  trim.copy("hop_samples", config.trim.hop_samples);
  Members loudness = members.object("loudness");
  loudness.copy("method", config.loudness.method);
  loudness.copy("target", config.loudness.target);
  loudness.copy("limit_peak", config.loudness.limit_peak);
  loudness.copy("then_peak_to_one", config.loudness.then_peak_to_one);
}

void copy_spectrum(Members& members, FeatureConfig& config) {
  Members stft = members.object("stft");
  stft.copy("n_fft", config.stft.n_fft);
  stft.copy("win_samples", config.stft.win_samples);
  stft.copy("hop_samples", config.stft.hop_samples);
  stft.copy("window", config.stft.window);
  stft.copy("symmetry", config.stft.symmetry);
  stft.copy("framing", config.stft.framing);
  stft.copy("pad_mode", config.stft.pad_mode);
  members.copy("spectrum", config.spectrum);
  members.copy("spectrum_floor", config.spectrum_floor);
  Members mel = members.object("mel");
  mel.copy("n_mels", config.mel.n_mels);
  mel.copy("f_min_hz", config.mel.f_min_hz);
  mel.copy("f_max_hz", config.mel.f_max_hz);
  mel.copy("scale", config.mel.scale);
  mel.copy("norm", config.mel.norm);
}

void copy_values(Members& members, FeatureConfig& config) {
  Members log = members.object("log");
  log.copy("base", config.log.base);
  log.copy("mode", config.log.mode);
  log.copy("floor", config.log.floor);
  Members normalize = members.object("normalize");
  normalize.copy("method", config.normalize.method);
  normalize.copy("offset", config.normalize.offset);
  normalize.copy("scale", config.normalize.scale);
  members.copy("max_frames", config.max_frames);
  members.copy("pad_value", config.pad_value);
  members.copy("precision", config.precision);
}

}  // namespace

Result<FeatureConfig> feature_config_from_json(const json& features) {
  FeatureConfig config;
  std::string problem;
  Members members(features, "features", problem);
  copy_sound(members, config);
  copy_spectrum(members, config);
  copy_values(members, config);
  const auto too_long = features.find("too_long");
  if (problem.empty() && too_long != features.end() && !too_long->is_null()) {
    members.copy("too_long", config.too_long.emplace());
  }
  if (!problem.empty()) return Status(StatusCode::kUnsupported, problem);
  return config;
}

}  // namespace xtts::formats
