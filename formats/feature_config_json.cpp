#include "formats/feature_config_json.hpp"

#include "formats/section_members.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

void copy_columns(SectionMembers& members, FeatureConfig& config) {
  SectionMembers columns = members.object_if_there("columns");
  columns.copy_if_there("mel", config.columns.mel);
  columns.copy_if_there("linear", config.columns.linear);
  columns.copy_if_there("wave", config.columns.wave);
  columns.copy_if_there("energy", config.columns.energy);
}

void copy_sound(SectionMembers& members, FeatureConfig& config) {
  members.copy("sample_rate_hz", config.sample_rate_hz);
  members.copy("channels", config.channels);
  members.copy("resampler", config.resampler);
  SectionMembers trim = members.object("trim");
  trim.copy("method", config.trim.method);
  trim.copy("top_db", config.trim.top_db);
  trim.copy("frame_samples", config.trim.frame_samples);
  trim.copy("hop_samples", config.trim.hop_samples);
  SectionMembers loudness = members.object("loudness");
  loudness.copy("method", config.loudness.method);
  loudness.copy("target", config.loudness.target);
  loudness.copy("limit_peak", config.loudness.limit_peak);
  loudness.copy("then_peak_to_one", config.loudness.then_peak_to_one);
  loudness.copy_if_there("rms_plus", config.loudness.rms_plus);
  loudness.copy_if_there("clip", config.loudness.clip);
  loudness.copy_if_there("rounding", config.loudness.rounding);
  members.copy_if_there("sample_scale", config.sample_scale);
  SectionMembers zeros = members.object_if_there("zeros");
  zeros.copy_if_there("front_samples", config.zeros.front_samples);
  zeros.copy_if_there("back_samples", config.zeros.back_samples);
  zeros.copy_if_there("multiple_samples", config.zeros.multiple_samples);
}

void copy_spectrum(SectionMembers& members, FeatureConfig& config) {
  SectionMembers stft = members.object("stft");
  stft.copy("n_fft", config.stft.n_fft);
  stft.copy("win_samples", config.stft.win_samples);
  stft.copy("hop_samples", config.stft.hop_samples);
  stft.copy("window", config.stft.window);
  stft.copy("symmetry", config.stft.symmetry);
  stft.copy("framing", config.stft.framing);
  stft.copy("pad_mode", config.stft.pad_mode);
  stft.copy_if_there("remove_dc", config.stft.remove_dc);
  stft.copy_if_there("preemphasis", config.stft.preemphasis);
  stft.copy_if_there("drop_last", config.stft.drop_last);
  stft.copy_if_there("multiple_frames", config.stft.multiple_frames);
  members.copy("spectrum", config.spectrum);
  members.copy("spectrum_floor", config.spectrum_floor);
  SectionMembers mel = members.object("mel");
  mel.copy("n_mels", config.mel.n_mels);
  mel.copy("f_min_hz", config.mel.f_min_hz);
  mel.copy("f_max_hz", config.mel.f_max_hz);
  mel.copy("scale", config.mel.scale);
  mel.copy("norm", config.mel.norm);
  mel.copy_if_there("triangles", config.mel.triangles);
  mel.copy_if_there("bins_rate_hz", config.mel.bins_rate_hz);
}

void copy_values(SectionMembers& members, FeatureConfig& config) {
  SectionMembers log = members.object("log");
  log.copy("base", config.log.base);
  log.copy("mode", config.log.mode);
  log.copy("floor", config.log.floor);
  log.copy_if_there("range", config.log.range);
  SectionMembers normalize = members.object("normalize");
  normalize.copy("method", config.normalize.method);
  normalize.copy("offset", config.normalize.offset);
  normalize.copy("scale", config.normalize.scale);
  normalize.copy_if_there("channel_offsets", config.normalize.channel_offsets);
  normalize.copy_if_there("channel_scales", config.normalize.channel_scales);
  members.copy("max_frames", config.max_frames);
  members.copy_if_there("pad", config.pad);
  members.copy("pad_value", config.pad_value);
  members.copy("precision", config.precision);
}

void copy_baked(SectionMembers& members, FeatureConfig& config) {
  SectionMembers baked = members.object_if_there("baked");
  baked.copy_if_there("dtype", config.baked.dtype);
  baked.copy_if_there("mean", config.baked.mean);
  baked.copy_if_there("std", config.baked.std_deviation);
}

// What is computed with without asking again.
std::string find_problem(const FeatureConfig& config) {
  const BakedConfig& baked = config.baked;
  if (baked.mean.empty() && baked.std_deviation.empty()) return {};
  const std::size_t count = config.channel_count();
  if (baked.mean.size() != count || baked.std_deviation.size() != count)
    return "features.baked is not of " + std::to_string(count) + " channels";
  const bool is_float = baked.dtype == DType::kFloat32 || baked.dtype == DType::kFloat16 ||
                        baked.dtype == DType::kBFloat16;
  return is_float ? "" : "features.baked.dtype is no float type";
}

}  // namespace

Result<FeatureConfig> feature_config_from_json(const json& features) {
  FeatureConfig config;
  std::string problem;
  SectionMembers members(features, "features", problem);
  copy_columns(members, config);
  copy_sound(members, config);
  copy_spectrum(members, config);
  copy_values(members, config);
  members.copy("too_long", config.too_long);
  copy_baked(members, config);
  if (problem.empty()) problem = find_problem(config);
  if (!problem.empty()) return Status(StatusCode::kUnsupported, problem);
  return config;
}

}  // namespace xtts::formats
