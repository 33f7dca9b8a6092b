// Conversation, the parent's side: one clip, from Decode to Done or Failed; one file, from
// Recognise to Recognised, or from Measure to Measured, or Failed; or one list of formats.
//
// It trusts nothing: each message must fit the request and the messages before, or the worker is
// killed. All reading of the source happens here. Borrows everything; one thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "audio/audio_decoder.hpp"
#include "decode_worker/detail/shared_memory.hpp"
#include "decode_worker/detail/supervision.hpp"

namespace xtts::decode_worker::detail {

class Conversation {
 public:
  Conversation(WorkerProcess& worker, const SharedMemory& memory, const ClipLimits& limits,
               const RandomAccessFile& source, const audio::TakeSamples& take)
      : worker_(worker),
        memory_(memory),
        supervision_(worker, limits),
        source_(source),
        take_(take) {}

  [[nodiscard]] Result<audio::SourceFacts> decode(const audio::DecodeRequest& request);
  [[nodiscard]] Result<audio::Recognition> recognise(std::string_view suffix);
  [[nodiscard]] Result<audio::SourceLength> length(std::string_view suffix);
  [[nodiscard]] Result<audio::FormatList> formats();
  [[nodiscard]] WorkerState worker_state() const noexcept { return worker_state_; }
  [[nodiscard]] const std::optional<audio::ExceededLimit>& exceeded_limit() const noexcept {
    return supervision_.exceeded_limit();
  }
  // The consumer of the samples wants no more, so a second try makes no sense.
  [[nodiscard]] bool was_refused() const noexcept { return was_refused_; }
  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept {
    return resampling_time_;
  }

 private:
  template <typename Last>
  [[nodiscard]] Result<Last> serve();
  [[nodiscard]] Result<audio::SourceFacts> listen();
  [[nodiscard]] Result<Message> receive();
  // Returns how much of the source's head is in the window now.
  [[nodiscard]] std::uint64_t fill_window(std::uint64_t wanted_bytes);
  [[nodiscard]] Status answer(const Read& read);
  [[nodiscard]] Status accept(const Piece& piece);
  [[nodiscard]] Status check(const Done& done) const;
  [[nodiscard]] Status conclude(const Failed& failed);
  [[nodiscard]] Status end_for_invalid_message();

  WorkerProcess& worker_;
  const SharedMemory& memory_;
  Supervision supervision_;
  const RandomAccessFile& source_;
  const audio::TakeSamples& take_;

  std::uint64_t frame_count_max_ = 0;
  std::uint64_t sample_count_max_ = 0;
  std::uint64_t sample_count_ = 0;
  bool was_refused_ = false;
  std::optional<Status> refusal_;  // from the consumer: we wait for the worker to stop
  Status source_failure_;
  WorkerState worker_state_ = WorkerState::kDeadByThisClip;
  std::chrono::nanoseconds resampling_time_{};
};

}  // namespace xtts::decode_worker::detail
