#include "decode/detail/misread.hpp"

#include "base/formatted.hpp"

namespace xtts::decode::detail {
namespace {

// These numbers of WAV's formats have meant other codecs, too.
constexpr std::uint32_t kTagG721 = 0x40;  // FFmpeg takes it for G.726 with its bits turned round
constexpr std::uint32_t kTagNms = 0x38;   // FFmpeg takes it for AMR
constexpr std::uint32_t kTagAac = 0xFF;   // FFmpeg writes it without the lengths of its frames,
                                          // as it does Speex and Vorbis

constexpr std::string_view kCommand = "convert it with `sndfile-convert -pcm32 FILE NEW.wav`";

struct Misread {
  std::string_view what;
  std::string_view advice = kCommand;
};

// Samples may lie in more bytes than they have bits for: 24 bits in 32. FFmpeg goes by the bits, or
// takes them for the "24.0" and "16.8" floats of an audio editor. Microsoft has such samples in the
// upper bytes, and libsndfile reads them so. Others (Rust's hound) write them to the lower ones.
bool has_padded_samples(const AVCodecParameters& sound) {
  if (sound.codec_id == AV_CODEC_ID_PCM_F24LE || sound.codec_id == AV_CODEC_ID_PCM_F16LE)
    return true;
  const bool is_pcm = sound.codec_id < AV_CODEC_ID_ADPCM_IMA_QT;
  const int bits = av_get_exact_bits_per_sample(sound.codec_id);
  return is_pcm && bits > 0 && sound.block_align * 8 > sound.ch_layout.nb_channels * bits;
}

Misread misread_of(const AVInputFormat& container, const AVCodecParameters& sound) {
  const std::string_view name = container.name;
  if (sound.codec_tag == kTagG721 && sound.codec_id == AV_CODEC_ID_ADPCM_G726) return {"G.721"};
  if (sound.codec_tag == kTagNms && sound.codec_id == AV_CODEC_ID_AMR_NB) return {"NMS ADPCM"};
  if (name == "au" && sound.codec_id == AV_CODEC_ID_ADPCM_G726LE) return {"G.721 or G.723 in AU"};
  if (name == "aiff" && sound.codec_id == AV_CODEC_ID_GSM) return {"GSM in AIFF"};
  if (name != "wav" && name != "w64") return {};
  const bool has_no_lengths = sound.codec_id == AV_CODEC_ID_VORBIS ||
                              sound.codec_id == AV_CODEC_ID_SPEEX ||
                              (sound.codec_id == AV_CODEC_ID_AAC && sound.codec_tag == kTagAac);
  if (has_no_lengths)
    return {"AAC, Speex or Vorbis in WAV, without the lengths of its frames",
            "encode it anew, in MP4, Ogg or FLAC"};
  if (has_padded_samples(sound))
    return {"samples with padding, as 24 bits in 32",
            "write it anew, with samples of 16, 24 or 32 bits that fill their bytes"};
  return {};
}

Status refuse(const Misread& misread) {
  if (misread.what.empty()) return {};
  return {StatusCode::kBadInput,
          formatted("is sound that FFmpeg reads wrongly ({}): {}", misread.what, misread.advice)};
}

}  // namespace

Status refuse_misread(std::string_view head) {
  if (!head.starts_with("RIFX")) return {};
  return refuse({"RIFX, a WAV whose numbers are big-endian"});
}

Status refuse_misread(const AVInputFormat& container, const AVCodecParameters& sound) {
  return refuse(misread_of(container, sound));
}

}  // namespace xtts::decode::detail
