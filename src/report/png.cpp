#include "report/png.hpp"

#include <zlib.h>

#include <string_view>

namespace xtts::report {
namespace {

constexpr std::size_t kSideMax = 32'768;

void append_u32(std::uint32_t value, std::string& out) {  // PNG is big-endian
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(value >> shift & 0xFFU);
}

// A chunk is length, type, data, then the CRC of type and data.
void append_chunk(std::string_view type, std::string_view data, std::string& out) {
  append_u32(static_cast<std::uint32_t>(data.size()), out);
  const std::size_t start = out.size();
  out += type;
  out += data;
  const auto* bytes = reinterpret_cast<const Bytef*>(out.data() + start);
  append_u32(static_cast<std::uint32_t>(crc32(0, bytes, static_cast<uInt>(out.size() - start))),
             out);
}

// A filter byte precedes each row. Filter 2 (the difference to the row above) suits pictures of
// flat areas.
std::string filtered_rows(std::span<const Rgb> pixels, std::size_t width, std::size_t height) {
  std::string rows;
  rows.reserve(height * (width * 3 + 1));
  for (std::size_t y = 0; y < height; ++y) {
    rows += '\2';
    for (std::size_t x = 0; x < width; ++x) {
      const Rgb above = y == 0 ? Rgb{} : pixels[(y - 1) * width + x];
      const Rgb here = pixels[y * width + x];
      rows += static_cast<char>(here.red - above.red);
      rows += static_cast<char>(here.green - above.green);
      rows += static_cast<char>(here.blue - above.blue);
    }
  }
  return rows;
}

}  // namespace

Result<std::string> encode_png(std::span<const Rgb> pixels, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0 || width > kSideMax || height > kSideMax ||
      pixels.size() != width * height) {
    return Status(StatusCode::kInvalidArgument, "a picture of " + std::to_string(width) + " x " +
                                                    std::to_string(height) + " pixels");
  }
  const std::string rows = filtered_rows(pixels, width, height);
  uLongf size = compressBound(static_cast<uLong>(rows.size()));
  std::string packed(size, '\0');
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                reinterpret_cast<const Bytef*>(rows.data()), static_cast<uLong>(rows.size()),
                Z_BEST_COMPRESSION) != Z_OK) {
    return Status(StatusCode::kResource, "no memory to compress a picture");
  }
  packed.resize(size);

  std::string header;
  append_u32(static_cast<std::uint32_t>(width), header);
  append_u32(static_cast<std::uint32_t>(height), header);
  header += std::string_view("\x08\x02\0\0\0",
                             5);  // 8 bits, RGB, deflate, adaptive filters, not interlaced
  std::string out = "\x89PNG\r\n\x1a\n";
  append_chunk("IHDR", header, out);
  append_chunk("IDAT", packed, out);
  append_chunk("IEND", "", out);
  return out;
}

}  // namespace xtts::report
