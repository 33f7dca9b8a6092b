// Pictures are checked by what a decoder of a few lines reads back, not by their bytes: zlib
// versions pack differently.
#include <gtest/gtest.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "report/canvas.hpp"
#include "report/colormap.hpp"
#include "report/font.hpp"
#include "report/mel_picture.hpp"
#include "report/png.hpp"

namespace xtts::report {
namespace {

struct Image {
  std::size_t width = 0;
  std::size_t height = 0;
  std::vector<Rgb> pixels;
  [[nodiscard]] Rgb at(std::size_t x, std::size_t y) const { return pixels[y * width + x]; }
};

std::uint32_t u32(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i)
    value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

// Understands what our encoder writes: one IDAT chunk, filter 2. Throws on anything else, which
// fails the test.
Image decode(const std::string& png) {
  Image image;
  if (png.substr(0, 8) != "\x89PNG\r\n\x1a\n") throw std::runtime_error("signature");
  std::string rows;
  for (std::size_t at = 8; at < png.size();) {
    const std::size_t size = u32(png, at);
    const std::string type = png.substr(at + 4, 4);
    const auto* checked = reinterpret_cast<const Bytef*>(png.data() + at + 4);
    if (crc32(0, checked, static_cast<uInt>(size + 4)) != u32(png, at + 8 + size)) {
      throw std::runtime_error("CRC of " + type);
    }
    if (type == "IHDR") {
      image.width = u32(png, at + 8);
      image.height = u32(png, at + 12);
      rows.resize(image.height * (3 * image.width + 1));
    } else if (type == "IDAT") {
      auto room = static_cast<uLongf>(rows.size());
      const auto* packed = reinterpret_cast<const Bytef*>(png.data() + at + 8);
      if (uncompress(reinterpret_cast<Bytef*>(rows.data()), &room, packed,
                     static_cast<uLong>(size)) != Z_OK) {
        throw std::runtime_error("IDAT");
      }
    }
    at += 12 + size;
  }
  image.pixels.resize(image.width * image.height);
  for (std::size_t y = 0; y < image.height; ++y) {
    const std::size_t row = y * (3 * image.width + 1);
    if (rows[row] != '\2') throw std::runtime_error("filter");
    for (std::size_t x = 0; x < image.width; ++x) {
      const Rgb above = y == 0 ? Rgb{} : image.at(x, y - 1);
      const auto sum = [&](std::uint8_t base, std::size_t channel) {
        return static_cast<std::uint8_t>(
            base + static_cast<std::uint8_t>(rows[row + 1 + 3 * x + channel]));
      };
      image.pixels[y * image.width + x] = {sum(above.red, 0), sum(above.green, 1),
                                           sum(above.blue, 2)};
    }
  }
  return image;
}

// Luminance (Y of sRGB), 0 to 100.
double grey(Rgb colour) {
  const auto linear = [](std::uint8_t byte) {
    return std::pow((byte / 255.0 + 0.055) / 1.055, 2.4);
  };
  return 100.0 * (0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) +
                  0.0722 * linear(colour.blue));
}

TEST(Png, GivesBackEveryPixel) {
  std::vector<Rgb> pixels;
  for (unsigned i = 0; i < 7 * 5; ++i) {
    pixels.push_back({static_cast<std::uint8_t>(i * 37), static_cast<std::uint8_t>(255 - i * 11),
                      static_cast<std::uint8_t>(i * i)});
  }
  const auto png = encode_png(pixels, 7, 5);
  ASSERT_TRUE(png.ok());
  const Image image = decode(*png);
  EXPECT_EQ(image.width, 7U);
  EXPECT_EQ(image.height, 5U);
  EXPECT_EQ(image.pixels, pixels);
}

TEST(Png, RefusesSizesThatDoNotFit) {
  const std::vector<Rgb> pixels(6);
  EXPECT_EQ(encode_png(pixels, 2, 2).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(encode_png({}, 0, 0).status().code(), StatusCode::kInvalidArgument);
}

TEST(Colormap, GetsBrighterWithEveryStep) {
  for (std::size_t i = 1; i < colormap().size(); ++i) {
    EXPECT_GT(grey(colormap()[i]), grey(colormap()[i - 1])) << i;
  }
  EXPECT_LT(grey(colormap().front()), 2.0);
  EXPECT_GT(grey(colormap().back()), 85.0);
}

TEST(Colormap, ClampsAndShowsNanAsGrey) {
  EXPECT_EQ(colour_at(-3.0), colormap().front());
  EXPECT_EQ(colour_at(7.0), colormap().back());
  EXPECT_EQ(colour_at(std::nan("")), (Rgb{128, 128, 128}));
}

TEST(Font, HasADifferentShapeForEveryCharacter) {
  for (char a = ' '; a <= '~'; ++a) {
    const std::string_view rows = glyph_rows(a);
    EXPECT_TRUE(rows.size() == 41 || rows.size() == 53) << a;
    EXPECT_EQ(rows.find_first_not_of("#.|"), std::string_view::npos) << a;
    EXPECT_NE(rows, glyph_rows('\x01')) << a;
    for (char b = ' '; b < a; ++b) EXPECT_NE(rows, glyph_rows(b)) << a << b;
  }
}

TEST(Canvas, CutsOffWhatLiesOutside) {
  Canvas canvas(4, 3, {255, 255, 255});
  canvas.fill(-5, -5, 100, 6, {1, 2, 3});
  canvas.text(-3, 1, "WWW", {9, 9, 9}, 2);
  EXPECT_EQ(canvas.pixel(3, 0), (Rgb{1, 2, 3}));
  EXPECT_TRUE(canvas.to_png().ok());
}

TEST(Canvas, TurnedTextHasTheSameInk) {
  Canvas upright(60, 20, {255, 255, 255});
  Canvas turned(20, 60, {255, 255, 255});
  upright.text(2, 3, "Hz(k)", {0, 0, 0}, 1);
  turned.text_upwards(3, 57, "Hz(k)", {0, 0, 0}, 1);
  for (int y = 0; y < 20; ++y) {
    for (int x = 0; x < 58; ++x) EXPECT_EQ(upright.pixel(x, y), turned.pixel(y, 58 - x));
  }
}

MelPicture picture_of(const std::vector<float>& values, std::size_t mel_count) {
  MelPicture picture;
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

// One loud channel in silence must be seen where it belongs: the lowest at the bottom.
TEST(MelPicture, PutsLowFrequenciesAtTheBottom) {
  std::vector<float> values(100 * 80, -11.0F);
  for (std::size_t frame = 0; frame < 100; ++frame) values[frame * 80] = 0.0F;
  const auto png = render_mel_png(picture_of(values, 80));
  ASSERT_TRUE(png.ok());
  const Image image = decode(*png);
  std::size_t brightest_row = 0;
  double brightest = 0.0;
  const std::size_t middle = 300;
  for (std::size_t y = 69; y < image.height - 63; ++y) {
    if (grey(image.at(middle, y)) > brightest) {
      brightest = grey(image.at(middle, y));
      brightest_row = y;
    }
  }
  EXPECT_EQ(brightest, grey(colormap().back()));
  EXPECT_GT(brightest_row, image.height - 62 - 10);
}

TEST(MelPicture, IsOfASensibleSizeForEveryLength) {
  for (const std::size_t frames : {1, 2, 26, 300, 800, 2584, 20000}) {
    const std::vector<float> values(frames * 80, 1.0F);
    const auto png = render_mel_png(picture_of(values, 80));
    ASSERT_TRUE(png.ok()) << frames;
    const Image image = decode(*png);
    EXPECT_GE(image.width, 500U) << frames;
    EXPECT_LE(image.width, 1600U) << frames;
    EXPECT_GE(image.height, 300U) << frames;
    EXPECT_LE(image.height, 800U) << frames;
  }
}

TEST(MelPicture, SurvivesNanAndForeignScripts) {
  std::vector<float> values(50 * 40, std::nanf(""));
  MelPicture picture = picture_of(values, 40);
  picture.title = "گفتار\n";
  picture.subtitle = "سلام دنیا";
  EXPECT_TRUE(render_mel_png(picture).ok());
}

TEST(MelPicture, RefusesToDrawNothing) {
  EXPECT_EQ(render_mel_png(picture_of({}, 80)).status().code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace xtts::report
