// Decodes: container -> packets -> frames -> SampleSink.
#include "decode/libav_decoder.hpp"

#include <soxr.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "decode/detail/codec.hpp"
#include "decode/detail/complaints.hpp"
#include "decode/detail/container_end.hpp"
#include "decode/detail/damage.hpp"
#include "decode/detail/demuxer.hpp"
#include "decode/detail/libav.hpp"
#include "decode/detail/packet_look.hpp"
#include "decode/detail/recognise.hpp"
#include "decode/detail/sample_sink.hpp"
#include "decode/detail/source_reader.hpp"
#include "decode/detail/tail_tags.hpp"
#include "decode/detail/tail_trim.hpp"
#include "decode/formats.hpp"

namespace xtts::decode {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): this file is what detail/ is for

// The most packets in a row that may give no sample. A video track beside the sound brings hundreds
// between two packets of sound, and damage brings some. More than this is a file without sound.
constexpr std::uint32_t kIdlePacketsMax = 50'000;

// How much of a doubtful file is decoded as a test.
constexpr double kTriedSeconds = 5.0;

std::vector<audio::Format> formats_of(std::vector<LinkedFormat> linked) {
  std::vector<audio::Format> formats;
  for (LinkedFormat& one : linked)
    formats.push_back({std::move(one.name), std::move(one.about), std::move(one.suffixes),
                       one.rule.use, std::string(one.rule.reason)});
  return formats;
}

// The facts learnt of a source while it is decoded.
struct Work {
  const Demuxer& demuxer;
  Complaints& complaints;
  PacketLook look;
  Damage damage = {};
  std::size_t complaint_count = 0;  // before the packet in work

  // Forgets the complaints about the packet in work.
  void forgive() const {
    if (complaint_count == 0) complaints.forget();
  }
};

class LibavDecoder final : public audio::AudioDecoder {
 public:
  Result<audio::SourceFacts> decode(const RandomAccessFile& source,
                                    const audio::DecodeRequest& request,
                                    const audio::TakeSamples& take) override;
  Result<audio::Recognition> recognise(const RandomAccessFile& source,
                                       std::string_view suffix) override;
  Result<audio::SourceLength> length(const RandomAccessFile& source,
                                     std::string_view suffix) override;
  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept override {
    return sink_.resampling_time();
  }
  Result<std::string> libraries() override { return decode_libraries(); }
  Result<audio::FormatList> formats() override {
    return audio::FormatList{formats_of(linked_demuxers()), formats_of(linked_decoders())};
  }

 private:
  Result<audio::Recognition> try_to_decode(const RandomAccessFile& source, std::string_view suffix,
                                           audio::Recognition verdict);
  Result<audio::SourceLength> length_from(SourceReader& reader, std::string_view suffix);
  double packet_seconds(Demuxer& demuxer);
  Result<audio::SourceFacts> decode_from(SourceReader& reader, const audio::DecodeRequest& request,
                                         const audio::TakeSamples& take);
  Status decode_packets(Demuxer& demuxer, Codec& codec, Work& work);
  Status decode_packet(const AVPacket* packet, Codec& codec, TailTrim& tail, Work& work);
  Status drain(Codec& codec, TailTrim& tail, Work& work);
  void refuse_packet(int code, Work& work);

  PacketPtr packet_{av_packet_alloc()};
  FramePtr frame_{av_frame_alloc()};
  FramePtr held_{av_frame_alloc()};
  SampleSink sink_;
};

Result<audio::SourceFacts> LibavDecoder::decode(const RandomAccessFile& source,
                                                const audio::DecodeRequest& request,
                                                const audio::TakeSamples& take) {
  XTTS_TRY(audio::check(request));
  try {
    if (source.size_bytes() == 0) return Status(StatusCode::kBadInput, "the file is empty");
    SourceReader reader(source);
    Result<audio::SourceFacts> facts = decode_from(reader, request, take);
    // libav takes many failed reads for the end of the file. The reader's failure counts, whatever
    // libav returned.
    if (!reader.failure().ok()) return reader.failure();
    return facts;
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResource, "decoding: out of memory");
  }
}

// Bytes that look like sound only by chance do not decode without complaints.
Result<audio::Recognition> LibavDecoder::try_to_decode(const RandomAccessFile& source,
                                                       std::string_view suffix,
                                                       audio::Recognition verdict) {
  audio::DecodeRequest request;
  request.target_rate_hz = 0;
  request.source_seconds_max = kTriedSeconds;
  request.suffix = suffix;
  const auto facts = decode(source, request, [](std::span<const float>) { return Status(); });
  const auto is_missing_end = [](const audio::Warning& warning) {
    return warning.kind == audio::Warning::Kind::kEndMissing;
  };
  if (facts.ok() && std::ranges::all_of(facts->warnings, is_missing_end))
    return audio::Recognition{audio::ContentKind::kSound, ""};
  if (!facts.ok() && facts.status().code() != StatusCode::kBadInput) return facts.status();
  return verdict;
}

