// Corpus: turns a folder in a known layout into clips in canonical order. Every line or file that
// is no clip is listed with a reason.
//
// Nothing here decodes audio. Discovery reads lists, transcripts and folder entries only (one stat
// a clip), so planning 100,000 clips takes well under a second. A file whose name does not say
// whether it is audio is looked into once (ProbeContent). Paths may not leave DATA. Special files
// are refused without being opened. Bad permissions and bytes show when a file is decoded. Free
// functions; share freely. A failure is about the whole corpus (kNotFound, kInvalidArgument;
// kResource where the disk did not answer); a problem with one clip is a Reject. README.md beside
// this file has the rules for ids, splits and refusals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/env.hpp"
#include "corpus/clips/clip.hpp"
#include "corpus/clips/splits.hpp"
#include "corpus/files/content_probe.hpp"
#include "corpus/files/mounts.hpp"
#include "corpus/files/source_place.hpp"
#include "corpus/lists/layout_input.hpp"
#include "formats/corpora.hpp"
#include "formats/recipe_fwd.hpp"
#include "formats/reject.hpp"
#include "xtts/status.hpp"

namespace xtts::corpus {

struct Corpus {
  std::string layout;  // the layout found: "ljspeech", "folder"; "corpora" for several
  std::vector<std::string> folders;  // of the corpora, absolute and without links
  std::vector<Mounts> mounts;        // for each folder: its places in audio roots
  std::vector<Clip> clips;           // canonical order: data set, split, id bytes
  // Listed clips and found files that are not in the corpus. Their ids and paths can be shown and
  // stored as JSON: control characters, bytes that are not UTF-8, and '%' become %XX. A reason's
  // detail continues a sentence.
  std::vector<Reject> problems;
  std::vector<std::string>
      notes;  // for a person: "metadata.csv has a header line", "12 files without text"
  // Files that are neither audio nor read as lists or texts, by suffix in lower case; "" for none.
  std::map<std::string, std::uint64_t> not_audio;
  std::uint64_t ignored_file_count = 0;  // neither audio nor list: .DS_Store, licences
  // Lists whose columns no layout knows, or a column of sentences not known as the text, in words.
  // They would go unread; the user can say that this is meant (by a layout, or no text).
  std::vector<std::string> unread_lists;
  // Set where lists would go unread: the only folder in DATA that is a corpus by itself, and the
  // lists outside of it that no layout reads, in words; empty: there are none.
  std::optional<formats::CorporaEntry> corpus_below;
  std::string unread_beside_it;
  std::uint64_t held_bytes = 0;  // memory for what the lists name, until the build ends; estimated
  bool is_stream = false;  // sources come in their order alone: another order costs whole passes
  bool has_text = false;   // some clip has text: sound and text then stay a pair

  [[nodiscard]] std::string path_of(const Clip& clip) const;  // of the file to open
  [[nodiscard]] SourcePlace place_of(const Clip& clip) const;
};

struct DiscoveryRequest {
  Env& env;
  // Where `corpora` is empty, `path` is the folder. A corpora entry with its own roots uses those.
  // Each root is as confined as DATA. mounts.hpp has the names of the files in roots.
  formats::DataFolders data = {};
  // Several corpora read as one, by the entries of a corpora.yaml. Problems and notes begin with
  // the corpus' name. Speakers become name/speaker unless the entry names the speaker: p225 of one
  // corpus is another person in the next.
  std::span<const formats::CorporaEntry> corpora = {};
  const formats::CorpusConfig& config;
  KnownSplits known_splits = {};
  // Longer clips are split into several where their list gives times within them.
  std::optional<double> split_above_s = {};
  ProbeContent probe = {};
  // The memory of the whole run. Where the clips of lists need more than half of it, kResource
  // says how much they need.
  std::uint64_t memory_bytes = UINT64_MAX;
  // Set: receives the clips in place of Corpus::clips, as they are found. Splits that the corpus
  // does not give itself, the subset, repeated ids, order and the notes on all these are then the
  // receiver's. Layouts that need all clips at once, and too_long: split, hold them first.
  FoundClips* receiver = nullptr;
  // Called for each folder, line and file; true ends discovery with kCancelled.
  std::function<bool()> cancelled = {};
};

[[nodiscard]] Result<Corpus> discover(const DiscoveryRequest& request);

// The names that --layout-of-data accepts, with a line each for --help.
struct LayoutName {
  std::string_view name;
  std::string_view about;
};
[[nodiscard]] std::vector<LayoutName> layout_names();

}  // namespace xtts::corpus
