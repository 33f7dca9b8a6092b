#include "decode_worker/detail/conversation.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/checked.hpp"
#include "base/try.hpp"

namespace xtts::decode_worker::detail {
namespace {

constexpr std::size_t kNameBytesMax = 256;
constexpr std::size_t kFormatCountMax = 10'000;  // FFmpeg has 900
constexpr std::uint64_t kLookBytes = std::uint64_t{4}
                                     << 10U;  // the first look of the decoder inside
constexpr std::uint64_t kFirstReadBytes = std::uint64_t{64} << 10U;
constexpr std::uint64_t kResamplingNsMax = std::uint64_t{30} * 24 * 3600 * 1'000'000'000;

// Samples above the length: rounding at changes of the rate, and the last frame of a codec.
constexpr std::uint64_t kSlackSamples = std::uint64_t{1} << 21U;
constexpr double kSamplesMax = 1e12;  // times any count of channels, it fits in 64 bits

std::uint64_t sample_count_max(double seconds, std::uint32_t rate_hz) {
  const double count = seconds * rate_hz;
  if (!(count > 0.0)) return kSlackSamples;
  return static_cast<std::uint64_t>(std::min(count, kSamplesMax)) + kSlackSamples;
}

// libav's own names are plain ASCII.
bool is_a_name(const std::string& text) {
  return text.size() <= kNameBytesMax &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

}  // namespace

Status Conversation::end_for_invalid_message() {
  worker_state_ = WorkerState::kDeadCauseUnknown;
  return supervision_.end_for_invalid_message();
}

// If the head cannot be read, it is not sent. If the worker needs it, it asks, and meets the
// failure.
std::uint64_t Conversation::fill_window(std::uint64_t wanted_bytes) {
  const auto head = source_.read_at(
      0, memory_.window().first(std::min<std::uint64_t>(source_.size_bytes(), wanted_bytes)));
  return head.ok() ? *head : 0;
}

Result<audio::SourceFacts> Conversation::decode(const audio::DecodeRequest& request) {
  frame_count_max_ = sample_count_max(request.source_seconds_max, audio::kSampleRateHzMax);
  sample_count_max_ = request.target_rate_hz == 0
                          ? frame_count_max_
                          : sample_count_max(request.source_seconds_max, request.target_rate_hz);
  // If the send failed, listen() says why.
  (void)worker_.channel().send(Decode{request, source_.size_bytes(), fill_window(kWindowBytes)});
  auto facts = listen();
  if (refusal_.has_value()) return *std::move(refusal_);
  return facts;
}

Result<audio::FormatList> Conversation::formats() {
  (void)worker_.channel().send(ListFormats{});
  audio::FormatList list;
  while (list.demuxers.size() + list.decoders.size() <= kFormatCountMax) {
    XTTS_ASSIGN(Message received, receive());
    if (std::holds_alternative<AllListed>(received)) {
      worker_state_ = WorkerState::kReady;
      return list;
    }
    auto* const listed = std::get_if<Listed>(&received);
    if (listed == nullptr) return end_for_invalid_message();
    auto& formats = listed->is_decoder ? list.decoders : list.demuxers;
    formats.push_back(std::move(listed->format));
  }
  return end_for_invalid_message();
}

Result<Message> Conversation::receive() {
  auto received = supervision_.receive();
  if (!received) worker_state_ = supervision_.worker_state();
  return received;
}

// Serves the worker until it sends `Last`. A look accepts no piece: its sound has no length.
template <typename Last>
Result<Last> Conversation::serve() {
  while (true) {
    XTTS_ASSIGN(Message received, receive());
    if (const auto* read = std::get_if<Read>(&received)) {
      XTTS_TRY(answer(*read));
    } else if (const auto* piece = std::get_if<Piece>(&received)) {
      XTTS_TRY(accept(*piece));
      if (!refusal_.has_value()) (void)worker_.channel().send(Taken{});
    } else if (auto* last = std::get_if<Last>(&received)) {
      worker_state_ = WorkerState::kReady;
      return std::move(*last);
    } else if (const auto* failed = std::get_if<Failed>(&received)) {
      return conclude(*failed);
    } else {
      return end_for_invalid_message();
    }
  }
}

Result<audio::SourceFacts> Conversation::listen() {
  XTTS_ASSIGN(Done done, serve<Done>());
  if (!check(done).ok()) return end_for_invalid_message();
  if (done.last.sample_count > 0) XTTS_TRY(accept(done.last));
  resampling_time_ = std::chrono::nanoseconds(done.resampling_ns);
  return std::move(done.facts);
}

Result<audio::Recognition> Conversation::recognise(std::string_view suffix) {
  (void)worker_.channel().send(
      Recognise{{std::string(suffix), source_.size_bytes(), fill_window(kLookBytes)}});
  XTTS_ASSIGN(const Recognised seen, serve<Recognised>());
  return seen.what;
}

Result<audio::SourceLength> Conversation::length(std::string_view suffix) {
  (void)worker_.channel().send(
      Measure{{std::string(suffix), source_.size_bytes(), fill_window(kFirstReadBytes)}});
  XTTS_ASSIGN(const Measured measured, serve<Measured>());
  const audio::SourceLength& length = measured.length;
  const bool is_possible = length.sample_rate_hz > 0 &&
                           length.sample_rate_hz <= audio::kSampleRateHzMax &&
                           static_cast<double>(length.frame_count) <= kSamplesMax;
  if (!is_possible) return end_for_invalid_message();
  return length;
}

// A failed send needs no handling: the worker is gone, and the next message is its end.
Status Conversation::answer(const Read& read) {
  if (read.needed_bytes > read.wanted_bytes || read.wanted_bytes > kWindowBytes ||
      !lies_within(read.offset_bytes, read.wanted_bytes, source_.size_bytes())) {
    return end_for_invalid_message();
  }
  if (refusal_.has_value()) return {};
  // Only the needed bytes must be readable: the worker may never ask for the others.
  auto got = source_.read_at(read.offset_bytes, memory_.window().first(read.wanted_bytes));
  if (!got.ok() && read.needed_bytes < read.wanted_bytes)
    got = source_.read_at(read.offset_bytes, memory_.window().first(read.needed_bytes));
  if (got.ok()) {
    (void)worker_.channel().send(Data{*got});
  } else {
    source_failure_ = got.status();
    (void)worker_.channel().send(failed_of(source_failure_));
  }
  return {};
}

Status Conversation::accept(const Piece& piece) {
  const bool fits = piece.buffer_index < kBufferCount && piece.sample_count > 0 &&
                    piece.sample_count <= kBufferSamples &&
                    piece.sample_count <= sample_count_max_ - sample_count_;
  if (!fits) return end_for_invalid_message();
  sample_count_ += piece.sample_count;
  if (refusal_.has_value()) return {};
  Status taken = take_(memory_.buffer(piece.buffer_index).first(piece.sample_count));
  if (!taken.ok()) {
    refusal_ = std::move(taken);
    was_refused_ = true;
    (void)worker_.channel().send(Stop{});
  }
  return {};
}

Status Conversation::check(const Done& done) const {
  const Status wrong(StatusCode::kCrashed, "");
  const audio::SourceFacts& facts = done.facts;
  if (done.resampling_ns > kResamplingNsMax) return wrong;
  if (!is_a_name(facts.container) || !is_a_name(facts.codec)) return wrong;
  if (facts.sample_rate_hz == 0 || facts.sample_rate_hz > audio::kSampleRateHzMax) return wrong;
  if (facts.channel_count == 0 || facts.frame_count > frame_count_max_) return wrong;
  const std::uint64_t all_count = facts.frame_count * facts.channel_count;
  if (facts.clipped_sample_count > all_count || facts.nonfinite_sample_count > all_count)
    return wrong;
  for (const audio::Warning& warning : facts.warnings) {
    for (const double number : warning.numbers)
      if (!std::isfinite(number) || number < 0.0) return wrong;
  }
  return {};
}

// Some codes come only with a failure of the source. Without such a failure, the worker has
// invented them.
Status Conversation::conclude(const Failed& failed) {
  auto status = status_of(failed);
  if (!status.has_value() || failed.resampling_ns > kResamplingNsMax)
    return end_for_invalid_message();
  worker_state_ = WorkerState::kReady;
  resampling_time_ = std::chrono::nanoseconds(failed.resampling_ns);
  if (refusal_.has_value()) return *std::move(status);
  if (!source_failure_.ok() && status->code() == source_failure_.code()) return *std::move(status);
  switch (status->code()) {
    case StatusCode::kResource:
      worker_state_ = WorkerState::kOutOfMemory;
      return *std::move(status);
    case StatusCode::kBadInput:
    case StatusCode::kSourceIo:
    case StatusCode::kUnsupported:
      return *std::move(status);
    default:
      return end_for_invalid_message();
  }
}

}  // namespace xtts::decode_worker::detail
