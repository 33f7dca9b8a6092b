#include "decode/detail/codec.hpp"

namespace xtts::decode::detail {
namespace {

// No honest codec frame is longer than this: the longest ones (WavPack, APE) are near 150,000
// samples.
constexpr std::int64_t kFrameSamplesMax = std::int64_t{1} << 20;

}  // namespace

Result<Codec> Codec::open(const Demuxer& demuxer, const Complaints& complaints) {
  CodecContextPtr context(avcodec_alloc_context3(&demuxer.codec()));
  if (context == nullptr) return allocation_failure("opening the decoder");
  int code = avcodec_parameters_to_context(context.get(), demuxer.stream().codecpar);
  if (code < 0) return complaints.failure("opening the decoder", code);
  context->pkt_timebase = demuxer.stream().time_base;  // time base for trimming the encoder delay
  context->thread_count = 1;
  if (demuxer.is_ogg_vorbis())
    context->flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL;  // TailTrim cuts the end
  // FLAC, MP3 and AC-3 carry checksums that libav ignores unless asked. A frame that fails is still
  // decoded, with a complaint that becomes a warning.
  context->err_recognition |= AV_EF_CRCCHECK;
  context->max_samples = kFrameSamplesMax;
  code = avcodec_open2(context.get(), &demuxer.codec(), nullptr);
  if (code < 0) return complaints.failure("opening the decoder", code);
  return Codec(std::move(context));
}

}  // namespace xtts::decode::detail
