// The members of FeatureConfig (member_table.hpp), in the order in which recipes show them.
#pragma once

#include "formats/feature_config.hpp"
#include "formats/member_table.hpp"

namespace xtts::formats {
namespace members {

using enum InJson;

inline constexpr Condition kTrims{"features.trim.method", {"top_db"}};
inline constexpr Condition kScales{"features.loudness.method", {"rms", "peak", "limit", "lufs"}};
inline constexpr Condition kLimits{"features.loudness.method", {"rms", "lufs"}};
inline constexpr Condition kByRms{"features.loudness.method", {"rms"}};
inline constexpr Condition kRounds{"features.loudness.method", {"rms", "peak", "limit"}};
inline constexpr Condition kPadsFrames{"features.pad", {"frames"}};
inline constexpr Condition kPadsEdges{"features.stft.framing", {"center", "same"}};
inline constexpr Condition kHasSymmetry{"features.stft.window", {"hann", "hamming"}};
inline constexpr Condition kRootPlus{"features.spectrum", {"root_plus"}};
inline constexpr Condition kMakesMels{"features.columns.mel", {"true"}};
inline constexpr Condition kFilters{"features.mel.scale", {"slaney", "htk"}};
inline constexpr Condition kLogs{"features.log.base", {"natural", "ten"}};
inline constexpr Condition kAffine{"features.normalize.method", {"affine"}};
inline constexpr Condition kChannels{"features.normalize.method", {"channels"}};

inline constexpr auto kColumns = table_of<ColumnsConfig>(
    Member{&ColumnsConfig::mel, "mel", kLater, "the mel spectrogram"},
    Member{&ColumnsConfig::linear, "linear", kLater,
           "the bins of the spectrum, as they go into the mel filters"},
    Member{&ColumnsConfig::wave, "wave", kLater,
           "none | int16 | float32: the conditioned samples, hop_samples a frame"},
    Member{&ColumnsConfig::energy, "energy", kLater,
           "each frame's L2 norm over the magnitudes of its bins"});

inline constexpr auto kTrim = table_of<TrimConfig>(
    Member{&TrimConfig::method, "method", kAlways, "none | top_db: as librosa.effects.trim"},
    Member{&TrimConfig::top_db, "top_db", kAlways,
           "silence is this many dB under the loudest frame", kTrims},
    Member{&TrimConfig::frame_samples, "frame_samples", kAlways,
           "RMS is taken over this many samples", kTrims},
    Member{&TrimConfig::hop_samples, "hop_samples", kAlways,
           "samples between the starts of RMS frames", kTrims});

inline constexpr auto kLoudness = table_of<LoudnessConfig>(
    Member{&LoudnessConfig::method, "method", kAlways,
           "none | rms | peak | limit: the peak, where it is above target | lufs: BS.1770"},
    Member{&LoudnessConfig::target, "target", kAlways, "RMS or peak, full scale is 1; or LUFS",
           kScales},
    Member{&LoudnessConfig::limit_peak, "limit_peak", kAlways,
           "lower the gain so that the peak stays at or under 1", kLimits},
    Member{&LoudnessConfig::then_peak_to_one, "then_peak_to_one", kAlways,
           "after the gain, divide by the peak", kByRms},
    Member{&LoudnessConfig::rms_plus, "rms_plus", kLater, "added to the RMS before it divides",
           kByRms},
    Member{&LoudnessConfig::rounding, "rounding", kLater,
           "each_step: as NumPy's float32 | once: at the end of steps in double", kRounds},
    Member{&LoudnessConfig::clip, "clip", kLater,
           "as the last step, cut samples beyond full scale"});

inline constexpr auto kZeros =
    table_of<ZerosConfig>(Member{&ZerosConfig::front_samples, "front_samples", kLater,
                                 "zeros put before the clip", kPadsFrames},
                          Member{&ZerosConfig::back_samples, "back_samples", kLater,
                                 "zeros put after the clip", kPadsFrames},
                          Member{&ZerosConfig::multiple_samples, "multiple_samples", kLater,
                                 "then zeros up to a multiple of this many samples", kPadsFrames});

inline constexpr auto kStft = table_of<StftConfig>(
    Member{&StftConfig::n_fft, "n_fft", kAlways, "length of the transform"},
    Member{&StftConfig::win_samples, "win_samples", kAlways,
           "length of the window, centred in n_fft (snip_edges, keep_edges: in front)"},
    Member{&StftConfig::hop_samples, "hop_samples", kAlways,
           "samples between the starts of frames"},
    Member{&StftConfig::window, "window", kAlways, "hann | hamming | povey: Kaldi's"},
    Member{&StftConfig::symmetry, "symmetry", kAlways, "periodic | symmetric", kHasSymmetry},
    Member{&StftConfig::framing, "framing", kAlways,
           "center: n_fft/2 on both sides | same: (n_fft-hop)/2 | none: whole frames only | "
           "end: zeros after the last sample | snip_edges, keep_edges: as Kaldi"},
    Member{&StftConfig::pad_mode, "pad_mode", kAlways,
           "zeros | reflect: as torch | reflect_again: as NumPy | symmetric: edges twice",
           kPadsEdges},
    Member{&StftConfig::remove_dc, "remove_dc", kLater, "subtract each frame's mean, as Kaldi"},
    Member{&StftConfig::preemphasis, "preemphasis", kLater,
           "of each frame, as Kaldi: 0.97; 0: none"},
    Member{&StftConfig::drop_last, "drop_last", kLater, "leave out the last frame, as Whisper"},
    Member{&StftConfig::multiple_frames, "multiple_frames", kLater,
           "leave out last frames up to a multiple of this"});

inline constexpr auto kMel = table_of<MelConfig>(
    Member{&MelConfig::n_mels, "n_mels", kAlways, "mel channels", kFilters},
    Member{&MelConfig::f_min_hz, "f_min_hz", kAlways, "where the lowest filter begins", kFilters},
    Member{&MelConfig::f_max_hz, "f_max_hz", kAlways, "where the highest filter ends", kFilters},
    Member{&MelConfig::scale, "scale", kAlways,
           "slaney: librosa's default | htk: torchaudio's, Kaldi's | none: the linear bins",
           kMakesMels},
    Member{&MelConfig::norm, "norm", kAlways, "none | slaney: filters of equal area", kFilters},
    Member{&MelConfig::triangles, "triangles", kLater,
           "hz | mel: over what they are straight; mel: Kaldi's, TensorFlow's", kFilters},
    Member{&MelConfig::bins_rate_hz, "bins_rate_hz", kLater,
           "place the bins as those of this sample rate; 0: sample_rate_hz", kFilters});

inline constexpr auto kLog = table_of<LogConfig>(
    Member{&LogConfig::base, "base", kAlways, "none | natural | ten", kMakesMels},
    Member{&LogConfig::mode, "mode", kAlways, "clamp: log(max(x, floor)) | add: log(x + floor)",
           kLogs},
    Member{&LogConfig::floor, "floor", kAlways, "the least value whose logarithm is taken", kLogs},
    Member{&LogConfig::range, "range", kLater,
           "raise values to the clip's largest less this, as Whisper: 8; 0: leave them", kLogs});

inline constexpr auto kNormalize = table_of<NormalizeConfig>(
    Member{&NormalizeConfig::method, "method", kAlways,
           "none | affine: (x - offset) / scale | min_max, mean_variance: of the clip | "
           "channels: as affine, each channel by its own",
           kMakesMels},
    Member{&NormalizeConfig::offset, "offset", kAlways, "subtracted from features", kAffine},
    Member{&NormalizeConfig::scale, "scale", kAlways, "features are divided by this", kAffine},
    Member{&NormalizeConfig::channel_offsets, "channel_offsets", kLater,
           "subtracted from features, one a channel; empty: nothing", kChannels},
    Member{&NormalizeConfig::channel_scales, "channel_scales", kLater,
           "features are divided by these, one a channel", kChannels});

inline constexpr auto kBaked =
    table_of<BakedConfig>(Member{&BakedConfig::dtype, "dtype", kAlways, ""},
                          Member{&BakedConfig::mean, "mean", kAlways, ""},
                          Member{&BakedConfig::std_deviation, "std", kAlways, ""});

}  // namespace members

inline constexpr auto kFeatureMembers = table_of<FeatureConfig>(
    Nested{&FeatureConfig::columns, "columns", members::kColumns},
    Member{&FeatureConfig::sample_rate_hz, "sample_rate_hz", InJson::kAlways,
           "sources at other rates are resampled"},
    Member{&FeatureConfig::channels, "channels", InJson::kAlways,
           "mean | first: how channels become one"},
    Member{&FeatureConfig::resampler, "resampler", InJson::kAlways,
           "soxr_hq: librosa's default | torchaudio_sinc: torchaudio's Resample | "
           "ffmpeg_swr: ffmpeg "
           "-ar, in steps of 16 bits | refuse: no other rate | soxr_vhq | soxr_mq | "
           "soxr_lq | soxr_qq"},
    Nested{&FeatureConfig::trim, "trim", members::kTrim},
    Nested{&FeatureConfig::loudness, "loudness", members::kLoudness},
    Member{&FeatureConfig::sample_scale, "sample_scale", InJson::kLater,
           "samples times this; 32768: as int16 counts"},
    Nested{&FeatureConfig::zeros, "zeros", members::kZeros},
    Nested{&FeatureConfig::stft, "stft", members::kStft},
    Member{&FeatureConfig::spectrum, "spectrum", InJson::kAlways,
           "magnitude | power | root_plus: sqrt(power + spectrum_floor)"},
    Member{&FeatureConfig::spectrum_floor, "spectrum_floor", InJson::kAlways, "added to the power",
           members::kRootPlus},
    Nested{&FeatureConfig::mel, "mel", members::kMel},
    Nested{&FeatureConfig::log, "log", members::kLog},
    Nested{&FeatureConfig::normalize, "normalize", members::kNormalize},
    Member{&FeatureConfig::max_frames, "max_frames", InJson::kAlways,
           "frames of a record: a number | auto: what the corpus needs | 800+: auto, at "
           "least 800"},
    Member{&FeatureConfig::pad, "pad", InJson::kLater,
           "frames: after the features | samples: zeros up to max_frames hops before them, "
           "as Whisper; a record keeps what its padding came to"},
    Member{&FeatureConfig::pad_value, "pad_value", InJson::kAlways,
           "the value after a clip's last frame, up to max_frames", members::kPadsFrames},
    Member{&FeatureConfig::too_long, "too_long", InJson::kAlways,
           "drop | truncate | auto: drop where there is text, truncate where there is none | "
           "split: at times that the list gives (segments, words), else as auto"},
    Member{&FeatureConfig::precision, "precision", InJson::kAlways,
           "double | float32: of the transform; float32 is faster and less exact"},
    Nested{&FeatureConfig::baked, "baked", members::kBaked, &BakedConfig::is_baked});

}  // namespace xtts::formats
