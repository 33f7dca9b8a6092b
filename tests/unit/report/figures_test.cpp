#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "report/batch_figure.hpp"
#include "report/mel_figure.hpp"

namespace xtts::report {
namespace {

using figure::Figure;
using ::testing::Each;
using ::testing::ElementsAre;

MelPicture picture_of(const std::vector<float>& values, std::size_t mel_count) {
  MelPicture picture;
  picture.values = values;
  picture.mel_count = mel_count;
  picture.frame_count = values.size() / mel_count;
  picture.frame_s = 0.01;
  picture.channel_of_hz = [mel_count](double hz) {
    return hz / 11025.0 * static_cast<double>(mel_count);
  };
  picture.high_hz = 11025.0;
  picture.title = "p225";
  picture.subtitle = "سلام";
  picture.value_unit = "ln magnitude";
  return picture;
}

TEST(MelFigure, SaysWhatIsSeen) {
  const auto made = mel_figure(picture_of(std::vector<float>(123 * 80, 1.0F), 80));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->title, "p225");
  EXPECT_EQ(made->aside, "1.23 s, 123 frames");
  EXPECT_EQ(made->subtitle, "سلام");
  const figure::Panel& panel = made->panels.at(0);
  EXPECT_EQ(panel.x.name, "time (s)");
  EXPECT_DOUBLE_EQ(panel.x.high, 1.23);
  EXPECT_EQ(panel.y.name, "frequency (Hz)");
  EXPECT_EQ(panel.heat_map->value_name, "ln magnitude");
}

TEST(MelFigure, LevelsSpanTheValues) {
  const auto made = mel_figure(picture_of({-4.0F, 0.0F, 4.0F, std::nanf("")}, 2));
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(made->panels[0].heat_map->levels, ElementsAre(0, 255, 255, figure::kNoValue));
}

TEST(MelFigure, OneOddValueDoesNotDarkenTheRest) {
  std::vector<float> values(20000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 100);
  values[5] = 1e6F;
  const auto made = mel_figure(picture_of(values, 80));
  EXPECT_LE(made->panels[0].heat_map->high, 99.0);
}

TEST(MelFigure, FramesHaveAWholeNumberOfPixels) {
  for (const std::size_t frames : {1, 7, 276, 1200}) {
    const auto made = mel_figure(picture_of(std::vector<float>(frames * 80), 80));
    const double pixels = made->panels[0].width * 2.0 / static_cast<double>(frames);
    EXPECT_EQ(pixels, std::floor(pixels)) << frames;
  }
}

TEST(MelFigure, LongClipsAreAveraged) {
  std::vector<float> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 0.0F : 2.0F;
  values.front() = -1.0F;
  const auto made = mel_figure(picture_of(values, 1));
  ASSERT_TRUE(made.ok());
  const figure::HeatMap& map = *made->panels[0].heat_map;
  EXPECT_EQ(map.column_count, 2400U);
  EXPECT_THAT(map.levels, Each(::testing::AllOf(::testing::Ge(100), ::testing::Le(155))));
}

TEST(MelFigure, OneLoudChannelOfManyIsSeen) {
  std::vector<float> values(20 * 2049, -11.0F);
  for (std::size_t frame = 0; frame < 20; ++frame) values[frame * 2049 + 1] = 0.0F;
  const auto made = mel_figure(picture_of(values, 2049));
  ASSERT_TRUE(made.ok());
  const figure::HeatMap& map = *made->panels[0].heat_map;
  EXPECT_LE(static_cast<double>(map.row_count), 2.0 * made->panels[0].height);
  EXPECT_GT(map.levels.at(0), map.levels.at(5));
}

TEST(MelFigure, ConstantValuesOfAnySizeHaveARange) {
  for (const float value : {0.0F, -11.5F, 1e20F}) {
    const auto made = mel_figure(picture_of(std::vector<float>(80, value), 80));
    const figure::HeatMap& map = *made->panels[0].heat_map;
    EXPECT_LT(map.low, map.high) << value;
  }
}

TEST(MelFigure, ImportantFrequenciesComeFirst) {
  const auto made = mel_figure(picture_of(std::vector<float>(800), 80));
  const auto& ticks = made->panels[0].y.ticks;
  EXPECT_EQ(ticks.at(0).label, "1,000");
  EXPECT_DOUBLE_EQ(ticks.at(0).at, 80.0 / 11.025 + 0.5);
  for (const auto& tick : ticks) EXPECT_NE(tick.label, "12,000") << "beyond the highest";
}

TEST(MelFigure, RefusesToDrawNothing) {
  EXPECT_EQ(mel_figure(picture_of({}, 80)).status().code(), StatusCode::kInvalidArgument);
}

TEST(BatchFigure, HasAColumnForEachBatchAndBothLevels) {
  const Figure made = batch_times_figure(std::vector<double>{1.0, 2.0, 3.0}, "batches of 4");
  const figure::Panel& panel = made.panels.at(0);
  EXPECT_EQ(made.title, "batches of 4");
  EXPECT_EQ(made.aside, "3 batches, 2.00 ms each");
  EXPECT_THAT(panel.columns.at(0).values, ElementsAre(1.0, 2.0, 3.0));
  EXPECT_DOUBLE_EQ(panel.x.high, 3.5);
  EXPECT_EQ(panel.levels.at(0).name, "mean 2.00");
  EXPECT_GT(panel.y.high, 3.0);
}

TEST(BatchFigure, AColumnOfSeveralBatchesShowsTheSlowest) {
  std::vector<double> ms(8000, 1.0);
  ms[4321] = 3.0;
  const Figure made = batch_times_figure(ms, "");
  const std::vector<double>& columns = made.panels.at(0).columns.at(0).values;
  EXPECT_EQ(columns.size(), 800U);
  EXPECT_EQ(columns[432], 3.0);
  EXPECT_EQ(std::ranges::count(columns, 1.0), 799);
}

TEST(BatchFigure, AFewFarOffDoNotFlattenTheRest) {
  std::vector<double> ms(100, 1.0);
  ms[7] = 1000.0;
  const Figure made = batch_times_figure(ms, "");
  EXPECT_LT(made.panels.at(0).y.high, 60.0);
  EXPECT_THAT(made.aside, ::testing::HasSubstr("the slowest (cut off) 1,000 ms"));
}

TEST(BatchFigure, OfNoBatchIsEmpty) {
  EXPECT_TRUE(batch_times_figure({}, "").panels.at(0).levels.empty());
}

}  // namespace
}  // namespace xtts::report
