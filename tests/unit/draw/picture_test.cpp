// Pictures are checked by the pixels that Cairo reads back, not by their bytes: fonts and versions
// differ.
#include <cairo.h>
#include <glib.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "draw/colormap.hpp"
#include "draw/page.hpp"
#include "draw/theme.hpp"
#include "report/batch_figure.hpp"
#include "report/mel_figure.hpp"

namespace xtts::draw {
namespace {

using figure::Figure;

class Image {
 public:
  explicit Image(const std::string& png) : rest_(png), surface_(nullptr, cairo_surface_destroy) {
    surface_.reset(cairo_image_surface_create_from_png_stream(
        [](void* self, unsigned char* out, unsigned int size) {
          std::string_view& rest = static_cast<Image*>(self)->rest_;
          if (rest.size() < size) return CAIRO_STATUS_READ_ERROR;
          std::memcpy(out, rest.data(), size);
          rest.remove_prefix(size);
          return CAIRO_STATUS_SUCCESS;
        },
        this));
  }

  [[nodiscard]] bool is_sound() const {
    return cairo_surface_status(surface_.get()) == CAIRO_STATUS_SUCCESS;
  }
  [[nodiscard]] int width() const { return cairo_image_surface_get_width(surface_.get()); }
  [[nodiscard]] int height() const { return cairo_image_surface_get_height(surface_.get()); }
  [[nodiscard]] Rgb at(int x, int y) const {
    const unsigned char* const pixel = cairo_image_surface_get_data(surface_.get()) +
                                       y * cairo_image_surface_get_stride(surface_.get()) + 4 * x;
    return {pixel[2], pixel[1], pixel[0]};
  }
  [[nodiscard]] std::size_t count(Rgb colour) const {
    std::size_t found = 0;
    for (int y = 0; y < height(); ++y)
      for (int x = 0; x < width(); ++x) found += at(x, y) == colour ? 1 : 0;
    return found;
  }

 private:
  std::string_view rest_;
  std::unique_ptr<cairo_surface_t, decltype(&cairo_surface_destroy)> surface_;
};

report::MelPicture picture_of(const std::vector<float>& values, std::size_t mel_count) {
  report::MelPicture picture;
  picture.values = values;
  picture.mel_count = mel_count;
  picture.frame_count = values.size() / mel_count;
  picture.frame_s = 256.0 / 22050.0;
  picture.channel_of_hz = [mel_count](double hz) {
    return hz / 11025.0 * static_cast<double>(mel_count);
  };
  picture.high_hz = 11025.0;
  picture.title = "LJ001-0001";
  picture.value_unit = "ln magnitude";
  return picture;
}

// Luminance (Y of sRGB), 0 to 100.
double grey(Rgb colour) {
  const auto linear = [](std::uint8_t byte) {
    return std::pow((byte / 255.0 + 0.055) / 1.055, 2.4);
  };
  return 100.0 * (0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) +
                  0.0722 * linear(colour.blue));
}

TEST(Colormap, GetsBrighterWithEveryStep) {
  for (std::int16_t level = 1; level < 256; ++level)
    EXPECT_GT(grey(magma(level)), grey(magma(static_cast<std::int16_t>(level - 1)))) << level;
  EXPECT_LT(grey(magma(0)), 2.0);
  EXPECT_GT(grey(magma(255)), 85.0);
  EXPECT_EQ(magma(figure::kNoValue), (Rgb{128, 128, 128}));
}

// One loud channel in silence must be seen where it belongs: the lowest at the bottom.
TEST(Picture, OfAMelHasLowFrequenciesAtTheBottom) {
  std::vector<float> values(100 * 80, -11.0F);
  for (std::size_t frame = 0; frame < 100; ++frame) values[frame * 80] = 0.0F;
  const auto figure = report::mel_figure(picture_of(values, 80));
  ASSERT_TRUE(figure.ok());
  const auto page = draw_png(*figure);
  ASSERT_TRUE(page.ok()) << page.status().message();
  const Image image(page->bytes);
  ASSERT_TRUE(image.is_sound());
  const int middle = image.width() / 2;
  int lowest_dark = 0;
  int bright_count = 0;
  for (int y = 0; y < image.height(); ++y) {
    if (image.at(middle, y) == magma(0)) lowest_dark = y;
    if (image.at(middle, y) == magma(255)) {
      ++bright_count;
      EXPECT_GT(y, lowest_dark);
    }
  }
  EXPECT_EQ(bright_count, 7);  // the height of a channel: 3.5 points
}

TEST(Picture, IsOfASensibleSizeForEveryLength) {
  for (const std::size_t frames : {1, 2, 26, 300, 800, 2584, 20000}) {
    const std::vector<float> values(frames * 80, 1.0F);
    const auto figure = report::mel_figure(picture_of(values, 80));
    ASSERT_TRUE(figure.ok()) << frames;
    const auto page = draw_png(*figure);
    ASSERT_TRUE(page.ok()) << frames;
    const Image image(page->bytes);
    EXPECT_GE(image.width(), 800) << frames;
    EXPECT_LE(image.width(), 2800) << frames;
    EXPECT_GE(image.height(), 600) << frames;
    EXPECT_LE(image.height(), 1200) << frames;
  }
}

TEST(Picture, WithoutValuesIsGrey) {
  const std::vector<float> values(50 * 40, std::nanf(""));
  const auto figure = report::mel_figure(picture_of(values, 40));
  ASSERT_TRUE(figure.ok());
  const auto page = draw_png(*figure);
  ASSERT_TRUE(page.ok());
  EXPECT_GT(Image(page->bytes).count({128, 128, 128}), 100000U);
}

// Pango counts letters that no font of the machine has; Debian's packages of Pango bring DejaVu.
TEST(Picture, WritesPersianAndUmlauts) {
  Figure figure = report::batch_times_figure(std::vector<double>{1.0, 2.0}, "Größe");
  figure.subtitle = "سلام دنیا";
  for (const auto draw : {draw_png, draw_svg}) {
    const auto page = draw(figure);
    ASSERT_TRUE(page.ok()) << page.status().message();
    EXPECT_EQ(page->missing_letter_count, 0U);
  }
}

TEST(Picture, CountsLettersThatNoFontHas) {
  const auto page =
      draw_png(report::batch_times_figure(std::vector<double>{1.0}, "a\U000F0001\U000F0002"));
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->missing_letter_count, 2U);
}

