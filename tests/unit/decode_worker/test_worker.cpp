// decode_test_worker: a worker for tests. Its decoder does what the first word of the source says,
// and decodes what begins otherwise. `decode_test_worker parent WORD` is a parent that decodes the
// source WORD in a worker of its own and then waits to be killed.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "decode/libav_decoder.hpp"
#include "decode_worker/contained_decoder.hpp"
#include "decode_worker/decode_worker.hpp"
#include "decode_worker/detail/channel.hpp"
#include "decode_worker/detail/messages.hpp"
#include "decode_worker/detail/shared_memory.hpp"

namespace xtts::decode_worker {
namespace {

using audio::SourceFacts;

SourceFacts some_facts() {
  SourceFacts facts;
  facts.container = "test";
  facts.codec = "test";
  facts.sample_rate_hz = 22050;
  facts.channel_count = 1;
  return facts;
}

[[noreturn]] void spin() {
  volatile std::uint64_t count = 0;
  while (true) count = count + 1;
}

// Past every rule of the protocol.
void say(const std::vector<std::byte>& bytes) {
  (void)::send(kWorkerSocket, bytes.data(), bytes.size(), 0);
}

Result<SourceFacts> eat_memory() {
  std::vector<std::vector<char>> eaten;
  while (true) {
    eaten.emplace_back(std::size_t{1} << 20U, 'x');
    volatile char touched = eaten.back()[123];
    (void)touched;
  }
}

// In pieces, until the system refuses.
[[noreturn]] void map_memory(std::size_t piece_bytes, int protection, int flags) {
  while (true) {
    void* const piece = ::mmap(nullptr, piece_bytes, protection, flags, -1, 0);
    if (piece == MAP_FAILED) throw std::bad_alloc();
    if ((protection & PROT_WRITE) != 0) std::memset(piece, 1, piece_bytes);
  }
}

// Neither idle nor busy for long.
void doze() {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1);
  while (std::chrono::steady_clock::now() < end) {
  }
  ::usleep(200'000);
}

// Once true, the worker dies in the middle of the next clip.
bool& is_spoilt() {
  static bool spoilt = false;
  return spoilt;
}

std::string outcome_of(long result) {
  return result >= 0 ? "worked" : std::string(errno == EPERM ? "EPERM" : std::strerror(errno));
}

Result<SourceFacts> try_forbidden_calls() {
  SourceFacts facts = some_facts();
  const auto tell = [&](const char* name, long result) {
    facts.warnings.push_back({.text = std::string(name) + " " + outcome_of(result)});
  };
  tell("open", ::open("/etc/passwd", O_RDONLY));
  tell("socket", ::socket(AF_INET, SOCK_STREAM, 0));
  tell("fork", ::fork());
  tell("memfd", ::memfd_create("x", 0));
  tell("kill", ::kill(::getppid(), 0));
  tell("truncate", ::ftruncate(kWorkerMemory, 0));
  std::array<char*, 2> words{const_cast<char*>("true"), nullptr};
  tell("exec", ::execv("/bin/true", words.data()));
  return facts;
}

detail::Piece piece(std::uint64_t buffer, std::uint64_t count) {
  return {.buffer_index = buffer, .sample_count = count};
}

detail::Done done(const std::function<void(SourceFacts&)>& change) {
  detail::Done message{some_facts(), 0, {}};
  change(message.facts);
  return message;
}

using Behaviour = std::function<Result<SourceFacts>()>;

Behaviour saying(const detail::Message& message) {
  return [message]() -> Result<SourceFacts> {
    say(detail::encode_message(message));
    spin();
  };
}

Result<SourceFacts> flood() {
  const auto bytes = detail::encode_message(detail::Read{0, 1, 1});
  while (true) say(bytes);
}

const std::map<std::string, Behaviour, std::less<>>& behaviours() {
  static const std::map<std::string, Behaviour, std::less<>> table = {
      {"segv",
       []() -> Result<SourceFacts> {
         ::raise(SIGSEGV);
         return some_facts();
       }},
      {"null",
       []() -> Result<SourceFacts> {
         volatile int* volatile nowhere = nullptr;
         *nowhere = 1;
         return some_facts();
       }},
      {"abort", []() -> Result<SourceFacts> { std::abort(); }},
      {"throw", []() -> Result<SourceFacts> { throw 1; }},
      {"exit", []() -> Result<SourceFacts> { ::_exit(7); }},
      {"spin", []() -> Result<SourceFacts> { spin(); }},
      {"sleep",
       []() -> Result<SourceFacts> {
         while (true) ::usleep(100'000);
       }},
      {"doze",
       []() -> Result<SourceFacts> {
         while (true) doze();
       }},
      {"trickle",
       []() -> Result<SourceFacts> {
         while (true) {
           say(detail::encode_message(detail::Read{0, 1, 1}));
           ::usleep(200'000);
         }
       }},
      {"hunger", eat_memory},
      {"share",
       []() -> Result<SourceFacts> {
         map_memory(std::size_t{1} << 20U, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
       }},
      {"reserve",
       []() -> Result<SourceFacts> {
         map_memory(std::size_t{16} << 20U, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS);
       }},
      {"hold",
       []() -> Result<SourceFacts> {
         const std::vector<char> held(std::size_t{192} << 20U, 'x');
         volatile const char* const kept = held.data();
         while (true) {
           ::usleep(10'000);
           (void)kept[0];
         }
       }},
      {"kill",
       []() -> Result<SourceFacts> {
         ::raise(SIGKILL);
         return some_facts();
       }},
      {"xcpu",
       []() -> Result<SourceFacts> {
         ::raise(SIGXCPU);
         return some_facts();
       }},
      {"spoil",
       []() -> Result<SourceFacts> {
         is_spoilt() = true;
         return some_facts();
       }},
      {"hang up",
       []() -> Result<SourceFacts> {
         ::close(kWorkerSocket);
         spin();
       }},
      {"flood", flood},
      {"forbidden", try_forbidden_calls},
      {"internal",
       []() -> Result<SourceFacts> { return Status(StatusCode::kInternal, "said the worker"); }},
      {"lie empty",
       []() -> Result<SourceFacts> {
         say(std::vector<std::byte>(1, std::byte{200}));
         spin();
       }},
      {"lie long",
       []() -> Result<SourceFacts> {
         say(std::vector<std::byte>(detail::kMessageBytesMax + 100, std::byte{9}));
         spin();
       }},
      {"lie ready", saying(detail::Ready{})},
      {"lie buffer", saying(piece(2, 10))},
      {"lie count", saying(piece(0, std::uint64_t{1} << 40U))},
      {"lie none", saying(piece(0, 0))},
      {"lie last", saying(detail::Done{some_facts(), 0, piece(7, 1)})},
      {"lie frames", saying(done([](SourceFacts& facts) { facts.frame_count = ~0ULL; }))},
      {"lie clipped", saying(done([](SourceFacts& facts) { facts.clipped_sample_count = 9; }))},
      {"lie name", saying(done([](SourceFacts& facts) { facts.codec = "a\nb"; }))},
      {"lie rate", saying(done([](SourceFacts& facts) { facts.sample_rate_hz = 0; }))},
      {"lie read", saying(detail::Read{1000, 10, 10})},
      {"lie large", saying(detail::Read{0, 1, detail::kWindowBytes + 1})},
      {"lie code", saying(detail::Failed{0, "", 0})},
      {"lie request", saying(detail::failed_of({StatusCode::kInvalidArgument, "no such request"}))},
  };
  return table;
}

class TestDecoder final : public audio::AudioDecoder {
 public:
  Result<SourceFacts> decode(const RandomAccessFile& source, const audio::DecodeRequest& request,
                             const audio::TakeSamples& take) override {
    if (const Behaviour* behaviour = behaviour_of(source)) return (*behaviour)();
    std::uint64_t given_count = 0;
    return libav_->decode(source, request, [&](std::span<const float> samples) {
      given_count += samples.size();
      if (is_spoilt() && given_count > 1'000'000) ::_exit(9);
      return take(samples);
    });
  }
  Result<audio::Recognition> recognise(const RandomAccessFile& source,
                                       std::string_view suffix) override {
    if (const Behaviour* behaviour = behaviour_of(source)) {
      const auto facts = (*behaviour)();
      if (!facts.ok()) return facts.status();
    }
    return libav_->recognise(source, suffix);
  }
  Result<audio::SourceLength> length(const RandomAccessFile& source,
                                     std::string_view suffix) override {
    if (const Behaviour* behaviour = behaviour_of(source)) {
      const auto facts = (*behaviour)();
      if (!facts.ok()) return facts.status();
    }
    return libav_->length(source, suffix);
  }
  [[nodiscard]] std::chrono::nanoseconds resampling_time() const noexcept override {
    return libav_->resampling_time();
  }
  Result<std::string> libraries() override { return libav_->libraries(); }
  Result<audio::FormatList> formats() override { return libav_->formats(); }

 private:
  static const Behaviour* behaviour_of(const RandomAccessFile& source) {
    std::array<char, 32> head{};
    const auto got = source.read_at(0, std::as_writable_bytes(std::span(head)));
    if (!got.ok() || *got == 0) return nullptr;
    const auto found = behaviours().find(std::string_view(head.data(), *got));
    return found == behaviours().end() ? nullptr : &found->second;
  }

  std::unique_ptr<audio::AudioDecoder> libav_ = decode::make_libav_decoder();
};

class Words final : public RandomAccessFile {
 public:
  explicit Words(std::string words) : words_(std::move(words)) {}
  [[nodiscard]] std::uint64_t size_bytes() const override { return words_.size(); }
  [[nodiscard]] Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                            std::span<std::byte> out) const override {
    const std::size_t count = std::min<std::size_t>(out.size(), words_.size() - offset_bytes);
    std::memcpy(out.data(), words_.data() + offset_bytes, count);
    return count;
  }

 private:
  std::string words_;
};

// As a program of another version answers.
int be_old(const detail::Ready& ready) {
  detail::Channel channel{Descriptor(kWorkerSocket)};
  (void)channel.receive(std::nullopt);
  return channel.send(ready) ? 0 : 1;
}

int be_a_parent(const char* words) {
  const auto decoder =
      make_contained_decoder({.command = {"/proc/self/exe"}, .memory_bytes = 1U << 30U});
  std::vector<float> samples;
  (void)decode_whole(*decoder, Words(words), audio::DecodeRequest(), samples);
  while (true) ::pause();
}

}  // namespace
}  // namespace xtts::decode_worker

int main(int argc, char** argv) {
  using namespace xtts::decode_worker;
  if (argc == 3 && std::string_view(argv[1]) == "parent") return be_a_parent(argv[2]);
  const std::string_view word = argc == 2 ? argv[1] : "";
  if (word == "old program") return be_old({.program_version = "0.0.1", .libraries = ""});
  if (word == "old protocol")
    return be_old({.version = 7, .program_version = "9.9.9", .libraries = ""});
  TestDecoder decoder;
  return run_decode_worker(kWorkerSocket, kWorkerMemory, decoder);
}
