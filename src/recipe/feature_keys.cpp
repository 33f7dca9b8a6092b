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
      XTTS_KEY(features.sample_rate_hz, "sources at other rates are resampled"),
      XTTS_KEY(features.channels, "mean | first: how channels become one"),
      XTTS_KEY(
          features.resampler,
          "soxr_hq | soxr_vhq | soxr_mq | soxr_lq | soxr_qq; soxr_hq is librosa's default, bit for "
          "bit"),
      XTTS_KEY(features.trim.method, "none | top_db: as librosa.effects.trim"),
      XTTS_KEY(features.trim.top_db, "silence is this far under the loudest frame", trims),
      XTTS_KEY(features.trim.frame_samples, "RMS is taken over this many samples", trims),
      XTTS_KEY(features.trim.hop_samples, "between the starts of RMS frames", trims),
      XTTS_KEY(features.loudness.method,
               "none | rms | peak | limit: the peak, where it is above target | lufs: BS.1770"),
      XTTS_KEY(features.loudness.target, "RMS or peak, full scale is 1; or LUFS", scales),
      XTTS_KEY(features.loudness.limit_peak, "lower the gain so that the peak stays at or under 1",
               limits),
      XTTS_KEY(features.loudness.then_peak_to_one, "after the gain, divide by the peak", by_rms),
      XTTS_KEY(features.loudness.rms_plus, "added to the RMS before it divides", by_rms),
      XTTS_KEY(features.loudness.rounding,
               "each_step: as NumPy's float32 | once: at the end of steps in double", rounds),
      XTTS_KEY(features.loudness.clip, "at last, cut samples beyond full scale"),
      XTTS_KEY(features.sample_scale, "samples times this; 32768: as int16 counts"),
  };
}

std::vector<Key> zeros_keys() {
  const Condition pads_frames{"features.pad", {"frames"}};
  return {
      XTTS_KEY(features.zeros.front_samples, "zeros put before the clip", pads_frames),
      XTTS_KEY(features.zeros.back_samples, "zeros put after it", pads_frames),
      XTTS_KEY(features.zeros.multiple_samples, "and then up to a multiple of this", pads_frames),
  };
}

std::vector<Key> frame_keys() {
  const Condition pads{"features.stft.framing", {"center", "same"}};
  const Condition has_symmetry{"features.stft.window", {"hann", "hamming"}};
  const Condition root_plus{"features.spectrum", {"root_plus"}};
  return {
      XTTS_KEY(features.stft.n_fft, "length of the transform"),
      XTTS_KEY(features.stft.win_samples,
               "length of the window, centred in n_fft (snip_edges, keep_edges: in front)"),
      XTTS_KEY(features.stft.hop_samples, "between the starts of frames"),
      XTTS_KEY(features.stft.window, "hann | hamming | povey: Kaldi's"),
      XTTS_KEY(features.stft.symmetry, "periodic | symmetric", has_symmetry),
      XTTS_KEY(features.stft.framing,
               "center: n_fft/2 on both sides | same: (n_fft-hop)/2 | none: whole frames only | "
               "end: zeros after the last sample | snip_edges, keep_edges: as Kaldi"),
      XTTS_KEY(features.stft.pad_mode,
               "zeros | reflect: as torch | reflect_again: as NumPy | symmetric: edges twice",
               pads),
      XTTS_KEY(features.stft.remove_dc, "subtract each frame's mean, as Kaldi"),
      XTTS_KEY(features.stft.preemphasis, "of each frame, as Kaldi: 0.97; 0: none"),
      XTTS_KEY(features.stft.drop_last, "leave out the last frame, as Whisper"),
      XTTS_KEY(features.stft.multiple_frames, "leave out last frames up to a multiple of this"),
      XTTS_KEY(features.spectrum, "magnitude | power | root_plus: sqrt(power + spectrum_floor)"),
      XTTS_KEY(features.spectrum_floor, "added to the power", root_plus),
  };
}

std::vector<Key> mel_keys() {
  const Condition makes_mels{"features.columns.mel", {"true"}};
  const Condition filters{"features.mel.scale", {"slaney", "htk"}};
  const Condition logs{"features.log.base", {"natural", "ten"}};
  return {
      XTTS_KEY(features.mel.n_mels, "mel channels", filters),
      XTTS_KEY(features.mel.f_min_hz, "where the lowest filter begins", filters),
      XTTS_KEY(features.mel.f_max_hz, "where the highest filter ends", filters),
      XTTS_KEY(features.mel.scale,
               "slaney: librosa's default | htk: torchaudio's, Kaldi's | none: the linear bins",
               makes_mels),
      XTTS_KEY(features.mel.norm, "none | slaney: filters of equal area", filters),
      XTTS_KEY(features.mel.triangles,
               "hz | mel: over what they are straight; mel: Kaldi's, TensorFlow's", filters),
      XTTS_KEY(features.mel.bins_rate_hz, "take the bins for those of this rate; 0: sample_rate_hz",
               filters),
      XTTS_KEY(features.log.base, "none | natural | ten", makes_mels),
      XTTS_KEY(features.log.mode, "clamp: log(max(x, floor)) | add: log(x + floor)", logs),
      XTTS_KEY(features.log.floor, "the least value whose logarithm is taken", logs),
      XTTS_KEY(features.log.range,
               "raise values to the clip's largest less this, as Whisper: 8; 0: leave them", logs),
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
      XTTS_KEY(features.normalize.method,
               "none | affine: (x - offset) / scale | min_max, mean_variance: of the clip | "
               "channels: as affine, each channel by its own",
               makes_mels),
      XTTS_KEY(features.normalize.offset, "subtracted", affine),
      XTTS_KEY(features.normalize.scale, "divided by", affine),
      numbers_key("features.normalize.channel_offsets", XTTS_AT(features.normalize.channel_offsets),
                  "subtracted; empty: nothing", channels),
      numbers_key("features.normalize.channel_scales", XTTS_AT(features.normalize.channel_scales),
                  "divided by, one a channel", channels),
      channels_file_key(channels),
      XTTS_KEY(features.max_frames, "frames of a record"),
      XTTS_KEY(features.pad,
               "frames: after the features | samples: zeros up to max_frames hops before them, "
               "as Whisper; a record keeps what its padding came to"),
      XTTS_KEY(features.pad_value, "after a clip's last frame, up to max_frames", pads_frames),
      XTTS_KEY(features.too_long,
               "drop | truncate | auto: drop where there is text, truncate where there is none | "
               "split: at times that the list gives (segments, words), else as auto"),
      XTTS_KEY(features.precision,
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
