#include "recipe/feature_keys.hpp"

#include <utility>

#include "formats/feature_config.hpp"
#include "formats/sound_columns.hpp"
#include "recipe/make_key.hpp"
#include "recipe/named_files.hpp"

// Leads to a member of the features, which a recipe holds out of line.
#define XTTS_FEATURE_AT(path)     \
  [](auto& recipe) -> auto& {     \
    return recipe.features->path; \
  }

// A key of the features that is called as their member is.
#define XTTS_FEATURE(path, ...) scalar_key("features." #path, XTTS_FEATURE_AT(path), __VA_ARGS__)

namespace xtts::recipe {
namespace {

std::vector<Key> column_keys() {
  std::vector<Key> keys;
  for (const formats::SoundColumnInfo& info : formats::all_sound_columns()) {
    std::string name = "features.columns." + std::string(info.name);
    if (info.wanted == nullptr) {
      keys.push_back(scalar_key(std::move(name), XTTS_FEATURE_AT(columns.wave), info.help));
      continue;
    }
    const auto at = [wanted = info.wanted](auto& recipe) -> auto& {
      return recipe.features->columns.*wanted;
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
      XTTS_FEATURE(sample_rate_hz, "sources at other rates are resampled"),
      XTTS_FEATURE(channels, "mean | first: how channels become one"),
      XTTS_FEATURE(resampler,
                   "soxr_hq: librosa's default | torchaudio_sinc: torchaudio's Resample | "
                   "ffmpeg_swr: ffmpeg "
                   "-ar, in steps of 16 bits | refuse: no other rate | soxr_vhq | soxr_mq | "
                   "soxr_lq | soxr_qq"),
      XTTS_FEATURE(trim.method, "none | top_db: as librosa.effects.trim"),
      XTTS_FEATURE(trim.top_db, "silence is this many dB under the loudest frame", trims),
      XTTS_FEATURE(trim.frame_samples, "RMS is taken over this many samples", trims),
      XTTS_FEATURE(trim.hop_samples, "samples between the starts of RMS frames", trims),
      XTTS_FEATURE(loudness.method,
                   "none | rms | peak | limit: the peak, where it is above target | lufs: BS.1770"),
      XTTS_FEATURE(loudness.target, "RMS or peak, full scale is 1; or LUFS", scales),
      XTTS_FEATURE(loudness.limit_peak, "lower the gain so that the peak stays at or under 1",
                   limits),
      XTTS_FEATURE(loudness.then_peak_to_one, "after the gain, divide by the peak", by_rms),
      XTTS_FEATURE(loudness.rms_plus, "added to the RMS before it divides", by_rms),
      XTTS_FEATURE(loudness.rounding,
                   "each_step: as NumPy's float32 | once: at the end of steps in double", rounds),
      XTTS_FEATURE(loudness.clip, "as the last step, cut samples beyond full scale"),
      XTTS_FEATURE(sample_scale, "samples times this; 32768: as int16 counts"),
  };
}

std::vector<Key> zeros_keys() {
  const Condition pads_frames{"features.pad", {"frames"}};
  return {
      XTTS_FEATURE(zeros.front_samples, "zeros put before the clip", pads_frames),
      XTTS_FEATURE(zeros.back_samples, "zeros put after the clip", pads_frames),
      XTTS_FEATURE(zeros.multiple_samples, "then zeros up to a multiple of this many samples",
                   pads_frames),
  };
}

std::vector<Key> frame_keys() {
  const Condition pads{"features.stft.framing", {"center", "same"}};
  const Condition has_symmetry{"features.stft.window", {"hann", "hamming"}};
  const Condition root_plus{"features.spectrum", {"root_plus"}};
  return {
      XTTS_FEATURE(stft.n_fft, "length of the transform"),
      XTTS_FEATURE(stft.win_samples,
                   "length of the window, centred in n_fft (snip_edges, keep_edges: in front)"),
      XTTS_FEATURE(stft.hop_samples, "samples between the starts of frames"),
      XTTS_FEATURE(stft.window, "hann | hamming | povey: Kaldi's"),
      XTTS_FEATURE(stft.symmetry, "periodic | symmetric", has_symmetry),
      XTTS_FEATURE(
          stft.framing,
          "center: n_fft/2 on both sides | same: (n_fft-hop)/2 | none: whole frames only | "
          "end: zeros after the last sample | snip_edges, keep_edges: as Kaldi"),
      XTTS_FEATURE(stft.pad_mode,
                   "zeros | reflect: as torch | reflect_again: as NumPy | symmetric: edges twice",
                   pads),
      XTTS_FEATURE(stft.remove_dc, "subtract each frame's mean, as Kaldi"),
      XTTS_FEATURE(stft.preemphasis, "of each frame, as Kaldi: 0.97; 0: none"),
      XTTS_FEATURE(stft.drop_last, "leave out the last frame, as Whisper"),
      XTTS_FEATURE(stft.multiple_frames, "leave out last frames up to a multiple of this"),
      XTTS_FEATURE(spectrum, "magnitude | power | root_plus: sqrt(power + spectrum_floor)"),
      XTTS_FEATURE(spectrum_floor, "added to the power", root_plus),
  };
}

std::vector<Key> mel_keys() {
  const Condition makes_mels{"features.columns.mel", {"true"}};
  const Condition filters{"features.mel.scale", {"slaney", "htk"}};
  const Condition logs{"features.log.base", {"natural", "ten"}};
  return {
      XTTS_FEATURE(mel.n_mels, "mel channels", filters),
      XTTS_FEATURE(mel.f_min_hz, "where the lowest filter begins", filters),
      XTTS_FEATURE(mel.f_max_hz, "where the highest filter ends", filters),
      XTTS_FEATURE(mel.scale,
                   "slaney: librosa's default | htk: torchaudio's, Kaldi's | none: the linear bins",
                   makes_mels),
      XTTS_FEATURE(mel.norm, "none | slaney: filters of equal area", filters),
      XTTS_FEATURE(mel.triangles,
                   "hz | mel: over what they are straight; mel: Kaldi's, TensorFlow's", filters),
      XTTS_FEATURE(mel.bins_rate_hz,
                   "place the bins as those of this sample rate; 0: sample_rate_hz", filters),
      XTTS_FEATURE(log.base, "none | natural | ten", makes_mels),
      XTTS_FEATURE(log.mode, "clamp: log(max(x, floor)) | add: log(x + floor)", logs),
      XTTS_FEATURE(log.floor, "the least value whose logarithm is taken", logs),
      XTTS_FEATURE(log.range,
                   "raise values to the clip's largest less this, as Whisper: 8; 0: leave them",
                   logs),
  };
}

Key channels_file_key(Condition applies_when) {
  Key key;
  key.name = "features.normalize.channels_file";
  key.about =
      "a file with a line for each channel: SCALE, or OFFSET SCALE; the numbers enter the recipe";
  key.takes = "a path";
  key.is_printed = false;
  key.applies_when = std::move(applies_when);
  key.print = [](const formats::Recipe&) { return std::vector<std::string>(); };
  key.set = [](formats::Recipe& recipe, const std::vector<Scalar>& values,
               const FileAccess& files) {
    auto numbers = read_channels_file(files.env, files.folder, values.front().text);
    if (!numbers.ok()) return numbers.status().message();
    recipe.features->normalize.channel_offsets = std::move(numbers->offsets);
    recipe.features->normalize.channel_scales = std::move(numbers->scales);
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
      XTTS_FEATURE(normalize.method,
                   "none | affine: (x - offset) / scale | min_max, mean_variance: of the clip | "
                   "channels: as affine, each channel by its own",
                   makes_mels),
      XTTS_FEATURE(normalize.offset, "subtracted from features", affine),
      XTTS_FEATURE(normalize.scale, "features are divided by this", affine),
      numbers_key("features.normalize.channel_offsets", XTTS_FEATURE_AT(normalize.channel_offsets),
                  "subtracted from features, one a channel; empty: nothing", channels),
      numbers_key("features.normalize.channel_scales", XTTS_FEATURE_AT(normalize.channel_scales),
                  "features are divided by these, one a channel", channels),
      channels_file_key(channels),
      XTTS_FEATURE(max_frames,
                   "frames of a record: a number | auto: what the corpus needs | 800+: auto, at "
                   "least 800"),
      XTTS_FEATURE(pad,
                   "frames: after the features | samples: zeros up to max_frames hops before them, "
                   "as Whisper; a record keeps what its padding came to"),
      XTTS_FEATURE(pad_value, "the value after a clip's last frame, up to max_frames", pads_frames),
      XTTS_FEATURE(
          too_long,
          "drop | truncate | auto: drop where there is text, truncate where there is none | "
          "split: at times that the list gives (segments, words), else as auto"),
      XTTS_FEATURE(precision,
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
