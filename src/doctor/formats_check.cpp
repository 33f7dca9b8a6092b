#include "doctor/formats_check.hpp"

#include <array>
#include <set>
#include <string>
#include <string_view>

#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using report::format_count;
using report::format_counted;
using report::format_percent;

// tf.audio.decode_wav, by TensorFlow's documentation: "Decode a 16-bit PCM WAV file".
bool reads_tensorflow(const std::string& container, const std::string& codec) {
  return container == "wav" && codec == "pcm_s16le";
}

// libsndfile 1.2, by its list of formats. MP3 needs 1.1 or later.
bool reads_soundfile(const std::string& container, const std::string& codec) {
  static const std::set<std::string_view> containers{"wav",  "w64", "flac", "ogg",  "mp3",
                                                     "aiff", "au",  "caf",  "nist", "voc"};
  static const std::set<std::string_view> codecs{"flac", "vorbis", "opus", "mp3", "mp3float"};
  return containers.contains(container) && (codec.starts_with("pcm_") || codecs.contains(codec));
}

struct CommonLoader {
  std::string_view name;
  bool (*reads)(const std::string& container, const std::string& codec);
};
constexpr std::array<CommonLoader, 2> kLoaders{{
    {"tf.audio.decode_wav, the trainer's native loader", reads_tensorflow},
    {"soundfile, librosa and torchaudio by libsndfile", reads_soundfile},
}};

// libav names a container by all of its names: "mov,mp4,m4a,3gp,3g2,mj2".
std::string format_in_words(const std::string& container, const std::string& codec) {
  if (container.find("mp4") != std::string::npos) return codec + " in mp4";
  return codec + " in " + container.substr(0, container.find(','));
}

void judge_loader(const SampledSound& sound, const CommonLoader& loader, Check& check) {
  std::size_t unread_count = 0;
  std::set<std::string> names;
  for (const auto& [format, count] : sound.formats) {
    if (loader.reads(format.first, format.second)) continue;
    unread_count += count;
    names.insert(format_in_words(format.first, format.second));
  }
  if (unread_count == 0) return;
  const double share = static_cast<double>(unread_count) / static_cast<double>(sound.clip_count);
  check.findings.push_back(
      {.status = CheckStatus::kWarn,
       .text = format_percent(share) + " of the sampled clips (" +
               report::format_list({names.begin(), names.end()}) + ") are not read by " +
               std::string(loader.name) + ".",
       .remedy = "Build a cache, which reads them all, or convert these files to 16-bit WAV."});
}

}  // namespace

Check check_formats(const SampledSound& sound, std::uint32_t recipe_rate_hz) {
  Check check{.name = "formats", .title = "Formats and native loading"};
  const std::size_t seen = sound.clip_count + sound.reject_count;
  if (seen == 0) {
    check.summary = "No clip was decoded, so its format is unknown.";
    return check;
  }
  const std::string source =
      seen == sound.corpus_clip_count
          ? "decoded: all clips"
          : "decoded: " + format_counted(seen, "clip", "clips") + ", chosen at random";
  for (const auto& [format, count] : sound.formats) {
    check.evidence.push_back(
        {.what = format_in_words(format.first, format.second),
         .value =
             format_percent(static_cast<double>(count) / static_cast<double>(sound.clip_count)),
         .source = source,
         .number = static_cast<double>(count) / static_cast<double>(sound.clip_count),
         .unit = "share"});
  }
  if (sound.resampled_count > 0)
    check.evidence.push_back(
        {.what = "at another rate than " + format_count(recipe_rate_hz) + " Hz",
         .value = format_percent(static_cast<double>(sound.resampled_count) /
                                 static_cast<double>(sound.clip_count)),
         .source = source,
         .number =
             static_cast<double>(sound.resampled_count) / static_cast<double>(sound.clip_count),
         .unit = "share"});
  for (const CommonLoader& loader : kLoaders) judge_loader(sound, loader, check);
  if (sound.reject_count > 0) {
    const std::string& reason = sound.rejects.begin()->first;
    check.findings.push_back(
        {.status = sound.clip_count == 0 ? CheckStatus::kFail : CheckStatus::kWarn,
         .text = format_counted(sound.reject_count, "clip", "clips") + " of " + format_count(seen) +
                 " cannot be used. One of them: " + reason + ".",
         .remedy = "`xtts-precompute build --dry-run` and the build's rejects.jsonl name them."});
  }
  check.status = worst_of(check.findings);
  check.summary = check.findings.empty()
                      ? "All of the sampled clips are read by the common loaders, too."
                      : check.findings.front().text;
  return check;
}

}  // namespace xtts::doctor
