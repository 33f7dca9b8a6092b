// validate() of the four sections. A message begins with the key it is about, relative to its
// section, and a colon; where two keys contradict each other both stand before the colon,
// "mel.f_max_hz, sample_rate_hz: ...". The recipe parser relies on that form to name the line.
#include <array>
#include <cstdint>
#include <cstdio>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/utf8.hpp"
#include "formats/enum_names.hpp"
#include "formats/feature_config.hpp"
#include "formats/recipe.hpp"
#include "formats/sound_columns.hpp"
#include "formats/vocabulary.hpp"

namespace xtts::formats {
namespace {

// Bounds that keep a hostile or mistaken recipe from asking for absurd memory; no model is near
// them.
constexpr std::uint32_t kFftMax = 65536;
constexpr std::uint32_t kMelsMax = 1024;
constexpr std::uint32_t kFramesMax = 100000;
constexpr std::uint64_t kRecordBytesMax = 64ULL << 20;
constexpr std::uint32_t kTokensMax = 65536;
constexpr std::uint32_t kZerosMax = 1 << 20;
constexpr std::size_t kVocabularyBytesMax = 40000;  // printed inline, a recipe stays under 64 KiB
constexpr std::size_t kTextBytesMax = 1024;
constexpr double kSecondsMax = 7.0 * 86400.0;

std::string number(double value) {
  std::array<char, 32> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.10g", value);
  return buffer.data();
}

class Problems {
 public:
  void add(std::string_view keys, const std::string& problem) {
    list_.push_back(formatted("{}: {}", keys, problem));
  }
  // NaN is outside every range.
  bool in_range(std::string_view key, double value, double low, double high) {
    if (value >= low && value <= high) return true;
    add(key, formatted("{} is outside {} to {}", number(value), number(low), number(high)));
    return false;
  }
  bool above_zero(std::string_view key, double value, double high) {
    if (value > 0.0 && value <= high) return true;
    add(key, formatted("{} must be above 0 and at most {}", number(value), number(high)));
    return false;
  }
  void text(std::string_view key, std::string_view value) {
    if (value.size() > kTextBytesMax) add(key, "longer than 1024 bytes");
    if (!is_utf8(value)) add(key, "not UTF-8");
    for (const char c : value) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
        add(key, "holds a control character");
        return;
      }
    }
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(list_); }

 private:
  std::vector<std::string> list_;
};

void check_trim(const TrimConfig& trim, Problems& problems) {
  problems.above_zero("trim.top_db", trim.top_db, 200.0);
  problems.in_range("trim.frame_samples", trim.frame_samples, 2, kFftMax);
  problems.in_range("trim.hop_samples", trim.hop_samples, 1, kFftMax);
}

void check_loudness(const LoudnessConfig& loudness, Problems& problems) {
  if (loudness.method == LoudnessMethod::kLufs) {
    problems.in_range("loudness.target", loudness.target, -70.0, 0.0);
  } else {
    problems.above_zero("loudness.target", loudness.target, 1.0);
  }
  problems.in_range("loudness.rms_plus", loudness.rms_plus, 0.0, 1.0);
  if (loudness.then_peak_to_one && loudness.method != LoudnessMethod::kRms) {
    problems.add("loudness.then_peak_to_one, loudness.method",
                 "is for loudness.method=rms alone; loudness.method=peak scales by the peak alone");
  }
}

