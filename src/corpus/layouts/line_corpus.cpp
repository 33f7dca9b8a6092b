#include "corpus/layouts/line_corpus.hpp"

#include <utility>
#include <vector>

#include "base/encoding.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"
#include "corpus/files/names.hpp"
#include "corpus/layouts/layout_parts.hpp"
#include "corpus/lists/list_candidates.hpp"
#include "formats/corpus_config.hpp"

namespace xtts::corpus {
namespace {

// Lists that are decoded whole, because their bytes tell the encoding. Those of a speaker have some
// 100 KB.
constexpr std::uint64_t kDecodedBytesMax = std::uint64_t{16} << 20U;

class Reader {
 public:
  Reader(const LineCorpus& corpus, const LayoutInput& input)
      : corpus_(corpus), input_(input), clips_(input) {
    if (corpus.looks_for_names) audio_.emplace(input.tree);
  }

  Result<Findings> read() {
    find_lists();
    if (sources_.empty()) return not_this_layout(input_, corpus_.form.list);
    for (std::size_t i = 0; i < sources_.size(); ++i)
      XTTS_TRY(read_list_of(sources_[i], facts_[i]));
    clips_.refuse_folders();
    return clips_.finish(sources_, corpus_.form.expected);
  }

 private:
  void find_lists() {
    for_each_file(input_.tree, FileFilter::kNotAudio, [&](const WalkedFile& file) {
      auto facts = corpus_.facts_of(input_.tree, file.path);
      if (!facts) return;
      sources_.push_back({std::string(file.path), facts->audio_folder, facts->split});
      facts_.push_back(std::move(*facts));
    });
  }

  Status read_list_of(const ListSource& source, const ListFacts& facts) {
    XTTS_ASSIGN(auto lines, open(source, facts));
    if (!lines) return {};
    if (corpus_.note_on != nullptr) {
      if (std::string note = corpus_.note_on(input_.tree, facts); !note.empty())
        clips_.note(std::move(note));
    }
    return read_lines({source, *lines, clips_}, corpus_.form.separators, [&](const ListLine& line) {
      return corpus_.read({line, facts, input_.tree, audio_ ? &*audio_ : nullptr});
    });
  }

  // nullopt: it cannot be read, which has become a problem.
  Result<std::optional<LineReader>> open(const ListSource& source, const ListFacts& facts) {
    if (corpus_.unread == UnreadList::kIsProblem) {
      if (const Refusal* refusal = input_.tree.refusal_of(source.list)) {
        clips_.refuse_file(source.list, {}, refusal->reason, refusal->kind);
        return std::optional<LineReader>();
      }
    }
    if (corpus_.published_in != nullptr) return decode(source, facts);
    auto lines = read_list(input_, source.list);
    if (lines.ok()) return std::optional(std::move(*lines));
    if (corpus_.unread == UnreadList::kEndsDiscovery) return lines.status();
    return problem(source, lines.status().message(),
                   lines.status().code() == StatusCode::kInvalidArgument
                       ? RejectClass::kInput
                       : RejectClass::kEnvironment);
  }

  Result<std::optional<LineReader>> decode(const ListSource& source, const ListFacts& facts) {
    auto bytes = read_text_file(input_.env, input_.tree.full_path(source.list), kDecodedBytesMax);
    if (!bytes.ok()) {
      return problem(source, "cannot be read: " + bytes.status().message(),
                     RejectClass::kEnvironment);
    }
    if (input_.log != nullptr) input_.log->paths.emplace(source.list);
    const std::string& named = input_.config.encoding;
    const std::string encoding(named.empty() ? corpus_.published_in(*bytes, facts) : named);
    XTTS_ASSIGN(std::string text, as_utf8(std::move(*bytes), encoding));
    if (utf8_valid_bytes(text) < text.size()) {
      return problem(source,
                     "is not UTF-8, UTF-16, or what its language was published in; save it as "
                     "UTF-8",
                     RejectClass::kInput);
    }
    XTTS_ASSIGN(LineReader lines, LineReader::from_bytes(std::move(text)));
    return std::optional(std::move(lines));
  }

  std::optional<LineReader> problem(const ListSource& source, std::string reason,
                                    RejectClass kind) {
    clips_.refuse_file(source.list, {}, std::move(reason), kind);
    return std::nullopt;
  }

  const LineCorpus& corpus_;
  const LayoutInput& input_;
  std::optional<NamedAudio> audio_;
  std::vector<ListSource> sources_;  // complete before the first is read, so addresses stay
  std::vector<ListFacts> facts_;     // of each
  ClipCollector clips_;
};

}  // namespace

NoClip CorpusLine::add(ListedClip clip) const {
  if (clip.speaker.empty()) clip.speaker = list.speaker;
  if (clip.language.empty()) clip.language = list.language;
  if (clip.extra_json.empty()) clip.extra_json = list.extra_json;
  line.add(clip);
  return std::nullopt;
}

std::optional<NameAndText> name_and_text(std::string_view line, std::string_view separators) {
  const auto end = line.find_first_of(separators);
  if (end == std::string_view::npos) return std::nullopt;
  return NameAndText{trimmed(line.substr(0, end)), trimmed(line.substr(end + 1))};
}

Result<std::string> first_line_of(const LayoutInput& input, std::string_view list) {
  XTTS_ASSIGN(const std::string text, beginning_of(input, list));
  return std::string(first_line(text));
}

Detected detect_line_corpus(const LineCorpus& corpus, const LayoutInput& input) {
  return detect_by_file(input, FileFilter::kNotAudio, corpus.lists,
                        [&](const WalkedFile& file) -> Result<bool> {
                          const auto facts = corpus.facts_of(input.tree, file.path);
                          if (!facts || corpus.looks_so == nullptr) return facts.has_value();
                          return corpus.looks_so(input, file.path, *facts);
                        });
}

Result<Findings> read_line_corpus(const LineCorpus& corpus, const LayoutInput& input) {
  return Reader(corpus, input).read();
}

}  // namespace xtts::corpus
