// Damage: what goes wrong while a source is decoded, and whether its end is there. It becomes the
// warnings of SourceFacts. One thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "audio/audio_decoder.hpp"
#include "decode/detail/complaints.hpp"
#include "decode/detail/container_end.hpp"
#include "decode/detail/demuxer.hpp"
#include "decode/detail/packet_look.hpp"

namespace xtts::decode::detail {

// True where all that a header counts came out. The packets behind it hold no sound, so they cannot
// be damaged.
[[nodiscard]] bool has_all_counted(const Demuxer& demuxer, const PacketLook& look,
                                   std::uint64_t frame_count);

class Damage {
 public:
  // The codec refused the packet that is in work. `frame_count`: samples that came out before it.
  void add(int code, const Complaints& complaints, std::uint64_t frame_count);
  // Reading ended before the source's end.
  void stop(std::string reason) { stop_reason_ = std::move(reason); }
  // A packet follows.
  void next_packet() { is_last_ = false; }

  // Says why a file that opened gave no samples: the first damage, or libav's last message, or that
  // it is empty.
  [[nodiscard]] Status no_samples(const Complaints& complaints) const;
  // Adds the warnings, and finds where the damage begins.
  void tell(const Demuxer& demuxer, const PacketLook& look, const ContainerEnd& end,
            const Complaints& complaints, audio::SourceFacts& facts) const;

 private:
  void tell_of_packets(const ContainerEnd& end, const Complaints& complaints,
                       audio::SourceFacts& facts) const;

  std::uint32_t packet_count_ = 0;
  bool is_last_ = false;  // the last packet was refused
  std::uint64_t first_frame_ = 0;
  std::string first_reason_;
  std::string stop_reason_;
};

}  // namespace xtts::decode::detail
