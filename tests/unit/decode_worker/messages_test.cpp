// Messages come back as they were; whatever else arrives is refused, whole or cut anywhere.
#include <gtest/gtest.h>

#include <random>
#include <variant>

#include "decode_worker/detail/messages.hpp"

namespace xtts::decode_worker::detail {
namespace {

using Kind = audio::Warning::Kind;

Done a_done() {
  Done done;
  done.facts.container = "wav";
  done.facts.codec = "pcm_s16le";
  done.facts.sample_rate_hz = 44100;
  done.facts.channel_count = 2;
  done.facts.frame_count = 123;
  done.facts.whole_frame_count = 122;
  done.facts.clipped_sample_count = 4;
  done.facts.nonfinite_sample_count = 5;
  done.facts.is_over_long = true;
  done.facts.pcm_digest = {7, 9};
  done.facts.warnings = {{.kind = Kind::kComplaint, .text = "one"},
                         {.kind = Kind::kRateChanges, .numbers = {3.0}},
                         {.kind = Kind::kEndsEarly, .numbers = {0.5, 1.25}, .text = "three"},
                         {.kind = Kind::kEndMissing, .text = "four"}};
  done.resampling_ns = 55;
  done.last = {1, 77};
  return done;
}

std::vector<Message> examples() {
  Decode decode;
  decode.request.mix = audio::Mix::kFirst;
  decode.request.source_seconds_max = 7200.5;
  return {Setup{.memory_bytes = 5},
          Ready{.program_version = "1.2.3", .libraries = "libavcodec 1"},
          decode,
          Read{1, 2, 3},
          Data{4},
          Piece{1, 2},
          Taken{},
          Stop{},
          a_done(),
          Failed{3, "no", 1},
          Recognise{{"mka", 5, 5}},
          Recognised{{audio::ContentKind::kNotSound, "why"}},
          Measure{{"mka", 5, 5}},
          Measured{{.sample_rate_hz = 24000, .frame_count = 7}},
          ListFormats{},
          Listed{true, {"flac", "FLAC", "flac", audio::FormatUse::kNotAudio, "why not"}},
          AllListed{}};
}

TEST(Messages, ComeBackAsTheyWere) {
  ASSERT_EQ(examples().size(), std::variant_size_v<Message>);
  for (const Message& message : examples()) {
    const auto bytes = encode_message(message);
    const auto again = decode_message(bytes);
    ASSERT_TRUE(again.has_value()) << message.index();
    EXPECT_EQ(again->index(), message.index());
    EXPECT_EQ(encode_message(*again), bytes);
  }
  const auto again = decode_message(encode_message(a_done()));
  const auto& done = std::get<Done>(*again);
  EXPECT_EQ(done.facts.warnings, a_done().facts.warnings);
  EXPECT_EQ(done.facts.pcm_digest, a_done().facts.pcm_digest);
  EXPECT_EQ(done.facts.is_over_long, true);
  EXPECT_EQ(done.facts.nonfinite_sample_count, 5U);
  EXPECT_EQ(done.last.sample_count, 77U);
}

TEST(Messages, AnyCutAndAnyByteTooManyIsRefused) {
  for (const Message& message : examples()) {
    auto bytes = encode_message(message);
    for (std::size_t size = 0; size < bytes.size(); ++size)
      EXPECT_FALSE(decode_message(std::span(bytes).first(size)).has_value());
    bytes.push_back(std::byte{0});
    EXPECT_FALSE(decode_message(bytes).has_value()) << message.index();
  }
}

TEST(Messages, FlippedBytesAreRefusedOrAnotherMessage) {
  std::mt19937 generator(1);
  for (const Message& message : examples()) {
    for (int round = 0; round < 2000; ++round) {
      auto bytes = encode_message(message);
      bytes[generator() % bytes.size()] = static_cast<std::byte>(generator());
      if (const auto other = decode_message(bytes)) {
        EXPECT_EQ(encode_message(*other), bytes);
      }
    }
  }
}

TEST(Messages, TextsAndListsThatAreTooLongAreCutToWhatFits) {
  Done done;
  done.facts.warnings.assign(100, {.text = std::string(10'000, 'x')});
  const auto bytes = encode_message(done);
  EXPECT_LE(bytes.size(), kMessageBytesMax);
  const auto again = decode_message(bytes);
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(
      std::get<Done>(*again).facts.warnings,
      std::vector<audio::Warning>(kWarningCountMax, {.text = std::string(kTextBytesMax, 'x')}));
}

TEST(Messages, AFailureKeepsItsCode) {
  const auto status = status_of(failed_of(Status(StatusCode::kSourceIo, "gone")));
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(status->code(), StatusCode::kSourceIo);
  EXPECT_EQ(status->message(), "gone");
  EXPECT_FALSE(status_of(Failed{0, "", 0}).has_value());
  EXPECT_FALSE(status_of(Failed{1000, "", 0}).has_value());
}

}  // namespace
}  // namespace xtts::decode_worker::detail
