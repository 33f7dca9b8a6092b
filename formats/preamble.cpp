#include "formats/preamble.hpp"

#include <algorithm>
#include <bit>

#include "base/formatted.hpp"
#include "base/hash.hpp"
#include "formats/bytes.hpp"
#include "formats/constants.hpp"

namespace xtts::formats {

Status corrupt(std::string message) {
  return {StatusCode::kCorrupt, std::move(message)};
}

Status check_version(std::uint64_t version, std::string_view what) {
  if (version == kFormatVersion) return {};
  const std::string name = formatted("{}: version {}", what, version);
  if (version == 0) return corrupt(name + " does not exist");
  return {StatusCode::kUnsupported, formatted("{} is newer than version {}, the newest that this "
                                              "version reads: read it with a newer version",
                                              name, kFormatVersion)};
}

Status check_incompat(std::uint64_t flags, std::string_view what) {
  if (flags == 0) return {};
  return {StatusCode::kUnsupported, formatted("{}: incompat bit {} is set, which this version does "
                                              "not know: read it with a newer version",
                                              what, std::countr_zero(flags))};
}

Status check_preamble(std::span<const std::byte> bytes, std::string_view magic,
                      std::string_view what) {
  const std::string name(what);
  if (check64(bytes.first(bytes.size() - 8)) != stored_check(bytes)) {
    return corrupt(name + ": check does not match, the bytes are damaged");
  }
  if (text_of(bytes.first(8)) != magic)
    return corrupt(formatted("{}: magic is not {}", name, magic));
  if (Status status = check_version(load<std::uint16_t>(bytes, 8), what); !status.ok())
    return status;
  if (load<std::uint32_t>(bytes, 12) != kByteOrderMark) {
    return corrupt(name + ": byte-order mark is not 0x01020304");
  }
  return check_incompat(load<std::uint32_t>(bytes, 24), what);
}

void store_preamble(std::span<std::byte> bytes, std::string_view magic) {
  std::ranges::copy(bytes_of(magic), bytes.begin());
  store(bytes, 8, kFormatVersion);
  store(bytes, 12, kByteOrderMark);
}

void seal(std::span<std::byte> bytes) {
  store(bytes, bytes.size() - 8, check64(bytes.first(bytes.size() - 8)));
}

std::uint64_t stored_check(std::span<const std::byte> bytes) noexcept {
  return bytes.size() < 8 ? 0 : load<std::uint64_t>(bytes, bytes.size() - 8);
}

}  // namespace xtts::formats