TEST(Picture, SurvivesBrokenTextsOfAnyLength) {
  for (const std::string& text :
       {std::string("\xff\xfe broken"), std::string("a\nb\tc\x1b[31m"), std::string(5000, 'x'),
        std::string("a\0b", 3), std::string("a\u2029b\u2028c\u0085d\uFFFF")}) {
    Figure figure = report::batch_times_figure(std::vector<double>{1.0}, text);
    figure.subtitle = text;
    figure.panels[0].title = text;
    const auto page = draw_png(figure);
    ASSERT_TRUE(page.ok());
    EXPECT_LT(Image(page->bytes).height(), 1000);
    const auto svg = draw_svg(figure);
    ASSERT_TRUE(svg.ok());
    EXPECT_TRUE(
        g_utf8_validate(svg->bytes.data(), static_cast<gssize>(svg->bytes.size()), nullptr));
    EXPECT_EQ(svg->bytes.find("\xEF\xBF\xBF"), std::string::npos);
  }
}

TEST(Picture, CutsLongAxisNamesBeforeItsEdges) {
  Figure figure = report::batch_times_figure(std::vector<double>{1.0, 2.0}, "");
  const auto plain = draw_png(figure);
  ASSERT_TRUE(plain.ok());
  figure.panels[0].x.name = std::string(1000, 'x');
  figure.panels[0].y.name = std::string(1000, 'y');
  figure.panels[0].levels[0].name = std::string(1000, 'z');
  const auto page = draw_png(figure);
  ASSERT_TRUE(page.ok()) << page.status().message();
  const Image image(page->bytes);
  EXPECT_LT(image.width(), Image(plain->bytes).width() + 2 * 400);
  const Rgb paper = colour_of(Role::kPaper);
  for (int x = 0; x < image.width(); ++x) {
    ASSERT_EQ(image.at(x, 1), paper) << x;
    ASSERT_EQ(image.at(x, image.height() - 2), paper) << x;
  }
  for (int y = 0; y < image.height(); ++y) {
    ASSERT_EQ(image.at(1, y), paper) << y;
    ASSERT_EQ(image.at(image.width() - 2, y), paper) << y;
  }
}

TEST(Picture, OfColumnsStacksThem) {
  figure::Panel panel;
  panel.y.high = 10.0;
  panel.columns = {{"low", figure::Colour::kBlue, {2.0}}, {"high", figure::Colour::kGreen, {6.0}}};
  const auto page = draw_png({.title = {}, .aside = {}, .subtitle = {}, .panels = {panel}});
  ASSERT_TRUE(page.ok());
  const Image image(page->bytes);
  const auto blue = static_cast<double>(image.count(colour_of(figure::Colour::kBlue)));
  const auto green = static_cast<double>(image.count(colour_of(figure::Colour::kGreen)));
  EXPECT_NEAR(green / blue, 3.0, 0.05);
  EXPECT_NEAR(blue, 0.2 * 440 * 1600 * 0.86, 2000.0);  // pixels of the column, and of the legend
}

}  // namespace
}  // namespace xtts::draw