Result<audio::Recognition> LibavDecoder::recognise(const RandomAccessFile& source,
                                                   std::string_view suffix) {
  try {
    FirstLook first;
    {
      const Complaints complaints;  // catches libav's messages about unknown content
      XTTS_ASSIGN(first, look_at(source, suffix));
    }
    const bool is_open = first.is_doubtful && first.verdict.kind != audio::ContentKind::kSound;
    if (!is_open) return first.verdict;
    return try_to_decode(source, suffix, std::move(first.verdict));
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResource, "recognising a file: out of memory");
  }
}

Result<audio::SourceLength> LibavDecoder::length(const RandomAccessFile& source,
                                                 std::string_view suffix) {
  try {
    if (source.size_bytes() == 0) return Status(StatusCode::kBadInput, "the file is empty");
    SourceReader reader(source);
    auto length = length_from(reader, suffix);
    if (!reader.failure().ok()) return reader.failure();
    return length;
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResource, "measuring a file: out of memory");
  }
}

Result<audio::SourceLength> LibavDecoder::length_from(SourceReader& reader,
                                                      std::string_view suffix) {
  if (packet_ == nullptr) return allocation_failure("opening");
  const Complaints complaints;
  XTTS_ASSIGN(Demuxer demuxer, Demuxer::open(reader, suffix, complaints));
  const int rate_hz = demuxer.stream().codecpar->sample_rate;
  if (rate_hz <= 0 || rate_hz > static_cast<int>(audio::kSampleRateHzMax))
    return Status(StatusCode::kBadInput, "its header states no sample rate");
  std::optional<double> seconds = demuxer.promised_seconds();
  const bool is_likely = seconds && audio::may_hold_seconds(reader.size_bytes(), *seconds) &&
                         !demuxer.promises_by_timestamps();
  if (!is_likely) seconds = packet_seconds(demuxer);
  // A month is longer than any clip, and its samples can be counted.
  constexpr double kSecondsMax = 30.0 * 24 * 3600;
  if (!(*seconds > 0.0)) return Status(StatusCode::kBadInput, "it holds no packets of sound");
  if (!audio::may_hold_seconds(reader.size_bytes(), *seconds))
    return Status(StatusCode::kBadInput, "its timestamps are those of a longer sound");
  // Some containers of lossy codecs do not count the part of a codec's frame at their end: up to
  // 18 ms in the recorded corpus.
  constexpr double kUncountedSeconds = 0.025;
  if (demuxer.codec_pads()) *seconds += kUncountedSeconds;
  return audio::SourceLength{
      static_cast<std::uint32_t>(rate_hz),
      static_cast<std::uint64_t>(std::ceil(std::min(*seconds, kSecondsMax) * rate_hz))};
}

// Adds up the packets of a source whose container states no length.
double LibavDecoder::packet_seconds(Demuxer& demuxer) {
  const AVStream& stream = demuxer.stream();
  double ticks = 0.0;  // of packets that state how long they are
  bool all_state_it = true;
  std::optional<double> first;
  double last = 0.0;
  double count = 0.0;
  std::uint32_t idle_packet_count = 0;
  while (idle_packet_count < kIdlePacketsMax) {
    const int code = demuxer.read(*packet_);
    ++idle_packet_count;
    if (code == AVERROR(EAGAIN)) continue;
    if (code < 0) break;
    if (packet_->stream_index == stream.index) {
      ticks += static_cast<double>(std::max<std::int64_t>(packet_->duration, 0));
      all_state_it = all_state_it && packet_->duration > 0;
      count += 1.0;
      idle_packet_count = 0;
      if (packet_->pts != AV_NOPTS_VALUE) {
        last = static_cast<double>(packet_->pts);
        if (!first) first = last;
      }
    }
    av_packet_unref(packet_.get());
  }
  // Opus counts at 48 kHz, but libav 5.1 divides by the rate that a Matroska header states.
  const AVCodecParameters& codec = *stream.codecpar;
  if (codec.codec_id == AV_CODEC_ID_OPUS && codec.sample_rate != 48000) all_state_it = false;
  // Else from the first packet to the last one, which is as long as the others are on average.
  if (!all_state_it && first && count > 1.0) ticks = (last - *first) * count / (count - 1.0);
  return ticks * av_q2d(stream.time_base);
}

