#include "decode_worker/contained_decoder.hpp"

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "decode_worker/detail/conversation.hpp"

namespace xtts::decode_worker {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): this file is what detail/ is for

// A new worker costs less than one clip in a thousand; whatever a codec leaks ends with the old
// one.
constexpr std::uint32_t kClipsAWorkerMax = 4096;

class ContainedDecoder final : public decode::AudioDecoder {
 public:
  explicit ContainedDecoder(ContainedOptions options) : options_(std::move(options)) {}

  Result<decode::SourceFacts> decode(const RandomAccessFile& source,
                                     const decode::DecodeRequest& request,
                                     const decode::TakeSamples& take) override;
  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept override {
    return resampling_time_;
  }

 private:
  Result<decode::SourceFacts> attempt(const RandomAccessFile& source,
                                      const decode::DecodeRequest& request,
                                      const decode::TakeSamples& take, bool& is_worth_another);
  Status prepare_worker();
  Status start_worker();
  [[nodiscard]] Status failure_to_start(const Status& cause) const;

  ContainedOptions options_;
  std::optional<SharedMemory> memory_;
  std::unique_ptr<WorkerProcess> worker_;
  std::uint32_t clip_count_ = 0;  // of this worker
  std::chrono::nanoseconds resampling_time_{};
};

// A codec may spoil its memory with one clip and die of the next: only a worker that has met no
// other clip convicts this one.
Result<decode::SourceFacts> ContainedDecoder::decode(const RandomAccessFile& source,
                                                     const decode::DecodeRequest& request,
                                                     const decode::TakeSamples& take) {
  if (request.resampler.size() > kTextBytesMax)
    return Status(StatusCode::kInvalidArgument, "a resampler's name of thousands of letters");
  try {
    bool is_worth_another = false;
    std::uint64_t given_count = 0;
    auto facts = attempt(
        source, request,
        [&](std::span<const float> samples) {
          given_count += samples.size();
          return take(samples);
        },
        is_worth_another);
    if (!is_worth_another) return facts;
    // The same samples again: those that were given are passed over.
    return attempt(
        source, request,
        [&](std::span<const float> samples) {
          const auto known = std::min<std::uint64_t>(given_count, samples.size());
          given_count -= known;
          const auto rest = samples.subspan(static_cast<std::size_t>(known));
          return rest.empty() ? Status() : take(rest);
        },
        is_worth_another);
  } catch (const std::bad_alloc&) {
    return Status(StatusCode::kResource, "decoding: out of memory");
  }
}

Result<decode::SourceFacts> ContainedDecoder::attempt(const RandomAccessFile& source,
                                                      const decode::DecodeRequest& request,
                                                      const decode::TakeSamples& take,
                                                      bool& is_worth_another) {
  XTTS_TRY(prepare_worker());
  const bool is_first = clip_count_++ == 0;
  // Whatever happens now, exceptions of `take` included, ends this worker unless it says that it is
  // ready.
  std::unique_ptr<WorkerProcess> worker = std::move(worker_);
  const Worth worth{
      cpu_time_max(options_.cpu_limit, source.size_bytes(), request.source_seconds_max),
      options_.standstill_max, source.size_bytes()};
  Conversation conversation(*worker, *memory_, worth, source, take);
  auto facts = conversation.hold(request);
  resampling_time_ += conversation.resampling_time();
  const Ending ending = conversation.ending();
  if (ending == Ending::kWorkerIsReady) worker_ = std::move(worker);
  is_worth_another = (ending == Ending::kWorkerDied || ending == Ending::kMemoryIsShort) &&
                     !is_first && !conversation.was_refused();
  if (ending == Ending::kMemoryIsShort) {
    return Status(
        StatusCode::kBadInput,
        "needs more than " + std::to_string(options_.memory_bytes >> 20U) + " MiB to decode");
  }
  return facts;
}

Status ContainedDecoder::prepare_worker() {
  if (clip_count_ >= kClipsAWorkerMax) worker_.reset();
  if (worker_ != nullptr) return {};
  clip_count_ = 0;
  return start_worker();
}

Status ContainedDecoder::start_worker() {
  if (!memory_.has_value()) {
    XTTS_ASSIGN(SharedMemory memory, SharedMemory::make());
    memory_.emplace(std::move(memory));
  }
  XTTS_ASSIGN(auto worker, WorkerProcess::start(options_.command, *memory_));
  (void)worker->channel().send(Setup{.memory_bytes = options_.memory_bytes});
  Supervision supervision(*worker, {options_.cpu_limit.base, options_.standstill_max, 0});
  const auto received = supervision.receive();
  if (!received) return failure_to_start(received.status());
  const auto* ready = std::get_if<Ready>(&*received);
  if (ready == nullptr || ready->version != kProtocolVersion)
    return failure_to_start({StatusCode::kInternal, "it is no worker of this version"});
  worker_ = std::move(worker);
  return {};
}

Status ContainedDecoder::failure_to_start(const Status& cause) const {
  // Killed from outside: memory has run out.
  const auto code =
      cause.code() == StatusCode::kSourceIo ? StatusCode::kResource : StatusCode::kInternal;
  return {code, worker_name(options_.command) + " does not start: " + cause.message()};
}

}  // namespace

std::unique_ptr<decode::AudioDecoder> make_contained_decoder(ContainedOptions options) {
  return std::make_unique<ContainedDecoder>(std::move(options));
}

}  // namespace xtts::decode_worker
