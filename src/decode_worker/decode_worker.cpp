#include "decode_worker/decode_worker.hpp"

#include <malloc.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "base/try.hpp"
#include "decode_worker/detail/channel.hpp"
#include "decode_worker/detail/containment.hpp"
#include "decode_worker/detail/program_version.hpp"
#include "decode_worker/detail/shared_memory.hpp"

namespace xtts::decode_worker {
namespace {

using namespace detail;  // NOLINT(google-build-using-namespace): this file is what detail/ is for

// Windows grow while the decoder reads in order, and begin small after each jump: in a video, libav
// wants only the sound.
constexpr std::uint64_t kFirstReadBytes = std::uint64_t{64} << 10U;

// The clip in work, as the parent sends it. A stop reaches the decoder as a failure of the next
// read or of the next piece.
class Clip final : public RandomAccessFile {
 public:
  Clip(Channel& channel, const SharedMemory& memory, std::uint64_t size_bytes,
       std::uint64_t window_bytes)
      : channel_(channel), memory_(memory), size_bytes_(size_bytes), window_bytes_(window_bytes) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return size_bytes_; }

  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    std::size_t count = 0;
    while (count < out.size() && offset_bytes + count < size_bytes_) {
      const std::uint64_t position = offset_bytes + count;
      const auto wanted = static_cast<std::size_t>(
          std::min<std::uint64_t>(out.size() - count, size_bytes_ - position));
      if (position < window_offset_bytes_ || position >= window_offset_bytes_ + window_bytes_) {
        XTTS_TRY(fill_window(position, std::min(wanted, kWindowBytes)));
        if (window_bytes_ == 0) break;  // the file has become shorter
      }
      const std::uint64_t begin = position - window_offset_bytes_;
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(wanted, window_bytes_ - begin));
      std::memcpy(out.data() + count, memory_.window().data() + begin, size);
      count += size;
    }
    return count;
  }

  // The worker fills one buffer while the parent empties the other.
  [[nodiscard]] Status give(std::span<const float> samples) {
    while (!samples.empty()) {
      while (!is_stopped_ && unanswered_count_ >= kBufferCount) (void)await();
      if (is_stopped_) return stopped();
      const auto room = memory_.buffer(buffer_).subspan(filled_samples_);
      const auto part = samples.first(std::min(samples.size(), room.size()));
      std::memcpy(room.data(), part.data(), part.size_bytes());
      filled_samples_ += part.size();
      samples = samples.subspan(part.size());
      if (filled_samples_ < kBufferSamples) continue;
      ++unanswered_count_;
      if (!channel_.send(last_piece())) is_stopped_ = true;
    }
    return is_stopped_ ? stopped() : Status();
  }

  // The samples that were given but not sent.
  [[nodiscard]] Piece last_piece() {
    Piece piece;
    piece.buffer_index = std::exchange(buffer_, (buffer_ + 1) % kBufferCount);
    piece.sample_count = std::exchange(filled_samples_, 0);
    return piece;
  }

 private:
  // Returns the next message that answers a read; nothing if the parent says stop or is gone. It
  // also counts the pieces that the parent has taken meanwhile.
  std::optional<Message> await() const {
    auto received = channel_.receive(std::nullopt);
    auto* const message = std::get_if<Message>(&received);
    if (message == nullptr || std::holds_alternative<Stop>(*message)) {
      is_stopped_ = true;
      return std::nullopt;
    }
    if (std::holds_alternative<Taken>(*message)) --unanswered_count_;
    return std::move(*message);
  }

  Status fill_window(std::uint64_t offset_bytes, std::uint64_t needed_bytes) const {
    const bool goes_on = offset_bytes == window_offset_bytes_ + window_bytes_;
    ahead_bytes_ =
        goes_on ? std::min<std::uint64_t>(ahead_bytes_ * 4, kWindowBytes) : kFirstReadBytes;
    Read read;
    read.offset_bytes = offset_bytes;
    read.needed_bytes = needed_bytes;
    read.wanted_bytes = std::min(size_bytes_ - offset_bytes, std::max(needed_bytes, ahead_bytes_));
    window_bytes_ = 0;
    if (is_stopped_ || !channel_.send(read)) return stopped();
    while (const auto answer = await()) {
      if (const auto* failed = std::get_if<Failed>(&*answer))
        return status_of(*failed).value_or(Status(StatusCode::kSourceIo, failed->text));
      if (const auto* data = std::get_if<Data>(&*answer)) {
        window_offset_bytes_ = offset_bytes;
        window_bytes_ = data->size_bytes;
        return {};
      }
    }
    return stopped();
  }

  [[nodiscard]] static Status stopped() { return {StatusCode::kCancelled, "stopped"}; }

  Channel& channel_;
  const SharedMemory& memory_;
  std::uint64_t size_bytes_;
  // Mutable because reading is const for its callers: they do not see the window, nor the messages
  // that arrived meanwhile.
  mutable std::uint64_t window_offset_bytes_ = 0;
  mutable std::uint64_t window_bytes_;
  mutable std::uint64_t ahead_bytes_ = kFirstReadBytes;
  mutable bool is_stopped_ = false;
  mutable std::size_t unanswered_count_ = 0;
  std::size_t buffer_ = 0;          // the buffer that is being filled
  std::size_t filled_samples_ = 0;  // in that buffer
};

