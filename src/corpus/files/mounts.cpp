#include "corpus/files/mounts.hpp"

#include "base/env.hpp"

namespace xtts::corpus {
namespace {

constexpr std::string_view kRootPlace = ".audio-root-";

}  // namespace

std::string Mounts::full_path(const std::string& root, std::string_view path) const {
  // The longest place is tried first: a mounted folder may hold a link that leaves it.
  for (std::string_view place = path; !places_.empty() && !place.empty();) {
    if (const auto found = places_.find(place); found != places_.end()) {
      const std::string_view rest = path.substr(place.size());
      return rest.empty() ? found->second : join_path(found->second, rest.substr(1));
    }
    const auto slash = place.rfind('/');
    place = slash == std::string_view::npos ? std::string_view() : place.substr(0, slash);
  }
  return path.empty() ? root : join_path(root, path);
}

Mounts Mounts::below(std::string_view folder) const {
  const std::string prefix = std::string(folder) + "/";
  Mounts part;
  for (const auto& [place, real] : places_) {
    if (is_in_root_place(place)) part.add(place, real);
    if (place.starts_with(prefix)) part.add(place.substr(prefix.size()), real);
  }
  return part;
}

std::string place_of_root(std::size_t root_index) {
  return std::string(kRootPlace) + std::to_string(root_index + 1);
}

bool is_in_root_place(std::string_view path) {
  return path.starts_with(kRootPlace);
}

std::string_view path_in_root(std::string_view path) {
  const auto slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(slash + 1);
}

std::string source_path(const formats::DataFolders& data, std::string_view source) {
  Mounts mounts;
  for (std::size_t i = 0; i < data.audio_roots.size(); ++i)
    mounts.add(place_of_root(i), data.audio_roots[i]);
  return mounts.full_path(data.path, source);
}

std::optional<std::string> relative_to(std::string_view root, std::string_view path) {
  if (root == "/") root = "";
  if (path == root || (root.empty() && path == "/")) return "";
  if (!path.starts_with(root) || path.size() <= root.size() || path[root.size()] != '/') {
    return std::nullopt;
  }
  return std::string(path.substr(root.size() + 1));
}

}  // namespace xtts::corpus
