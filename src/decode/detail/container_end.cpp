#include "decode/detail/container_end.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "base/formatted.hpp"

namespace xtts::decode::detail {
namespace {

using State = ContainerEnd::State;

// More chunks, boxes or clusters than a file of two hours has.
constexpr int kPartsMax = 100'000;

struct Part {
  std::string id;
  std::uint64_t begin = 0;  // of its content
  std::uint64_t size = 0;
  std::uint64_t next = 0;  // where the next part begins
};

std::uint64_t big(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char byte : bytes) value = value << 8U | static_cast<unsigned char>(byte);
  return value;
}

std::uint64_t little(std::string_view bytes) {
  std::string turned(bytes.rbegin(), bytes.rend());
  return big(turned);
}

ContainerEnd beyond(std::string_view part, std::uint64_t bytes) {
  return {State::kCut, 0.0,
          formatted("its {} goes on for {} bytes behind the file's end", part, bytes)};
}

// Judges a chunk that holds all the sound.
ContainerEnd end_of_chunk(const SourceReader& bytes, std::uint64_t begin, std::uint64_t size) {
  if (begin >= bytes.size_bytes()) return {};
  const std::uint64_t there = bytes.size_bytes() - begin;
  if (size <= there) return {State::kWhole};
  return {State::kCut, static_cast<double>(size) / static_cast<double>(there), {}};
}

// The chunks of the IFF family. A program that writes to a pipe cannot know a chunk's size: it
// writes 0, or a number near the largest one.
struct ChunkForm {
  std::uint64_t first = 12;
  std::size_t id_bytes = 4;
  std::size_t size_bytes = 4;
  bool is_little = true;
  bool size_has_header = false;
  std::uint64_t align = 2;
  std::string_view sound = "data";
  std::uint64_t unknown_from = 0x7FFF'0000;
};

constexpr ChunkForm kRiff;
constexpr ChunkForm kAiff = {.is_little = false, .sound = "SSND", .unknown_from = 0x7F00'0000};
constexpr ChunkForm kSvx = {.is_little = false, .sound = "BODY"};
constexpr ChunkForm kCaf = {
    .first = 8, .size_bytes = 8, .is_little = false, .align = 1, .unknown_from = 1ULL << 62U};
constexpr ChunkForm kW64 = {.first = 40,
                            .id_bytes = 16,
                            .size_bytes = 8,
                            .size_has_header = true,
                            .align = 8,
                            .unknown_from = 1ULL << 62U};
constexpr ChunkForm kAsf = {.first = 0,
                            .id_bytes = 16,
                            .size_bytes = 8,
                            .size_has_header = true,
                            .align = 1,
                            .sound = "\x36\x26\xB2\x75",
                            .unknown_from = 1ULL << 62U};

std::optional<Part> chunk_at(SourceReader& bytes, std::uint64_t offset, const ChunkForm& form) {
  const std::size_t header = form.id_bytes + form.size_bytes;
  const std::string head = bytes.at(offset, header);
  if (head.size() < header) return std::nullopt;
  const std::string_view number = std::string_view(head).substr(form.id_bytes);
  Part part{.id = head.substr(0, 4),
            .begin = offset + header,
            .size = form.is_little ? little(number) : big(number)};
  if (form.size_has_header) {
    if (part.size < header) return std::nullopt;
    part.size -= header;
  }
  const std::uint64_t end = part.begin + std::min<std::uint64_t>(part.size, 1ULL << 62U);
  part.next = (end + form.align - 1) / form.align * form.align;
  return part;
}

ContainerEnd end_of_chunks(SourceReader& bytes, const ChunkForm& form) {
  std::uint64_t large_size = 0;  // of RF64, whose data chunk says 0xFFFFFFFF
  std::uint64_t offset = form.first;
  for (int i = 0; i < kPartsMax && offset < bytes.size_bytes(); ++i) {
    const auto chunk = chunk_at(bytes, offset, form);
    if (!chunk) return {};
    if (chunk->id == "ds64") large_size = little(bytes.at(chunk->begin + 8, 8));
    const bool is_movie = chunk->id == "LIST" && bytes.at(chunk->begin, 4) == "movi";
    if (chunk->id == form.sound || is_movie) {
      const std::uint64_t size = large_size > 0 ? large_size : chunk->size;
      const bool is_known = size > 0 && size < (large_size > 0 ? 1ULL << 62U : form.unknown_from);
      return is_known ? end_of_chunk(bytes, chunk->begin, size) : ContainerEnd();
    }
    offset = chunk->next;
  }
  return {};
}

ContainerEnd end_of_riff(SourceReader& bytes) {
  ChunkForm form = kRiff;
  form.is_little = bytes.at(0, 4) != "RIFX";
  return end_of_chunks(bytes, form);
}

ContainerEnd end_of_au(SourceReader& bytes) {
  const std::string head = bytes.at(0, 12);
  if (head.size() < 12 || !head.starts_with(".snd")) return {};
  const std::uint64_t size = big(head.substr(8));
  if (size == 0 || size >= kRiff.unknown_from) return {};
  return end_of_chunk(bytes, big(head.substr(4, 4)), size);
}

// A file of SoX: header bytes, samples, rate, channels; samples of 4 bytes.
ContainerEnd end_of_sox(SourceReader& bytes) {
  const std::string head = bytes.at(0, 16);
  if (head.size() < 16) return {};
  const auto number = head.starts_with(".SoX") ? little : big;
  const std::uint64_t samples = number(head.substr(8));
  if (samples == 0 || samples >= 1ULL << 60U) return {};
  return end_of_chunk(bytes, 4 + number(head.substr(4, 4)), 4 * samples);
}

// Blocks of VOC: a type, 24 bits of size, the content. SoX gives its one block 8 bytes too few, and
// a type 0 may end the file.
ContainerEnd end_of_voc(SourceReader& bytes) {
  constexpr std::uint64_t kRestBytesMax = 9;
  std::uint64_t offset = little(bytes.at(20, 2));
  for (int i = 0; i < kPartsMax && offset + kRestBytesMax < bytes.size_bytes(); ++i) {
    const std::string head = bytes.at(offset, 4);
    if (head.size() < 4) return {};
    offset += 4 + little(head.substr(1));
    if (offset > bytes.size_bytes()) return beyond("last block", offset - bytes.size_bytes());
  }
  return {State::kWhole};
}

// Boxes of MP4 and QuickTime. The last one decides; tags behind the sound may be cut.
std::optional<Part> box_at(SourceReader& bytes, std::uint64_t offset) {
  const std::string head = bytes.at(offset, 16);
  if (head.size() < 8) return std::nullopt;
  Part part{.id = head.substr(4, 4), .begin = offset, .size = big(head.substr(0, 4))};
  if (part.size == 1 && head.size() == 16) part.size = big(head.substr(8));
  if (part.size == 0) part.size = bytes.size_bytes() - offset;  // it goes on until the end
  if (part.size < 8 || part.size > 1ULL << 62U) return std::nullopt;
  part.next = offset + part.size;
  return part;
}

ContainerEnd end_of_boxes(SourceReader& bytes) {
  std::uint64_t offset = 0;
  for (int i = 0; i < kPartsMax && offset < bytes.size_bytes(); ++i) {
    const auto box = box_at(bytes, offset);
    if (!box) return {};
    const bool is_needed = box->id == "mdat" || box->id == "moof" || box->id == "moov";
    if (box->next > bytes.size_bytes())
      return is_needed ? beyond(formatted("box \"{}\"", box->id), box->next - bytes.size_bytes())
                       : ContainerEnd{State::kWhole};
    offset = box->next;
  }
  return {State::kWhole};
}

constexpr std::uint64_t kSegment = 0x1853'8067;
constexpr std::uint64_t kCluster = 0x1F43'B675;
constexpr std::uint64_t kUnknownSize = ~std::uint64_t{0};

struct Element {
  std::uint64_t id = 0;
  std::uint64_t begin = 0;  // of its content
  std::uint64_t size = 0;   // or kUnknownSize
};

// EBML: the first byte's leading zeros say how many bytes a number has. `keeps_mark`: an id
// contains the bit behind them.
std::optional<std::uint64_t> ebml_number(std::string_view& bytes, bool keeps_mark) {
  if (bytes.empty()) return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes[0]);
  const auto count = static_cast<std::size_t>(std::countl_zero(first)) + 1;
  if (count > 8 || count > bytes.size()) return std::nullopt;
  std::uint64_t value = big(bytes.substr(0, count));
  const std::uint64_t mark = 1ULL << (7 * count);
  bytes.remove_prefix(count);
  if (keeps_mark) return value;
  value -= mark;
  return value == mark - 1 ? kUnknownSize : value;
}

std::optional<Element> element_at(SourceReader& bytes, std::uint64_t offset) {
  const std::string head = bytes.at(offset, 12);
  std::string_view rest = head;
  const auto id = ebml_number(rest, true);
  const auto size = id ? ebml_number(rest, false) : std::nullopt;
  if (!size) return std::nullopt;
  return Element{*id, offset + head.size() - rest.size(), *size};
}

// Only clusters hold sound; an index or tags behind them may be cut.
ContainerEnd end_of_matroska(SourceReader& bytes) {
  std::uint64_t offset = 0;
  std::uint64_t segment_end = 0;
  for (int i = 0; i < kPartsMax && offset < bytes.size_bytes(); ++i) {
    const auto element = element_at(bytes, offset);
    if (!element) break;
    if (element->id == kSegment) {
      if (element->size != kUnknownSize) segment_end = element->begin + element->size;
      offset = element->begin;
      continue;
    }
    if (element->size == kUnknownSize) return {};
    const std::uint64_t next = element->begin + element->size;
    if (next < element->begin) return {};
    if (next > bytes.size_bytes()) {
      return element->id == kCluster ? beyond("last cluster", next - bytes.size_bytes())
                                     : ContainerEnd{State::kWhole};
    }
    offset = next;
  }
  if (segment_end > bytes.size_bytes()) return beyond("segment", segment_end - bytes.size_bytes());
  return {segment_end > 0 ? State::kWhole : State::kUnknown};
}

// The last page of a stream in Ogg is marked.
ContainerEnd end_of_ogg(SourceReader& bytes) {
  constexpr std::uint64_t kHeaderBytes = 27;
  constexpr std::uint64_t kPageBytesMax = kHeaderBytes + 255 + 255 * 255;
  constexpr unsigned kLastPage = 4;
  const std::uint64_t begin = bytes.size_bytes() - std::min(bytes.size_bytes(), kPageBytesMax);
  const std::string tail = bytes.at(begin, kPageBytesMax);
  for (auto at = tail.rfind("OggS"); at != std::string::npos;
       at = at == 0 ? std::string::npos : tail.rfind("OggS", at - 1)) {
    const std::string_view page = std::string_view(tail).substr(at);
    if (page.size() < kHeaderBytes) return {State::kCut, 0.0, "its last Ogg page is cut"};
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(page[i]); };
    if (byte(4) != 0 || byte(5) > 7) continue;  // the letters lie in a page's content by chance
    const std::size_t content = std::min<std::size_t>(kHeaderBytes + byte(26), page.size());
    std::uint64_t size = kHeaderBytes + byte(26);
    for (std::size_t i = kHeaderBytes; i < content; ++i) size += byte(i);
    if (size > page.size()) return {State::kCut, 0.0, "its last Ogg page is cut"};
    if ((byte(5) & kLastPage) == 0)
      return {State::kCut, 0.0, "the Ogg page that ends the stream is not there"};
    return {State::kWhole};
  }
  return {};
}

}  // namespace

ContainerEnd end_of_container(SourceReader& bytes, std::string_view container) {
  if (container == "wav" || container == "avi") return end_of_riff(bytes);
  if (container == "aiff") return end_of_chunks(bytes, kAiff);
  if (container == "iff") return end_of_chunks(bytes, kSvx);
  if (container == "caf") return end_of_chunks(bytes, kCaf);
  if (container == "w64") return end_of_chunks(bytes, kW64);
  if (container == "asf") return end_of_chunks(bytes, kAsf);
  if (container == "au") return end_of_au(bytes);
  if (container == "sox") return end_of_sox(bytes);
  if (container == "voc") return end_of_voc(bytes);
  if (container.starts_with("mov,")) return end_of_boxes(bytes);
  if (container.starts_with("matroska,")) return end_of_matroska(bytes);
  if (container == "ogg") return end_of_ogg(bytes);
  return {};
}

}  // namespace xtts::decode::detail
