// Contained decoders for tests, and what a decoder makes of a source, to compare.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "decode_worker/contained_decoder.hpp"
#include "decode_worker/detail/containment.hpp"
#include "tests/unit/decode/decode_support.hpp"

namespace xtts::decode_worker::test {

using decode::test::Bytes;
using decode::test::MemoryFile;

// With the test's worker. The limits are small enough to wait for.
[[nodiscard]] ContainedOptions test_options();
[[nodiscard]] std::unique_ptr<audio::AudioDecoder> contained();

// Everything that decode gives.
struct Outcome {
  StatusCode code = StatusCode::kOk;
  std::string message;
  std::vector<float> samples;
  audio::SourceFacts facts;
};

[[nodiscard]] Outcome decode_with(audio::AudioDecoder& decoder, const RandomAccessFile& source,
                                  const audio::DecodeRequest& request = {});
// The source's first word is what the worker's decoder does.
[[nodiscard]] Status status_of(audio::AudioDecoder& decoder, const std::string& word);

// Samples are compared only where decoding worked.
void expect_same(const Outcome& contained, const Outcome& plain, const std::string& name);

[[nodiscard]] Bytes tone(std::size_t sample_count, std::uint32_t rate_hz = 22050);

}  // namespace xtts::decode_worker::test
