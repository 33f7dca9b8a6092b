// Demuxer: opens a container through a SourceReader, chooses its sound, and returns the packets.
//
// It stops hostile headers: the container must be on the allow list, nested opens are refused, and
// only audio decoders exist for it. Borrows the reader. One thread at a time.
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
  // The `suffix` of the file's name decides if the content has no header.
  [[nodiscard]] static Result<Demuxer> open(SourceReader& reader, std::string_view suffix,
                                            const Complaints& complaints);

  [[nodiscard]] const AVStream& stream() const noexcept { return *stream_; }
  [[nodiscard]] const AVCodec& codec() const noexcept { return *codec_; }
  [[nodiscard]] const char* container() const noexcept { return context_->iformat->name; }

  // Reads the next packet of the container. Returns 0 or an AVERROR. The packet belongs to the
  // sound only if its stream_index is stream()'s.
  [[nodiscard]] int read(AVPacket& packet);

  // True where the codec works in blocks that the encoder pads at both ends.
  [[nodiscard]] bool codec_pads() const noexcept;
  // The length that the container states; nothing if it guesses from the bit rate.
  [[nodiscard]] std::optional<double> promised_seconds() const;
  // The number of packets that it states: of MP3, by its Xing, Info or VBRI header.
  [[nodiscard]] std::optional<std::uint64_t> promised_packets() const;
  // True where the length is a count of samples, and so that of the sound.
  [[nodiscard]] bool counts_samples() const noexcept;
  // True where the length may be longer than the sound of a whole file: CAF and AVI count whole
  // frames, and one more for an empty packet; FFmpeg adds ages to Vorbis in Matroska.
  [[nodiscard]] bool miscounts() const noexcept;
  // True where the file is the codec's frames, one after the other, perhaps with tags around them.
  [[nodiscard]] bool is_raw() const noexcept;
  // True where that length ends where the last packet begins, as containers without one have it.
  [[nodiscard]] bool promises_by_timestamps() const noexcept {
    return context_->duration_estimation_method == AVFMT_DURATION_FROM_PTS;
  }
  // The number of samples at `rate_hz` that are meant to be heard. It is set only if the container
  // states it exactly and we have to cut the end, because libav 5.1 cuts nothing or cuts wrongly
  // (see the definition).
  [[nodiscard]] std::optional<std::uint64_t> heard_frame_count(int rate_hz) const;
  // For Vorbis in Ogg the codec is told to leave the ends alone.
  [[nodiscard]] bool is_ogg_vorbis() const noexcept;

 private:
  Demuxer() = default;
  [[nodiscard]] Status choose_stream(const Complaints& complaints);
  [[nodiscard]] Status analyse_if_needed(const Complaints& complaints);

  FormatContextPtr context_;
  AVStream* stream_ = nullptr;
  const AVCodec* codec_ = nullptr;
  bool ends_whole_ = false;  // the last packet ends where the file does
};

}  // namespace xtts::decode::detail
