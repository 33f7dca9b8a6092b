// Texts for people before and after a build. Pure: these functions print nothing.
#pragma once

#include <string>

namespace xtts::pipeline {
struct BuildPreview;
struct BuildReport;
struct BuildRequest;
}  // namespace xtts::pipeline

namespace xtts::cli {

[[nodiscard]] std::string describe_preview(const pipeline::BuildRequest& request,
                                           const pipeline::BuildPreview& preview);
[[nodiscard]] std::string describe_report(const pipeline::BuildRequest& request,
                                          const pipeline::BuildReport& report, double elapsed_s);

}  // namespace xtts::cli
