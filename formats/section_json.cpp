// The four sections as JSON: every field, named as in recipes, enumerators by
// formats/enum_names.hpp, what is not set as null. The fingerprint of every cache ever made hangs
// on what is written here. So fields that came after the first caches are written only where they
// differ from their default: what a recipe without them makes is what it made before.
#include "formats/canonical_json.hpp"
#include "formats/enum_names.hpp"

namespace xtts::formats {
namespace {

using nlohmann::json;

template <typename Enum>
json named(Enum value) {
  return std::string(name_of(value));
}

// A field of later days. Sections without any are left out.
template <typename Value>
void put(json& object, const char* name, const Value& value, const Value& unset) {
  if (value == unset) return;
  if constexpr (std::is_enum_v<Value>) {
    object[name] = named(value);
  } else {
    object[name] = value;
  }
}

json to_json(const ColumnsConfig& columns) {
  const ColumnsConfig unset;
  json object = json::object();
  put(object, "mel", columns.mel, unset.mel);
  put(object, "linear", columns.linear, unset.linear);
  put(object, "wave", columns.wave, unset.wave);
  put(object, "energy", columns.energy, unset.energy);
  return object;
}

json to_json(const TrimConfig& trim) {
  return {{"method", named(trim.method)},
          {"top_db", trim.top_db},
          {"frame_samples", trim.frame_samples},
          {"hop_samples", trim.hop_samples}};
}

json to_json(const LoudnessConfig& loudness) {
  const LoudnessConfig unset;
  json object = {{"method", named(loudness.method)},
                 {"target", loudness.target},
                 {"limit_peak", loudness.limit_peak},
                 {"then_peak_to_one", loudness.then_peak_to_one}};
  put(object, "rms_plus", loudness.rms_plus, unset.rms_plus);
  put(object, "clip", loudness.clip, unset.clip);
  put(object, "rounding", loudness.rounding, unset.rounding);
  return object;
}

json to_json(const ZerosConfig& zeros) {
  const ZerosConfig unset;
  json object = json::object();
  put(object, "front_samples", zeros.front_samples, unset.front_samples);
  put(object, "back_samples", zeros.back_samples, unset.back_samples);
  put(object, "multiple_samples", zeros.multiple_samples, unset.multiple_samples);
  return object;
}

json to_json(const StftConfig& stft) {
  const StftConfig unset;
  json object = {{"n_fft", stft.n_fft},
                 {"win_samples", stft.win_samples},
                 {"hop_samples", stft.hop_samples},
                 {"window", named(stft.window)},
                 {"symmetry", named(stft.symmetry)},
                 {"framing", named(stft.framing)},
                 {"pad_mode", named(stft.pad_mode)}};
  put(object, "remove_dc", stft.remove_dc, unset.remove_dc);
  put(object, "preemphasis", stft.preemphasis, unset.preemphasis);
  put(object, "drop_last", stft.drop_last, unset.drop_last);
  put(object, "multiple_frames", stft.multiple_frames, unset.multiple_frames);
  return object;
}

json to_json(const MelConfig& mel) {
  const MelConfig unset;
  json object = {{"n_mels", mel.n_mels},
                 {"f_min_hz", mel.f_min_hz},
                 {"f_max_hz", mel.f_max_hz},
                 {"scale", named(mel.scale)},
                 {"norm", named(mel.norm)}};
  put(object, "triangles", mel.triangles, unset.triangles);
  put(object, "bins_rate_hz", mel.bins_rate_hz, unset.bins_rate_hz);
  return object;
}

json to_json(const LogConfig& log) {
  json object = {{"base", named(log.base)}, {"mode", named(log.mode)}, {"floor", log.floor}};
  put(object, "range", log.range, LogConfig().range);
  return object;
}

json to_json(const NormalizeConfig& normalize) {
  json object = {{"method", named(normalize.method)},
                 {"offset", normalize.offset},
                 {"scale", normalize.scale}};
  put(object, "channel_offsets", normalize.channel_offsets, {});
  put(object, "channel_scales", normalize.channel_scales, {});
  return object;
}

json to_json(const BakedConfig& baked) {
  if (!baked.is_baked()) return json::object();
  return {{"dtype", std::string(to_string(baked.dtype))},
          {"mean", baked.mean},
          {"std", baked.std_deviation}};
}

}  // namespace

json to_json(const FeatureConfig& config) {
  json object = {{"sample_rate_hz", config.sample_rate_hz},
                 {"channels", named(config.channels)},
                 {"resampler", config.resampler},
                 {"trim", to_json(config.trim)},
                 {"loudness", to_json(config.loudness)},
                 {"stft", to_json(config.stft)},
                 {"spectrum", named(config.spectrum)},
                 {"spectrum_floor", config.spectrum_floor},
                 {"mel", to_json(config.mel)},
                 {"log", to_json(config.log)},
                 {"normalize", to_json(config.normalize)},
                 {"max_frames", config.max_frames},
                 {"pad_value", config.pad_value},
                 {"too_long", config.too_long ? named(*config.too_long) : json()},
                 {"precision", named(config.precision)}};
  const FeatureConfig unset;
  put(object, "columns", to_json(config.columns), json::object());
  put(object, "sample_scale", config.sample_scale, unset.sample_scale);
  put(object, "zeros", to_json(config.zeros), json::object());
  put(object, "pad", config.pad, unset.pad);
  put(object, "baked", to_json(config.baked), json::object());
  return object;
}

json to_json(const TextConfig& config) {
  return {{"tokens", named(config.tokens)},   {"vocabulary", config.vocabulary},
          {"max_tokens", config.max_tokens},  {"too_long", named(config.too_long)},
          {"unknown", named(config.unknown)}, {"use_normalized", config.use_normalized}};
}

json to_json(const CorpusConfig& config) {
  json object = {
      {"layout", config.layout},
      {"language", config.language},
      {"speaker", config.speaker},
      {"speaker_pattern", config.speaker_pattern},
      {"train_split", config.train_split},
      {"validation_split", config.validation_split},
      {"validation_clips_max", config.validation_clips_max},
      {"split_seed", config.split_seed},
      {"split_by", named(config.split_by)},
      {"train_subset_fraction", config.train_subset_fraction},
      {"subset_seed", config.subset_seed},
      {"metadata_train_file", config.metadata_train_file},
      {"metadata_eval_file", config.metadata_eval_file},
      {"wavs_train_folder", config.wavs_train_folder},
      {"wavs_eval_folder", config.wavs_eval_folder},
      {"max_source_seconds", config.max_source_seconds},
      {"max_clip_seconds", config.max_clip_seconds ? json(*config.max_clip_seconds) : json()},
      {"too_short", named(config.too_short)},
      {"too_short_seconds", config.too_short_seconds},
      {"silent", named(config.silent)},
      {"silent_dbfs", config.silent_dbfs},
      {"clipped", named(config.clipped)},
      {"clipped_share", config.clipped_share},
      {"not_finite", named(config.not_finite)},
      {"low_rate", named(config.low_rate)},
      {"source_rate_below", config.source_rate_below},
      {"duplicates", named(config.duplicates)},
      {"no_text", named(config.no_text)}};
  // Absent where they have their usual names, so that the fingerprints of most caches do not tell.
  const std::string unset;
  put(object, "audio_column", config.columns.audio, unset);
  put(object, "id_column", config.columns.id, unset);
  put(object, "text_column", config.columns.text, unset);
  put(object, "normalized_column", config.columns.normalized, unset);
  put(object, "speaker_column", config.columns.speaker, unset);
  put(object, "language_column", config.columns.language, unset);
  put(object, "split_column", config.columns.split, unset);
  put(object, "start_column", config.columns.start, unset);
  put(object, "end_column", config.columns.end, unset);
  return object;
}

json to_json(const StorageConfig& config) {
  return {{"store", named(config.store)},
          {"layout", named(config.layout)},
          {"dtype", std::string(to_string(config.dtype))}};
}

}  // namespace xtts::formats
