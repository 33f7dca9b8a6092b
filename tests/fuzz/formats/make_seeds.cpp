// Writes the fuzzers' seeds: the worked example, and a few values with every field, without the
// checks that the fuzzers put in themselves and without the zeros that they fill up with.
//   make_format_seeds tests/fuzz/formats/seeds
#include <filesystem>
#include <fstream>

#include "formats/bytes.hpp"
#include "tests/golden/format-v1/example.hpp"

namespace {

using namespace xtts;
using namespace xtts::formats;

bool write(const std::filesystem::path& path, std::string_view bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(out.flush());
}

std::string_view unsealed(std::string_view bytes) {
  bytes.remove_suffix(8);
  return bytes.substr(0, bytes.find_last_not_of('\0') + 1);
}

BlockHeader packed_header() {
  BlockHeader header = example::block_header();
  header.column.layout = Layout::kPacked;
  header.column.dtype = DType::kFloat32;
  header.column.shape = {800, 80};
  for (const std::uint32_t length : {800U, 0U, 5U})
    header.records.push_back({{length, 1}, 0, length, 0, 2});
  header.payload_bytes = lay_out_records(header.column, header.records);
  return header;
}

RecordFacts audio_facts() {
  RecordFacts facts;
  facts.id = "a";
  facts.source_path = "a.wav";
  facts.content_digest = Digest{1, 2};
  facts.source_rate_hz = 22050;
  facts.source_channel_count = 2;
  facts.source_frame_count = 99;
  facts.gain = 0.5F;
  facts.text_was_cut = 1;
  facts.unknown[23] = "later";
  facts.unknown[40000] = "";
  return facts;
}

BlockFacts audio_block_facts() {
  BlockFacts facts = example::block_facts();
  facts.records.push_back(audio_facts());
  facts.summed_frame_count = 3;
  facts.sums = {1.0, 2.0, 3.0, 4.0};
  return facts;
}

std::string manifest_body() {
  Manifest manifest = example::manifest();
  manifest.mel_statistics = Statistics{3, {-4.5, 1.0}, {2.0, 0.1}};
  manifest.features = manifest.text = manifest.corpus = manifest.storage = {{"a", nullptr}};
  const std::string text = encode_manifest(manifest).value();
  return text.substr(0, text.rfind(",\"xxh3_128\"")) + "}";
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) return 2;
  const std::filesystem::path folder = arguments[1];
  const auto padded = encode_block_header(example::block_header());
  const auto packed = encode_block_header(packed_header());
  std::string text_facts;
  append_facts(example::block_facts().records[0], text_facts);
  std::string more_facts;
  append_facts(audio_facts(), more_facts);
  Reject with_line = example::reject();
  with_line.line = 17;
  const std::string index = example::index();
  const bool written =
      write(folder / "block_header/padded", unsealed(text_of(padded))) &&
      write(folder / "block_header/packed", unsealed(text_of(packed))) &&
      write(folder / "block_facts/text", unsealed(encode_block_facts(example::block_facts()))) &&
      write(folder / "block_facts/audio", unsealed(encode_block_facts(audio_block_facts()))) &&
      write(folder / "record_facts/text", text_facts) &&
      write(folder / "record_facts/audio", more_facts) &&
      write(folder / "index_footer/example",
            unsealed(std::string_view(index).substr(index.size() - kIndexFooterBytes))) &&
      write(folder / "manifest/example", manifest_body()) &&
      write(folder / "reject/without_line", encode_reject(example::reject())) &&
      write(folder / "reject/with_line", encode_reject(with_line));
  return written ? 0 : 1;
}
