#include "corpus/layouts/vctk_files.hpp"

#include "base/env.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/layouts/layout_parts.hpp"

namespace xtts::corpus {

std::optional<VctkPlace> vctk_place(std::string_view path_without_extension) {
  VctkPlace place;
  std::string_view path = path_without_extension;
  place.id = take_last_name(path);
  place.speaker = take_last_name(path);
  place.folder = take_last_name(path);
  place.base = path;
  const bool is_named = !place.speaker.empty() && place.id.starts_with(place.speaker) &&
                        place.id.substr(place.speaker.size()).starts_with('_');
  return is_named ? std::optional(place) : std::nullopt;
}

std::optional<VctkRecording> vctk_recording(const MetFile& file) {
  const std::string_view path = file.path;
  // Nearly every file of any other corpus ends here.
  if (path.find("wav48") == std::string_view::npos) return std::nullopt;
  if (!is_audio(file)) return std::nullopt;
  VctkRecording found;
  found.path = stem_of_audio(file);
  if (found.path.ends_with("_mic1")) found.microphone = VctkMicrophone::kFirst;
  if (found.path.ends_with("_mic2")) found.microphone = VctkMicrophone::kSecond;
  if (found.microphone != VctkMicrophone::kOnly) {
    found.path.remove_suffix(std::string_view("_mic1").size());
  }
  const auto place = vctk_place(found.path);
  if (!place) return std::nullopt;
  if (place->folder != "wav48" && place->folder != "wav48_silence_trimmed") return std::nullopt;
  found.place = *place;
  return found;
}

}  // namespace xtts::corpus