class Worker {
 public:
  Worker(Channel& channel, const SharedMemory& memory, audio::AudioDecoder& decoder)
      : channel_(channel), memory_(memory), decoder_(decoder) {}

  // Returns false if the parent is gone. Messages left over from the clip before get no answer.
  static bool answer(const auto&) { return true; }
  bool answer(const Decode& asked) {
    const auto before = decoder_.resampling_time();
    Clip clip(channel_, memory_, asked.size_bytes, asked.window_bytes);
    const auto facts = decode(clip, asked);
    const auto resampling_ns =
        static_cast<std::uint64_t>((decoder_.resampling_time() - before).count());
    if (facts.ok()) return channel_.send(Done{*facts, resampling_ns, clip.last_piece()});
    Failed failed = failed_of(facts.status());
    failed.resampling_ns = resampling_ns;
    return channel_.send(failed);
  }
  bool answer(const Recognise& asked) {
    const Clip clip(channel_, memory_, asked.size_bytes, asked.window_bytes);
    const auto seen = decoder_.recognise(clip, asked.suffix);
    if (!seen.ok()) return channel_.send(failed_of(seen.status()));
    return channel_.send(Recognised{*seen});
  }
  bool answer(const Measure& asked) {
    const Clip clip(channel_, memory_, asked.size_bytes, asked.window_bytes);
    const auto length = decoder_.length(clip, asked.suffix);
    if (!length.ok()) return channel_.send(failed_of(length.status()));
    return channel_.send(Measured{*length});
  }
  bool answer(const ListFormats&) {
    const auto formats = decoder_.formats();
    if (!formats.ok()) return channel_.send(failed_of(formats.status()));
    return send_all(formats->demuxers, false) && send_all(formats->decoders, true) &&
           channel_.send(AllListed{});
  }

 private:
  bool send_all(const std::vector<audio::Format>& formats, bool is_decoder) {
    return std::ranges::all_of(formats, [&](const audio::Format& one) {
      return channel_.send(Listed{is_decoder, one});
    });
  }
  Result<audio::SourceFacts> decode(Clip& clip, const Decode& asked) {
    try {
      return decoder_.decode(clip, asked.request,
                             [&](std::span<const float> samples) { return clip.give(samples); });
    } catch (const std::bad_alloc&) {
      return Status(StatusCode::kResource, "decoding: out of memory");
    }
  }

  Channel& channel_;
  const SharedMemory& memory_;
  audio::AudioDecoder& decoder_;
};

bool is_a_parents_socket(int descriptor) {
  int type = 0;
  socklen_t size = sizeof(type);
  return ::getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_SEQPACKET;
}

}  // namespace

int run_decode_worker(int socket_fd, int memory_fd, audio::AudioDecoder& decoder) {
  if (!is_a_parents_socket(socket_fd)) return 1;
  Channel channel{Descriptor(socket_fd)};
  const auto memory = SharedMemory::attach(Descriptor(memory_fd));
  if (!memory) return 1;
  detach_from_parent(std::max(socket_fd, memory_fd));

  auto received = channel.receive(std::nullopt);
  const auto* first = std::get_if<Message>(&received);
  const auto* setup = first != nullptr ? std::get_if<Setup>(first) : nullptr;
  if (setup == nullptr) return 1;
  const bool is_of_this_version = setup->version == kProtocolVersion;
  confine(setup->memory_bytes);
  // After this point nothing can be opened.
  Ready ready{.program_version = std::string(program_version())};
  if (const auto libraries = decoder.libraries()) ready.libraries = *libraries;
  if (!channel.send(ready)) return 0;
  if (!is_of_this_version) return 1;

  // Keeps a clip's buffers for the next clip: fresh pages cost more than the arithmetic on them.
  ::mallopt(M_MMAP_THRESHOLD, 64 << 20);
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);

  Worker worker(channel, *memory, decoder);
  while (true) {
    received = channel.receive(std::nullopt);
    const auto* message = std::get_if<Message>(&received);
    if (message == nullptr) return 0;
    if (!std::visit([&](const auto& asked) { return worker.answer(asked); }, *message)) return 0;
  }
}

}  // namespace xtts::decode_worker
