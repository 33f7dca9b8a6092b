// FFmpeg's C headers, and one owner type for each of its handles. Only src/decode includes this.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/frame.h>
#include <libavutil/mem.h>
}

#include <memory>

// Channel layouts as values and swr_alloc_set_opts2 came with FFmpeg 5.1.
#if LIBAVUTIL_VERSION_INT < AV_VERSION_INT(57, 28, 100)
#error "xtts-precompute needs FFmpeg 5.1 or newer"
#endif

namespace xtts::decode::detail {

struct FormatContextDeleter {
  void operator()(AVFormatContext* context) const noexcept { avformat_close_input(&context); }
};
struct CodecContextDeleter {
  void operator()(AVCodecContext* context) const noexcept { avcodec_free_context(&context); }
};
struct PacketDeleter {
  void operator()(AVPacket* packet) const noexcept { av_packet_free(&packet); }
};
struct FrameDeleter {
  void operator()(AVFrame* frame) const noexcept { av_frame_free(&frame); }
};
struct IoContextDeleter {
  void operator()(AVIOContext* context) const noexcept {
    av_freep(
        &context->buffer);  // libav may have replaced the buffer it was given: free the current one
    avio_context_free(&context);
  }
};

using FormatContextPtr = std::unique_ptr<AVFormatContext, FormatContextDeleter>;
using CodecContextPtr = std::unique_ptr<AVCodecContext, CodecContextDeleter>;
using PacketPtr = std::unique_ptr<AVPacket, PacketDeleter>;
using FramePtr = std::unique_ptr<AVFrame, FrameDeleter>;
using IoContextPtr = std::unique_ptr<AVIOContext, IoContextDeleter>;

}  // namespace xtts::decode::detail
