#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "report/batch_figure.hpp"
#include "report/mel_figure.hpp"

namespace xtts::report {
namespace {

using nlohmann::json;
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

const json& first_panel(const json& figure) {
  return figure.at("panels").at(0);
}

// The rows of the first panel's heat map, the highest first.
std::vector<std::string> rows_of(const json& figure) {
  return first_panel(figure).at("heat_map").at("rows").get<std::vector<std::string>>();
}

TEST(MelFigure, SaysWhatIsSeen) {
  const auto made = mel_figure(picture_of(std::vector<float>(123 * 80, 1.0F), 80));
  ASSERT_TRUE(made.ok());
  EXPECT_EQ(made->at("title"), "p225");
  EXPECT_EQ(made->at("aside"), "1.23 s, 123 frames");
  EXPECT_EQ(made->at("subtitle"), "سلام");
  const json& panel = first_panel(*made);
  EXPECT_EQ(panel.at("x").at("name"), "time (s)");
  EXPECT_DOUBLE_EQ(panel.at("x").at("high"), 1.23);
  EXPECT_EQ(panel.at("y").at("name"), "frequency (Hz)");
  EXPECT_EQ(panel.at("heat_map").at("value_name"), "ln magnitude");
}

TEST(MelFigure, LevelsSpanTheValues) {
  const auto made = mel_figure(picture_of({-4.0F, 0.0F, 4.0F, std::nanf("")}, 2));
  ASSERT_TRUE(made.ok());
  EXPECT_THAT(rows_of(*made), ElementsAre("feff", "00fe"));
}

TEST(MelFigure, OneOddValueDoesNotDarkenTheRest) {
  std::vector<float> values(20000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 100);
  values[5] = 1e6F;
  const auto made = mel_figure(picture_of(values, 80));
  EXPECT_LE(first_panel(*made).at("heat_map").at("high"), 99.0);
}

TEST(MelFigure, FramesHaveAWholeNumberOfPixels) {
  for (const std::size_t frames : {1, 7, 276, 1200}) {
    const auto made = mel_figure(picture_of(std::vector<float>(frames * 80), 80));
    const double pixels =
        first_panel(*made).at("width").get<double>() * 2.0 / static_cast<double>(frames);
    EXPECT_EQ(pixels, std::floor(pixels)) << frames;
  }
}

TEST(MelFigure, LongClipsAreAveraged) {
  std::vector<float> values(100000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 0.0F : 2.0F;
  values.front() = -1.0F;
  const auto made = mel_figure(picture_of(values, 1));
  ASSERT_TRUE(made.ok());
  const std::string row = rows_of(*made).at(0);
  ASSERT_EQ(row.size(), 2 * 2400U);
  for (std::size_t i = 0; i < row.size(); i += 2) {
    const std::string level = row.substr(i, 2);
    EXPECT_TRUE(level >= "64" && level <= "9b") << level;  // 100 to 155
  }
}

TEST(MelFigure, OneLoudChannelOfManyIsSeen) {
  std::vector<float> values(20 * 2049, -11.0F);
  for (std::size_t frame = 0; frame < 20; ++frame) values[frame * 2049 + 1] = 0.0F;
  const auto made = mel_figure(picture_of(values, 2049));
  ASSERT_TRUE(made.ok());
  const std::vector<std::string> rows = rows_of(*made);
  EXPECT_LE(static_cast<double>(rows.size()), 2.0 * first_panel(*made).at("height").get<double>());
  EXPECT_GT(rows.back(), rows.at(rows.size() - 6));
}

TEST(MelFigure, ConstantValuesOfAnySizeHaveARange) {
  for (const float value : {0.0F, -11.5F, 1e20F}) {
    const auto made = mel_figure(picture_of(std::vector<float>(80, value), 80));
    const json& map = first_panel(*made).at("heat_map");
    EXPECT_LT(map.at("low"), map.at("high")) << value;
  }
}

TEST(MelFigure, ImportantFrequenciesComeFirst) {
  const auto made = mel_figure(picture_of(std::vector<float>(800), 80));
  const json& ticks = first_panel(*made).at("y").at("ticks");
  EXPECT_EQ(ticks.at(0).at("label"), "1,000");
  EXPECT_DOUBLE_EQ(ticks.at(0).at("at"), 80.0 / 11.025 + 0.5);
  for (const json& tick : ticks) EXPECT_NE(tick.at("label"), "12,000") << "beyond the highest";
}

TEST(MelFigure, RefusesToDrawNothing) {
  EXPECT_EQ(mel_figure(picture_of({}, 80)).status().code(), StatusCode::kInvalidArgument);
}

std::vector<double> columns_of(const json& figure) {
  return first_panel(figure).at("columns").at(0).at("values").get<std::vector<double>>();
}

TEST(BatchFigure, HasAColumnForEachBatchAndBothLevels) {
  const json made = batch_times_figure(std::vector<double>{1.0, 2.0, 3.0}, "batches of 4");
  const json& panel = first_panel(made);
  EXPECT_EQ(made.at("title"), "batches of 4");
  EXPECT_EQ(made.at("aside"), "3 batches, 2.00 ms each");
  EXPECT_THAT(columns_of(made), ElementsAre(1.0, 2.0, 3.0));
  EXPECT_EQ(panel.at("x").at("high"), 3.5);
  EXPECT_EQ(panel.at("levels").at(0).at("name"), "mean 2.00");
  EXPECT_GT(panel.at("y").at("high"), 3.0);
}

TEST(BatchFigure, AColumnOfSeveralBatchesShowsTheSlowest) {
  std::vector<double> ms(8000, 1.0);
  ms[4321] = 3.0;
  const std::vector<double> columns = columns_of(batch_times_figure(ms, ""));
  EXPECT_EQ(columns.size(), 800U);
  EXPECT_EQ(columns[432], 3.0);
  EXPECT_EQ(std::ranges::count(columns, 1.0), 799);
}

TEST(BatchFigure, AFewFarOffDoNotFlattenTheRest) {
  std::vector<double> ms(100, 1.0);
  ms[7] = 1000.0;
  const json made = batch_times_figure(ms, "");
  EXPECT_LT(first_panel(made).at("y").at("high"), 60.0);
  EXPECT_THAT(made.at("aside").get<std::string>(),
              ::testing::HasSubstr("the slowest (cut off) 1,000 ms"));
}

TEST(BatchFigure, OfNoBatchIsEmpty) {
  EXPECT_TRUE(first_panel(batch_times_figure({}, "")).at("levels").empty());
}

}  // namespace
}  // namespace xtts::report