Result<audio::SourceFacts> LibavDecoder::decode_from(SourceReader& reader,
                                                     const audio::DecodeRequest& request,
                                                     const audio::TakeSamples& take) {
  if (packet_ == nullptr || frame_ == nullptr || held_ == nullptr)
    return allocation_failure("opening");
  Complaints complaints;
  XTTS_TRY(sink_.begin(request, take, complaints));
  XTTS_ASSIGN(Demuxer demuxer, Demuxer::open(reader, request.suffix, complaints));
  XTTS_ASSIGN(Codec codec, Codec::open(demuxer, complaints));
  complaints.forget();  // complaints about looking for parameters are no damage to the sound

  Work work{.demuxer = demuxer,
            .complaints = complaints,
            .look = PacketLook(demuxer.stream(), demuxer.is_raw(),
                               demuxer.is_raw() ? end_without_tags(reader) : 0)};
  XTTS_TRY(decode_packets(demuxer, codec, work));

  audio::SourceFacts facts;
  facts.container = demuxer.container();
  facts.codec = codec.name();
  if (sink_.frame_count() == 0 && !sink_.is_over_long()) return work.damage.no_samples(complaints);
  XTTS_TRY(sink_.finish(facts));
  if (facts.is_over_long) return facts;
  const ContainerEnd end = end_of_container(reader, demuxer.container());
  work.damage.tell(demuxer, work.look, end, complaints, facts);
  return facts;
}

Status LibavDecoder::decode_packets(Demuxer& demuxer, Codec& codec, Work& work) {
  TailTrim tail(demuxer.heard_frame_count(demuxer.stream().codecpar->sample_rate), *held_);
  std::uint32_t idle_packet_count = 0;
  while (idle_packet_count < kIdlePacketsMax && !sink_.is_over_long()) {
    work.complaint_count = work.complaints.count();
    const int code = demuxer.read(*packet_);
    if (code ==
        AVERROR(EAGAIN)) {  // the demuxer has no packet yet; it must have one within the limit
      ++idle_packet_count;
      continue;
    }
    if (code == AVERROR(ENOMEM)) return allocation_failure("reading");
    if (code < 0) {
      if (code == AVERROR_EOF) break;
      if (has_all_counted(demuxer, work.look, sink_.frame_count())) {
        work.forgive();
      } else {
        work.damage.stop(error_text(code));
      }
      break;
    }
    const std::uint64_t before = sink_.frame_count();
    Status status;
    // FFmpeg's FLAC encoder ends with an empty packet, which some containers keep.
    if (packet_->stream_index == demuxer.stream().index && packet_->size > 0) {
      work.look.see(*packet_);
      work.damage.next_packet();
      status = decode_packet(packet_.get(), codec, tail, work);
    }
    av_packet_unref(packet_.get());
    XTTS_TRY(std::move(status));
    idle_packet_count = sink_.frame_count() == before ? idle_packet_count + 1 : 0;
  }
  if (idle_packet_count >= kIdlePacketsMax)
    work.damage.stop(formatted("no sound in {} packets in a row", kIdlePacketsMax));
  XTTS_TRY(decode_packet(nullptr, codec, tail, work));
  return tail.finish(sink_);
}

// Counts a packet that fails and passes over it: the next one may be whole.
Status LibavDecoder::decode_packet(const AVPacket* packet, Codec& codec, TailTrim& tail,
                                   Work& work) {
  const int code = codec.send(packet);
  if (code == AVERROR(ENOMEM)) return allocation_failure("decoding");
  if (code < 0 && code != AVERROR_EOF) refuse_packet(code, work);
  return drain(codec, tail, work);
}

void LibavDecoder::refuse_packet(int code, Work& work) {
  if (!work.look.is_no_sound() && !has_all_counted(work.demuxer, work.look, sink_.frame_count()))
    return work.damage.add(code, work.complaints, sink_.frame_count());
  work.forgive();
}

Status LibavDecoder::drain(Codec& codec, TailTrim& tail, Work& work) {
  // Each packet or end gives a bounded number of frames, errors included. The bound stops decoders
  // that do not keep to this.
  for (std::uint32_t turn = 0; turn < kIdlePacketsMax; ++turn) {
    const int code = codec.receive(*frame_);
    if (code == AVERROR(EAGAIN) || code == AVERROR_EOF) return {};
    if (code == AVERROR(ENOMEM)) return allocation_failure("decoding");
    if (code < 0) {
      refuse_packet(code, work);
      continue;
    }
    XTTS_TRY(tail.push(*frame_, sink_));
  }
  return {};
}

}  // namespace

std::unique_ptr<audio::AudioDecoder> make_libav_decoder() {
  return std::make_unique<LibavDecoder>();
}

std::string decode_libraries() {
  const auto named = [](const char* name, unsigned version) {
    return formatted("{} {}.{}.{}", name, AV_VERSION_MAJOR(version), AV_VERSION_MINOR(version),
                     AV_VERSION_MICRO(version));
  };
  std::string soxr = soxr_version();  // "libsoxr-0.1.3"
  std::ranges::replace(soxr, '-', ' ');
  return formatted("{}, {}, {}, {}", named("libavformat", avformat_version()),
                   named("libavcodec", avcodec_version()), named("libavutil", avutil_version()),
                   soxr);
}

}  // namespace xtts::decode
