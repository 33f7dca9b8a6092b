#include "cli/record_files.hpp"

#include <bit>
#include <cstring>

#include "base/formatted.hpp"
#include "base/half.hpp"

namespace xtts::cli {
namespace {

static_assert(std::endian::native == std::endian::little, "values are copied as they lie");

template <typename Stored, typename Convert>
std::vector<float> convert(std::span<const std::byte> bytes, Convert convert_one) {
  std::vector<float> values(bytes.size() / sizeof(Stored));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Stored stored;
    std::memcpy(&stored, bytes.data() + i * sizeof(Stored), sizeof(Stored));
    values[i] = convert_one(stored);
  }
  return values;
}

const char* npy_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
    case DType::kBFloat16:
      return "<f4";
    case DType::kFloat16:
      return "<f2";
    case DType::kInt32:
      return "<i4";
    case DType::kInt16:
      return "<i2";
    case DType::kUInt8:
      return "|u1";
    case DType::kInt64:
      return "<i8";
  }
  return "|u1";
}

void append_le(std::uint32_t value, std::size_t size_bytes, std::string& out) {
  for (std::size_t i = 0; i < size_bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFFU);
}

}  // namespace

std::vector<float> values_as_float32(const reader::RecordData& record) {
  const auto plain = [](auto value) { return static_cast<float>(value); };
  switch (record.dtype) {
    case DType::kFloat32:
      return convert<float>(record.bytes, plain);
    case DType::kFloat16:
      return convert<std::uint16_t>(record.bytes,
                                    [](std::uint16_t half) { return from_float16(half); });
    case DType::kBFloat16:
      return convert<std::uint16_t>(record.bytes,
                                    [](std::uint16_t half) { return from_bfloat16(half); });
    case DType::kInt32:
      return convert<std::int32_t>(record.bytes, plain);
    case DType::kInt16:
      return convert<std::int16_t>(record.bytes, plain);
    case DType::kUInt8:
      return convert<std::uint8_t>(record.bytes, plain);
    case DType::kInt64:
      return convert<std::int64_t>(record.bytes, plain);
  }
  return {};
}

std::string encode_npy(const reader::RecordData& record) {
  std::string header =
      "{'descr': '" + std::string(npy_type(record.dtype)) + "', 'fortran_order': False, 'shape': (";
  for (const std::uint32_t size : record.shape) header += formatted("{}, ", size);
  header += "), }";
  // Data begins at a multiple of 64 bytes. 10 bytes come before the header, and a line feed ends
  // it.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string out("\x93NUMPY\x01\x00", 8);
  append_le(static_cast<std::uint32_t>(header.size()), 2, out);
  out += header;
  if (record.dtype == DType::kBFloat16) {
    const std::vector<float> values = values_as_float32(record);
    out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
  } else {
    out.append(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
  }
  return out;
}

Result<std::string> encode_wav(std::span<const float> samples, std::uint32_t rate_hz) {
  constexpr std::uint64_t kBehindRiffSize = 50;  // "WAVE", and the three chunks without the samples
  const std::uint64_t data_bytes = std::uint64_t{samples.size()} * sizeof(float);
  if (data_bytes + kBehindRiffSize > 0xFFFFFFFFU) {
    return Status(StatusCode::kInvalidArgument, "too long for a WAV file");
  }
  constexpr std::uint32_t kIeeeFloat = 3;
  std::string out = "RIFF";
  append_le(static_cast<std::uint32_t>(data_bytes + kBehindRiffSize), 4, out);
  out += "WAVEfmt ";
  append_le(18, 4, out);
  append_le(kIeeeFloat, 2, out);
  append_le(1, 2, out);  // channels
  append_le(rate_hz, 4, out);
  append_le(rate_hz * 4, 4, out);
  append_le(4, 2, out);   // bytes a frame
  append_le(32, 2, out);  // bits a sample
  append_le(0, 2, out);   // no extension
  out += "fact";
  append_le(4, 4, out);
  append_le(static_cast<std::uint32_t>(samples.size()), 4, out);
  out += "data";
  append_le(static_cast<std::uint32_t>(data_bytes), 4, out);
  out.append(reinterpret_cast<const char*>(samples.data()), data_bytes);
  return out;
}

}  // namespace xtts::cli
