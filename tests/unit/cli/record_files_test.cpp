#include "cli/record_files.hpp"

#include <gtest/gtest.h>

#include <cstring>

namespace xtts::cli {
namespace {

template <typename T>
reader::RecordData record_of(DType dtype, std::vector<std::uint32_t> shape,
                             const std::vector<T>& values) {
  reader::RecordData record;
  record.dtype = dtype;
  record.shape = std::move(shape);
  record.bytes.resize(values.size() * sizeof(T));
  std::memcpy(record.bytes.data(), values.data(), record.bytes.size());
  return record;
}

TEST(Npy, HeaderIsWhatNumpyWritesAndDataIsAligned) {
  const std::string npy = encode_npy(record_of<float>(DType::kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(npy.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  const std::size_t header_bytes =
      static_cast<unsigned char>(npy[8]) + 256U * static_cast<unsigned char>(npy[9]);
  EXPECT_EQ((10 + header_bytes) % 64, 0U);
  EXPECT_EQ(npy.substr(10, 60), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, ), ");
  EXPECT_EQ(npy[10 + header_bytes - 1], '\n');
  ASSERT_EQ(npy.size(), 10 + header_bytes + 24);
  float last = 0;
  std::memcpy(&last, npy.data() + npy.size() - 4, 4);
  EXPECT_EQ(last, 6.0F);
}

TEST(Npy, KeepsHalvesAndWidensBfloat16) {
  const std::string half = encode_npy(record_of<std::uint16_t>(DType::kFloat16, {1}, {0x3C00}));
  EXPECT_NE(half.find("'<f2'"), std::string::npos);
  EXPECT_EQ(half.substr(half.size() - 2), std::string("\x00\x3C", 2));
  const std::string wide = encode_npy(record_of<std::uint16_t>(DType::kBFloat16, {1}, {0x3F80}));
  EXPECT_NE(wide.find("'<f4'"), std::string::npos);
  EXPECT_EQ(wide.substr(wide.size() - 4), std::string("\x00\x00\x80\x3F", 4));
}

TEST(Values, AreReadFromEveryDtype) {
  const std::vector<float> expected{1.0F, 2.0F};
  EXPECT_EQ(values_as_float32(record_of<float>(DType::kFloat32, {2}, {1, 2})), expected);
  EXPECT_EQ(values_as_float32(record_of<std::uint16_t>(DType::kFloat16, {2}, {0x3C00, 0x4000})),
            expected);
  EXPECT_EQ(values_as_float32(record_of<std::uint16_t>(DType::kBFloat16, {2}, {0x3F80, 0x4000})),
            expected);
  EXPECT_EQ(values_as_float32(record_of<std::int32_t>(DType::kInt32, {2}, {1, 2})), expected);
  EXPECT_EQ(values_as_float32(record_of<std::int16_t>(DType::kInt16, {2}, {1, 2})), expected);
  EXPECT_EQ(values_as_float32(record_of<std::uint8_t>(DType::kUInt8, {2}, {1, 2})), expected);
  EXPECT_EQ(values_as_float32(record_of<std::int64_t>(DType::kInt64, {2}, {1, 2})), expected);
}

TEST(Wav, SizesFitTogether) {
  const auto wav = encode_wav(std::vector<float>{0.5F, -1.5F}, 22050);
  ASSERT_TRUE(wav.ok());
  EXPECT_EQ(wav->size(), 58U + 8U);
  std::uint32_t riff_bytes = 0;
  std::memcpy(&riff_bytes, wav->data() + 4, 4);
  EXPECT_EQ(riff_bytes, wav->size() - 8);
  EXPECT_EQ(wav->substr(8, 8), "WAVEfmt ");
  float sample = 0;
  std::memcpy(&sample, wav->data() + 62, 4);
  EXPECT_EQ(sample, -1.5F);  // nothing is clipped
}

}  // namespace
}  // namespace xtts::cli
