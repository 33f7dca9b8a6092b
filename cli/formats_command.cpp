// formats: every demuxer and decoder of the linked FFmpeg: read, refused (and why), or not audio.
#include <map>

#include "audio/audio_decoder.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using audio::Format;
using audio::FormatUse;
using nlohmann::json;
using report::Align;

json suffixes_of(const Format& format) {
  json list = json::array();
  std::string_view rest = format.suffixes;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    list.push_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return list;
}

json formats_to_json(const std::vector<Format>& formats) {
  json list = json::array();
  for (const Format& format : formats) {
    list.push_back({{"name", format.name},
                    {"about", format.about},
                    {"suffixes", suffixes_of(format)},
                    {"use", std::string(to_string(format.use))},
                    {"reason", format.reason}});
  }
  return list;
}

// "211 read, 12 read by suffix, 40 refused, 80 not audio".
std::string counts_of(const std::vector<Format>& formats) {
  std::map<FormatUse, std::uint64_t> counts;
  for (const Format& format : formats) ++counts[format.use];
  std::string text;
  for (const auto& [use, count] : counts) {
    if (!text.empty()) text += ", ";
    text += formatted("{} {}", count, to_string(use));
  }
  return text;
}

std::string table_of(std::string_view what, const std::vector<Format>& formats) {
  report::Table table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  table.add_row({std::string(what), "use", "about", "why"});
  for (const Format& format : formats) {
    if (format.use == FormatUse::kNotAudio && what == "decoder") continue;
    table.add_row({format.name, std::string(to_string(format.use)), format.about, format.reason});
  }
  return table.render(0, 0);
}

Status print_formats(Context& context) {
  XTTS_ASSIGN(const auto make_decoder, context.caller.make_decoder());
  const auto decoder = make_decoder({});
  XTTS_ASSIGN(const std::string libraries, decoder->libraries());
  XTTS_ASSIGN(const audio::FormatList formats, decoder->formats());
  context.print(table_of("demuxer", formats.demuxers) + counts_of(formats.demuxers) + "\n\n" +
                table_of("decoder", formats.decoders) + counts_of(formats.decoders) +
                " (of video and subtitles: not listed)\n\n" + libraries + "\n");
  context.print_json({{"demuxers", formats_to_json(formats.demuxers)},
                      {"decoders", formats_to_json(formats.decoders)},
                      {"libraries", libraries}});
  return {};
}

}  // namespace

void add_formats_command(CLI::App& app, Context& context) {
  Command(app, context, "formats",
          "List what the linked FFmpeg could read: what is read, and why not")
      .examples(
          "xtts-precompute formats\n"
          "xtts-precompute formats | grep refused\n"
          "xtts-precompute formats --json | jq '.demuxers[] | select(.use == \"read\") | .name'")
      .runs([&context] { return print_formats(context); });
}

}  // namespace xtts::cli
