#include "formats/manifest_trailer.hpp"

#include "base/hash.hpp"
#include "formats/preamble.hpp"

namespace xtts::formats {
namespace {

constexpr std::string_view kBegin = ",\"xxh3_128\":\"";
constexpr std::string_view kEnd = "\"}\n";
constexpr std::size_t kDigits = 32;
constexpr std::size_t kTrailerBytes = kBegin.size() + kDigits + kEnd.size();

}  // namespace

std::string append_manifest_trailer(std::string object) {
  object.pop_back();  // remove the closing brace: the trailer has it
  const Digest digest = digest128(object);
  object += kBegin;
  object += digest.to_hex();
  object += kEnd;
  return object;
}

Status verify_manifest_trailer(std::string_view text) {
  if (text.size() < kTrailerBytes) return corrupt("manifest: too short to hold its digest");
  const std::string_view body = text.substr(0, text.size() - kTrailerBytes);
  const std::string_view trailer = text.substr(body.size());
  if (!trailer.starts_with(kBegin) || !trailer.ends_with(kEnd)) {
    return corrupt("manifest: does not end in xxh3_128");
  }
  if (Digest::from_hex(trailer.substr(kBegin.size(), kDigits)) != digest128(body)) {
    return corrupt("manifest: xxh3_128 does not match, the text is damaged");
  }
  return {};
}

}  // namespace xtts::formats
