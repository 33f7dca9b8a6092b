#include "worker_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace xtts::decode_worker::test {
namespace {

Outcome outcome_of(Result<audio::SourceFacts> facts, std::vector<float> samples) {
  Outcome outcome;
  outcome.code = facts.status().code();
  outcome.message = facts.status().message();
  outcome.samples = std::move(samples);
  if (facts.ok()) outcome.facts = std::move(*facts);
  return outcome;
}

}  // namespace

ContainedOptions test_options() {
  ContainedOptions options;
  options.command = {XTTS_TEST_WORKER};
  options.memory_bytes = std::uint64_t{256} << 20U;
  options.cpu_limit.base = std::chrono::milliseconds(500);
  options.idle_time_max = std::chrono::milliseconds(1200);
  return options;
}

std::unique_ptr<audio::AudioDecoder> contained() {
  ContainedOptions options = test_options();
  options.cpu_limit = {};
  options.idle_time_max = std::chrono::minutes(1);
  return make_contained_decoder(std::move(options));
}

Outcome decode_with(audio::AudioDecoder& decoder, const RandomAccessFile& source,
                    const audio::DecodeRequest& request) {
  std::vector<float> samples{1.0F, 2.0F};  // of a clip before: to be replaced
  auto facts = decode_whole(decoder, source, request, samples);
  return outcome_of(std::move(facts), std::move(samples));
}

Status status_of(audio::AudioDecoder& decoder, const std::string& word) {
  const Outcome outcome = decode_with(decoder, MemoryFile(decode::test::bytes_of(word)));
  return {outcome.code, outcome.message};
}

void expect_same(const Outcome& contained, const Outcome& plain, const std::string& name) {
  EXPECT_EQ(contained.code, plain.code) << name << ": " << contained.message;
  EXPECT_EQ(contained.message, plain.message) << name;
  if (plain.code != StatusCode::kOk) return;
  EXPECT_TRUE(contained.samples == plain.samples) << name;
  const auto& a = contained.facts;
  const auto& b = plain.facts;
  EXPECT_EQ(a.container, b.container) << name;
  EXPECT_EQ(a.codec, b.codec) << name;
  EXPECT_EQ(a.sample_rate_hz, b.sample_rate_hz) << name;
  EXPECT_EQ(a.channel_count, b.channel_count) << name;
  EXPECT_EQ(a.frame_count, b.frame_count) << name;
  EXPECT_EQ(a.clipped_sample_count, b.clipped_sample_count) << name;
  EXPECT_EQ(a.nonfinite_sample_count, b.nonfinite_sample_count) << name;
  EXPECT_EQ(a.pcm_digest, b.pcm_digest) << name;
  EXPECT_EQ(a.is_over_long, b.is_over_long) << name;
  EXPECT_EQ(a.warnings, b.warnings) << name;
}

Bytes tone(std::size_t sample_count, std::uint32_t rate_hz) {
  return decode::test::wav_of(decode::test::WavKind::kInteger, rate_hz, 1,
                              decode::test::noise(sample_count));
}

}  // namespace xtts::decode_worker::test
