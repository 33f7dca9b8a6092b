#include "python/builder_options.hpp"

#include "python/option_table.hpp"

namespace xtts::python {
namespace {

constexpr OptionRow<BuildOptions> kBuildRows[] = {
    {"data", put<&BuildOptions::data>},
    {"cache", put<&BuildOptions::cache>},
    {"recipe", put<&BuildOptions::recipe>},
    {"settings", put<&BuildOptions::settings>},
    {"config", put<&BuildOptions::config>},
    {"layout_of_data", put<&BuildOptions::layout_of_data>},
    {"audio_roots", put<&BuildOptions::audio_roots>},
    {"language", put<&BuildOptions::language>},
    {"speakers_file", put<&BuildOptions::speakers_file>},
    {"store", put<&BuildOptions::store>},
    {"layout", put<&BuildOptions::layout>},
    {"dtype", put<&BuildOptions::dtype>},
    {"device", put<&BuildOptions::device>},
    {"isa", put<&BuildOptions::isa>},
    {"memory", put<&BuildOptions::memory>},
    {"max_rejects", put<&BuildOptions::max_rejects>},
    {"max_dropped", put<&BuildOptions::max_dropped>},
    {"max_gone", put<&BuildOptions::max_gone>},
    {"partition", put<&BuildOptions::partition>},
    {"thread_count", put<&BuildOptions::thread_count>},
    {"no_text", put<&BuildOptions::no_text>},
    {"retry_rejects", put<&BuildOptions::retry_rejects>},
    {"overwrite", put<&BuildOptions::overwrite>},
    {"overwrite_only", put<&BuildOptions::overwrite_only>},
    {"allow_mixed", put<&BuildOptions::allow_mixed>},
    {"dry_run", put<&BuildOptions::dry_run>},
    {"discard_unfinished", put<&BuildOptions::discard_unfinished>},
};

constexpr OptionRow<VerifyOptions> kVerifyRows[] = {
    {"cache", put<&VerifyOptions::cache>},
    {"level", put<&VerifyOptions::level>},
    {"data", put<&VerifyOptions::data>},
    {"audio_roots", put<&VerifyOptions::audio_roots>},
    {"sample", put<&VerifyOptions::sample>},
    {"seed", put<&VerifyOptions::seed>},
    {"isa", put<&VerifyOptions::isa>},
    {"thread_count", put<&VerifyOptions::thread_count>},
    {"repair", put<&VerifyOptions::repair>},
    {"index", put<&VerifyOptions::index>},
    {"max_gone", put<&VerifyOptions::max_gone>},
};

}  // namespace

BuildOptions to_build_options(const nanobind::dict& given) {
  return options_of(given, kBuildRows, "build");
}

VerifyOptions to_verify_options(const nanobind::dict& given) {
  return options_of(given, kVerifyRows, "verify");
}

}  // namespace xtts::python
