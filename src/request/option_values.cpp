#include "request/option_values.hpp"

#include <charconv>
#include <cmath>
#include <optional>

#include "base/formatted.hpp"
#include "base/option_names.hpp"

namespace xtts::request {
namespace {

constexpr std::uint32_t kPartsMax = 100'000;

Status bad_option(const std::string& option, const std::string& value,
                  const std::string& expected) {
  return {StatusCode::kInvalidArgument, formatted("{} '{}': {}", option, value, expected)};
}

// Reads "2.5%", from 0 to 100.
std::optional<double> share_in_percent(std::string_view text) {
  if (!text.ends_with('%')) return std::nullopt;
  const char* const end = text.data() + text.size() - 1;
  double percent = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), end, percent);
  if (error != std::errc() || rest != end || !(percent >= 0.0 && percent <= 100.0))
    return std::nullopt;
  return percent / 100.0;
}

}  // namespace

Status moved_sources_failure(const std::string& data_before) {
  return {StatusCode::kNotFound, formatted("the last build found the sources in {}, which is not "
                                           "there now: say where they are with {}",
                                           data_before, option("data", "DATA"))};
}

Result<std::uint64_t> parse_size(const std::string& option, const std::string& text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [unit, error] = std::from_chars(text.data(), end, number);
  std::string suffix(unit, end);
  if (suffix.size() > 1 && (suffix.substr(1) == "iB" || suffix.substr(1) == "B")) suffix.resize(1);
  const std::string units = "BKMGT";
  const auto place = suffix.empty()       ? 0
                     : suffix.size() == 1 ? units.find(suffix[0])
                                          : std::string::npos;
  if (error != std::errc() || place == std::string::npos || !(number > 0.0)) {
    return bad_option(option, text, "a size such as 512M or 2G");
  }
  const double size_bytes = std::ldexp(number, static_cast<int>(10 * place));
  if (size_bytes > 0x1p60) return bad_option(option, text, "more than any machine has");
  return static_cast<std::uint64_t>(size_bytes);
}

Result<pipeline::RejectLimit> parse_reject_limit(const std::string& option,
                                                 const std::string& text) {
  pipeline::RejectLimit limit;
  const char* const end = text.data() + text.size();
  if (text.ends_with('%')) {
    if (const auto share = share_in_percent(text)) {
      limit.share = *share;
      return limit;
    }
  } else {
    std::uint64_t count = 0;
    const auto [rest, error] = std::from_chars(text.data(), end, count);
    if (error == std::errc() && rest == end) {
      limit.count = count;
      return limit;
    }
  }
  return bad_option(option, text, "a number of clips, or a share such as 5%");
}

Result<double> parse_percent(const std::string& option, const std::string& text) {
  if (const auto share = share_in_percent(text)) return *share;
  return bad_option(option, text, "a share such as 5%, at most 100%");
}

Result<DeviceChoice> parse_device(const std::string& option, const std::string& name) {
  using Kind = DeviceChoice::Kind;
  if (name == "auto") return DeviceChoice{.kind = Kind::kAuto};
  if (name == "cpu") return DeviceChoice{.kind = Kind::kCpu};
  if (name == "cuda") return DeviceChoice{.kind = Kind::kCuda};
  constexpr std::string_view kPrefix = "cuda:";
  DeviceChoice choice{.kind = Kind::kCuda};
  if (name.starts_with(kPrefix)) {
    const char* const end = name.data() + name.size();
    const auto number = std::from_chars(name.data() + kPrefix.size(), end, choice.number);
    if (number.ec == std::errc() && number.ptr == end && choice.number >= 0) return choice;
  }
  return bad_option(option, name, "auto, cpu, cuda or cuda:N");
}

Result<dsp::Isa> parse_isa(const std::string& option, const std::string& name) {
  for (const auto isa : {dsp::Isa::kBest, dsp::Isa::kScalar, dsp::Isa::kAvx2, dsp::Isa::kAvx512}) {
    if (dsp::to_string(isa) == name) return isa;
  }
  return bad_option(option, name, "best, scalar, avx2 or avx512");
}

Result<pipeline::PartitionChoice> parse_partition(const std::string& option,
                                                  const std::string& text) {
  pipeline::PartitionChoice choice{.index = 0, .count = 0};
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, choice.index);
  if (index.ptr != end && *index.ptr == '/') {
    const auto count = std::from_chars(index.ptr + 1, end, choice.count);
    if (count.ec == std::errc() && count.ptr == end && choice.index >= 1 &&
        choice.index <= choice.count && choice.count <= kPartsMax)
      return choice;
  }
  return bad_option(
      option, text,
      formatted("I/N, where part I of N is counted from 1, and N is at most {}", kPartsMax));
}

Result<std::uint32_t> parse_part_count(const std::string& option, const std::string& text) {
  std::uint32_t count = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, count);
  if (parsed.ec == std::errc() && parsed.ptr == end && count >= 1 && count <= kPartsMax)
    return count;
  return bad_option(option, text, formatted("a number of parts, from 1 to {}", kPartsMax));
}

Result<verify::Level> parse_level(const std::string& option, const std::string& name) {
  for (std::size_t i = 0; i < kLevelNames.size(); ++i)
    if (name == kLevelNames[i]) return static_cast<verify::Level>(i);
  return Status(StatusCode::kInvalidArgument,
                formatted("{} is quick, full or deep, not '{}'", option, name));
}

Result<double> parse_share(const std::string& option, const std::string& text) {
  const bool is_percent = text.ends_with('%');
  const char* const end = text.data() + text.size() - (is_percent ? 1 : 0);
  double number = 0.0;
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const double share = is_percent ? number / 100.0 : number;
  if (error == std::errc() && rest == end && share > 0.0 && share <= 1.0) return share;
  return bad_option(option, text, "a share of the clips above 0, such as 1%");
}

Result<std::uint64_t> parse_seed(const std::string& option, const std::string& text) {
  std::uint64_t seed = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, seed);
  if (error == std::errc() && rest == end) return seed;
  return bad_option(option, text, "a whole number from 0 up");
}

}  // namespace xtts::request
