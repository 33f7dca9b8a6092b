// Archives for tests, byte by byte: also those that no program would write.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace xtts::corpus {

inline std::string padded_to_blocks(std::string bytes) {
  bytes.resize((bytes.size() + 511) / 512 * 512, '\0');
  return bytes;
}

struct TarHeader {
  std::string_view name = {};
  std::uint64_t size_bytes = 0;
  char type = '0';
  std::string_view prefix = {};
  std::string_view link = {};
};

inline std::string tar_header(const TarHeader& header) {
  std::string block(512, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    block.replace(at, text.size(), text);
  };
  put(0, header.name);
  put(100, "0000644");
  std::array<char, 16> digits{};
  std::snprintf(digits.data(), digits.size(), "%011llo",
                static_cast<unsigned long long>(header.size_bytes));
  put(124, digits.data());
  block[156] = header.type;
  put(157, header.link);
  put(257, std::string_view("ustar\0"
                            "00",
                            8));
  put(345, header.prefix);
  put(148, "        ");
  unsigned sum = 0;
  for (const char c : block) sum += static_cast<unsigned char>(c);
  std::snprintf(digits.data(), digits.size(), "%06o", sum);
  put(148, std::string(digits.data()) + '\0' + ' ');
  return block;
}

inline std::string tar_member(std::string_view name, std::string_view bytes, char type = '0') {
  return tar_header({.name = name, .size_bytes = bytes.size(), .type = type}) +
         padded_to_blocks(std::string(bytes));
}

inline std::string pax_record(const std::string& key, const std::string& value) {
  const std::string rest = " " + key + "=" + value + "\n";
  std::size_t size = rest.size();
  while (std::to_string(size).size() + rest.size() != size)
    size = std::to_string(size).size() + rest.size();
  return std::to_string(size) + rest;
}

inline std::string tar_end() {
  return std::string(1024, '\0');
}

}  // namespace xtts::corpus
