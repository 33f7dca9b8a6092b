#include "decode_worker/detail/supervision.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::decode_worker::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// We check the worker after so much waiting, and several times before its idle time is over.
constexpr nanoseconds kLookEvery = std::chrono::seconds(1);
constexpr int kLooksMin = 4;

// One wait counts as at most this: a long sleep of the machine or of our process counts as nearly
// nothing.
constexpr nanoseconds kWaitMax = std::chrono::seconds(1);

// A worker that sends messages all the time may be in a loop, too, so we also check after so many.
constexpr std::uint64_t kMessagesALook = 64;

// The factor for the idle time if the system does not tell how long a worker has waited for a
// processor.
constexpr int kUnknownStarvingFactor = 6;

double seconds_of(nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

std::string in_words(nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", seconds_of(time));
  return text.data();
}

std::string in_words(std::uint64_t size_bytes) {
  std::array<char, 32> text{};
  const auto size = static_cast<double>(size_bytes);
  if (size < 1e3) {
    std::snprintf(text.data(), text.size(), "%.0f bytes", size);
  } else if (size < 1e6) {
    std::snprintf(text.data(), text.size(), "%.3g kB", size / 1e3);
  } else {
    std::snprintf(text.data(), text.size(), "%.0f MB", size / 1e6);
  }
  return text.data();
}

}  // namespace

Supervision::Supervision(WorkerProcess& worker, const ClipLimits& limits)
    : worker_(worker),
      limits_(limits),
      look_every_(std::min<nanoseconds>(kLookEvery, limits.idle_time_max / kLooksMin)),
      cpu_begin_(worker.cpu_time().value_or(nanoseconds(0))) {}

Result<Message> Supervision::receive() {
  while (true) {
    // The worker has one thread, so its processor time cannot run out before as much time has
    // passed.
    const nanoseconds left = limits_.cpu_time_max - cpu_used_;
    const auto turn = std::min<nanoseconds>(left, look_every_);
    auto received = worker_.channel().receive(milliseconds(0));
    const auto* const no_message = std::get_if<NoMessage>(&received);
    if (no_message != nullptr && *no_message == NoMessage::kTimeout) received = wait(turn);
    if (auto* message = std::get_if<Message>(&received)) {
      const bool is_time = waited_since_look_ >= look_every_;
      if (++message_count_ % kMessagesALook == 0 || is_time) XTTS_TRY(look());
      return std::move(*message);
    }
    switch (std::get<NoMessage>(received)) {
      case NoMessage::kEnded:
        worker_state_ = WorkerState::kDeadCauseUnknown;
        return worker_.wait_for_exit();
      case NoMessage::kInvalid:
        return end_for_invalid_message();
      case NoMessage::kTimeout:
        XTTS_TRY(look());
    }
  }
}

std::variant<Message, NoMessage> Supervision::wait(nanoseconds turn) {
  const auto begin = std::chrono::steady_clock::now();
  auto received = worker_.channel().receive(std::chrono::ceil<milliseconds>(turn));
  const nanoseconds waited =
      std::min<nanoseconds>(std::chrono::steady_clock::now() - begin, kWaitMax);
  waited_ += waited;
  waited_since_look_ += waited;
  return received;
}

Status Supervision::end_for_invalid_message() {
  worker_state_ = WorkerState::kDeadCauseUnknown;
  return give_up("its decoder crashed (it sent an answer that cannot be read)");
}

Status Supervision::look() {
  waited_since_look_ = nanoseconds(0);
  if (limits_.cancelled && limits_.cancelled()) {
    worker_.kill();
    return {StatusCode::kCancelled, "stopped as asked"};
  }
  if (!starved_begin_) starved_begin_ = starved_time();
  const auto now = worker_.cpu_time();
  if (!now.has_value()) return {};  // it is dead: its socket tells
  cpu_used_ = *now - cpu_begin_;
  if (cpu_used_ >= limits_.cpu_time_max) {
    exceeded_limit_ = {
        audio::ExceededLimit::Kind::kProcessorTime,
        {seconds_of(limits_.cpu_time_max), static_cast<double>(limits_.source_bytes)}};
    return give_up(formatted("its decoder used more than {} of processor time for {}: given up",
                             in_words(limits_.cpu_time_max), in_words(limits_.source_bytes)));
  }
  if (limits_.resident_bytes_max && worker_.resident_bytes() > *limits_.resident_bytes_max) {
    worker_state_ = WorkerState::kOutOfMemory;
    return give_up("its decoder takes too much memory");
  }
  if (is_idle()) {
    worker_.kill();
    exceeded_limit_ = {audio::ExceededLimit::Kind::kIdleTime, {seconds_of(limits_.idle_time_max)}};
    return {StatusCode::kSourceIo,
            formatted("its decoder stood still for {}: tried again by the next build",
                      in_words(limits_.idle_time_max))};
  }
  return {};
}

// How long the worker has waited for a processor, or we to hear it.
std::optional<nanoseconds> Supervision::starved_time() const {
  const auto its_own = worker_.starved_time();
  const auto ours = starved_time_of_this_thread();
  return its_own && ours ? std::optional(*its_own + *ours) : std::nullopt;
}

// Counts all waiting for the worker, except when it computed or waited for a processor. A message
// or a little computing now and then does not restart the count.
bool Supervision::is_idle() const {
  const nanoseconds unused = waited_ - cpu_used_;
  if (unused < limits_.idle_time_max) return false;
  const auto starved = starved_time();
  if (!starved || !starved_begin_) return unused >= limits_.idle_time_max * kUnknownStarvingFactor;
  if (unused - (*starved - *starved_begin_) < limits_.idle_time_max) return false;
  // The system counts a wait for a processor only when it is over.
  return !worker_.is_runnable();
}

Status Supervision::give_up(std::string text) {
  worker_.kill();
  return {StatusCode::kCrashed, std::move(text)};
}

}  // namespace xtts::decode_worker::detail
