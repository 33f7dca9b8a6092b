#include "decode_worker/contained_decoder.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <new>
#include <optional>
#include <utility>

#include "base/formatted.hpp"
#include "base/lap_timer.hpp"
#include "base/try.hpp"
#include "decode_worker/detail/conversation.hpp"
#include "decode_worker/detail/program_version.hpp"

namespace xtts::decode_worker {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): this file is what detail/ is for

// A new worker costs less than one clip in a thousand, and ends the old worker's memory leaks.
constexpr std::uint32_t kClipsAWorkerMax = 4096;
constexpr std::size_t kSuffixBytesMax = 64;

// True where the memory of each process that we start is limited.
bool is_memory_limited() {
  const auto is_limited = [](auto resource) {
    rlimit held{};
    return ::getrlimit(resource, &held) == 0 && held.rlim_cur != RLIM_INFINITY;
  };
  return is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA);
}

// The source of requests to a worker that need no file.
class NoSource final : public RandomAccessFile {
 public:
  [[nodiscard]] std::uint64_t size_bytes() const override { return 0; }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t, std::span<std::byte>) const override {
    return std::size_t{0};
  }
};

const audio::TakeSamples kTakeNone = [](std::span<const float>) { return Status(); };

class ContainedDecoder final : public audio::AudioDecoder {
 public:
  explicit ContainedDecoder(ContainedOptions options) : options_(std::move(options)) {}

  // A codec may damage its memory with one clip and die of the next. So a clip is at fault only if
  // it kills a worker that has met no other clip.
  Result<audio::SourceFacts> decode(const RandomAccessFile& source,
                                    const audio::DecodeRequest& request,
                                    const audio::TakeSamples& take) override {
    if (request.suffix.size() > kSuffixBytesMax)
      return Status(StatusCode::kInvalidArgument,
                    formatted("a suffix of {} letters", request.suffix.size()));
    XTTS_TRY(audio::check(request));
    const auto decode = [&](Conversation& conversation) { return conversation.decode(request); };
    try {
      bool is_worth_another = false;
      std::uint64_t given_count = 0;
      auto facts = talk(
          source, request.source_seconds_max,
          [&](std::span<const float> samples) {
            given_count += samples.size();
            return take(samples);
          },
          is_worth_another, decode);
      if (!is_worth_another) return facts;
      // The new worker sends the same samples again: those that were already given are passed over.
      return talk(
          source, request.source_seconds_max,
          [&](std::span<const float> samples) {
            const auto known = std::min<std::uint64_t>(given_count, samples.size());
            given_count -= known;
            const auto rest = samples.subspan(static_cast<std::size_t>(known));
            return rest.empty() ? Status() : take(rest);
          },
          is_worth_another, decode);
    } catch (const std::bad_alloc&) {
      return Status(StatusCode::kResource, "decoding: out of memory");
    }
  }

  Result<audio::Recognition> recognise(const RandomAccessFile& source,
                                       std::string_view suffix) override {
    return look(source, suffix, "recognising a file", &Conversation::recognise);
  }

  Result<audio::SourceLength> length(const RandomAccessFile& source,
                                     std::string_view suffix) override {
    return look(source, suffix, "measuring a file", &Conversation::length);
  }

  [[nodiscard]] std::optional<audio::ExceededLimit> exceeded_limit() const noexcept override {
    return exceeded_limit_;
  }

  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept override {
    return resampling_time_;
  }

  Result<std::string> libraries() override {
    XTTS_TRY(prepare_worker());
    return libraries_;
  }

  Result<audio::FormatList> formats() override {
    bool is_worth_another = false;
    return talk(NoSource(), 0.0, kTakeNone, is_worth_another,
                [](Conversation& conversation) { return conversation.formats(); });
  }

 private:
  // A talk that takes no samples, and a second one where the first says nothing about the file.
  template <typename Answer>
  Result<Answer> look(const RandomAccessFile& source, std::string_view suffix, const char* what,
                      Result<Answer> (Conversation::*ask)(std::string_view)) {
    // A suffix of thousands of letters is not a suffix.
    if (suffix.size() > kSuffixBytesMax) suffix = {};
    const auto talk_once = [&](bool& is_worth_another) {
      return talk(source, 0.0, kTakeNone, is_worth_another,
                  [&](Conversation& conversation) { return (conversation.*ask)(suffix); });
    };
    try {
      bool is_worth_another = false;
      auto answer = talk_once(is_worth_another);
      return is_worth_another ? talk_once(is_worth_another) : answer;
    } catch (const std::bad_alloc&) {
      return Status(StatusCode::kResource, std::string(what) + ": out of memory");
    }
  }

  // One talk with the worker. It calls `ask` with the Conversation and returns its Result.
  template <typename Ask>
  auto talk(const RandomAccessFile& source, double source_seconds_max,
            const audio::TakeSamples& take, bool& is_worth_another, Ask ask)
      -> decltype(ask(std::declval<Conversation&>())) {
    exceeded_limit_.reset();
    XTTS_TRY(prepare_worker());
    const bool is_first = clip_count_++ == 0;
    // Any outcome, also an exception of `take`, ends this worker, unless the talk ends with a ready
    // worker.
    std::unique_ptr<WorkerProcess> worker = std::move(worker_);
    const ClipLimits limits{
        cpu_time_max(options_.cpu_limit, source.size_bytes(), source_seconds_max),
        options_.idle_time_max, source.size_bytes(), resident_bytes_max_, options_.cancelled};
    Conversation conversation(*worker, *memory_, limits, source, take);
    auto answer = ask(conversation);
    resampling_time_ += conversation.resampling_time();
    exceeded_limit_ = conversation.exceeded_limit();
    const WorkerState worker_state = conversation.worker_state();
    if (worker_state == WorkerState::kReady) worker_ = std::move(worker);
    is_worth_another = (worker_state == WorkerState::kDeadCauseUnknown ||
                        worker_state == WorkerState::kOutOfMemory) &&
                       !is_first && !conversation.was_refused();
    if (worker_state == WorkerState::kOutOfMemory) {
      const std::uint64_t memory_mib = options_.memory_bytes >> 20U;
      exceeded_limit_ = {audio::ExceededLimit::Kind::kMemory, {static_cast<double>(memory_mib)}};
      return Status(StatusCode::kBadInput,
                    formatted("needs more than {} MiB to decode", memory_mib));
    }
    return answer;
  }

