// Reads the .npy files of the golden tests: version 1, little-endian, C order, of a given element
// type. A file that is absent or of another type gives an empty array and a test failure.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace xtts::testing {

template <typename T>
constexpr std::string_view npy_descr() {
  if constexpr (std::is_same_v<T, float>) return "'descr': '<f4'";
  if constexpr (std::is_same_v<T, std::int16_t>) return "'descr': '<i2'";
}

template <typename T>
std::vector<T> read_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  constexpr std::size_t kPreamble = 10;  // magic, version, length of the header text
  if (bytes.size() < kPreamble ||
      bytes.compare(0, 8, std::string_view("\x93NUMPY\x01\x00", 8)) != 0) {
    ADD_FAILURE() << "not an .npy file of version 1: " << path;
    return {};
  }
  const std::size_t header_bytes =
      static_cast<unsigned char>(bytes[8]) + 256U * static_cast<unsigned char>(bytes[9]);
  const std::string header = bytes.substr(kPreamble, header_bytes);
  if (header.find(npy_descr<T>()) == std::string::npos ||
      header.find("'fortran_order': False") == std::string::npos) {
    ADD_FAILURE() << path << " holds something else: " << header;
    return {};
  }
  const std::size_t start = kPreamble + header_bytes;
  std::vector<T> values((bytes.size() - start) / sizeof(T));
  std::memcpy(values.data(), bytes.data() + start, values.size() * sizeof(T));
  return values;
}

}  // namespace xtts::testing
