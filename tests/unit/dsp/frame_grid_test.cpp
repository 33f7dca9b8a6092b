#include "dsp/frame_grid.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace xtts::dsp {
namespace {

using formats::Framing;
using formats::PadMode;

FrameGrid grid(Framing framing, PadMode pad_mode) {
  formats::FeatureConfig config;
  config.stft = {
      .n_fft = 16, .win_samples = 16, .hop_samples = 4, .framing = framing, .pad_mode = pad_mode};
  return FrameGrid(config);
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> samples(count);
  std::iota(samples.begin(), samples.end(), 1.0F);
  return samples;
}

std::vector<float> frame_of(const FrameGrid& grid, std::size_t sample_count, std::uint64_t index) {
  const std::vector<float> clip = ramp(sample_count);
  std::vector<float> scratch(16, -1.0F);
  const float* frame = grid.frame(clip, index, scratch);
  return {frame, frame + 16};
}

TEST(FrameGrid, CountsCentredFramesAsLibrosa) {
  const FrameGrid centred = grid(Framing::kCenter, PadMode::kZeros);
  EXPECT_EQ(centred.frame_count(0), 0U);
  EXPECT_EQ(centred.frame_count(1), 1U);
  EXPECT_EQ(centred.frame_count(3), 1U);
  EXPECT_EQ(centred.frame_count(4), 2U);
  EXPECT_EQ(centred.frame_count(103), 26U);
}

TEST(FrameGrid, CountsTheOtherFramings) {
  EXPECT_EQ(grid(Framing::kSame, PadMode::kZeros).frame_count(40), 10U);
  EXPECT_EQ(grid(Framing::kSame, PadMode::kZeros).frame_count(43), 10U);
  EXPECT_EQ(grid(Framing::kSame, PadMode::kZeros).frame_count(3), 0U);
  EXPECT_EQ(grid(Framing::kNone, PadMode::kZeros).frame_count(15), 0U);
  EXPECT_EQ(grid(Framing::kNone, PadMode::kZeros).frame_count(16), 1U);
  EXPECT_EQ(grid(Framing::kNone, PadMode::kZeros).frame_count(20), 2U);
  EXPECT_EQ(grid(Framing::kEnd, PadMode::kZeros).frame_count(1), 1U);
  EXPECT_EQ(grid(Framing::kEnd, PadMode::kZeros).frame_count(8), 2U);
  EXPECT_EQ(grid(Framing::kEnd, PadMode::kZeros).frame_count(9), 3U);
}

TEST(FrameGrid, PadsWithZeros) {
  const std::vector<float> first = frame_of(grid(Framing::kCenter, PadMode::kZeros), 12, 0);
  EXPECT_EQ(first, (std::vector<float>{0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8}));
  const std::vector<float> last = frame_of(grid(Framing::kCenter, PadMode::kZeros), 12, 3);
  EXPECT_EQ(last, (std::vector<float>{5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(FrameGrid, MirrorsWithoutRepeatingTheEdge) {
  const FrameGrid centred = grid(Framing::kCenter, PadMode::kReflect);
  EXPECT_EQ(frame_of(centred, 12, 0),
            (std::vector<float>{9, 8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(frame_of(centred, 12, 3),
            (std::vector<float>{5, 6, 7, 8, 9, 10, 11, 12, 11, 10, 9, 8, 7, 6, 5, 4}));
  EXPECT_TRUE(centred.can_pad(9));
  EXPECT_FALSE(centred.can_pad(8));
}

TEST(FrameGrid, PutsZerosAfterTheEndWhateverThePadMode) {
  const FrameGrid at_end = grid(Framing::kEnd, PadMode::kReflect);
  EXPECT_TRUE(at_end.can_pad(1));
  EXPECT_EQ(frame_of(at_end, 6, 1),
            (std::vector<float>{5, 6, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(FrameGrid, MirrorsBackAndForthAsNumpy) {
  const FrameGrid again = grid(Framing::kCenter, PadMode::kReflectAgain);
  EXPECT_TRUE(again.can_pad(1));
  EXPECT_EQ(frame_of(again, 3, 0),
            (std::vector<float>{1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2, 1, 2, 3, 2}));
  EXPECT_EQ(frame_of(again, 1, 0), std::vector<float>(16, 1.0F));
}

TEST(FrameGrid, MirrorsWithTheEdgeSample) {
  EXPECT_EQ(frame_of(grid(Framing::kCenter, PadMode::kSymmetric), 3, 0),
            (std::vector<float>{2, 1, 1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1, 1, 2}));
}

formats::FeatureConfig kaldi_config(Framing framing) {
  formats::FeatureConfig config;
  config.stft = {.n_fft = 16, .win_samples = 10, .hop_samples = 4, .framing = framing};
  return config;
}

TEST(FrameGrid, CountsKaldisFramesByItsWindow) {
  const FrameGrid snipped(kaldi_config(Framing::kSnipEdges));
  EXPECT_EQ(snipped.frame_count(9), 0U);
  EXPECT_EQ(snipped.frame_count(10), 1U);
  EXPECT_EQ(snipped.frame_count(13), 1U);
  EXPECT_EQ(snipped.frame_count(14), 2U);
  const FrameGrid kept(kaldi_config(Framing::kKeepEdges));
  EXPECT_EQ(kept.frame_count(1), 0U);
  EXPECT_EQ(kept.frame_count(2), 1U);
  EXPECT_EQ(kept.frame_count(14), 4U);
  // Frame 0 lies around sample 2, the middle of its hop: from -3, mirrored at the edge.
  EXPECT_EQ(frame_of(kept, 20, 0),
            (std::vector<float>{3, 2, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}));
}

TEST(FrameGrid, PutsZerosAroundTheClip) {
  formats::FeatureConfig config;
  config.stft = {.n_fft = 16, .win_samples = 16, .hop_samples = 4, .framing = Framing::kNone};
  config.zeros = {.front_samples = 3, .back_samples = 2, .multiple_samples = 8};
  const FrameGrid around(config);
  EXPECT_EQ(around.frame_count(11), 1U);  // 3 + 11 + 2
  EXPECT_EQ(around.frame_count(12), 3U);  // 17, up to 24
  EXPECT_EQ(frame_of(around, 12, 0),
            (std::vector<float>{0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0}));
}

TEST(FrameGrid, DropsLastFrames) {
  formats::FeatureConfig config;
  config.stft = {.n_fft = 16, .win_samples = 16, .hop_samples = 4, .drop_last = true};
  EXPECT_EQ(FrameGrid(config).frame_count(40), 10U);
  config.stft.multiple_frames = 4;
  EXPECT_EQ(FrameGrid(config).frame_count(40), 8U);
}

TEST(FrameGrid, KnowsWhichFramesOfAPaddedClipReachToIt) {
  formats::FeatureConfig config;
  config.max_frames = 10;
  config.pad = formats::PadWhat::kSamples;
  config.stft = {.n_fft = 16, .win_samples = 16, .hop_samples = 4, .drop_last = true};
  const FrameGrid padded(config);
  EXPECT_EQ(padded.frame_count(1), 10U);
  EXPECT_EQ(padded.frame_count(40), 10U);
  EXPECT_EQ(padded.touched_frame_count(1), 3U);  // from -8, -4 and 0
  EXPECT_EQ(padded.touched_frame_count(8), 4U);
  EXPECT_EQ(padded.touched_frame_count(31), 10U);  // the mirror at the end shows it again
  EXPECT_EQ(padded.touched_frame_count(48), 12U);  // longer than its padding: too long
  EXPECT_EQ(frame_of(padded, 1, 2),
            (std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(FrameGrid, CopiesNothingInside) {
  const std::vector<float> clip = ramp(100);
  std::vector<float> scratch(16);
  EXPECT_EQ(grid(Framing::kCenter, PadMode::kZeros).frame(clip, 2, scratch), clip.data());
  EXPECT_EQ(grid(Framing::kNone, PadMode::kZeros).frame(clip, 3, scratch), clip.data() + 12);
}

}  // namespace
}  // namespace xtts::dsp
