// Turns codec output of any layout into one channel of float32, and collects the facts that only
// the raw samples show.
//
// Integers become x / 2^(bits-1), exact in float32 up to 24 bits; doubles and 32-bit integers are
// rounded to nearest. The mean is what numpy.mean makes of float32 [frames, channels], which is
// what librosa does: up to seven channels are added first to last in float32, eight or more in
// numpy's pairwise order, then divided by the count.
//
// Pure but for the scratch it owns; one thread at a time. 6.5 s of 16 bits take 0.03 ms at
// 22.05 kHz mono and 0.17 ms at 44.1 kHz stereo, counts included (tests/bench/decode_bench.cpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "audio/audio_decoder.hpp"
#include "decode/detail/libav.hpp"

namespace xtts::decode::detail {

constexpr int kChannelsMax = 64;

// The samples of a frame in libav's layout: one plane for each channel, or all channels interleaved
// in plane 0.
struct PcmView {
  AVSampleFormat format = AV_SAMPLE_FMT_NONE;
  int channel_count = 0;
  std::size_t frame_count = 0;
  const std::uint8_t* const* planes = nullptr;
};

struct SampleCounts {
  std::uint64_t clipped = 0;
  std::uint64_t nonfinite = 0;
};

class Mixdown {
 public:
  // Writes pcm.frame_count samples to `out`, which must have room for them, and adds to `counts`.
  // Returns false if the sample format is unknown. Channels are 1 to kChannelsMax.
  [[nodiscard]] bool mix(const PcmView& pcm, audio::Mix how, float* out, SampleCounts& counts);

 private:
  std::vector<float> scratch_;  // the frame as floats, in its own layout
};

}  // namespace xtts::decode::detail
