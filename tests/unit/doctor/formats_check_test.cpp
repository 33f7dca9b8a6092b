#include "doctor/formats_check.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace xtts::doctor {
namespace {

SampledSound sound_of(std::map<std::pair<std::string, std::string>, std::size_t> formats) {
  SampledSound sound;
  for (const auto& [format, count] : formats) sound.clip_count += count;
  sound.formats = std::move(formats);
  return sound;
}

TEST(CheckFormats, SixteenBitWavIsReadByAll) {
  EXPECT_EQ(check_formats(sound_of({{{"wav", "pcm_s16le"}, 10}}), 22'050).status,
            CheckStatus::kPass);
}

TEST(CheckFormats, NamesTheFormatsThatTheNativeLoaderFailsOn) {
  const Check check =
      check_formats(sound_of({{{"wav", "pcm_s16le"}, 10}, {{"flac", "flac"}, 10}}), 22'050);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_EQ(check.status, CheckStatus::kWarn);
  EXPECT_THAT(check.findings[0].text, ::testing::HasSubstr("50 %"));
  EXPECT_THAT(check.findings[0].text, ::testing::HasSubstr("flac in flac"));
  EXPECT_THAT(check.findings[0].text, ::testing::HasSubstr("decode_wav"));
}

TEST(CheckFormats, M4aIsReadByNeither) {
  const Check check = check_formats(sound_of({{{"mov,mp4,m4a,3gp,3g2,mj2", "aac"}, 3}}), 22'050);
  ASSERT_EQ(check.findings.size(), 2U);
  EXPECT_THAT(check.findings[1].text, ::testing::HasSubstr("aac in mp4"));
}

TEST(CheckFormats, TellsOfClipsThatNobodyCanUse) {
  SampledSound sound = sound_of({{{"wav", "pcm_s16le"}, 9}});
  sound.reject_count = 1;
  sound.rejects["the file is empty"] = 1;
  const Check check = check_formats(sound, 22'050);
  ASSERT_EQ(check.findings.size(), 1U);
  EXPECT_THAT(check.findings[0].text, ::testing::HasSubstr("the file is empty"));
}

TEST(CheckFormats, SaysWhetherTheyAreASample) {
  SampledSound sound = sound_of({{{"wav", "pcm_s16le"}, 10}});
  sound.corpus_clip_count = 10;
  EXPECT_EQ(check_formats(sound, 22'050).evidence[0].source, "decoded: all clips");
  sound.corpus_clip_count = 11;
  EXPECT_EQ(check_formats(sound, 22'050).evidence[0].source, "decoded: 10 clips, chosen at random");
}

TEST(CheckFormats, CannotTellWithoutAClip) {
  EXPECT_EQ(check_formats({}, 22'050).status, CheckStatus::kCannotTell);
}

}  // namespace
}  // namespace xtts::doctor
