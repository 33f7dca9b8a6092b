// Any bytes as a source: measured, and decoded or rejected, within bounds, twice the same (a
// decoder keeps nothing of a clip).

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "decode/libav_decoder.hpp"

namespace {

class BorrowedFile final : public xtts::RandomAccessFile {
 public:
  BorrowedFile(const std::uint8_t* data, std::size_t size) : bytes_(data, size) {}

  [[nodiscard]] std::uint64_t size_bytes() const override { return bytes_.size(); }
  [[nodiscard]] xtts::Result<std::size_t> read_at(std::uint64_t offset_bytes,
                                                  std::span<std::byte> out) const override {
    if (offset_bytes >= bytes_.size()) return std::size_t{0};
    const std::size_t count = std::min<std::size_t>(out.size(), bytes_.size() - offset_bytes);
    std::memcpy(out.data(), bytes_.data() + offset_bytes, count);
    return count;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

void require(bool holds, const std::string& otherwise) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", otherwise.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto decoder = xtts::decode::make_libav_decoder();
  const BorrowedFile file(data, size);
  if (const auto length = xtts::audio::header_length(file))
    require(length->sample_rate_hz > 0 && length->frame_count > 0, "a header's length of nothing");
  const auto length = decoder->length(file, "");
  require(
      length.ok() ? length->frame_count > 0 : length.status().code() == xtts::StatusCode::kBadInput,
      "neither measured nor a reject: " + length.status().message());
  xtts::audio::DecodeRequest request;
  request.source_seconds_max = 20.0;
  std::vector<float> samples;
  const auto facts = xtts::audio::decode_whole(*decoder, file, request, samples);
  if (!facts.ok()) {
    require(facts.status().code() == xtts::StatusCode::kBadInput,
            "not a reject: " + facts.status().message());
    return 0;
  }
  // The first codec frame may be longer than the limit: 256 samples at 1 Hz.
  require(facts->is_over_long || (facts->frame_count > 0 && !samples.empty()),
          "decoded to nothing");
  std::vector<float> again;
  const auto facts_again = xtts::audio::decode_whole(*decoder, file, request, again);
  require(facts_again.ok(), "decoded once and not twice: " + facts_again.status().message());
  require(
      facts_again->pcm_digest == facts->pcm_digest &&
          std::ranges::equal(std::as_bytes(std::span(again)), std::as_bytes(std::span(samples))),
      "decoded to other samples the second time");
  return 0;
}
