// The behaviour of a contained decoder when all goes well and when its worker, its source or its
// taker fails. Real processes throughout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "decode/libav_decoder.hpp"
#include "decode_worker/detail/program_version.hpp"
#include "decode_worker/detail/supervision.hpp"
#include "support/temp_folder.hpp"
#include "worker_support.hpp"

namespace xtts::decode_worker::test {
namespace {

using decode::test::bytes_of;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string version() {
  return std::string(detail::program_version());
}

void expect_good_clip(audio::AudioDecoder& decoder) {
  const auto plain = decode::make_libav_decoder();
  const MemoryFile file(tone(30'000, 44100));
  expect_same(decode_with(decoder, file), decode_with(*plain, file), "a good clip");
}

// Larger than the window and than both buffers, at another rate and at its own.
TEST(Contained, LongSourcesAreTheSame) {
  const auto plain = decode::make_libav_decoder();
  const auto decoder = contained();
  const MemoryFile file(tone(3'000'000, 44100));
  for (const std::uint32_t rate_hz : {22050U, 44100U, 0U}) {
    const auto request = decode::test::at_rate(rate_hz);
    expect_same(decode_with(*decoder, file, request), decode_with(*plain, file, request), "long");
  }
}

TEST(Contained, RequestsArriveWhole) {
  const auto plain = decode::make_libav_decoder();
  const auto decoder = contained();
  const MemoryFile file(
      decode::test::wav_of(decode::test::WavKind::kInteger, 48000, 2, decode::test::noise(60'000)));
  audio::DecodeRequest request;
  request.mix = audio::Mix::kFirst;
  request.resampler = "soxr_vhq";
  expect_same(decode_with(*decoder, file, request), decode_with(*plain, file, request), "vhq");
  request.resampler = "sinc";
  expect_same(decode_with(*decoder, file, request), decode_with(*plain, file, request), "sinc");
  request = {};
  request.source_seconds_max = 0.1;
  expect_same(decode_with(*decoder, file, request), decode_with(*plain, file, request), "0.1 s");
  request.source_seconds_max = -1.0;
  expect_same(decode_with(*decoder, file, request), decode_with(*plain, file, request), "-1 s");
  request = decode::test::at_rate(768'001);
  expect_same(decode_with(*decoder, file, request), decode_with(*plain, file, request), "768 kHz");
  const MemoryFile empty{Bytes()};
  expect_same(decode_with(*decoder, empty), decode_with(*plain, empty), "empty");
}

TEST(Contained, ResamplingTimeAddsUp) {
  const auto decoder = contained();
  const MemoryFile file(tone(100'000, 44100));
  ASSERT_EQ(decode_with(*decoder, file).code, StatusCode::kOk);
  const auto once = decoder->resampling_time();
  EXPECT_GT(once.count(), 0);
  ASSERT_EQ(decode_with(*decoder, file).code, StatusCode::kOk);
  EXPECT_GT(decoder->resampling_time(), once);
}

// The disk fails at any place of a source larger than the window: the same as without a worker.
TEST(Contained, AFailingSourceFailsTheSame) {
  const auto plain = decode::make_libav_decoder();
  const auto decoder = contained();
  const Bytes bytes = tone(1'500'000);
  for (std::size_t offset = 0; offset < bytes.size(); offset += 1 + bytes.size() / 11) {
    const MemoryFile file(bytes, offset);
    const Outcome outcome = decode_with(*decoder, file);
    EXPECT_EQ(outcome.code, StatusCode::kSourceIo);
    expect_same(outcome, decode_with(*plain, file), "failing at " + std::to_string(offset));
  }
  expect_good_clip(*decoder);
}

TEST(Contained, LooksAreTheSame) {
  const auto plain = decode::make_libav_decoder();
  const auto decoder = contained();
  Bytes long_junk(300'000, std::byte{0x5A});
  const std::vector<Bytes> files = {tone(1000), bytes_of("plain words"), long_junk, Bytes()};
  for (const Bytes& bytes : files) {
    for (const std::string suffix : {"", "xyz", "mka", "g722", "sw"}) {
      const MemoryFile file(bytes);
      const auto seen = decoder->recognise(file, suffix);
      const auto expected = plain->recognise(file, suffix);
      ASSERT_TRUE(seen.ok() && expected.ok()) << seen.status().message();
      EXPECT_EQ(seen->kind, expected->kind) << suffix;
      EXPECT_EQ(seen->reason, expected->reason) << suffix;
    }
  }
  EXPECT_EQ(decoder->recognise(MemoryFile(tone(9000), 100), "xyz").status().code(),
            StatusCode::kSourceIo);
  expect_good_clip(*decoder);
}

TEST(Contained, LengthsAreTheSame) {
  const auto plain = decode::make_libav_decoder();
  const auto decoder = contained();
  for (const Bytes& bytes : {tone(1000), tone(200'000), bytes_of("plain words"), Bytes()}) {
    const MemoryFile file(bytes);
    const auto length = decoder->length(file, "wav");
    const auto expected = plain->length(file, "wav");
    ASSERT_EQ(length.status().code(), expected.status().code()) << length.status().message();
    if (expected.ok()) EXPECT_EQ(*length, *expected);
  }
  EXPECT_EQ(decoder->length(MemoryFile(bytes_of("segv")), "xyz").status().code(),
            StatusCode::kCrashed);
  EXPECT_EQ(decoder->length(MemoryFile(bytes_of("lie ready")), "xyz").status().code(),
            StatusCode::kCrashed);
  EXPECT_EQ(decoder->length(MemoryFile(tone(9000), 100), "wav").status().code(),
            StatusCode::kSourceIo);
  expect_good_clip(*decoder);
}

TEST(Contained, ALookThatCrashesCostsItsFileOnly) {
  const auto decoder = contained();
  EXPECT_EQ(decoder->recognise(MemoryFile(bytes_of("segv")), "xyz").status().code(),
            StatusCode::kCrashed);
  EXPECT_EQ(decoder->recognise(MemoryFile(bytes_of("lie ready")), "xyz").status().code(),
            StatusCode::kCrashed);
  const auto seen = decoder->recognise(MemoryFile(tone(1000)), std::string(5000, 'a'));
  ASSERT_TRUE(seen.ok()) << seen.status().message();
  EXPECT_EQ(seen->kind, audio::ContentKind::kSound);
  expect_good_clip(*decoder);
}

// Asked before any clip, between two, and of a new worker.
TEST(Contained, LibrariesAndFormatsAreThoseOfTheDecoderInside) {
  const auto plain = decode::make_libav_decoder();
  const auto decoder = contained();
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(*decoder->libraries(), *plain->libraries());
    const auto formats = decoder->formats();
    const auto expected = plain->formats();
    ASSERT_TRUE(formats.ok()) << formats.status().message();
    for (const auto list : {&audio::FormatList::demuxers, &audio::FormatList::decoders}) {
      ASSERT_GT(((*expected).*list).size(), 100U);
      ASSERT_EQ(((*formats).*list).size(), ((*expected).*list).size());
      for (std::size_t i = 0; i < ((*formats).*list).size(); ++i) {
        const audio::Format& one = ((*formats).*list)[i];
        const audio::Format& other = ((*expected).*list)[i];
        EXPECT_EQ(one.name, other.name);
        EXPECT_EQ(one.about, other.about);
        EXPECT_EQ(one.suffixes, other.suffixes);
        EXPECT_EQ(one.use, other.use);
        EXPECT_EQ(one.reason, other.reason);
      }
    }
    expect_good_clip(*decoder);
    EXPECT_EQ(status_of(*decoder, "exit").code(), StatusCode::kCrashed);
  }
}

TEST(Contained, ACrashCostsItsClipOnly) {
  const auto decoder = contained();
  for (const char* word : {"segv", "abort", "throw", "exit", "null"}) {
    SCOPED_TRACE(word);
    const Status status = status_of(*decoder, word);
    EXPECT_EQ(status.code(), StatusCode::kCrashed);
    EXPECT_TRUE(status.message().starts_with("its decoder crashed (")) << status.message();
    expect_good_clip(*decoder);
  }
}

TEST(Contained, ACrashIsNamedInPlainWords) {
  const auto decoder = contained();
  EXPECT_EQ(status_of(*decoder, "exit").message(), "its decoder crashed (exit code 7)");
  if (detail::kIsSanitized) GTEST_SKIP() << "a sanitizer catches the signal";
  EXPECT_EQ(status_of(*decoder, "segv").message(), "its decoder crashed (SIGSEGV)");
  EXPECT_EQ(status_of(*decoder, "abort").message(), "its decoder crashed (SIGABRT)");
}

TEST(Contained, ALoopIsEndedAtItsLimit) {
  const auto decoder = make_contained_decoder(test_options());
  const Status status = status_of(*decoder, "spin");
  EXPECT_EQ(status.code(), StatusCode::kCrashed);
  EXPECT_EQ(status.message(),
            "its decoder used more than 0.51 s of processor time for 4 bytes: given up");
  ASSERT_TRUE(decoder->exceeded_limit());
  EXPECT_EQ(decoder->exceeded_limit()->kind, audio::ExceededLimit::Kind::kProcessorTime);
  EXPECT_EQ(decoder->exceeded_limit()->numbers[1], 4.0);
  EXPECT_EQ(status_of(*decoder, "flood").code(), StatusCode::kCrashed);
  expect_good_clip(*decoder);
  EXPECT_FALSE(decoder->exceeded_limit());
}

TEST(Contained, AStandstillIsEndedAtItsLimitAndTriedAgainLater) {
  const auto decoder = make_contained_decoder(test_options());
  const Status status = status_of(*decoder, "sleep");
  EXPECT_EQ(status.code(), StatusCode::kSourceIo);
  EXPECT_EQ(status.message(), "its decoder stood still for 1.2 s: tried again by the next build");
  ASSERT_TRUE(decoder->exceeded_limit());
  EXPECT_EQ(decoder->exceeded_limit()->kind, audio::ExceededLimit::Kind::kIdleTime);
  expect_good_clip(*decoder);
}

// A codec in a loop, a worker that somebody suspended: what is at hand may last for minutes.
TEST(Contained, AWorkerThatIsBusyOrStandsStillIsEndedWhenItsClipIsCancelled) {
  for (const char* word : {"sleep", "spin", "doze"}) {
    SCOPED_TRACE(word);
    std::atomic<bool> is_cancelled = false;
    ContainedOptions options = test_options();
    options.cpu_limit.base = std::chrono::minutes(5);
    options.idle_time_max = std::chrono::minutes(5);
    options.cancelled = [&] { return is_cancelled.load(); };
    const auto decoder = make_contained_decoder(options);
    const auto begin = std::chrono::steady_clock::now();
    std::thread wish([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(300));
      is_cancelled = true;
    });
    EXPECT_EQ(status_of(*decoder, word).code(), StatusCode::kCancelled);
    wish.join();
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::minutes(1));
    is_cancelled = false;
    expect_good_clip(*decoder);
  }
}

// A worker that computes a little, or asks for something, at each look is idle all the same.
TEST(Contained, AWorkerThatOnlySeemsBusyIsEndedAtItsLimit) {
  ContainedOptions options = test_options();
  options.cpu_limit.base = std::chrono::minutes(5);
  const auto decoder = make_contained_decoder(options);
  for (const char* word : {"doze", "trickle"}) {
    SCOPED_TRACE(word);
    const Status status = status_of(*decoder, word);
    EXPECT_EQ(status.code(), StatusCode::kSourceIo);
    EXPECT_EQ(status.message(), "its decoder stood still for 1.2 s: tried again by the next build");
    expect_good_clip(*decoder);
  }
}

// Memory that an earlier clip spoilt: the worker dies of the second, wherever in it.
TEST(Contained, AClipThatIsTriedAgainGivesEachSampleOnce) {
  const auto plain = decode::make_libav_decoder();
  const MemoryFile file(tone(3'000'000));
  const auto decoder = contained();
  EXPECT_EQ(status_of(*decoder, "spoil").code(), StatusCode::kOk);
  expect_same(decode_with(*decoder, file), decode_with(*plain, file), "after a spoilt one");
}

TEST(Contained, HungerForMemoryIsBadInput) {
  if (detail::kIsSanitized) GTEST_SKIP() << "sanitizers leave no room for a limit of memory";
  const auto decoder = contained();
  for (int round = 0; round < 2; ++round) {
    const Status status = status_of(*decoder, "hunger");
    EXPECT_EQ(status.code(), StatusCode::kBadInput);
    EXPECT_EQ(status.message(), "needs more than 256 MiB to decode");
    ASSERT_TRUE(decoder->exceeded_limit());
    EXPECT_EQ(decoder->exceeded_limit()->kind, audio::ExceededLimit::Kind::kMemory);
    expect_good_clip(*decoder);
  }
}

// RLIMIT_DATA counts none of these: memory that could be shared, address space without memory.
TEST(Contained, MemoryOfEveryKindIsLimited) {
  if (detail::kIsSanitized) GTEST_SKIP() << "sanitizers leave no room for a limit of memory";
  const auto decoder = contained();
  for (const char* word : {"share", "reserve"}) {
    SCOPED_TRACE(word);
    const Status status = status_of(*decoder, word);
    EXPECT_EQ(status.code(), StatusCode::kBadInput);
    EXPECT_EQ(status.message(), "needs more than 256 MiB to decode");
    expect_good_clip(*decoder);
  }
}

// The parent's own look, for a worker that is bound by no limit of the system.
TEST(Contained, AWorkerThatHoldsTooMuchIsEnded) {
  auto memory = detail::SharedMemory::make();
  ASSERT_TRUE(memory.ok());
  auto worker = detail::WorkerProcess::start(test_options().command, *memory);
  ASSERT_TRUE(worker.ok());
  ASSERT_TRUE((*worker)->channel().send(detail::Setup{.memory_bytes = std::uint64_t{4} << 30U}));
  using std::chrono::minutes;
  detail::Supervision begin(**worker, {.cpu_time_max = minutes(5), .idle_time_max = minutes(5)});
  ASSERT_TRUE(begin.receive().ok());
  const auto resident_bytes = (*worker)->resident_bytes();
  if (!resident_bytes) GTEST_SKIP() << "this system does not tell how much memory a process holds";

  const auto word = bytes_of("hold");
  std::ranges::copy(word, memory->window().begin());
  detail::Decode asked;
  asked.size_bytes = asked.window_bytes = word.size();
  ASSERT_TRUE((*worker)->channel().send(asked));
  detail::Supervision supervision(
      **worker, {.cpu_time_max = minutes(5),
                 .idle_time_max = minutes(5),
                 .resident_bytes_max = *resident_bytes + (std::uint64_t{64} << 20U)});
  EXPECT_FALSE(supervision.receive().ok());
  EXPECT_EQ(supervision.worker_state(), detail::WorkerState::kOutOfMemory);
}

TEST(Contained, AKillFromOutsideIsTriedAgainLater) {
  const auto decoder = contained();
  const Status status = status_of(*decoder, "kill");
  EXPECT_EQ(status.code(), StatusCode::kSourceIo);
  EXPECT_TRUE(status.message().starts_with("its decoder was killed from outside"))
      << status.message();
  expect_good_clip(*decoder);
}

TEST(Contained, ASignalOfSomebodyElsesIsNoCrash) {
  const auto decoder = contained();
  const Status status = status_of(*decoder, "xcpu");
  EXPECT_EQ(status.code(), StatusCode::kSourceIo);
  EXPECT_TRUE(status.message().starts_with("its decoder was killed from outside (signal "))
      << status.message();
  expect_good_clip(*decoder);
}

TEST(Contained, NonsenseIsACrash) {
  const auto decoder = contained();
  for (const char* word :
       {"lie empty", "lie long", "lie ready", "lie buffer", "lie count", "lie none", "lie last",
        "lie frames", "lie clipped", "lie name", "lie rate", "lie read", "lie large", "lie code",
        "lie request", "internal"}) {
    SCOPED_TRACE(word);
    const Status status = status_of(*decoder, word);
    EXPECT_EQ(status.code(), StatusCode::kCrashed);
    EXPECT_EQ(status.message(), "its decoder crashed (it sent an answer that cannot be read)");
  }
  EXPECT_EQ(status_of(*decoder, "hang up").message(), "its decoder crashed (it hung up)");
  expect_good_clip(*decoder);
}

TEST(Contained, ATakerThatFailsEndsTheClip) {
  const auto decoder = contained();
  const MemoryFile file(tone(3'000'000));
  for (int calls_max : {1, 2, 5, 11}) {
    int calls = 0;
    const auto facts = decoder->decode(file, audio::DecodeRequest(), [&](std::span<const float>) {
      return ++calls < calls_max ? Status() : Status(StatusCode::kResource, "no room");
    });
    EXPECT_EQ(facts.status().code(), StatusCode::kResource);
    EXPECT_EQ(facts.status().message(), "no room");
    EXPECT_EQ(calls, calls_max);
    expect_good_clip(*decoder);
  }
}

TEST(Contained, ATakerThatThrowsLeavesItReady) {
  const auto decoder = contained();
  const MemoryFile file(tone(1'000'000));
  const auto facts =
      decoder->decode(file, audio::DecodeRequest(),
                      [](std::span<const float>) -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(facts.status().code(), StatusCode::kResource);
  expect_good_clip(*decoder);
}

TEST(Contained, AProgramThatIsNotThereIsNamed) {
  ContainedOptions options = test_options();
  options.command = {"/nowhere/worker", "please"};
  const Status status = status_of(*make_contained_decoder(options), "x");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_EQ(status.message(),
            "the decoder's worker (/nowhere/worker please) cannot be started: No such file or "
            "directory");
}

TEST(Contained, AProgramThatIsNoWorkerIsNamed) {
  ContainedOptions options = test_options();
  options.command = {"/bin/false"};
  const Status status = status_of(*make_contained_decoder(options), "x");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_TRUE(status.message().starts_with("the decoder's worker (/bin/false) does not start"))
      << status.message();
}

TEST(Contained, AWorkerOfAnotherVersionIsNamed) {
  ContainedOptions options = test_options();
  options.command.emplace_back("old program");
  EXPECT_THAT(status_of(*make_contained_decoder(options), "x").message(),
              AllOf(HasSubstr(") does not start: it is of version 0.0.1 (protocol "),
                    HasSubstr("and this is version " + version()),
                    HasSubstr("install xtts-precompute again")));
  options.command.back() = "old protocol";
  const Status status = make_contained_decoder(options)->libraries().status();
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("it is of version 9.9.9 (protocol 7)"));
}

// As the system's loader does where one of FFmpeg's libraries is gone.
TEST(Contained, WhatAWorkerSaysBeforeItIsReadyIsTold) {
  if (detail::kIsSanitized) GTEST_SKIP() << "a sanitizer's worker keeps our standard error";
  ContainedOptions options = test_options();
  options.command = {"/bin/sh", "-c", "echo 'libavcodec.so.59: not there' >&2; exit 127"};
  const Status status = status_of(*make_contained_decoder(options), "x");
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(status.message(), HasSubstr("(exit code 127), saying \"libavcodec.so.59: not "
                                          "there\"; it has to be the program xtts-decode"));
  // Within a limit of memory the same may come of that.
  options.command = {"/bin/sh", "-c", "exit 127"};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  const rlimit large{std::uint64_t{1} << 45U, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &large), 0);
  const Status limited = status_of(*make_contained_decoder(options), "x");
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_EQ(limited.code(), StatusCode::kResource);
  EXPECT_THAT(limited.message(), HasSubstr("its memory is limited"));
}

// The product's own, from the build folder: it is what the tests' worker stands for.
TEST(Contained, TheProgramThatIsInstalledDecodes) {
  const auto decoder = contained_in(XTTS_DECODE_PROGRAM)({});
  expect_good_clip(*decoder);
  EXPECT_EQ(*decoder->libraries(), decode::decode_libraries());
}

TEST(Contained, LibrariesOfOneRunAreTheSame) {
  FirstLibraries first;
  EXPECT_TRUE(first.check("ffmpeg 5.1").ok());
  EXPECT_TRUE(first.check("ffmpeg 5.1").ok());
  const Status other = first.check("ffmpeg 7.0");
  EXPECT_EQ(other.code(), StatusCode::kMismatch);
  EXPECT_THAT(other.message(), AllOf(HasSubstr("ffmpeg 5.1 before"), HasSubstr("ffmpeg 7.0 now")));
}

TEST(Contained, DecodersOfSeveralThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      const auto decoder = contained();
      for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(status_of(*decoder, "exit").code(), StatusCode::kCrashed);
        expect_good_clip(*decoder);
      }
    });
  }
  for (auto& thread : threads) thread.join();
}

TEST(CpuLimit, GrowsWithTheSourceAndNoFurtherThanItsSoundMayLast) {
  using std::chrono::seconds;
  const CpuLimit limit;
  EXPECT_EQ(cpu_time_max(limit, 0, 7200.0), seconds(30));
  EXPECT_EQ(cpu_time_max(limit, 1U << 20U, 7200.0), seconds(30 + 10 + 144));
  EXPECT_EQ(cpu_time_max(limit, 1U << 20U, 100.0), seconds(30 + 10 + 2));
  EXPECT_GT(cpu_time_max(limit, ~0ULL, 1e300), seconds(1000));
}

}  // namespace
}  // namespace xtts::decode_worker::test
