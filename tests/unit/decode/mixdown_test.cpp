// The mean of many channels against numpy's, whose order of summation is spelled out here once more
// in double loops.

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "decode/detail/mixdown.hpp"
#include "decode_support.hpp"

namespace xtts::decode::test {
namespace {

using detail::Mixdown;
using detail::PcmView;
using detail::SampleCounts;

std::vector<float> mix(AVSampleFormat format, int channels, std::size_t frames,
                       const std::vector<const std::uint8_t*>& planes) {
  std::vector<float> out(frames);
  SampleCounts counts;
  EXPECT_TRUE(Mixdown().mix(PcmView{format, channels, frames, planes.data()}, audio::Mix::kMean,
                            out.data(), counts));
  return out;
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = std::sin(static_cast<float>(i) * 1.7F) / 3.0F;
  return values;
}

TEST(Mixdown, PlanarAndInterleavedAgreeForEveryChannelCount) {
  constexpr std::size_t kFrames = 17;
  for (int channels = 1; channels <= detail::kChannelsMax; ++channels) {
    const auto count = static_cast<std::size_t>(channels);
    const std::vector<float> interleaved = ramp(kFrames * count);
    std::vector<float> planar(interleaved.size());
    std::vector<const std::uint8_t*> planes;
    for (std::size_t c = 0; c < count; ++c) {
      for (std::size_t i = 0; i < kFrames; ++i)
        planar[c * kFrames + i] = interleaved[i * count + c];
      planes.push_back(reinterpret_cast<const std::uint8_t*>(planar.data() + c * kFrames));
    }
    const auto from_planes = mix(AV_SAMPLE_FMT_FLTP, channels, kFrames, planes);
    const auto from_one = mix(AV_SAMPLE_FMT_FLT, channels, kFrames,
                              {reinterpret_cast<const std::uint8_t*>(interleaved.data())});
    EXPECT_EQ(from_planes, from_one) << channels;
    for (std::size_t i = 0; i < kFrames; ++i) {
      double sum = 0.0;
      for (std::size_t c = 0; c < count; ++c)
        sum += static_cast<double>(interleaved[i * count + c]);
      EXPECT_NEAR(from_one[i], sum / channels, 1e-7) << channels;
    }
  }
}

// Values whose sum depends on the order: with 2^24 among ones, every step rounds. numpy.mean over
// axis 0 of the transposed [frames, channels] array gave these numbers (numpy 2.4.6).
TEST(Mixdown, AddsInNumpysOrder) {
  const std::vector<float> seven{0x1p24F, 1, 1, 1, 1, 1, 1};  // in order: each 1 is lost
  EXPECT_EQ(mix(AV_SAMPLE_FMT_FLT, 7, 1, {reinterpret_cast<const std::uint8_t*>(seven.data())})[0],
            0x1p24F / 7.0F);
  const std::vector<float> eight{0x1p24F, 1, 1, 1,
                                 1,       1, 1, 1};  // pairwise: (2^24 + 1) + (1 + 1), then + 4
  EXPECT_EQ(mix(AV_SAMPLE_FMT_FLT, 8, 1, {reinterpret_cast<const std::uint8_t*>(eight.data())})[0],
            (0x1p24F + 6.0F) / 8.0F);
}

TEST(Mixdown, RefusesAnUnknownFormat) {
  std::array<std::uint8_t, 4> bytes{};
  const std::uint8_t* plane = bytes.data();
  float out = 0.0F;
  SampleCounts counts;
  EXPECT_FALSE(
      Mixdown().mix(PcmView{AV_SAMPLE_FMT_NONE, 1, 1, &plane}, audio::Mix::kMean, &out, counts));
}

}  // namespace
}  // namespace xtts::decode::test
