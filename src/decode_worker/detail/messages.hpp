// The words between parent and worker: one small message each, written field by field in the
// machine's own byte order (both ends are of one version, or part after Setup and Ready).
//
// A message that arrives is nonsense until decode_message has taken it apart: every length is
// bounded, every number has its bytes, nothing is left over. What a number may be in its place is
// for the receiver to check. Pure functions.
//
//   parent                                   worker
//   Setup                             -->
//                                     <--    Ready
//   Decode (the window holds the head) -->
//                                     <--    Read           any number of times, in any order
//   Data or Failed                    -->
//                                     <--    Piece
//   Taken, or Stop                    -->
//                                     <--    Done (with the last piece) or Failed
//   Recognise (the window holds the head) -->
//                                     <--    Read, answered as above
//                                     <--    Recognised or Failed
//   Measure (the window holds the head) -->
//                                     <--    Read, answered as above
//                                     <--    Measured or Failed
//   ListFormats                       -->
//                                     <--    Listed         any number of times
//                                     <--    AllListed
//
// After Stop the parent only waits for Done or Failed. Taken and Stop that come when all is done
// are left over from the clip before and mean nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "audio/audio_decoder.hpp"

namespace xtts::decode_worker::detail {

constexpr std::uint32_t kProtocolVersion = 6;
constexpr std::size_t kTextBytesMax = 4096;
constexpr std::size_t kWarningCountMax = 8;
// Fits any message: the longest is facts with all their texts.
constexpr std::size_t kMessageBytesMax = (kWarningCountMax + 3) * (kTextBytesMax + 32) + 256;

struct Setup {
  std::uint32_t version = kProtocolVersion;
  std::uint64_t memory_bytes = 0;

  static void each(auto& self, auto&& field) { field(self.version, self.memory_bytes); }
};

// A worker of another protocol version says so and ends.
struct Ready {
  std::uint32_t version = kProtocolVersion;
  std::string program_version = {};  // "0.1.0"
  std::string libraries = {};        // text of AudioDecoder::libraries()

  static void each(auto& self, auto&& field) {
    field(self.version, self.program_version, self.libraries);
  }
};

struct Decode {
  audio::DecodeRequest request;
  std::uint64_t size_bytes = 0;
  std::uint64_t window_bytes = 0;  // this much of the head is in the window

  static void each(auto& self, auto&& field) {
    auto& request = self.request;
    field(request.mix, request.target_rate_hz, request.resampler, request.source_seconds_max,
          request.suffix, self.size_bytes, self.window_bytes);
  }
};

// Asks to fill the window from the offset. If not all wanted bytes can be read, `needed_bytes` are
// enough.
struct Read {
  std::uint64_t offset_bytes = 0;
  std::uint64_t needed_bytes = 0;
  std::uint64_t wanted_bytes = 0;

  static void each(auto& self, auto&& field) {
    field(self.offset_bytes, self.needed_bytes, self.wanted_bytes);
  }
};

struct Data {
  std::uint64_t size_bytes = 0;

  static void each(auto& self, auto&& field) { field(self.size_bytes); }
};

struct Piece {
  std::uint64_t buffer_index = 0;
  std::uint64_t sample_count = 0;

  static void each(auto& self, auto&& field) { field(self.buffer_index, self.sample_count); }
};

struct Taken {
  static void each(auto&, auto&&) {}
};

struct Stop {
  static void each(auto&, auto&&) {}
};

struct Done {
  audio::SourceFacts facts;
  std::uint64_t resampling_ns = 0;
  Piece last;  // may be empty; needs no answer

  static void each(auto& self, auto&& field) {
    auto& facts = self.facts;
    field(facts.container, facts.codec, facts.sample_rate_hz, facts.channel_count,
          facts.frame_count, facts.whole_frame_count, facts.clipped_sample_count,
          facts.nonfinite_sample_count, facts.is_over_long, facts.pcm_digest.high,
          facts.pcm_digest.low, facts.warnings, self.resampling_ns, self.last.buffer_index,
          self.last.sample_count);
  }
};

// A failure of a read (from the parent) or of the clip (from the worker).
struct Failed {
  std::uint32_t code = 0;
  std::string text;
  std::uint64_t resampling_ns = 0;

  static void each(auto& self, auto&& field) { field(self.code, self.text, self.resampling_ns); }
};

// Asks something about a source without decoding it.
struct Question {
  std::string suffix;
  std::uint64_t size_bytes = 0;
  std::uint64_t window_bytes = 0;  // this much of the head is in the window

  static void each(auto& self, auto&& field) {
    field(self.suffix, self.size_bytes, self.window_bytes);
  }
};

// Asks whether this is sound.
struct Recognise : Question {};

struct Recognised {
  audio::Recognition what;

  static void each(auto& self, auto&& field) { field(self.what.kind, self.what.reason); }
};

// Asks how long this is.
struct Measure : Question {};

struct Measured {
  audio::SourceLength length;

  static void each(auto& self, auto&& field) {
    field(self.length.sample_rate_hz, self.length.frame_count);
  }
};

// Asks for all formats that could be read.
struct ListFormats {
  static void each(auto&, auto&&) {}
};

struct Listed {
  bool is_decoder = false;  // else a demuxer
  audio::Format format;

  static void each(auto& self, auto&& field) {
    auto& format = self.format;
    field(self.is_decoder, format.name, format.about, format.suffixes, format.use, format.reason);
  }
};

struct AllListed {
  static void each(auto&, auto&&) {}
};

using Message =
    std::variant<Setup, Ready, Decode, Read, Data, Piece, Taken, Stop, Done, Failed, Recognise,
                 Recognised, Measure, Measured, ListFormats, Listed, AllListed>;

// Cuts texts and lists that are too long.
[[nodiscard]] std::vector<std::byte> encode_message(const Message& message);
[[nodiscard]] std::optional<Message> decode_message(std::span<const std::byte> bytes);

// Turns a failure into a message, and back. Returns nothing if the code is not a failure.
[[nodiscard]] Failed failed_of(const Status& status);
[[nodiscard]] std::optional<Status> status_of(const Failed& failed);

}  // namespace xtts::decode_worker::detail
