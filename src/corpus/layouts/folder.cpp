// folder: every audio file below DATA is a clip. Its id is the path without extension. If a file
// of a preferred format has the same name, the id keeps the extension. A .txt file with the same
// name is the transcript.

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/check_cancelled.hpp"
#include "base/formatted.hpp"
#include "base/try.hpp"
#include "corpus/files/audio_extensions.hpp"
#include "corpus/files/audio_index.hpp"
#include "corpus/files/content_probe.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/line_reader.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/rules.hpp"

namespace xtts::corpus {
namespace folder_layout {
namespace {

bool is_transcript(std::string_view path) {
  return equals_ignoring_case(file_extension(path), "txt");
}

std::string_view without_txt(std::string_view path) {
  return path.substr(0, path.size() - 4);
}

class FolderReader {
 public:
  explicit FolderReader(const LayoutInput& input) : input_(input), index_(input.tree) {
    for_each_file(input.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
      if (!is_transcript(file.path)) return;
      transcripts_.emplace(without_txt(file.path), file);
      found_transcript_count_ += file.refusal == nullptr ? 1 : 0;
    });
  }

  Result<Findings> read() {
    if (input_.found_clips == nullptr) found_.clips.reserve(index_.audio_count());
    for (const TreeFile& file : input_.tree.files) {
      XTTS_TRY(check_cancelled(input_.cancelled));
      if (input_.found_clips != nullptr) XTTS_TRY(input_.found_clips->status());
      if (file.audio_rank) {
        read_audio(file);
      } else {
        ++found_.ignored_file_count;
      }
    }
    found_.ignored_file_count -= transcript_count_;
    report_refusals();
    if (index_.audio_count() == 0) return no_audio();
    add_notes();
    return std::move(found_);
  }

 private:
  void report(std::string_view path, std::string_view id, std::string detail, RejectClass kind,
              formats::Rule rule = formats::Rule::kBadFile) {
    found_.problems.push_back({.kind = kind,
                               .id = printable(id),
                               .path = printable(path),
                               .line = {},
                               .reason = {.rule = rule, .detail = std::move(detail)}});
  }

  void read_audio(const TreeFile& file) {
    const std::string_view stem = stem_of(file);
    const TreeFile* preferred = index_.preferred_of(stem);
    const bool is_rival = preferred != &file;
    const std::string_view id = is_rival ? std::string_view(file.path) : stem;
    if (const auto fault = fault_of_id(id)) {
      return report(file.path, id, *fault + "; rename the file", RejectClass::kInput);
    }
    if (is_rival && index_.preferred_of(id) != nullptr) {
      return report(file.path, id,
                    formatted("has the same name as {}, and another file has the id that its "
                              "extension would make: rename it",
                              preferred->path),
                    RejectClass::kInput);
    }
    rival_count_ += is_rival ? 1 : 0;
    Clip clip;
    clip.id = id;
    clip.source = file.path;
    if (!add_text(stem, is_rival, clip)) return;
    if (input_.found_clips != nullptr) {
      input_.found_clips->take(std::move(clip), {});
    } else {
      found_.clips.push_back(std::move(clip));
    }
  }

  // False: the transcript exists but is unusable. The clip is dropped too, since sound and text
  // must stay a pair.
  bool add_text(std::string_view stem, bool is_rival, Clip& clip) {
    const auto place = transcripts_.find(stem);
    if (place == transcripts_.end()) return true;
    const WalkedFile& file = place->second;
    transcript_count_ += file.refusal == nullptr && !is_rival ? 1 : 0;
    const Transcript transcript = read_transcript(input_, file);
    if (transcript.fault) {
      report(file.path, stem, transcript.fault->reason, transcript.fault->kind);
      return false;
    }
    clip.text_raw = transcript.text;
    clip.text_normalized = shared_on_one_line(clip.text_raw);
    return true;
  }

  // If another clip has the name without extension, a refused file keeps its extension.
  std::string_view id_of_refused(std::string_view path, std::string_view stem) const {
    return index_.preferred_of(stem) == nullptr ? stem : path;
  }

  void report_refusals() {
    for (const Refusal& refusal : input_.tree.refusals) {
      const std::string_view path = refusal.path;
      const bool is_audio = audio_rank(file_extension(path)).has_value();
      if (refusal.is_sound) {
        report(path, id_of_refused(path, without_suffix(path)), refusal.reason, refusal.kind,
               refusal.rule);
      } else if (is_audio) {
        report(path, id_of_refused(path, without_audio_extension(path)), refusal.reason,
               refusal.kind, refusal.rule);
      } else if (refusal.is_folder) {
        report(path, {}, refusal.reason, refusal.kind, refusal.rule);
      } else {
        ++found_.ignored_file_count;
      }
    }
  }

