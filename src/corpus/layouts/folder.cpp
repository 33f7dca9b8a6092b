// folder: every audio file below DATA is a clip; its id is the path without extension; the .txt of
// the same stem, where there is one, is the transcript.

#include <string>
#include <string_view>
#include <unordered_map>

#include "base/try.hpp"
#include "corpus/audio_extensions.hpp"
#include "corpus/audio_index.hpp"
#include "corpus/layouts/layout.hpp"
#include "corpus/list_text.hpp"
#include "corpus/names.hpp"

namespace xtts::corpus {
namespace {

constexpr std::string_view kStage = "discover";

bool is_transcript(std::string_view path) {
  return equals_ignoring_case(file_extension(path), "txt");
}

std::string_view without_txt(std::string_view path) {
  return path.substr(0, path.size() - 4);
}

class FolderReader {
 public:
  explicit FolderReader(const LayoutInput& input) : input_(input), index_(input.tree) {
    for (const TreeFile& file : input.tree.files) {
      if (is_transcript(file.path)) transcripts_.emplace(without_txt(file.path), &file);
    }
    for (const Refusal& refusal : input.tree.refusals) {
      if (!refusal.is_folder && is_transcript(refusal.path)) {
        refused_transcripts_.emplace(without_txt(refusal.path), &refusal);
      }
    }
  }

  Result<Findings> read() {
    found_.clips.reserve(index_.audio_count());
    for (const TreeFile& file : input_.tree.files) {
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
  void report(std::string_view path, std::string_view id, std::string reason, ProblemClass kind) {
    found_.problems.push_back({printable(id), printable(path), std::nullopt, std::string(kStage),
                               kind, std::move(reason)});
  }

  void read_audio(const TreeFile& file) {
    const std::string_view id = without_audio_extension(file.path);
    if (const auto fault = fault_of_id(id)) {
      return report(file.path, id, *fault + "; rename the file", ProblemClass::kInput);
    }
    const TreeFile* preferred = index_.find(id).file;
    if (preferred != &file) {
      return report(file.path, id,
                    "has the same name as " + preferred->path + ", which is used instead",
                    ProblemClass::kPolicy);
    }
    FoundClip found;
    found.clip.id = id;
    found.clip.source = file.path;
    if (read_transcript(id, found.clip)) found_.clips.push_back(std::move(found));
  }

  // False: there is one, and it is no good. Sound and text must stay a pair, so the clip goes with
  // it.
  bool read_transcript(std::string_view id, Clip& clip) {
    if (const auto refused = refused_transcripts_.find(id); refused != refused_transcripts_.end()) {
      report(refused->second->path, id, "the transcript " + refused->second->reason,
             refused->second->kind);
      return false;
    }
    const auto place = transcripts_.find(id);
    if (place == transcripts_.end()) return true;
    ++transcript_count_;
    const std::string& path = place->second->path;
    const auto text = ListText::read(input_.env, input_.tree.full_path(path), kTextBytesMax);
    if (!text.ok()) {
      const bool is_input = text.status().code() == StatusCode::kInvalidArgument;
      report(path, id, "the transcript cannot be read: " + text.status().message(),
             is_input ? ProblemClass::kInput : ProblemClass::kEnvironment);
      return false;
    }
    if (const auto fault = fault_of_text_bytes(text->all())) {
      report(path, id, "the transcript " + *fault, ProblemClass::kInput);
      return false;
    }
    clip.text_raw = trimmed(text->all());
    clip.text_normalized = on_one_line(clip.text_raw);
    return true;
  }

  void report_refusals() {
    for (const Refusal& refusal : input_.tree.refusals) {
      const bool is_audio = audio_rank(file_extension(refusal.path)).has_value();
      if (is_audio || refusal.is_folder) {
        report(refusal.path, is_audio ? without_audio_extension(refusal.path) : std::string_view(),
               refusal.reason, refusal.kind);
      } else {
        ++found_.ignored_file_count;
      }
    }
  }

  Status no_audio() const {
    std::string text = "no audio in " + input_.tree.root + ": looked for files named *.{" +
                       audio_extension_list() + "} in " +
                       counted(input_.tree.folders.size(), "folder", "folders");
    if (!found_.problems.empty()) {
      const Problem& first = found_.problems.front();
      text += "; refused " + counted(found_.problems.size(), "entry", "entries") + " (" +
              first.path + " " + first.reason + ")";
    }
    return {StatusCode::kInvalidArgument, text + "; give the folder that holds the recordings"};
  }

  void add_notes() {
    const std::uint64_t stray_texts = transcripts_.size() - transcript_count_;
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
    note_lists_below();
    if (!input_.tree.folder_links.empty()) {
      found_.notes.push_back(
          counted(input_.tree.folder_links.size(), "link", "links") +
          " to folders inside DATA not followed: those folders are read once, under"
          " their own names");
    }
  }

  // Whoever gives the folder above a corpus would otherwise get its sound without its text.
  void note_lists_below() {
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
    if (first == nullptr) return;
    found_.notes.push_back(counted(list_count, "list", "lists") + " in folders below not read (" +
                           printable(first->path) + "); to use the text, give " +
                           printable(parent_path(first->path)) + " as DATA");
  }

  const LayoutInput& input_;
  AudioIndex index_;
  std::unordered_map<std::string_view, const TreeFile*> transcripts_;
  std::unordered_map<std::string_view, const Refusal*> refused_transcripts_;
  std::uint64_t transcript_count_ = 0;
  Findings found_;
};

std::optional<std::string> detect(const LayoutInput&) {
  return "no metadata list in DATA: every audio file below it is a clip (layout folder)";
}

Result<Findings> read(const LayoutInput& input) {
  const formats::CorpusConfig& config = input.config;
  if (!config.metadata_train_file.empty() || !config.metadata_eval_file.empty() ||
      !config.wavs_train_folder.empty() || !config.wavs_eval_folder.empty()) {
    return Status(StatusCode::kInvalidArgument,
                  "layout folder reads no lists: leave metadata_train_file, metadata_eval_file, "
                  "wavs_train_folder and wavs_eval_folder empty, or choose layout ljspeech");
  }
  return FolderReader(input).read();
}

}  // namespace

const Layout kFolderLayout = {
    "folder", "every audio file below DATA; x.txt beside x.wav is its transcript", detect, read};

}  // namespace xtts::corpus
