#include "decode/detail/demuxer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>
#include <string_view>
#include <system_error>

#include "base/try.hpp"
#include "decode/detail/allow_list.hpp"
#include "decode/detail/misread.hpp"
#include "decode/detail/recognise.hpp"
#include "decode/formats.hpp"

namespace xtts::decode::detail {
namespace {

constexpr unsigned kStreamsMax = 64;

int refuse_to_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) {
  return AVERROR(EPERM);
}

// Searching 16-bit PCM for other, hidden codecs takes ten times as long as decoding it. Only these
// two containers ask for that search, and what we read never needs it. Others (MPEG-TS) need it to
// know their codec at all. The price: DTS or S/PDIF bursts in a WAV file are decoded as noise, as
// by any other player.
bool hides_no_codec(const AVInputFormat& format) {
  return std::strcmp(format.name, "wav") == 0 || std::strcmp(format.name, "w64") == 0;
}

// Returns the fourth number of " 00000000 DELAY PADDING SAMPLES ...", which are all hexadecimal.
// Returns 0 if there is none, or if it is beyond any file.
std::uint64_t samples_in_itunes_tag(std::string_view text) {
  std::uint64_t number = 0;
  for (int i = 0; i < 4; ++i) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    const auto [end, problem] = std::from_chars(text.begin(), text.end(), number, 16);
    if (problem != std::errc()) return 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.begin()));
  }
  return number;
}

Result<FormatContextPtr> open_container(AVIOContext* io, const AVInputFormat* format,
                                        const Complaints& complaints) {
  AVFormatContext* context = avformat_alloc_context();
  if (context == nullptr) return allocation_failure("opening");
  context->pb = io;
  context->io_open = refuse_to_open;
  context->max_streams = static_cast<int>(kStreamsMax);
  if (hides_no_codec(*format)) context->max_probe_packets = 0;
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "", 0);
  av_dict_set(&options, "format_whitelist", readable_demuxers().c_str(), 0);
  av_dict_set(&options, "codec_whitelist", allowed_codecs(), 0);
  const int code =
      avformat_open_input(&context, "", format, &options);  // frees the context when it fails
  av_dict_free(&options);
  if (code < 0) return complaints.failure("opening", code);
  return FormatContextPtr(context);
}

// `names`: separated by spaces.
bool is_one_of(std::string_view name, std::string_view names) {
  for (std::string_view rest = names; !rest.empty();) {
    const auto end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == name) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool has_audio(const AVFormatContext& context) {
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    if (context.streams[i]->codecpar->codec_type == AVMEDIA_TYPE_AUDIO) return true;
  }
  return false;
}

// The header alone is enough if it states the codec, rate and channels of every audio stream.
bool header_says_enough(const AVFormatContext& context) {
  if ((context.ctx_flags & AVFMTCTX_NOHEADER) != 0 || !has_audio(context)) return false;
  for (unsigned i = 0; i < context.nb_streams; ++i) {
    const AVCodecParameters& codec = *context.streams[i]->codecpar;
    if (codec.codec_type != AVMEDIA_TYPE_AUDIO) continue;
    if (codec.codec_id == AV_CODEC_ID_NONE || codec.sample_rate <= 0 ||
        codec.ch_layout.nb_channels <= 0) {
      return false;
    }
  }
  return true;
}

// Debian's FFmpeg has two Opus decoders. We choose the native one by name, so that the order in
// which a build registers them does not matter. It is 2.6 times as fast as libopus (0.40 s against
// 1.02 s for 266 s of speech at 64 kbit/s). Where the two differ, it is nearer to the encoded
// speech (delay 0.5 against 2.5 samples, 13.5 against 7.1 dB at 48 kbit/s; equal at 96). Its
// version is libavcodec's, which `numerics` records.
const AVCodec* preferred_decoder(const AVCodec* found, AVCodecID id) {
  const AVCodec* native = id == AV_CODEC_ID_OPUS ? avcodec_find_decoder_by_name("opus") : nullptr;
  return native != nullptr ? native : found;
}

}  // namespace

Result<Demuxer> Demuxer::open(SourceReader& reader, std::string_view suffix,
                              const Complaints& complaints) {
  if (reader.io() == nullptr) return allocation_failure("opening");
  Demuxer demuxer;
  XTTS_ASSIGN(const AVInputFormat* format, recognise(reader, suffix, complaints));
  XTTS_ASSIGN(demuxer.context_, open_container(reader.io(), format, complaints));
  XTTS_TRY(demuxer.analyse_if_needed(complaints));
  XTTS_TRY(demuxer.choose_stream(complaints));
  XTTS_TRY(refuse_misread(*demuxer.context_->iformat, *demuxer.stream_->codecpar));
  return demuxer;
}

// libav's analysis decodes the first packets of each stream, to learn what the header leaves out.
// If nothing is left out, it only costs time.
Status Demuxer::analyse_if_needed(const Complaints& complaints) {
  if (header_says_enough(*context_)) return {};
  const int code = avformat_find_stream_info(context_.get(), nullptr);
  if (code == AVERROR(ENOMEM)) return complaints.failure("analysing", code);
  return {};  // decoding shows whatever it missed
}

