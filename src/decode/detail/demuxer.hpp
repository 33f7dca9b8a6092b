// Demuxer: opens a container through a SourceReader, chooses the sound in it, and hands out its
// packets.
//
// What can go wrong with a hostile header ends here: the container must be on the allow list,
// nested opens are refused, only audio decoders exist for it. Borrows the reader. One thread at a
// time.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "decode/detail/complaints.hpp"
#include "decode/detail/libav.hpp"
#include "decode/detail/source_reader.hpp"
#include "xtts/status.hpp"

namespace xtts::decode::detail {

class Demuxer {
 public:
  // `suffix` of the file's name decides where its content has no header.
  [[nodiscard]] static Result<Demuxer> open(SourceReader& reader, std::string_view suffix,
                                            const Complaints& complaints);

  [[nodiscard]] const AVStream& stream() const noexcept { return *stream_; }
  [[nodiscard]] const AVCodec& codec() const noexcept { return *codec_; }
  [[nodiscard]] const char* container() const noexcept { return context_->iformat->name; }

  // The next packet of the container: 0, or an AVERROR. It is the sound's only when its
  // stream_index is stream()'s.
  [[nodiscard]] int read(AVPacket& packet) { return av_read_frame(context_.get(), &packet); }

  // Whether the codec works in blocks that the encoder fills up at both ends.
  [[nodiscard]] bool codec_pads() const noexcept;
  // What the container says about its length, where it says so rather than guesses from the bit
  // rate.
  [[nodiscard]] std::optional<double> promised_seconds() const;
  // The samples at `rate_hz` that are meant to be heard, where the container says so exactly and
  // the cut at the end is ours to make, because libav 5.1 makes none or a wrong one (see the
  // definition).
  [[nodiscard]] std::optional<std::uint64_t> heard_frame_count(int rate_hz) const;
  // Vorbis in Ogg; the codec is then told to leave the ends alone.
  [[nodiscard]] bool is_ogg_vorbis() const noexcept;

 private:
  Demuxer() = default;
  [[nodiscard]] Status choose_stream(const Complaints& complaints);
  [[nodiscard]] Status analyse_if_needed(const Complaints& complaints);

  FormatContextPtr context_;
  AVStream* stream_ = nullptr;
  const AVCodec* codec_ = nullptr;
};

}  // namespace xtts::decode::detail
