#include "corpus/lists/audio_finder.hpp"

#include <array>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {
namespace {

// The folders to look in. Takes leading "./", and a leading '/' (relative to DATA), off `listed`.
std::array<std::string_view, 3> places(const ListSource& source, std::string_view& listed) {
  const bool is_from_data = listed.starts_with('/');
  if (is_from_data) listed.remove_prefix(1);
  while (listed.starts_with("./")) listed.remove_prefix(2);
  if (is_from_data) return {};
  return {source.audio_folder, folder_of(source.list), std::string_view()};
}

// The end of `listed` that is relative to the audio folder, if `path` (its folder plus `listed`)
// lies in there; else `listed`.
std::string_view relative_to_audio(const ListSource& source, std::string_view path,
                                   std::string_view listed) {
  const std::string_view audio = source.audio_folder;
  const bool is_inside = audio.empty() || (path.starts_with(audio) && path.size() > audio.size() &&
                                           path[audio.size()] == '/');
  if (!is_inside) return listed;
  const std::size_t size = path.size() - (audio.empty() ? 0 : audio.size() + 1);
  return size <= listed.size() ? listed.substr(listed.size() - size) : listed;
}

// The path without empty steps, "." and ".."; nullopt: it climbs above its beginning.
std::optional<std::string> normal_path(std::string_view path) {
  std::string normal;
  while (!path.empty()) {
    const auto slash = path.find('/');
    const std::string_view step = path.substr(0, slash);
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (step.empty() || step == ".") continue;
    if (step == "..") {
      if (normal.empty()) return std::nullopt;
      normal.resize(normal.find('/') == std::string::npos ? 0 : normal.rfind('/'));
    } else {
      normal = join_path(normal, step);
    }
  }
  return normal;
}

// Absolute and normal, from the list's folder; empty: it climbs above "/".
std::string absolute_of(const DataTree& tree, const ListSource& source, std::string_view listed) {
  const auto normal =
      normal_path(listed.starts_with('/')
                      ? std::string(listed)
                      : join_path(join_path(tree.real_root, folder_of(source.list)), listed));
  return normal ? "/" + *normal : std::string();
}

// ".audio-root-1/p225/a.wav", for a path below a root's given name or its real path.
std::optional<std::string> place_in_roots(const DataTree& tree, const std::string& absolute) {
  if (absolute.empty()) return std::nullopt;
  for (std::size_t i = 0; i < tree.audio_roots.size(); ++i) {
    for (const std::string* root : {&tree.audio_roots[i], &tree.real_audio_roots[i]}) {
      if (const auto inside = relative_to(*root, absolute)) {
        return join_path(place_of_root(i), *inside);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::string folder_outside(const DataTree& tree, const ListSource& source,
                           std::string_view listed) {
  if (path_inside(tree, source, listed).ok()) return {};
  const std::string absolute = absolute_of(tree, source, listed);
  const auto slash = absolute.rfind('/');
  return slash == std::string::npos ? std::string() : slash == 0 ? "/" : absolute.substr(0, slash);
}

std::string folder_name(const std::string& folder) {
  return folder.empty() ? "the data folder" : printable(folder) + "/";
}

Result<std::string> path_inside(const DataTree& tree, const ListSource& source,
                                std::string_view listed) {
  const auto outside = [&]() -> Result<std::string> {
    const std::string absolute = absolute_of(tree, source, listed);
    if (const auto place = place_in_roots(tree, absolute)) return "/" + *place;
    const auto slash = absolute.rfind('/');
    const std::string folder =
        slash == std::string::npos || slash == 0 ? "/" : absolute.substr(0, slash);
    return Status(
        StatusCode::kInvalidArgument,
        formatted("{} leaves DATA ({}); name audio inside it, or give the folder that holds it: {}",
                  printable(listed), tree.root, option("audio-root", folder)));
  };
  if (listed.starts_with('/')) {
    for (const std::string* root : {&tree.root, &tree.real_root}) {
      if (!listed.starts_with(*root + "/")) continue;
      if (auto path = normal_path(listed.substr(root->size() + 1))) return "/" + *path;
    }
    return outside();
  }
  if (!fault_of_listed_path(listed)) return std::string(listed);
  auto path = normal_path(join_path(folder_of(source.list), listed));
  if (!path) return outside();
  return "/" + *path;
}

std::optional<ListedAudio> AudioFinder::find_outside(const ListSource& source,
                                                     std::string_view path) const {
  const OutsideAudio::Match match = outside_->find(path);
  if (match.data) {
    auto inside = find(source, "/" + *match.data);
    if (inside) {  // its id would be a view of a path that is gone
      const std::string_view own_path = inside->file->path;
      inside->id = without_audio_extension(relative_to_audio(source, own_path, own_path));
    }
    return inside;
  }
  if (match.file == nullptr) return std::nullopt;
  // The id is a view of `path`, which the caller owns.
  std::string_view id = path_in_root(path);
  if (match.with_extension) id = without_audio_extension(id);
  return ListedAudio{match.file, id, match.has_rivals};
}

std::optional<ListedAudio> AudioFinder::find(const ListSource& source,
                                             std::string_view listed) const {
  if (outside_ != nullptr && listed.starts_with('/') && is_in_root_place(listed.substr(1))) {
    return find_outside(source, listed.substr(1));
  }
  for (const std::string_view folder : places(source, listed)) {
    const std::string path = join_path(folder, listed);
    const AudioIndex::Match match =
        tree_.folder_links.empty() ? index_.find(path) : index_.find(tree_.resolve(path));
    if (match.file == nullptr) continue;
    std::string_view id = relative_to_audio(source, path, listed);
    if (match.with_extension)
      id = match.file->is_named_otherwise ? without_suffix(id) : without_audio_extension(id);
    return ListedAudio{match.file, id, match.has_rivals};
  }
  return std::nullopt;
}

void AudioFinder::collect_hints() {
  if (has_hints_) return;
  has_hints_ = true;
  const auto refuse = [&](const std::string& path, const std::string& reason) {
    refused_.emplace(without_audio_extension(path), formatted("{} {}", printable(path), reason));
    refused_.emplace(path, formatted("{} {}", printable(path), reason));
  };
  for (const Refusal& refusal : tree_.refusals) {
    refuse(refusal.path, refusal.reason);
    if (refusal.is_sound) {
      refused_.emplace(without_suffix(refusal.path),
                       formatted("{} {}", printable(refusal.path), refusal.reason));
    }
    if (refusal.is_folder) refused_folders_.emplace(refusal.path, &refusal);
  }
  for (const std::string& folder : tree_.folders) {
    if (audio_rank(file_extension(folder))) refuse(folder, "is a folder");
  }
  for (const TreeFile& file : tree_.files) {
    if (file.audio_rank) look_alikes_.emplace(folded(stem_of(file)), file.path);
  }
}

const Refusal* AudioFinder::refused_folder_of(std::string_view path) const {
  while (!refused_folders_.empty()) {
    const auto slash = path.rfind('/');
    if (slash == std::string_view::npos) break;
    path = path.substr(0, slash);
    if (const auto place = refused_folders_.find(path); place != refused_folders_.end()) {
      return place->second;
    }
  }
  return nullptr;
}

Miss AudioFinder::explain_miss(const ListSource& source, std::string_view listed) {
  const bool is_from_data = listed.starts_with('/');
  if (outside_ != nullptr && is_from_data && is_in_root_place(listed.substr(1))) {
    OutsideAudio::Match match = outside_->find(listed.substr(1));
    if (match.data) return explain_miss(source, "/" + *match.data);
    return {std::move(match.reason), match.kind};
  }
  collect_hints();
  for (const std::string_view folder : places(source, listed)) {
    const std::string path = tree_.resolve(join_path(folder, listed));
    if (const auto refused = refused_.find(path); refused != refused_.end()) {
      return {refused->second};
    }
    if (const Refusal* refused = refused_folder_of(path)) {
      return {formatted("{} {}", printable(refused->path), refused->reason), refused->kind};
    }
    const auto alike = look_alikes_.find(folded(without_audio_extension(path)));
    if (alike != look_alikes_.end()) {
      const std::string difference =
          first_difference(without_audio_extension(path), without_audio_extension(alike->second));
      return {formatted("no audio of this name; {} is almost it: {}", printable(alike->second),
                        difference.empty() ? "its extension differs" : difference)};
    }
  }
  return {formatted("no audio named {} in {}", printable(listed),
                    folder_name(is_from_data ? std::string() : source.audio_folder))};
}

}  // namespace xtts::corpus
