#include "corpus/files/audio_extensions.hpp"

#include <gtest/gtest.h>

namespace xtts::corpus {
namespace {

TEST(AudioExtensions, PrefersWavThenFlacThenTheRest) {
  EXPECT_LT(*audio_rank("wav"), *audio_rank("flac"));
  for (const auto other : {"mp3", "ogg", "opus", "m4a", "aac", "webm", "aiff", "wma"}) {
    ASSERT_TRUE(audio_rank(other)) << other;
    EXPECT_LT(*audio_rank("flac"), *audio_rank(other)) << other;
  }
}

TEST(AudioExtensions, IgnoresLetterCaseAndEverythingElse) {
  EXPECT_EQ(audio_rank("WAV"), audio_rank("wav"));
  EXPECT_FALSE(audio_rank("txt"));
  EXPECT_FALSE(audio_rank(""));
  EXPECT_FALSE(audio_rank("m3u8"));
}

TEST(AudioExtensions, TakesOffAudioExtensionsOnly) {
  EXPECT_EQ(without_audio_extension("wavs/LJ001-0001.wav"), "wavs/LJ001-0001");
  EXPECT_EQ(without_audio_extension("wavs.wav/LJ001.0001"), "wavs.wav/LJ001.0001");
  EXPECT_EQ(without_audio_extension("a.wav.FLAC"), "a.wav");
}

}  // namespace
}  // namespace xtts::corpus