Status Demuxer::choose_stream(const Complaints& complaints) {
  if (!has_audio(*context_))
    return {StatusCode::kBadInput, std::string(container()) + ": holds no sound"};
  // libav takes cover art for a video stream, so it is never chosen here.
  const int index = av_find_best_stream(context_.get(), AVMEDIA_TYPE_AUDIO, -1, -1, &codec_, 0);
  if (index < 0) {
    if (index == AVERROR(ENOMEM)) return complaints.failure("choosing the sound", index);
    return {StatusCode::kBadInput, std::string(container()) + ": FFmpeg cannot decode its sound"};
  }
  stream_ = context_->streams[index];
  codec_ = preferred_decoder(codec_, stream_->codecpar->codec_id);
  for (unsigned i = 0; i < context_->nb_streams; ++i) {
    if (static_cast<int>(i) != index) context_->streams[i]->discard = AVDISCARD_ALL;
  }
  return {};
}

bool Demuxer::codec_pads() const noexcept {
  if (av_get_exact_bits_per_sample(stream_->codecpar->codec_id) != 0) return false;
  const AVCodecDescriptor* description = avcodec_descriptor_get(stream_->codecpar->codec_id);
  return description != nullptr && (description->props & AV_CODEC_PROP_LOSSY) != 0;
}

int Demuxer::read(AVPacket& packet) {
  const int code = av_read_frame(context_.get(), &packet);
  AVIOContext* io = context_->pb;
  // Some demuxers of game sound call the file's end a failed read.
  if (code == AVERROR(EIO) && ends_whole_) return AVERROR_EOF;
  if (code >= 0) {
    ends_whole_ = (packet.flags & AV_PKT_FLAG_CORRUPT) == 0 && avio_tell(io) == avio_size(io);
  }
  if (code < 0 || packet.stream_index != stream_->index || std::strcmp(container(), "aiff") != 0)
    return code;
  // AIFF pads its samples to an even number of bytes, and libav reads that byte, too.
  const AVCodecParameters& sound = *stream_->codecpar;
  const int frame_bytes =
      av_get_exact_bits_per_sample(sound.codec_id) / 8 * sound.ch_layout.nb_channels;
  if (frame_bytes > 0) av_shrink_packet(&packet, packet.size - packet.size % frame_bytes);
  if (packet.size > 0) return code;
  av_packet_unref(&packet);
  return AVERROR(EAGAIN);
}

std::optional<double> Demuxer::promised_seconds() const {
  if (context_->duration_estimation_method == AVFMT_DURATION_FROM_BITRATE &&
      context_->duration != AV_NOPTS_VALUE) {
    return std::nullopt;
  }
  if (stream_->duration != AV_NOPTS_VALUE && stream_->duration > 0) {
    const double seconds = static_cast<double>(stream_->duration) * av_q2d(stream_->time_base);
    // libav misreads the length of libsndfile's W64, among others: ages.
    constexpr double kSecondsMax = 366.0 * 24 * 3600;
    return seconds <= kSecondsMax ? std::optional(seconds) : std::nullopt;
  }
  // The length of the container is that of the sound only if it contains nothing else.
  if (context_->nb_streams == 1 && context_->duration != AV_NOPTS_VALUE && context_->duration > 0) {
    return static_cast<double>(context_->duration) / AV_TIME_BASE;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> Demuxer::promised_packets() const {
  const AVCodecParameters& codec = *stream_->codecpar;
  const auto seconds = promised_seconds();
  if (std::strcmp(container(), "mp3") != 0 || codec.frame_size <= 0 || !seconds)
    return std::nullopt;
  return static_cast<std::uint64_t>(std::llround(*seconds * codec.sample_rate / codec.frame_size));
}

bool Demuxer::counts_samples() const noexcept {
  // WavPack is lossy or not, and counts either way.
  if (std::strcmp(container(), "wv") == 0) return true;
  return !codec_pads() && is_one_of(container(), "aiff au flac nistsphere sox tta w64 wav");
}

bool Demuxer::miscounts() const noexcept {
  const std::string_view name = container();
  return name == "caf" || name == "avi" || name.starts_with("matroska,");
}

bool Demuxer::is_raw() const noexcept {
  return is_one_of(container(), "aac ac3 eac3 flac loas mp3");
}

// AAC in MP4 ends within a codec frame. Apple's iTunSMPB tag gives the end in samples; without it
// the edit list does, and `duration` contains that already. libav cuts only the beginning.
//
// Vorbis in Ogg ends at the last page's granule. libav knows this, but it counts the first packet,
// which gives no sound, if the whole clip lies in one page: clips under half a second came out up
// to 128 samples short.
std::optional<std::uint64_t> Demuxer::heard_frame_count(int rate_hz) const {
  const bool is_mp4_aac =
      stream_->codecpar->codec_id == AV_CODEC_ID_AAC && std::strncmp(container(), "mov,", 4) == 0;
  if (!is_mp4_aac && !is_ogg_vorbis()) return std::nullopt;
  for (const AVDictionary* tags : {stream_->metadata, context_->metadata}) {
    const AVDictionaryEntry* tag = is_mp4_aac ? av_dict_get(tags, "iTunSMPB", nullptr, 0) : nullptr;
    const std::uint64_t heard = tag != nullptr ? samples_in_itunes_tag(tag->value) : 0;
    if (heard > 0) return heard;
  }
  if (stream_->duration == AV_NOPTS_VALUE || stream_->duration <= 0 || rate_hz <= 0)
    return std::nullopt;
  const std::int64_t heard =
      av_rescale_q(stream_->duration, stream_->time_base, AVRational{1, rate_hz});
  return static_cast<std::uint64_t>(heard);
}

bool Demuxer::is_ogg_vorbis() const noexcept {
  return stream_->codecpar->codec_id == AV_CODEC_ID_VORBIS && std::strcmp(container(), "ogg") == 0;
}

}  // namespace xtts::decode::detail
