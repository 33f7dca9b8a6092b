// Codec: one opened audio decoder. One thread at a time, and it starts no threads of its own.
#pragma once

#include "decode/detail/complaints.hpp"
#include "decode/detail/demuxer.hpp"
#include "decode/detail/libav.hpp"
#include "xtts/status.hpp"

namespace xtts::decode::detail {

class Codec {
 public:
  [[nodiscard]] static Result<Codec> open(const Demuxer& demuxer, const Complaints& complaints);

  // Returns libav's codes: 0, AVERROR(EAGAIN), AVERROR_EOF or an error of this packet. A null
  // packet begins the end.
  [[nodiscard]] int send(const AVPacket* packet) {
    return avcodec_send_packet(context_.get(), packet);
  }
  [[nodiscard]] int receive(AVFrame& frame) {
    return avcodec_receive_frame(context_.get(), &frame);
  }

  // The stream's codec ("opus"), not the implementation that reads it ("libopus").
  [[nodiscard]] const char* name() const noexcept { return avcodec_get_name(context_->codec_id); }

 private:
  explicit Codec(CodecContextPtr context) : context_(std::move(context)) {}

  CodecContextPtr context_;
};

}  // namespace xtts::decode::detail