void check_stft(const StftConfig& stft, Problems& problems) {
  const bool fft_ok = problems.in_range("stft.n_fft", stft.n_fft, 16, kFftMax);
  if (fft_ok && stft.n_fft % 2 != 0)
    problems.add("stft.n_fft", number(stft.n_fft) + " is odd; an even length is needed");
  problems.in_range("stft.win_samples", stft.win_samples, 2, kFftMax);
  problems.in_range("stft.hop_samples", stft.hop_samples, 1, kFftMax);
  if (fft_ok && stft.win_samples > stft.n_fft) {
    problems.add("stft.win_samples, stft.n_fft",
                 formatted("the window ({}) is longer than the transform ({})",
                           number(stft.win_samples), number(stft.n_fft)));
  }
  if (stft.hop_samples > stft.win_samples) {
    problems.add("stft.hop_samples, stft.win_samples",
                 "the hop is longer than the window, which leaves sound out");
  }
  problems.in_range("stft.preemphasis", stft.preemphasis, 0.0, 1.0);
  problems.in_range("stft.multiple_frames", stft.multiple_frames, 1, 1024);
}

void check_zeros(const ZerosConfig& zeros, Problems& problems) {
  problems.in_range("zeros.front_samples", zeros.front_samples, 0, kZerosMax);
  problems.in_range("zeros.back_samples", zeros.back_samples, 0, kZerosMax);
  problems.in_range("zeros.multiple_samples", zeros.multiple_samples, 1, kZerosMax);
}

void check_mel(const MelConfig& mel, std::uint32_t sample_rate_hz, Problems& problems) {
  problems.in_range("mel.n_mels", mel.n_mels, 1, kMelsMax);
  problems.in_range("mel.f_min_hz", mel.f_min_hz, 0.0, 400000.0);
  problems.in_range("mel.f_max_hz", mel.f_max_hz, 0.0, 400000.0);
  if (mel.f_min_hz >= mel.f_max_hz) {
    problems.add("mel.f_min_hz, mel.f_max_hz",
                 formatted("the band from {} to {} Hz is empty", number(mel.f_min_hz),
                           number(mel.f_max_hz)));
  }
  if (mel.bins_rate_hz != 0) {
    problems.in_range("mel.bins_rate_hz", mel.bins_rate_hz, 1000, 768000);
    sample_rate_hz = mel.bins_rate_hz;
  }
  if (mel.f_max_hz > sample_rate_hz / 2.0) {
    problems.add(
        mel.bins_rate_hz == 0 ? "mel.f_max_hz, sample_rate_hz" : "mel.f_max_hz, mel.bins_rate_hz",
        formatted("{} Hz is above half of {} Hz, the highest frequency there is",
                  number(mel.f_max_hz), number(sample_rate_hz)));
  }
}

void check_level(const FeatureConfig& config, Problems& problems) {
  const double floor = config.spectrum_floor;
  if (config.spectrum == SpectrumKind::kRootPlus) {
    problems.above_zero("spectrum_floor", floor, 1.0);
  } else if (floor != 0.0) {
    problems.add("spectrum_floor, spectrum", "has no effect unless spectrum is root_plus");
  }
  problems.above_zero("log.floor", config.log.floor, 1.0);
  problems.in_range("log.range", config.log.range, 0.0, 100.0);
  problems.above_zero("sample_scale", config.sample_scale, 1e6);
  problems.in_range("pad_value", config.pad_value, -65504.0,
                    65504.0);  // the range of float16 storage
}

void check_channels(const FeatureConfig& config, Problems& problems) {
  const auto& [method, offset, scale, offsets, scales] = config.normalize;
  problems.in_range("normalize.offset", offset, -1e6, 1e6);
  problems.above_zero("normalize.scale", scale, 1e6);
  if (method != NormalizeMethod::kChannels) return;
  const std::string wanted = number(config.channel_count());
  if (scales.size() != config.channel_count()) {
    problems.add("normalize.channel_scales",
                 formatted("as many numbers as channels, {}, not {}; channels_file reads them",
                           wanted, scales.size()));
  }
  if (!offsets.empty() && offsets.size() != scales.size())
    problems.add("normalize.channel_offsets", "none, or one a channel, " + wanted);
  for (const double one : scales) {
    if (!problems.above_zero("normalize.channel_scales", one, 1e6)) return;
  }
  for (const double one : offsets) {
    if (!problems.in_range("normalize.channel_offsets", one, -1e6, 1e6)) return;
  }
}

