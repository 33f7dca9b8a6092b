// Writes the golden files of format version 1 into a folder and prints the code blocks of the
// document's section 12.
//   write_format_example tests/golden/format-v1/data tests/golden/bad
// The second folder gets files that must be refused. A file's name says of what kind it is, with
// which code it is refused, and what is bad about it.
// Only for a mistake in the example itself: once released, these bytes are what every later reader
// must still read.
#include <cstdio>
#include <fstream>

#include "formats/bytes.hpp"
#include "formats/manifest_trailer.hpp"
#include "formats/preamble.hpp"
#include "tests/golden/format-v1/example.hpp"

namespace {

bool write(const std::string& path, std::string_view bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(out.flush());
}

using xtts::formats::store;

// The bytes with a right check, so that what lies behind the check is judged.
template <typename Change>
std::string changed(std::string bytes, Change change) {
  const auto span = std::as_writable_bytes(std::span(bytes));
  change(span);
  xtts::formats::seal(span);
  return bytes;
}

// Writes the bad forms that all binary structures have in common.
bool write_bad(const std::string& kind, const std::string& good) {
  std::string damaged = good;
  damaged[40] = static_cast<char>(damaged[40] ^ 1);
  return write(kind + ".corrupt.empty", "") &&
         write(kind + ".corrupt.cut-short", good.substr(0, good.size() - 1)) &&
         write(kind + ".corrupt.one-bit-changed", damaged) &&
         write(kind + ".corrupt.other-magic",
               changed(good, [](auto bytes) { store(bytes, 0, std::uint8_t{'x'}); })) &&
         write(kind + ".corrupt.other-byte-order",
               changed(good, [](auto bytes) { store(bytes, 12, std::uint32_t{0x04030201}); })) &&
         write(kind + ".unsupported.version-2",
               changed(good, [](auto bytes) { store(bytes, 8, std::uint16_t{2}); })) &&
         write(kind + ".unsupported.incompat-bit",
               changed(good, [](auto bytes) { store(bytes, 24, std::uint32_t{1}); }));
}

bool write_bad_manifests(const std::string& kind, const std::string& good) {
  const auto with = [&](const std::string& old, const std::string& now) {
    std::string text = good.substr(0, good.rfind(",\"xxh3_128\"")) + "}";
    text.replace(text.find(old), old.size(), now);
    return xtts::formats::append_manifest_trailer(text);
  };
  std::string damaged = good;
  damaged.replace(damaged.find("\"channels\":"), 1, "'");
  return write(kind + ".corrupt.empty", "") &&
         write(kind + ".corrupt.cut-short", good.substr(0, good.size() / 2)) &&
         write(kind + ".corrupt.one-letter-changed", damaged) &&
         write(kind + ".unsupported.version-2", with("\"version\":1", "\"version\":2")) &&
         write(kind + ".unsupported.incompat-bit", with("\"incompat\":0", "\"incompat\":1"));
}

}  // namespace

int main(int argument_count, char** arguments) {
  namespace example = xtts::formats::example;
  if (argument_count != 3) return 2;
  const std::string folder = arguments[1];
  const auto header = encode_block_header(example::block_header());
  const bool written =
      write(folder + "/block-header.bin", xtts::formats::text_of(header)) &&
      write(folder + "/payload.bin", example::payload()) &&
      write(folder + "/block-facts.bin", encode_block_facts(example::block_facts())) &&
      write(folder + "/index.bin", example::index()) &&
      write(folder + "/manifest.json", encode_manifest(example::manifest()).value());
  const std::string bad = arguments[2];
  const std::string index = example::index();
  const bool bad_written =
      write_bad(bad + "/block-header", std::string(xtts::formats::text_of(header))) &&
      write_bad(bad + "/block-facts", encode_block_facts(example::block_facts())) &&
      write_bad(bad + "/index-footer",
                index.substr(index.size() - xtts::formats::kIndexFooterBytes)) &&
      write_bad_manifests(bad + "/manifest", encode_manifest(example::manifest()).value());
  std::printf("%s\n%s\n%s", example::block_header_dump().c_str(), example::index_dump().c_str(),
              example::manifest_dump().c_str());
  return written && bad_written ? 0 : 1;
}
