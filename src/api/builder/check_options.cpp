#include "api/builder/check_options.hpp"

#include <initializer_list>
#include <string>
#include <utility>

#include "base/check_text.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"

namespace xtts::builder {
namespace {

using Named = std::pair<std::string_view, const std::string*>;

Status check_all_texts(std::initializer_list<Named> texts) {
  for (const auto& [option, text] : texts) XTTS_TRY(check_text(option, *text));
  return {};
}

Status check_all_paths(std::initializer_list<Named> paths) {
  for (const auto& [option, path] : paths) XTTS_TRY(check_path_text(option, *path));
  return {};
}

}  // namespace

Status check_texts(const BuildOptions& options, Paths needed) {
  const bool needs_data = needed != Paths::kNone && options.part.empty();
  if (needs_data) XTTS_TRY(check_path("data", options.data));
  if (needed == Paths::kDataAndCache) XTTS_TRY(check_path("cache", options.cache));
  XTTS_TRY(check_all_paths({{"data", &options.data},
                            {"cache", &options.cache},
                            {"recipe", &options.recipe},
                            {"config", &options.config},
                            {"speakers_file", &options.speakers_file},
                            {"program", &options.program},
                            {"part", &options.part}}));
  for (const std::string& setting : options.settings) XTTS_TRY(check_text("settings", setting));
  return check_all_texts({{"layout_of_data", &options.layout_of_data},
                          {"language", &options.language},
                          {"store", &options.store},
                          {"layout", &options.layout},
                          {"dtype", &options.dtype},
                          {"device", &options.device},
                          {"isa", &options.isa},
                          {"memory", &options.memory},
                          {"max_rejects", &options.max_rejects},
                          {"max_dropped", &options.max_dropped},
                          {"max_gone", &options.max_gone},
                          {"partition", &options.partition}});
}

Status check_texts(const VerifyOptions& options) {
  XTTS_TRY(check_path("cache", options.cache));
  XTTS_TRY(check_all_paths({{"data", &options.data}, {"program", &options.program}}));
  return check_all_texts({{"level", &options.level},
                          {"sample", &options.sample},
                          {"seed", &options.seed},
                          {"isa", &options.isa},
                          {"index", &options.index},
                          {"max_gone", &options.max_gone}});
}

Status check_texts(const NewColumnOptions& options) {
  XTTS_TRY(check_path("cache", options.cache));
  if (options.name.empty()) return {StatusCode::kInvalidArgument, "the column's name is empty"};
  XTTS_TRY(check_all_texts({{"name", &options.name}, {"version", &options.version}}));
  if (options.axis < ColumnAxis::kFrames || options.axis > ColumnAxis::kFixed) {
    return {StatusCode::kInvalidArgument,
            formatted("axis has no value {}", static_cast<int>(options.axis))};
  }
  if (options.dtype < DType::kFloat32 || options.dtype > DType::kInt64) {
    return {StatusCode::kInvalidArgument,
            formatted("dtype has no value {}", static_cast<int>(options.dtype))};
  }
  return {};
}

Status check_size(std::string_view what, std::size_t given, std::size_t expected) {
  if (given == expected) return {};
  return {StatusCode::kUnsupported,
          formatted("{} has {} bytes where the program was built, and {} in this library: build it "
                    "against this one's headers",
                    what, given, expected)};
}

Status is_empty(std::string_view what) {
  return {StatusCode::kInvalidArgument,
          formatted("this {} was moved from: use the one that it was moved to", what)};
}

}  // namespace xtts::builder
