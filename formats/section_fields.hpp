// The fields of a recipe's sections as JSON has them: said once, for writing and reading. The
// fingerprint of every cache ever made hangs on them. So a field that came after the first caches
// is a `later` one, written only where it differs from its default: what a recipe without it makes
// is what it made before.
//
// `Fields` has
//   always(name, value)          in every object; an optional that is unset is null
//   later(name, value, unset)    where it is not as `unset`
//   section(name, visit)         an object within
//   later_section(name, visit)   one that is left out where it would be empty
//   section_where(name, condition, visit)
#pragma once

#include <string>

#include "formats/corpus_config.hpp"
#include "formats/feature_config.hpp"
#include "formats/sound_columns.hpp"
#include "formats/storage_config.hpp"
#include "formats/text_config.hpp"

namespace xtts::formats {

// `columns` may be const or not. The same holds for the sections below.
template <typename Columns>
void visit_columns(Columns& columns, auto& fields) {
  const ColumnsConfig unset;
  for (const SoundColumnInfo& info : all_sound_columns())
    if (info.wanted != nullptr)
      fields.later(std::string(info.name), columns.*info.wanted, unset.*info.wanted);
  fields.later("wave", columns.wave, unset.wave);
}

template <typename Features>
void visit_sound(Features& c, auto& fields) {
  const FeatureConfig unset;
  fields.later_section("columns", [&](auto& in) { visit_columns(c.columns, in); });
  fields.always("sample_rate_hz", c.sample_rate_hz);
  fields.always("channels", c.channels);
  fields.always("resampler", c.resampler);
  fields.section("trim", [&](auto& in) {
    in.always("method", c.trim.method);
    in.always("top_db", c.trim.top_db);
    in.always("frame_samples", c.trim.frame_samples);
    in.always("hop_samples", c.trim.hop_samples);
  });
  fields.section("loudness", [&](auto& in) {
    in.always("method", c.loudness.method);
    in.always("target", c.loudness.target);
    in.always("limit_peak", c.loudness.limit_peak);
    in.always("then_peak_to_one", c.loudness.then_peak_to_one);
    in.later("rms_plus", c.loudness.rms_plus, unset.loudness.rms_plus);
    in.later("clip", c.loudness.clip, unset.loudness.clip);
    in.later("rounding", c.loudness.rounding, unset.loudness.rounding);
  });
  fields.later("sample_scale", c.sample_scale, unset.sample_scale);
  fields.later_section("zeros", [&](auto& in) {
    in.later("front_samples", c.zeros.front_samples, unset.zeros.front_samples);
    in.later("back_samples", c.zeros.back_samples, unset.zeros.back_samples);
    in.later("multiple_samples", c.zeros.multiple_samples, unset.zeros.multiple_samples);
  });
}

template <typename Features>
void visit_spectrum(Features& c, auto& fields) {
  const FeatureConfig unset;
  fields.section("stft", [&](auto& in) {
    in.always("n_fft", c.stft.n_fft);
    in.always("win_samples", c.stft.win_samples);
    in.always("hop_samples", c.stft.hop_samples);
    in.always("window", c.stft.window);
    in.always("symmetry", c.stft.symmetry);
    in.always("framing", c.stft.framing);
    in.always("pad_mode", c.stft.pad_mode);
    in.later("remove_dc", c.stft.remove_dc, unset.stft.remove_dc);
    in.later("preemphasis", c.stft.preemphasis, unset.stft.preemphasis);
    in.later("drop_last", c.stft.drop_last, unset.stft.drop_last);
    in.later("multiple_frames", c.stft.multiple_frames, unset.stft.multiple_frames);
  });
  fields.always("spectrum", c.spectrum);
  fields.always("spectrum_floor", c.spectrum_floor);
  fields.section("mel", [&](auto& in) {
    in.always("n_mels", c.mel.n_mels);
    in.always("f_min_hz", c.mel.f_min_hz);
    in.always("f_max_hz", c.mel.f_max_hz);
    in.always("scale", c.mel.scale);
    in.always("norm", c.mel.norm);
    in.later("triangles", c.mel.triangles, unset.mel.triangles);
    in.later("bins_rate_hz", c.mel.bins_rate_hz, unset.mel.bins_rate_hz);
  });
}

template <typename Features>
void visit_values(Features& c, auto& fields) {
  const FeatureConfig unset;
  fields.section("log", [&](auto& in) {
    in.always("base", c.log.base);
    in.always("mode", c.log.mode);
    in.always("floor", c.log.floor);
    in.later("range", c.log.range, unset.log.range);
  });
  fields.section("normalize", [&](auto& in) {
    in.always("method", c.normalize.method);
    in.always("offset", c.normalize.offset);
    in.always("scale", c.normalize.scale);
    in.later("channel_offsets", c.normalize.channel_offsets, unset.normalize.channel_offsets);
    in.later("channel_scales", c.normalize.channel_scales, unset.normalize.channel_scales);
  });
  fields.always("max_frames", c.max_frames);
  fields.later("pad", c.pad, unset.pad);
  fields.always("pad_value", c.pad_value);
  fields.always("too_long", c.too_long);
  fields.always("precision", c.precision);
  fields.section_where("baked", c.baked.is_baked(), [&](auto& in) {
    in.always("dtype", c.baked.dtype);
    in.always("mean", c.baked.mean);
    in.always("std", c.baked.std_deviation);
  });
}

template <typename Features>
void visit_features(Features& config, auto& fields) {
  visit_sound(config, fields);
  visit_spectrum(config, fields);
  visit_values(config, fields);
}

template <typename Text>
void visit_text(Text& c, auto& fields) {
  const TextConfig unset;
  fields.always("tokens", c.tokens);
  fields.always("vocabulary", c.vocabulary);
  fields.always("max_tokens", c.max_tokens);
  fields.always("too_long", c.too_long);
  fields.always("unknown", c.unknown);
  fields.always("use_normalized", c.use_normalized);
  fields.later("store", c.store, unset.store);
  fields.later("normalize", c.normalize, unset.normalize);
}

template <typename Corpus>
void visit_lists(Corpus& c, auto& fields) {
  fields.always("layout", c.layout);
  fields.always("language", c.language);
  fields.always("speaker", c.speaker);
  fields.always("speaker_pattern", c.speaker_pattern);
  fields.always("metadata_train_file", c.metadata_train_file);
  fields.always("metadata_eval_file", c.metadata_eval_file);
  fields.always("wavs_train_folder", c.wavs_train_folder);
  fields.always("wavs_eval_folder", c.wavs_eval_folder);
  // Unset names are the usual ones, so the fingerprints of most caches do not change with them.
  const std::string unset;
  fields.later("audio_column", c.columns.audio, unset);
  fields.later("id_column", c.columns.id, unset);
  fields.later("text_column", c.columns.text, unset);
  fields.later("normalized_column", c.columns.normalized, unset);
  fields.later("speaker_column", c.columns.speaker, unset);
  fields.later("language_column", c.columns.language, unset);
  fields.later("split_column", c.columns.split, unset);
  fields.later("start_column", c.columns.start, unset);
  fields.later("end_column", c.columns.end, unset);
  fields.later("encoding", c.encoding, unset);
}

// The first caches had these fields. A new field must be `later`; otherwise manifests without it
// are refused.
template <typename Corpus>
void visit_choice(Corpus& c, auto& fields) {
  fields.always("train_split", c.train_split);
  fields.always("validation_split", c.validation_split);
  fields.always("validation_clips_max", c.validation_clips_max);
  fields.always("split_seed", c.split_seed);
  fields.always("split_by", c.split_by);
  fields.always("train_subset_fraction", c.train_subset_fraction);
  fields.always("subset_seed", c.subset_seed);
  fields.always("max_source_seconds", c.max_source_seconds);
  fields.always("max_clip_seconds", c.max_clip_seconds);
  fields.always("too_short", c.too_short);
  fields.always("too_short_seconds", c.too_short_seconds);
  fields.always("silent", c.silent);
  fields.always("silent_dbfs", c.silent_dbfs);
  fields.always("clipped", c.clipped);
  fields.always("clipped_share", c.clipped_share);
  fields.always("not_finite", c.not_finite);
  fields.always("low_rate", c.low_rate);
  fields.always("source_rate_below", c.source_rate_below);
  fields.always("duplicates", c.duplicates);
  fields.always("no_text", c.no_text);
  fields.later("truncated", c.truncated, CutClip::kAuto);
}

template <typename Corpus>
void visit_corpus(Corpus& config, auto& fields) {
  visit_lists(config, fields);
  visit_choice(config, fields);
}

template <typename Storage>
void visit_storage(Storage& c, auto& fields) {
  fields.always("store", c.store);
  fields.always("layout", c.layout);
  fields.always("dtype", c.dtype);
}

}  // namespace xtts::formats
