// Parses options as people write them, in words or with a unit. Pure functions. A parser fails
// only with kInvalidArgument; the message has the option, as the reader knows it, and the values
// that it takes.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "dsp/isa.hpp"
#include "pipeline/limits.hpp"
#include "pipeline/partition_choice.hpp"
#include "verify/verify.hpp"
#include "xtts/status.hpp"

namespace xtts::request {

// The failure (kNotFound) for sources that are no longer where the last build found them.
[[nodiscard]] Status moved_sources_failure(const std::string& data_before);

// Reads "512M", "2GiB", "1073741824".
[[nodiscard]] Result<std::uint64_t> parse_size(const std::string& option, const std::string& text);
// Reads "20" clips, or "5%" of the planned clips.
[[nodiscard]] Result<pipeline::RejectLimit> parse_reject_limit(const std::string& option,
                                                               const std::string& text);
// Reads "10%", from 0 to 100. Returns a share of 1.
[[nodiscard]] Result<double> parse_percent(const std::string& option, const std::string& text);
// A device by its name: "auto", "cpu", "cuda", "cuda:1".
struct DeviceChoice {
  enum class Kind : std::uint8_t { kAuto, kCpu, kCuda };
  Kind kind = Kind::kAuto;
  int number = 0;  // of the GPU
};
[[nodiscard]] Result<DeviceChoice> parse_device(const std::string& option, const std::string& name);
// Reads "best", "scalar", "avx2", "avx512".
[[nodiscard]] Result<dsp::Isa> parse_isa(const std::string& option, const std::string& name);
// Reads "2/8".
[[nodiscard]] Result<pipeline::PartitionChoice> parse_partition(const std::string& option,
                                                                const std::string& text);
// Reads "64": a number of parts.
[[nodiscard]] Result<std::uint32_t> parse_part_count(const std::string& option,
                                                     const std::string& text);
// The names are in the order of the enumeration.
inline constexpr std::array<std::string_view, 3> kLevelNames{"quick", "full", "deep"};
[[nodiscard]] Result<verify::Level> parse_level(const std::string& option, const std::string& name);
// Reads "1%", or a share such as 0.01.
[[nodiscard]] Result<double> parse_share(const std::string& option, const std::string& text);
[[nodiscard]] Result<std::uint64_t> parse_seed(const std::string& option, const std::string& text);

}  // namespace xtts::request
