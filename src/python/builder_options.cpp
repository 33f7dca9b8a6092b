#include "python/builder_options.hpp"

#include "python/option_table.hpp"

namespace xtts::python {
namespace {

constexpr OptionRow<BuildOptions> kBuildRows[] = {
    {"data", put_member<&BuildOptions::data>},
    {"cache", put_member<&BuildOptions::cache>},
    {"recipe", put_member<&BuildOptions::recipe>},
    {"settings", put_member<&BuildOptions::settings>},
    {"config", put_member<&BuildOptions::config>},
    {"layout_of_data", put_member<&BuildOptions::layout_of_data>},
    {"audio_roots", put_member<&BuildOptions::audio_roots>},
    {"language", put_member<&BuildOptions::language>},
    {"speakers_file", put_member<&BuildOptions::speakers_file>},
    {"store", put_member<&BuildOptions::store>},
    {"layout", put_member<&BuildOptions::layout>},
    {"dtype", put_member<&BuildOptions::dtype>},
    {"device", put_member<&BuildOptions::device>},
    {"isa", put_member<&BuildOptions::isa>},
    {"memory", put_member<&BuildOptions::memory>},
    {"max_rejects", put_member<&BuildOptions::max_rejects>},
    {"max_dropped", put_member<&BuildOptions::max_dropped>},
    {"max_gone", put_member<&BuildOptions::max_gone>},
    {"partition", put_member<&BuildOptions::partition>},
    {"thread_count", put_member<&BuildOptions::thread_count>},
    {"no_text", put_member<&BuildOptions::no_text>},
    {"retry_rejects", put_member<&BuildOptions::retry_rejects>},
    {"overwrite", put_member<&BuildOptions::overwrite>},
    {"overwrite_only", put_member<&BuildOptions::overwrite_only>},
    {"allow_mixed", put_member<&BuildOptions::allow_mixed>},
    {"dry_run", put_member<&BuildOptions::dry_run>},
    {"discard_unfinished", put_member<&BuildOptions::discard_unfinished>},
    {"part", put_member<&BuildOptions::part>},
};

constexpr OptionRow<VerifyOptions> kVerifyRows[] = {
    {"cache", put_member<&VerifyOptions::cache>},
    {"level", put_member<&VerifyOptions::level>},
    {"data", put_member<&VerifyOptions::data>},
    {"audio_roots", put_member<&VerifyOptions::audio_roots>},
    {"sample", put_member<&VerifyOptions::sample>},
    {"seed", put_member<&VerifyOptions::seed>},
    {"isa", put_member<&VerifyOptions::isa>},
    {"thread_count", put_member<&VerifyOptions::thread_count>},
    {"repair", put_member<&VerifyOptions::repair>},
    {"index", put_member<&VerifyOptions::index>},
    {"max_gone", put_member<&VerifyOptions::max_gone>},
};

}  // namespace

BuildOptions to_build_options(const nanobind::dict& given) {
  return options_of(given, kBuildRows, "build");
}

VerifyOptions to_verify_options(const nanobind::dict& given) {
  return options_of(given, kVerifyRows, "verify");
}

}  // namespace xtts::python