// One number per clip must be able to fill its padding, so frames of zeros must be alike in all
// channels.
void check_padding(const FeatureConfig& config, Problems& problems) {
  if (config.pad != PadWhat::kSamples) return;
  const auto& zeros = config.zeros;
  if (zeros.front_samples != 0 || zeros.back_samples != 0 || zeros.multiple_samples != 1)
    problems.add("pad, zeros", "pad: samples adds zeros of its own; leave out zeros");
  const auto method = config.normalize.method;
  if (method == NormalizeMethod::kMeanVariance || method == NormalizeMethod::kChannels) {
    problems.add("pad, normalize.method",
                 "frames of padding would differ by channel: set pad=frames, or another method");
  }
  if (config.stft.framing == Framing::kSnipEdges || config.stft.framing == Framing::kNone) {
    problems.add("pad, stft.framing",
                 "whole frames give fewer than max_frames: set pad=frames, or another framing");
  }
}

void check_frames(const FeatureConfig& config, Problems& problems) {
  if (!problems.in_range("max_frames", config.max_frames, 1, kFramesMax)) return;
  if (config.max_frames.is_of_corpus() && config.pad == PadWhat::kSamples) {
    problems.add("max_frames", formatted("pad=samples needs a number here, and not {}: the zeros "
                                         "up to this length are part of the features",
                                         to_string(config.max_frames)));
  }
  if (config.channel_count() > kFftMax || config.stft.hop_samples > kFftMax) return;
  for (const SoundColumn column : sound_columns_of(config)) {
    std::uint64_t record_bytes = sizeof(float);
    for (const std::uint64_t size : info_of(column).shape(config)) record_bytes *= size;
    if (record_bytes <= kRecordBytesMax) continue;
    problems.add("max_frames, columns." + std::string(info_of(column).name),
                 formatted("a record of {} MiB; at most 64",
                           number(static_cast<double>(record_bytes >> 20))));
  }
}

void check_columns(const FeatureConfig& config, Problems& problems) {
  if (!sound_columns_of(config).empty()) return;
  std::string names;
  for (const SoundColumnInfo& info : all_sound_columns())
    names += (names.empty() ? "" : ", ") + std::string(info.name);
  problems.add("columns", "none is asked for; there are: " + names);
}

void check_resampler(const std::string& name, Problems& problems) {
  std::string names;
  for (const std::string_view known : kResamplers) {
    if (name == known) return;
    names += (names.empty() ? "" : ", ") + std::string(known);
  }
  problems.add("resampler", formatted("'{}' is none of {}", name, names));
}

// std::regex recurses once a character: the length of the pattern and (in corpus) of the name are
// bounded.
void check_speaker_pattern(const std::string& pattern, Problems& problems) {
  if (pattern.empty() || pattern.size() > kTextBytesMax) return;
  try {
    const std::regex expression(pattern, std::regex::ECMAScript);
    if (expression.mark_count() == 0) {
      problems.add("speaker_pattern",
                   formatted("'{}' has no (group); the first group is the speaker", pattern));
    }
  } catch (const std::regex_error& error) {
    problems.add("speaker_pattern",
                 formatted("'{}' is not a regular expression: {}", pattern, error.what()));
  }
}

void check_splits(const CorpusConfig& config, Problems& problems) {
  const bool train_ok = problems.in_range("train_split", config.train_split, 0.0, 1.0);
  const bool validation_ok =
      problems.in_range("validation_split", config.validation_split, 0.0, 1.0);
  // 0.9 + 0.1 may exceed 1 by rounding.
  if (train_ok && validation_ok && config.train_split + config.validation_split > 1.0 + 1e-9) {
    problems.add("train_split, validation_split",
                 formatted("together {}, more than 1",
                           number(config.train_split + config.validation_split)));
  }
  problems.above_zero("train_subset_fraction", config.train_subset_fraction, 1.0);
}