  Status no_audio() const {
    std::string text = formatted("no audio in {}: looked into {}", input_.tree.root,
                                 counted(input_.tree.folders.size(), "folder", "folders"));
    const std::string others = not_audio_note(not_audio_by_suffix(input_.tree, {}));
    if (!others.empty()) text += formatted(" ({})", others);
    if (!found_.problems.empty()) {
      const Reject& first = found_.problems.front();
      text += formatted("; refused {} ({} {})", counted(found_.problems.size(), "entry", "entries"),
                        first.path, first.reason.detail);
    }
    return {StatusCode::kInvalidArgument, text + "; give the folder that holds the recordings"};
  }

  void add_notes() {
    if (rival_count_ > 0) {
      found_.notes.push_back(counted(rival_count_, "file has", "files have") +
                             " the name of one in another format: their ids keep the extension");
    }
    const std::uint64_t stray_texts = found_transcript_count_ - transcript_count_;
    if (stray_texts > 0) {
      found_.notes.push_back(counted(stray_texts, ".txt file has", ".txt files have") +
                             " no audio of the same name");
    }
    for (const std::string& folder : input_.tree.folders) {
      if (audio_rank(file_extension(folder))) {
        found_.notes.push_back(
            printable(folder) +
            " is a folder, though named like audio; it is searched like any other");
      }
    }
    if (!note_list_above() && !note_lists_below()) note_unread_lists();
    if (!input_.tree.folder_links.empty()) {
      found_.notes.push_back(
          counted(input_.tree.folder_links.size(), "link", "links") +
          " to folders inside DATA not followed: those folders are read once, under"
          " their own names");
    }
  }

  // Warns a user who gives the folder of sounds in a corpus: it would be read without text.
  bool note_list_above() {
    constexpr std::string_view kList = "metadata.csv";
    const std::string above = parent_path(input_.tree.root);
    if (file_name(input_.tree.root).starts_with('.') ||
        !input_.env.stat(join_path(above, kList)).ok()) {
      return false;
    }
    found_.notes.push_back(formatted("{} lies beside DATA; to use the text, give {} as DATA", kList,
                                     printable(above)));
    return true;
  }

  // Warns a user who gives the folder above a corpus, for the same reason.
  bool note_lists_below() {
    const TreeFile* first = nullptr;
    std::uint64_t list_count = 0;
    for (const TreeFile& file : input_.tree.files) {
      const std::string_view name = file_name(file.path);
      const bool is_list = equals_ignoring_case(file_extension(name), "csv") &&
                           folded(name).find("metadata") != std::string::npos;
      if (!is_list || name.size() == file.path.size()) continue;
      if (first == nullptr) first = &file;
      ++list_count;
    }
    if (first == nullptr) return false;
    found_.notes.push_back(
        formatted("{} in folders below not read ({}); to use the text, give {} as DATA",
                  counted(list_count, "list", "lists"), printable(first->path),
                  printable(parent_path(first->path))));
    return true;
  }

  // Warns about files that may be lists (cuts of lhotse, a packed manifest) and are not read.
  void note_unread_lists() {
    const TreeFile* first = nullptr;
    std::uint64_t list_count = 0;
    for (const TreeFile& file : input_.tree.files) {
      if (file.audio_rank || !may_be_list(file.path)) continue;
      if (first == nullptr) first = &file;
      ++list_count;
    }
    if (first == nullptr) return;
    found_.notes.push_back(
        formatted("{} like a list {} not read ({}): no layout knows what it names",
                  counted(list_count, "file", "files"), list_count == 1 ? "is" : "are",
                  printable(first->path)));
  }

  // A file beside audio of the same name describes that clip, so it is no list.
  [[nodiscard]] bool may_be_list(std::string_view path) const {
    if (equals_ignoring_case(file_extension(path), "gz")) path.remove_suffix(3);
    const std::string_view extension = file_extension(path);
    return (equals_ignoring_case(extension, "jsonl") || equals_ignoring_case(extension, "tsv") ||
            equals_ignoring_case(extension, "csv")) &&
           index_.preferred_of(path.substr(0, path.size() - extension.size() - 1)) == nullptr;
  }

  const LayoutInput& input_;
  AudioIndex index_;
  std::unordered_map<std::string_view, WalkedFile> transcripts_;  // by path without extension
  std::uint64_t found_transcript_count_ = 0;                      // without refused ones
  std::uint64_t transcript_count_ = 0;  // those that have audio of the same name
  std::uint64_t rival_count_ = 0;
  Findings found_;
};

Detected detect(const LayoutInput&) {
  return Detected("no metadata list in DATA: every audio file below it is a clip");
}

Result<Findings> read(const LayoutInput& input) {
  return FolderReader(input).read();
}

}  // namespace
}  // namespace folder_layout

extern const Layout kFolderLayout = {
    "folder", "every audio file below DATA; x.txt beside x.wav is its transcript",
    folder_layout::detect, folder_layout::read};

}  // namespace xtts::corpus