  Status prepare_worker() {
    if (clip_count_ >= kClipsAWorkerMax) worker_.reset();
    if (worker_ != nullptr) return {};
    clip_count_ = 0;
    return start_worker();
  }

  Status start_worker() {
    if (!memory_.has_value()) {
      XTTS_ASSIGN(SharedMemory memory, SharedMemory::make());
      memory_.emplace(std::move(memory));
    }
    XTTS_ASSIGN(auto worker, WorkerProcess::start(options_.command, *memory_));
    (void)worker->channel().send(Setup{.memory_bytes = options_.memory_bytes});
    Supervision supervision(*worker, {.cpu_time_max = options_.cpu_limit.base,
                                      .idle_time_max = options_.idle_time_max,
                                      .cancelled = options_.cancelled});
    const auto received = supervision.receive();
    const std::string startup_error = worker->take_startup_error();
    if (!received) return failure_to_start(received.status(), startup_error);
    const auto* ready = std::get_if<Ready>(&*received);
    if (ready == nullptr)
      return failure_to_start({StatusCode::kInternal, "it sent an answer that cannot be read"},
                              startup_error);
    if (ready->version != kProtocolVersion || ready->program_version != program_version())
      return failure_to_start(of_another_version(*ready), startup_error);
    if (options_.first_libraries) XTTS_TRY(options_.first_libraries->check(ready->libraries));
    libraries_ = ready->libraries;
    // The worker already holds its libraries and its part of the shared memory.
    resident_bytes_max_ = worker->resident_bytes();
    if (resident_bytes_max_) *resident_bytes_max_ += options_.memory_bytes + kSharedBytes;
    worker_ = std::move(worker);
    return {};
  }

  static Status of_another_version(const Ready& ready) {
    return {StatusCode::kInternal,
            formatted("it is of version {} (protocol {}), and this is version {} (protocol {})",
                      ready.program_version, ready.version, program_version(), kProtocolVersion)};
  }

  // A worker that was killed from outside shows that memory has run out. This is likely, too, if a
  // program with a memory limit dies before it has done anything: libraries end it in any way then.
  [[nodiscard]] Status failure_to_start(const Status& cause,
                                        const std::string& startup_error) const {
    if (cause.code() == StatusCode::kCancelled) return cause;
    std::string text =
        formatted("{} does not start: {}", worker_name(options_.command), cause.message());
    if (!startup_error.empty()) text += formatted(", saying \"{}\"", startup_error);
    if (cause.code() == StatusCode::kSourceIo) return {StatusCode::kResource, std::move(text)};
    if (cause.code() == StatusCode::kCrashed && is_memory_limited()) {
      return {StatusCode::kResource,
              text + "; its memory is limited (ulimit -v or -d), maybe to too little"};
    }
    return {StatusCode::kInternal,
            text +
                "; it has to be the program xtts-decode of this version: install xtts-precompute "
                "again, as a whole"};
  }

  ContainedOptions options_;
  std::optional<SharedMemory> memory_;
  std::unique_ptr<WorkerProcess> worker_;
  std::optional<std::uint64_t> resident_bytes_max_;     // of this worker
  std::uint32_t clip_count_ = 0;                        // of this worker
  std::string libraries_;                               // of any worker of this program
  std::optional<audio::ExceededLimit> exceeded_limit_;  // of the last talk
  std::chrono::nanoseconds resampling_time_{};
};

}  // namespace

std::chrono::nanoseconds cpu_time_max(const CpuLimit& limit, std::uint64_t source_bytes,
                                      double source_seconds_max) {
  constexpr double kMib = 1024.0 * 1024.0;
  // A month fits in nanoseconds, and is enough.
  constexpr double kSecondsMax = 30.0 * 24 * 3600;
  const auto bytes = static_cast<double>(source_bytes);
  // In this order, a length that is not a number counts as 0.
  const double sound_seconds =
      std::min(std::max(0.0, source_seconds_max), bytes / limit.source_bytes_per_second_min);
  const double seconds = seconds_of(limit.base) + seconds_of(limit.per_mib) * bytes / kMib +
                         seconds_of(limit.per_source_second) * sound_seconds;
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::min(seconds, kSecondsMax)));
}

Status FirstLibraries::check(const std::string& libraries) {
  const std::scoped_lock lock(mutex_);
  if (first_.empty()) first_ = libraries;
  if (first_ == libraries) return {};
  return {StatusCode::kMismatch, "the program xtts-decode was replaced while it ran (" + first_ +
                                     " before, " + libraries + " now): run again"};
}

std::unique_ptr<audio::AudioDecoder> make_contained_decoder(ContainedOptions options) {
  return std::make_unique<ContainedDecoder>(std::move(options));
}

audio::MakeDecoder contained_in(std::string program) {
  return [program = std::move(program),
          first = std::make_shared<FirstLibraries>()](std::function<bool()> cancelled) {
    return make_contained_decoder(
        {.command = {program}, .cancelled = std::move(cancelled), .first_libraries = first});
  };
}

}  // namespace xtts::decode_worker