void check_vocabulary(const TextConfig& config, Problems& problems) {
  if (config.tokens != TokenKind::kCharacters) return;
  if (config.vocabulary.empty()) {
    problems.add("vocabulary, tokens", "tokens=characters needs a vocabulary or a vocabulary_file");
  } else if (config.vocabulary.size() > kVocabularyBytesMax) {
    problems.add("vocabulary", formatted("longer than {} bytes", kVocabularyBytesMax));
  } else if (auto characters = split_vocabulary(config.vocabulary); !characters.ok()) {
    problems.add("vocabulary", characters.status().message());
  } else if (characters->empty()) {
    problems.add("vocabulary", "holds no character");
  }
}

}  // namespace

std::vector<std::string> FeatureConfig::validate() const {
  Problems problems;
  problems.in_range("sample_rate_hz", sample_rate_hz, 1000, 768000);
  check_columns(*this, problems);
  check_resampler(resampler, problems);
  check_trim(trim, problems);
  check_loudness(loudness, problems);
  check_zeros(zeros, problems);
  check_stft(stft, problems);
  if (columns.mel && mel.scale != MelScale::kNone) check_mel(mel, sample_rate_hz, problems);
  check_level(*this, problems);
  check_channels(*this, problems);
  check_padding(*this, problems);
  check_frames(*this, problems);
  return problems.take();
}

std::vector<std::string> TextConfig::validate() const {
  Problems problems;
  check_vocabulary(*this, problems);
  problems.in_range("max_tokens", max_tokens, 1, kTokensMax);
  return problems.take();
}

std::vector<std::string> CorpusConfig::validate() const {
  Problems problems;
  // Discovery knows the layouts and checks the name.
  if (layout.empty()) problems.add("layout", "auto, or the name of a layout");
  problems.text("language", language);
  problems.text("speaker", speaker);
  problems.text("speaker_pattern", speaker_pattern);
  check_speaker_pattern(speaker_pattern, problems);
  if (!speaker.empty() && !speaker_pattern.empty()) {
    problems.add("speaker, speaker_pattern",
                 "one speaker for all clips and a pattern are both set: set one only");
  }
  check_splits(*this, problems);
  problems.text("metadata_train_file", metadata_train_file);
  problems.text("metadata_eval_file", metadata_eval_file);
  problems.text("wavs_train_folder", wavs_train_folder);
  problems.text("wavs_eval_folder", wavs_eval_folder);
  problems.text("audio_column", columns.audio);
  problems.text("id_column", columns.id);
  problems.text("text_column", columns.text);
  problems.text("normalized_column", columns.normalized);
  problems.text("speaker_column", columns.speaker);
  problems.text("language_column", columns.language);
  problems.text("split_column", columns.split);
  problems.text("start_column", columns.start);
  problems.text("end_column", columns.end);
  problems.text("encoding", encoding);
  problems.above_zero("max_source_seconds", max_source_seconds, kSecondsMax);
  if (max_clip_seconds) problems.above_zero("max_clip_seconds", *max_clip_seconds, kSecondsMax);
  problems.in_range("too_short_seconds", too_short_seconds, 0.0, kSecondsMax);
  problems.in_range("silent_dbfs", silent_dbfs, -200.0, 0.0);
  problems.in_range("clipped_share", clipped_share, 0.0, 1.0);
  problems.in_range("source_rate_below", source_rate_below, 0, 768000);
  return problems.take();
}

std::vector<std::string> StorageConfig::validate() const {
  Problems problems;
  if (dtype != DType::kFloat32 && dtype != DType::kFloat16 && dtype != DType::kBFloat16) {
    problems.add("dtype", std::string(to_string(dtype)) + " is none of float32, float16, bfloat16");
  }
  return problems.take();
}

}  // namespace xtts::formats
