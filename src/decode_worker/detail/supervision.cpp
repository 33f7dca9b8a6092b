#include "decode_worker/detail/supervision.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <utility>

#include "base/try.hpp"

namespace xtts::decode_worker::detail {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// A standstill is so many waits in a row that each end without a message and without progress. One
// long sleep of the whole machine is only one of them.
constexpr int kStillTurnsMax = 60;
constexpr nanoseconds kProgress = std::chrono::microseconds(500);

// A worker that never falls silent may be in a loop as well.
constexpr std::uint64_t kMessagesALook = 64;

std::string in_words(nanoseconds time) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g s", std::chrono::duration<double>(time).count());
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

Supervision::Supervision(WorkerProcess& worker, const Worth& worth)
    : worker_(worker), worth_(worth), cpu_begin_(worker.cpu_time().value_or(nanoseconds(0))) {}

Result<Message> Supervision::receive() {
  while (true) {
    // It has one thread, so it cannot use up its time before as much time has passed.
    const nanoseconds left = worth_.cpu_time_max - cpu_used_;
    const auto turn = std::min<nanoseconds>(left, worth_.standstill_max / kStillTurnsMax);
    auto received = worker_.channel().receive(std::chrono::ceil<milliseconds>(turn));
    if (auto* message = std::get_if<Message>(&received)) {
      still_turn_count_ = 0;
      if (++message_count_ % kMessagesALook == 0) XTTS_TRY(look_at_clocks());
      return std::move(*message);
    }
    switch (std::get<Silence>(received)) {
      case Silence::kEnded:
        has_died_ = true;
        return worker_.cause_of_death();
      case Silence::kNonsense:
        return nonsense();
      case Silence::kTimeout:
        XTTS_TRY(look_at_clocks());
    }
  }
}

Status Supervision::nonsense() {
  has_died_ = true;
  return give_up("its decoder crashed (it sent nonsense)");
}

Status Supervision::look_at_clocks() {
  const auto now = worker_.cpu_time();
  if (!now.has_value()) return {};  // it is dead: its socket tells
  const nanoseconds used = *now - cpu_begin_;
  still_turn_count_ = used - cpu_used_ < kProgress ? still_turn_count_ + 1 : 0;
  cpu_used_ = used;
  if (cpu_used_ >= worth_.cpu_time_max) {
    return give_up("its decoder used more than " + in_words(worth_.cpu_time_max) +
                   " of processor time for " + in_words(worth_.source_bytes) + ": given up");
  }
  if (still_turn_count_ >= kStillTurnsMax) {
    worker_.kill();
    return {StatusCode::kSourceIo, "its decoder stood still for " +
                                       in_words(worth_.standstill_max) +
                                       ": tried again by the next build"};
  }
  return {};
}

Status Supervision::give_up(std::string text) {
  worker_.kill();
  return {StatusCode::kCrashed, std::move(text)};
}

}  // namespace xtts::decode_worker::detail
