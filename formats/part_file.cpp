#include "formats/part_file.hpp"

#include <algorithm>
#include <vector>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/bytes.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

constexpr std::string_view kMagic = "XTTSPART";
constexpr std::string_view kWhat = "head of the part";
constexpr std::size_t kIndexAt = 28;
constexpr std::size_t kCountAt = 32;
constexpr std::size_t kPlanAt = 40;
constexpr std::size_t kClipsAt = 56;
constexpr std::size_t kRejectsAt = 64;

}  // namespace

bool may_begin_part(std::span<const std::byte> bytes) {
  const std::string_view begin = text_of(bytes.first(std::min(bytes.size(), kMagic.size())));
  return kMagic.starts_with(begin);
}

std::string encode_part_head(const PartHead& head) {
  std::vector<std::byte> bytes(kPartHeadBytes);
  store_preamble(bytes, kMagic);
  store(bytes, kIndexAt, head.index);
  store(bytes, kCountAt, head.count);
  store_digest(bytes, kPlanAt, head.plan);
  store(bytes, kClipsAt, head.clip_count);
  store(bytes, kRejectsAt, head.reject_count);
  seal(bytes);
  return std::string(text_of(bytes));
}

Result<PartHead> decode_part_head(std::span<const std::byte> bytes) {
  if (bytes.size() < kPartHeadBytes) return corrupt(formatted("{}: cut short", kWhat));
  bytes = bytes.first(kPartHeadBytes);
  XTTS_TRY(check_preamble(bytes, kMagic, kWhat));
  const PartHead head{.index = load<std::uint32_t>(bytes, kIndexAt),
                      .count = load<std::uint32_t>(bytes, kCountAt),
                      .plan = load_digest(bytes, kPlanAt),
                      .clip_count = load<std::uint64_t>(bytes, kClipsAt),
                      .reject_count = load<std::uint64_t>(bytes, kRejectsAt)};
  if (head.index < 1 || head.index > head.count)
    return corrupt(formatted("{}: number {} of {} parts", kWhat, head.index, head.count));
  return head;
}

std::string encode_part_chunk(std::uint64_t number, std::string_view payload) {
  std::string chunk;
  chunk.reserve(sizeof(std::uint64_t) + payload.size());
  append(chunk, check64(bytes_of(payload), number));
  chunk += payload;
  return chunk;
}

Result<std::string_view> decode_part_chunk(std::uint64_t number, std::span<const std::byte> chunk) {
  const std::string name = formatted("chunk {} of the part", number);
  if (chunk.size() <= sizeof(std::uint64_t)) return corrupt(name + ": cut short");
  const auto payload = chunk.subspan(sizeof(std::uint64_t));
  if (load<std::uint64_t>(chunk, 0) != check64(payload, number))
    return corrupt(name + ": check does not match, the bytes are damaged");
  return text_of(payload);
}

}  // namespace xtts::formats
