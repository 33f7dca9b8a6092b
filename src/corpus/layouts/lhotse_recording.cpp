#include "corpus/layouts/lhotse_recording.hpp"

#include <algorithm>

#include "base/formatted.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {

using nlohmann::json;

const std::string* text_at(const json& object, const char* key) {
  const auto member = object.find(key);
  return member == object.end() ? nullptr : member->get_ptr<const json::string_t*>();
}

LhotseChannels channels_at(const json& object, const char* key) {
  const auto member = object.find(key);
  if (member == object.end()) return {};
  if (member->is_number_integer()) return {member->get<std::int64_t>()};
  LhotseChannels channels;
  for (const json& channel : *member) {
    if (channel.is_number_integer()) channels.push_back(channel.get<std::int64_t>());
  }
  return channels;
}

std::optional<std::string> fault_of_channels(const LhotseChannels& said_on,
                                             const LhotseChannels& recorded) {
  const bool is_all = said_on.size() > 1 || said_on == LhotseChannels{0};
  const bool has_all =
      recorded.empty() ? is_all : std::all_of(recorded.begin(), recorded.end(), [&](auto channel) {
        return std::find(said_on.begin(), said_on.end(), channel) != said_on.end();
      });
  if (said_on.empty() || has_all) return std::nullopt;
  std::string text = formatted("the supervision is of channel {}", said_on.front());
  for (std::size_t i = 1; i < said_on.size(); ++i) text += formatted(", {}", said_on[i]);
  return text +
         ", and its recording has more, which would be mixed: make each channel a file and a "
         "recording, or name all channels if they have the same voice";
}

Result<std::string> source_of_recording(const json& recording) {
  const auto bad = [](const std::string& reason) { return Status(StatusCode::kBadInput, reason); };
  const auto sources = recording.find("sources");
  const bool is_list = sources != recording.end() && sources->is_array() && !sources->empty() &&
                       sources->front().is_object();
  if (!is_list) return bad("the recording has no sources");
  if (sources->size() > 1) return bad("the recording is spread over several sources");
  const std::string* const type = text_at(sources->front(), "type");
  const std::string* const path = text_at(sources->front(), "source");
  if (type == nullptr || path == nullptr || path->empty()) {
    return bad("the source of the recording has no type or no name");
  }
  if (*type != "file") {
    return bad(formatted(
        "the recording is a {}, which is never run or fetched; make it a file and name that",
        printable(*type)));
  }
  const auto transforms = recording.find("transforms");
  if (transforms != recording.end() && !transforms->empty()) {
    return bad(
        "the recording has transforms, which are not applied: save its audio with them applied");
  }
  return *path;
}

}  // namespace xtts::corpus
