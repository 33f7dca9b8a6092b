#include "recipe/feature_keys.hpp"

#include <utility>

#include "formats/sound_columns.hpp"
#include "recipe/make_key.hpp"
#include "recipe/named_files.hpp"

namespace xtts::recipe {
namespace {

std::vector<Key> column_keys() {
  std::vector<Key> keys;
  for (const formats::SoundColumnInfo& info : formats::all_sound_columns()) {
    std::string name = "features.columns." + std::string(info.name);
    if (info.wanted == nullptr) {
      keys.push_back(scalar_key(std::move(name), XTTS_AT(features.columns.wave), info.help));
      continue;
    }
    const auto at = [wanted = info.wanted](auto& recipe) -> auto& {
      return recipe.features.columns.*wanted;
    };
    keys.push_back(scalar_key(std::move(name), at, info.help));
  }
  return keys;
}

std::vector<Key> sound_keys() {
  const Condition trims{"features.trim.method", {"top_db"}};
  const Condition scales{"features.loudness.method", {"rms", "peak", "limit", "lufs"}};
  const Condition limits{"features.loudness.method", {"rms", "lufs"}};
  const Condition by_rms{"features.loudness.method", {"rms"}};
  const Condition rounds{"features.loudness.method", {"rms", "peak", "limit"}};
  return {
      scalar_key("features.sample_rate_hz", XTTS_AT(features.sample_rate_hz),
                 "sources at other rates are resampled"),
      scalar_key("features.channels", XTTS_AT(features.channels),
                 "mean | first: how channels become one"),
      scalar_key(
          "features.resampler", XTTS_AT(features.resampler),
          "soxr_hq | soxr_vhq | soxr_mq | soxr_lq | soxr_qq; soxr_hq is librosa's default, bit for "
          "bit"),
      scalar_key("features.trim.method", XTTS_AT(features.trim.method),
                 "none | top_db: as librosa.effects.trim"),
      scalar_key("features.trim.top_db", XTTS_AT(features.trim.top_db),
                 "silence is this far under the loudest frame", trims),
      scalar_key("features.trim.frame_samples", XTTS_AT(features.trim.frame_samples),
                 "RMS is taken over this many samples", trims),
      scalar_key("features.trim.hop_samples", XTTS_AT(features.trim.hop_samples),
                 "between the starts of RMS frames", trims),
      scalar_key("features.loudness.method", XTTS_AT(features.loudness.method),
                 "none | rms | peak | limit: the peak, where it is above target | lufs: BS.1770"),
      scalar_key("features.loudness.target", XTTS_AT(features.loudness.target),
                 "RMS or peak, full scale is 1; or LUFS", scales),
      scalar_key("features.loudness.limit_peak", XTTS_AT(features.loudness.limit_peak),
                 "lower the gain so that the peak stays at or under 1", limits),
      scalar_key("features.loudness.then_peak_to_one", XTTS_AT(features.loudness.then_peak_to_one),
                 "after the gain, divide by the peak", by_rms),
      scalar_key("features.loudness.rms_plus", XTTS_AT(features.loudness.rms_plus),
                 "added to the RMS before it divides", by_rms),
      scalar_key("features.loudness.rounding", XTTS_AT(features.loudness.rounding),
                 "each_step: as NumPy's float32 | once: at the end of steps in double", rounds),
      scalar_key("features.loudness.clip", XTTS_AT(features.loudness.clip),
                 "at last, cut samples beyond full scale"),
      scalar_key("features.sample_scale", XTTS_AT(features.sample_scale),
                 "samples times this; 32768: as int16 counts"),
  };
}

std::vector<Key> zeros_keys() {
  const Condition pads_frames{"features.pad", {"frames"}};
  return {
      scalar_key("features.zeros.front_samples", XTTS_AT(features.zeros.front_samples),
                 "zeros put before the clip", pads_frames),
      scalar_key("features.zeros.back_samples", XTTS_AT(features.zeros.back_samples),
                 "zeros put after it", pads_frames),
      scalar_key("features.zeros.multiple_samples", XTTS_AT(features.zeros.multiple_samples),
                 "and then up to a multiple of this", pads_frames),
  };
}

std::vector<Key> frame_keys() {
  const Condition pads{"features.stft.framing", {"center", "same"}};
  const Condition has_symmetry{"features.stft.window", {"hann", "hamming"}};
  const Condition root_plus{"features.spectrum", {"root_plus"}};
  return {
      scalar_key("features.stft.n_fft", XTTS_AT(features.stft.n_fft), "length of the transform"),
      scalar_key("features.stft.win_samples", XTTS_AT(features.stft.win_samples),
                 "length of the window, centred in n_fft (snip_edges, keep_edges: in front)"),
      scalar_key("features.stft.hop_samples", XTTS_AT(features.stft.hop_samples),
                 "between the starts of frames"),
      scalar_key("features.stft.window", XTTS_AT(features.stft.window),
                 "hann | hamming | povey: Kaldi's"),
      scalar_key("features.stft.symmetry", XTTS_AT(features.stft.symmetry), "periodic | symmetric",
                 has_symmetry),
      scalar_key("features.stft.framing", XTTS_AT(features.stft.framing),
                 "center: n_fft/2 on both sides | same: (n_fft-hop)/2 | none: whole frames only | "
                 "end: zeros after the last sample | snip_edges, keep_edges: as Kaldi"),
      scalar_key("features.stft.pad_mode", XTTS_AT(features.stft.pad_mode),
                 "zeros | reflect: as torch | reflect_again: as NumPy | symmetric: edges twice",
                 pads),
      scalar_key("features.stft.remove_dc", XTTS_AT(features.stft.remove_dc),
                 "subtract each frame's mean, as Kaldi"),
      scalar_key("features.stft.preemphasis", XTTS_AT(features.stft.preemphasis),
                 "of each frame, as Kaldi: 0.97; 0: none"),
      scalar_key("features.stft.drop_last", XTTS_AT(features.stft.drop_last),
                 "leave out the last frame, as Whisper"),
      scalar_key("features.stft.multiple_frames", XTTS_AT(features.stft.multiple_frames),
                 "leave out last frames up to a multiple of this"),
      scalar_key("features.spectrum", XTTS_AT(features.spectrum),
                 "magnitude | power | root_plus: sqrt(power + spectrum_floor)"),
      scalar_key("features.spectrum_floor", XTTS_AT(features.spectrum_floor), "added to the power",
                 root_plus),
  };
}

std::vector<Key> mel_keys() {
  const Condition makes_mels{"features.columns.mel", {"true"}};
  const Condition filters{"features.mel.scale", {"slaney", "htk"}};
  const Condition logs{"features.log.base", {"natural", "ten"}};
  return {
      scalar_key("features.mel.n_mels", XTTS_AT(features.mel.n_mels), "mel channels", filters),
      scalar_key("features.mel.f_min_hz", XTTS_AT(features.mel.f_min_hz),
                 "where the lowest filter begins", filters),
      scalar_key("features.mel.f_max_hz", XTTS_AT(features.mel.f_max_hz),
                 "where the highest filter ends", filters),
      scalar_key("features.mel.scale", XTTS_AT(features.mel.scale),
                 "slaney: librosa's default | htk: torchaudio's, Kaldi's | none: the linear bins",
                 makes_mels),
      scalar_key("features.mel.norm", XTTS_AT(features.mel.norm),
                 "none | slaney: filters of equal area", filters),
      scalar_key("features.mel.triangles", XTTS_AT(features.mel.triangles),
                 "hz | mel: over what they are straight; mel: Kaldi's, TensorFlow's", filters),
      scalar_key("features.mel.bins_rate_hz", XTTS_AT(features.mel.bins_rate_hz),
                 "take the bins for those of this rate; 0: sample_rate_hz", filters),
      scalar_key("features.log.base", XTTS_AT(features.log.base), "none | natural | ten",
                 makes_mels),
      scalar_key("features.log.mode", XTTS_AT(features.log.mode),
                 "clamp: log(max(x, floor)) | add: log(x + floor)", logs),
      scalar_key("features.log.floor", XTTS_AT(features.log.floor),
                 "the least value whose logarithm is taken", logs),
      scalar_key("features.log.range", XTTS_AT(features.log.range),
                 "raise values to the clip's largest less this, as Whisper: 8; 0: leave them",
                 logs),
  };
}

Key channels_file_key(Condition applies_when) {
  Key key;
  key.name = "features.normalize.channels_file";
  key.about =
      "a text of them, a line a channel: SCALE, or OFFSET SCALE; the numbers enter the recipe";
  key.takes = "a path";
  key.is_printed = false;
  key.applies_when = std::move(applies_when);
  key.print = [](const formats::Recipe&) { return std::vector<std::string>(); };
  key.set = [](formats::Recipe& recipe, const std::vector<Scalar>& values,
               const FileAccess& files) {
    auto numbers = read_channels_file(files.env, files.folder, values.front().text);
    if (!numbers.ok()) return numbers.status().message();
    recipe.features.normalize.channel_offsets = std::move(numbers->offsets);
    recipe.features.normalize.channel_scales = std::move(numbers->scales);
    return std::string();
  };
  key.reset = [](formats::Recipe&) {};
  return key;
}

std::vector<Key> record_keys() {
  const Condition pads_frames{"features.pad", {"frames"}};
  const Condition affine{"features.normalize.method", {"affine"}};
  const Condition channels{"features.normalize.method", {"channels"}};
  const Condition makes_mels{"features.columns.mel", {"true"}};
  return {
      scalar_key("features.normalize.method", XTTS_AT(features.normalize.method),
                 "none | affine: (x - offset) / scale | min_max, mean_variance: of the clip | "
                 "channels: as affine, each channel by its own",
                 makes_mels),
      scalar_key("features.normalize.offset", XTTS_AT(features.normalize.offset), "subtracted",
                 affine),
      scalar_key("features.normalize.scale", XTTS_AT(features.normalize.scale), "divided by",
                 affine),
      numbers_key("features.normalize.channel_offsets", XTTS_AT(features.normalize.channel_offsets),
                  "subtracted; empty: nothing", channels),
      numbers_key("features.normalize.channel_scales", XTTS_AT(features.normalize.channel_scales),
                  "divided by, one a channel", channels),
      channels_file_key(channels),
      scalar_key("features.max_frames", XTTS_AT(features.max_frames), "frames of a record"),
      scalar_key("features.pad", XTTS_AT(features.pad),
                 "frames: after the features | samples: zeros up to max_frames hops before them, "
                 "as Whisper; a record keeps what its padding came to"),
      scalar_key("features.pad_value", XTTS_AT(features.pad_value),
                 "after a clip's last frame, up to max_frames", pads_frames),
      scalar_key("features.too_long", XTTS_AT(features.too_long),
                 "drop | truncate | auto: drop where there is text, truncate where there is none | "
                 "split: at times that the list gives (segments, words), else as auto"),
      scalar_key("features.precision", XTTS_AT(features.precision),
                 "double | float32: of the transform; float32 is faster and less exact"),
  };
}

}  // namespace

std::vector<Key> feature_keys() {
  std::vector<Key> all;
  for (const auto& part :
       {column_keys(), sound_keys(), zeros_keys(), frame_keys(), mel_keys(), record_keys()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace xtts::recipe
