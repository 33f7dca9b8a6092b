#include "decode/detail/damage.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/formatted.hpp"

namespace xtts::decode::detail {
namespace {

using Kind = audio::Warning::Kind;
using State = ContainerEnd::State;

// How much of a promised length may be missing (docs/rules.md has the table). A header that counts
// samples is right to the sample; 10 ms allow for sizes that count a header by mistake, and for
// times in milliseconds.
constexpr double kCountedSecondsMax = 0.01;

// Other headers state a length that is only roughly that of the sound.
constexpr double kMissingShareMax = 0.05;
constexpr double kMissingSecondsMax = 0.5;

// Containers of lossy codecs often count the encoder's delay and padding as length. libav has cut
// these off, correctly.
constexpr int kPaddingSamplesMax = 4096;

// Encoders disagree on whether the frame with the count is one of those that it counts.
constexpr std::uint64_t kUncountedPackets = 1;

// The last packets before a cut may decode to something else than the sound that was cut.
constexpr double kDoubtfulSeconds = 0.1;

audio::Warning ends_early(double missing_s, double seconds) {
  return {.kind = Kind::kEndsEarly, .numbers = {missing_s, seconds + missing_s}};
}

audio::Warning end_missing(std::string reason) {
  return {.kind = Kind::kEndMissing, .text = std::move(reason)};
}

// The container's length against what came out.
std::optional<double> missing_seconds(const Demuxer& demuxer, const PacketLook& look,
                                      const ContainerEnd& end, double seconds,
                                      std::uint32_t rate_hz) {
  if (end.state == State::kWhole && demuxer.miscounts()) return std::nullopt;
  const auto promised = demuxer.promised_seconds();
  if (!promised) return std::nullopt;
  if (const auto packets = demuxer.promised_packets()) {
    if (look.sound_count() + kUncountedPackets >= *packets) return std::nullopt;
    return *promised *
           (1.0 - static_cast<double>(look.sound_count()) / static_cast<double>(*packets));
  }
  const double missing = *promised - seconds;
  if (demuxer.counts_samples())
    return missing > kCountedSecondsMax ? std::optional(missing) : std::nullopt;
  const double padding =
      demuxer.codec_pads() ? static_cast<double>(kPaddingSamplesMax) / rate_hz : 0.0;
  if (missing <= padding) return std::nullopt;
  if (missing <= kMissingSecondsMax && missing <= *promised * kMissingShareMax) return std::nullopt;
  return missing;
}

std::optional<audio::Warning> cut_of(const Demuxer& demuxer, const PacketLook& look,
                                     const ContainerEnd& end, const audio::SourceFacts& facts) {
  const double seconds = static_cast<double>(facts.frame_count) / facts.sample_rate_hz;
  if (end.state == State::kCut && end.promised_share > 0.0) {
    const double missing = seconds * (end.promised_share - 1.0);
    if (missing > kCountedSecondsMax) return ends_early(missing, seconds);
  } else if (end.state == State::kCut) {
    return end_missing(end.reason);
  }
  if (const auto missing = missing_seconds(demuxer, look, end, seconds, facts.sample_rate_hz))
    return ends_early(*missing, seconds);
  if (const auto missing = look.missing_bytes())
    return end_missing(formatted("its last frame lacks {} bytes", *missing));
  return std::nullopt;
}

}  // namespace

bool has_all_counted(const Demuxer& demuxer, const PacketLook& look, std::uint64_t frame_count) {
  // The packet in work counts already.
  if (const auto packets = demuxer.promised_packets()) return look.sound_count() > *packets;
  const auto seconds = demuxer.promised_seconds();
  return demuxer.counts_samples() && seconds &&
         static_cast<double>(frame_count) + 0.5 >=
             *seconds * demuxer.stream().codecpar->sample_rate;
}

void Damage::add(int code, const Complaints& complaints, std::uint64_t frame_count) {
  is_last_ = true;
  if (packet_count_++ > 0) return;
  first_frame_ = frame_count;
  first_reason_ = complaints.last().empty() ? error_text(code) : complaints.last();
}

Status Damage::no_samples(const Complaints& complaints) const {
  std::string text = "no sound could be decoded";
  if (!first_reason_.empty()) {
    text += ": " + first_reason_;
  } else if (!stop_reason_.empty()) {
    text += ": " + stop_reason_;
  } else if (!complaints.last().empty()) {
    text += ": " + complaints.last();
  } else {
    text += ": the container is empty";
  }
  return {StatusCode::kBadInput, std::move(text)};
}

// Some encoders fill the end of a whole file with part of a packet.
void Damage::tell_of_packets(const ContainerEnd& end, const Complaints& complaints,
                             audio::SourceFacts& facts) const {
  const bool is_filling = packet_count_ == 1 && is_last_ && end.state == State::kWhole;
  if (packet_count_ > 0 && !is_filling) {
    facts.warnings.push_back({.kind = Kind::kPacketsSkipped,
                              .numbers = {static_cast<double>(packet_count_)},
                              .text = first_reason_});
    facts.whole_frame_count = first_frame_;
  } else if (complaints.count() > 0 && !is_filling) {
    facts.warnings.push_back({.kind = Kind::kComplaint, .text = complaints.first()});
  }
}

void Damage::tell(const Demuxer& demuxer, const PacketLook& look, const ContainerEnd& end,
                  const Complaints& complaints, audio::SourceFacts& facts) const {
  facts.whole_frame_count = facts.frame_count;
  tell_of_packets(end, complaints, facts);
  if (!stop_reason_.empty())
    facts.warnings.push_back({.kind = Kind::kReadingStopped, .text = stop_reason_});
  const auto cut = cut_of(demuxer, look, end, facts);
  if (cut) facts.warnings.push_back(*cut);
  if (!cut && stop_reason_.empty()) return;
  const auto doubtful = demuxer.codec_pads()
                            ? static_cast<std::uint64_t>(kDoubtfulSeconds * facts.sample_rate_hz)
                            : std::uint64_t{0};
  const std::uint64_t whole = facts.frame_count - std::min(facts.frame_count, doubtful);
  facts.whole_frame_count = std::min(facts.whole_frame_count, whole);
}

}  // namespace xtts::decode::detail
