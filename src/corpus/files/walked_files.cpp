#include "corpus/files/walked_files.hpp"

#include "base/formatted.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {

bool is_audio(const WalkedFile& file) {
  if (file.file != nullptr) return file.file->audio_rank.has_value();
  return file.refusal->is_sound || audio_rank(file_extension(file.path));
}

std::string_view stem_of_audio(const WalkedFile& file) {
  if (file.file != nullptr) return stem_of(*file.file);
  return file.refusal->is_sound ? without_suffix(file.path) : without_audio_extension(file.path);
}

Status status_of(const Refusal& refusal) {
  const bool may_pass = refusal.kind == RejectClass::kEnvironment;
  return {may_pass ? StatusCode::kResource : StatusCode::kInvalidArgument,
          formatted("{} {}", printable(refusal.path), refusal.reason)};
}

bool has_walked_folder(const DataTree& tree, const std::string& folder) {
  return tree.has_folder(folder) || tree.refusal_of(folder) != nullptr;
}

bool has_non_audio_file(const DataTree& tree, std::string_view path) {
  return any_file(tree, FileFilter::kNotAudio,
                  [&](const WalkedFile& file) { return file.path == path; });
}

}  // namespace xtts::corpus
