#include "base/encoding.hpp"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts {
namespace {

constexpr std::size_t kOutBytes = std::size_t{16} << 10U;
constexpr char kNoText = '\xFF';
const auto kNoConverter = reinterpret_cast<iconv_t>(-1);  // NOLINT(performance-no-int-to-ptr)

// The size of the units that an encoding counts in, which a letter has. A mark may stand before the
// first letter.
std::size_t unit_bytes_of(const std::string& encoding) {
  const iconv_t converter = ::iconv_open(encoding.c_str(), "UTF-8");
  if (converter == kNoConverter) return 1;
  std::size_t unit_bytes = 1;
  for (int letters = 0; letters < 2; ++letters) {
    std::array<char, 16> buffer;
    char letter = 'a';
    char* in = &letter;
    char* end = buffer.data();
    std::size_t in_bytes = 1;
    std::size_t room_bytes = buffer.size();
    ::iconv(converter, &in, &in_bytes, &end, &room_bytes);
    unit_bytes = std::max<std::size_t>(1, buffer.size() - room_bytes);
  }
  ::iconv_close(converter);
  return unit_bytes;
}

}  // namespace

std::string encoding_of(std::string_view beginning, const std::string& named) {
  using std::operator""sv;
  if (beginning.starts_with("\xFF\xFE\0\0"sv) || beginning.starts_with("\0\0\xFE\xFF"sv))
    return "UTF-32";
  if (beginning.starts_with("\xFF\xFE") || beginning.starts_with("\xFE\xFF")) return "UTF-16";
  return beginning.starts_with(kUtf8Mark) ? std::string() : named;
}

void Decoder::Closer::operator()(void* converter) const noexcept {
  ::iconv_close(converter);
}

Result<Decoder> Decoder::open(const std::string& encoding) {
  // A text behind a '/' asks iconv to replace characters, which would lose text in silence.
  const bool is_name = encoding.find('/') == std::string::npos;
  const iconv_t converter = is_name ? ::iconv_open("UTF-8", encoding.c_str()) : kNoConverter;
  if (converter == kNoConverter) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("corpus.encoding: this system knows no encoding '{}'; 'iconv --list' "
                            "prints those it knows",
                            encoding));
  }
  return Decoder(converter, unit_bytes_of(encoding));
}

void Decoder::take(std::string_view bytes, std::string& out) {
  rest_ += bytes;
  char* in = rest_.data();
  std::size_t in_bytes = rest_.size();
  std::array<char, kOutBytes> buffer;
  while (in_bytes > 0) {
    char* end = buffer.data();
    std::size_t room_bytes = buffer.size();
    const std::size_t done = ::iconv(converter_.get(), &in, &in_bytes, &end, &room_bytes);
    const int error = done == static_cast<std::size_t>(-1) ? errno : 0;
    out.append(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
    if (error == EINVAL) break;  // the end of this character is in the next piece
    if (error == 0 || error == E2BIG) continue;
    out += kNoText;
    const std::size_t skipped_bytes = std::min(unit_bytes_, in_bytes);
    in += skipped_bytes;
    in_bytes -= skipped_bytes;
  }
  rest_.erase(0, rest_.size() - in_bytes);
}

void Decoder::finish(std::string& out) {
  if (!rest_.empty()) out += kNoText;
  rest_.clear();
}

Result<std::string> as_utf8(std::string bytes, const std::string& named) {
  const std::string encoding = encoding_of(bytes, named);
  if (encoding.empty()) return bytes;
  XTTS_ASSIGN(Decoder decoder, Decoder::open(encoding));
  std::string text;
  decoder.take(bytes, text);
  decoder.finish(text);
  return text;
}

Status check_encoding(const std::string& named) {
  return named.empty() ? Status() : Decoder::open(named).status();
}

}  // namespace xtts
