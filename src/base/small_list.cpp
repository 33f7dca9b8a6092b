#include "base/small_list.hpp"

#include <algorithm>
#include <utility>

#include "base/encoding.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"

namespace xtts {

Status SmallList::fault(std::size_t line_index, std::string_view what) const {
  return {StatusCode::kInvalidArgument, formatted("{}:{}: {}", path, line_index + 1, what)};
}

char line_end_of(std::string_view beginning) noexcept {
  const bool is_old_mac = beginning.find('\n') == std::string_view::npos &&
                          beginning.find('\r') != std::string_view::npos;
  return is_old_mac ? '\r' : '\n';
}

Result<SmallList> read_small_list(Env& env, const std::string& path, std::uint64_t size_bytes_max,
                                  const std::string& encoding) {
  XTTS_ASSIGN(std::string bytes, read_text_file(env, path, size_bytes_max));
  XTTS_ASSIGN(const std::string text, as_utf8(std::move(bytes), encoding));
  std::string_view rest = text;
  if (rest.starts_with(kUtf8Mark)) rest.remove_prefix(kUtf8Mark.size());
  const char line_end = line_end_of(rest);
  SmallList list{.path = path, .lines = {}};
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(line_end), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    list.lines.emplace_back(line);
    const std::size_t index = list.lines.size() - 1;
    if (line.find('\0') != std::string_view::npos)
      return list.fault(index, "holds a NUL byte; save the file as UTF-8");
    if (const std::size_t valid = utf8_valid_bytes(line); valid != line.size()) {
      return list.fault(index, formatted("not UTF-8 (byte {}); save the file as UTF-8", valid + 1));
    }
  }
  return list;
}

}  // namespace xtts
