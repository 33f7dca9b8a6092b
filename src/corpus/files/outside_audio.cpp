#include "corpus/files/outside_audio.hpp"

#include <utility>

#include "base/formatted.hpp"
#include "base/option_names.hpp"
#include "base/shell_words.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/names.hpp"

namespace xtts::corpus {
namespace {

bool has_hidden_step(std::string_view path) {
  return path.starts_with('.') || path.find("/.") != std::string_view::npos;
}

std::string outside_reason(std::string_view path, std::string_view real) {
  return formatted("{} leads out of DATA and of each --audio-root (to {}); give {}",
                   printable(path), printable(real), option("audio-root", folder_of(real)));
}

}  // namespace

// ".audio-root-2/p225" for a folder in the second root; nullopt: it is in no root.
std::optional<std::string> OutsideAudio::place_of(std::string_view real) const {
  for (std::size_t i = 0; i < tree_.real_audio_roots.size(); ++i) {
    if (const auto inside = relative_to(tree_.real_audio_roots[i], real)) {
      return join_path(place_of_root(i), *inside);
    }
  }
  return std::nullopt;
}

OutsideAudio::Folder& OutsideAudio::folder(std::string_view path) {
  auto& slot = folders_[std::string(path)];
  if (!slot) {
    slot = std::make_unique<Folder>();
    open(path, *slot);
  }
  return *slot;
}

void OutsideAudio::open(std::string_view path, Folder& folder) {
  const std::string named = tree_.full_path(path);
  const auto refuse = [&](std::string reason, RejectClass kind) {
    folder.reason = std::move(reason);
    folder.kind = kind;
  };
  const auto real = env_.real_path(named);
  if (!real.ok()) {
    return refuse("there is no folder " + printable(named), RejectClass::kInput);
  }
  folder.data = relative_to(tree_.real_root, *real);
  if (folder.data) return;
  auto place = place_of(*real);
  if (!place) return refuse(outside_reason(named, *real + "/"), RejectClass::kInput);
  if (has_hidden_step(path_in_root(*place))) {
    return refuse(printable(named) + " is a hidden folder", RejectClass::kInput);
  }
  folder.place = std::move(*place);
  auto entries = env_.list(*real);
  if (!entries.ok()) {
    return refuse(formatted("the folder {} cannot be listed: {}", printable(named),
                            entries.status().message()),
                  RejectClass::kEnvironment);
  }
  for (DirectoryEntry& entry : *entries) {
    if (entry.name.starts_with('.')) continue;
    folder.entries.emplace(std::move(entry.name), Entry{entry.kind, entry.is_symlink, nullptr});
  }
}

OutsideAudio::Match OutsideAudio::use(Folder& folder, std::string_view name, Entry& entry) {
  Match match;
  const std::string path = join_path(folder.place, name);
  const std::string shown = printable(tree_.full_path(path));
  if (entry.found) {
    match.file = entry.found.get();
  } else if (entry.kind == FileKind::kDirectory) {
    match.reason = shown + " is a folder";
  } else if (entry.kind == FileKind::kOther) {
    match.reason = shown + " is a FIFO, socket or device, or a link that leads nowhere";
  } else {
    if (entry.is_symlink) {
      const auto real = env_.real_path(tree_.full_path(path));
      if (!real.ok()) {
        match.reason = shown + " is a symbolic link that leads nowhere or to itself";
        return match;
      }
      if (!place_of(*real) && !relative_to(tree_.real_root, *real)) {
        match.reason = outside_reason(tree_.full_path(path), *real);
        return match;
      }
    }
    entry.found = std::make_unique<TreeFile>(TreeFile{path, audio_rank(file_extension(name))});
    match.file = entry.found.get();
  }
  return match;
}

OutsideAudio::Match OutsideAudio::best_of_stem(Folder& folder, std::string_view stem) {
  auto best = folder.entries.end();
  std::optional<std::uint8_t> best_rank;
  bool has_rivals = false;
  const std::string prefix = std::string(stem) + ".";
  for (auto entry = folder.entries.lower_bound(prefix);
       entry != folder.entries.end() && entry->first.starts_with(prefix); ++entry) {
    if (without_audio_extension(entry->first) != stem) continue;
    const auto rank = audio_rank(file_extension(entry->first));
    if (!rank) continue;
    has_rivals = best_rank.has_value();
    if (!best_rank || *rank < *best_rank) {
      best = entry;
      best_rank = rank;
    }
  }
  if (best == folder.entries.end()) return {};
  Match match = use(folder, best->first, best->second);
  match.has_rivals = has_rivals;
  return match;
}

OutsideAudio::Match OutsideAudio::find(std::string_view path) {
  const auto slash = path.rfind('/');
  if (slash == std::string_view::npos) return {.reason = "names no file"};
  const std::string_view name = path.substr(slash + 1);
  Folder& in = folder(path.substr(0, slash));
  if (in.data) return {.data = join_path(*in.data, name)};
  if (!in.reason.empty()) return {.reason = in.reason, .kind = in.kind};
  if (audio_rank(file_extension(name))) {
    if (const auto entry = in.entries.find(name); entry != in.entries.end()) {
      Match match = use(in, name, entry->second);
      match.with_extension = true;
      return match;
    }
  }
  Match match = best_of_stem(in, name);
  if (match.file == nullptr && match.reason.empty()) {
    match.reason = "no audio named " + printable(tree_.full_path(path));
  }
  return match;
}

}  // namespace xtts::corpus
