// formats: every demuxer and decoder of the linked FFmpeg: read, refused (and why), or not audio.
#include <map>

#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "decode/audio_decoder.hpp"
#include "decode/formats.hpp"
#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using decode::FormatUse;
using decode::LinkedFormat;
using nlohmann::json;
using report::Align;

json suffixes_of(const LinkedFormat& format) {
  json list = json::array();
  std::string_view rest = format.suffixes;
  while (!rest.empty()) {
    const auto end = std::min(rest.find(','), rest.size());
    list.push_back(std::string(rest.substr(0, end)));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return list;
}

json formats_to_json(const std::vector<LinkedFormat>& formats) {
  json list = json::array();
  for (const LinkedFormat& format : formats) {
    list.push_back({{"name", format.name},
                    {"about", format.about},
                    {"suffixes", suffixes_of(format)},
                    {"use", std::string(to_string(format.rule.use))},
                    {"reason", std::string(format.rule.reason)}});
  }
  return list;
}

// "211 read, 12 read by suffix, 40 refused, 80 not audio".
std::string counts_of(const std::vector<LinkedFormat>& formats) {
  std::map<FormatUse, std::uint64_t> counts;
  for (const LinkedFormat& format : formats) ++counts[format.rule.use];
  std::string text;
  for (const auto& [use, count] : counts) {
    if (!text.empty()) text += ", ";
    text += std::to_string(count) + " " + std::string(to_string(use));
  }
  return text;
}

std::string table_of(std::string_view what, const std::vector<LinkedFormat>& formats) {
  report::Table table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  table.add_row({std::string(what), "use", "about", "why"});
  for (const LinkedFormat& format : formats) {
    if (format.rule.use == FormatUse::kNotAudio && what == "decoder") continue;
    table.add_row({format.name, std::string(to_string(format.rule.use)), format.about,
                   std::string(format.rule.reason)});
  }
  return table.render(0, 0);
}

Status print_formats(Context& context) {
  const auto demuxers = decode::linked_demuxers();
  const auto decoders = decode::linked_decoders();
  context.print(table_of("demuxer", demuxers) + counts_of(demuxers) + "\n\n" +
                table_of("decoder", decoders) + counts_of(decoders) +
                " (of video and subtitles: not listed)\n\n" + decode::decode_libraries() + "\n");
  context.print_json({{"demuxers", formats_to_json(demuxers)},
                      {"decoders", formats_to_json(decoders)},
                      {"libraries", decode::decode_libraries()}});
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
