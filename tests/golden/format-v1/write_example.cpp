// Writes the golden files of format version 1 into a folder and prints the code blocks of the
// document's section 12.
//   write_format_example tests/golden/format-v1/data
// Only for a mistake in the example itself: once released, these bytes are what every later reader
// must still read.
#include <cstdio>
#include <fstream>

#include "formats/bytes.hpp"
#include "tests/golden/format-v1/example.hpp"

namespace {

bool write(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(out.flush());
}

}  // namespace

int main(int argument_count, char** arguments) {
  namespace example = xtts::formats::example;
  if (argument_count != 2) return 2;
  const std::string folder = arguments[1];
  const auto header = encode_block_header(example::block_header());
  const bool written =
      write(folder + "/block-header.bin", xtts::formats::text_of(header)) &&
      write(folder + "/payload.bin", example::payload()) &&
      write(folder + "/block-facts.bin", encode_block_facts(example::block_facts())) &&
      write(folder + "/index.bin", example::index()) &&
      write(folder + "/manifest.json", encode_manifest(example::manifest()).value());
  std::printf("%s\n%s\n%s", example::block_header_dump().c_str(), example::index_dump().c_str(),
              example::manifest_dump().c_str());
  return written ? 0 : 1;
}
