// How the files of VCTK are called. Pure functions; views of the path.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "corpus/layouts/layout_parts.hpp"

namespace xtts::corpus {

// Which recording of one utterance a file is; the lower is preferred.
enum class VctkMicrophone : std::size_t { kOnly, kFirst, kSecond };
inline constexpr std::size_t kVctkMicrophoneCount = 3;

// BASE/FOLDER/SPEAKER/SPEAKER_NUMBER.
struct VctkPlace {
  std::string_view base;    // "" is DATA itself
  std::string_view folder;  // wav48, txt
  std::string_view speaker;
  std::string_view id;
};
// nullopt: not named after the folder that it is in.
[[nodiscard]] std::optional<VctkPlace> vctk_place(std::string_view path_without_extension);

struct VctkRecording {
  std::string_view path;  // without extension and microphone
  VctkPlace place;
  VctkMicrophone microphone = VctkMicrophone::kOnly;
};
// nullopt: not audio, or not in wav48 or wav48_silence_trimmed.
[[nodiscard]] std::optional<VctkRecording> vctk_recording(const MetFile& file);

}  // namespace xtts::corpus
