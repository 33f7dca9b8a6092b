// CorpusModel: DATA in a simulation, and what may become of it between two commands.
//
// Two kinds: LJSpeech's layout (metadata.csv and wavs/, a clip a file), and a CSV list whose clips
// are parts of sources. Every change is durable at once, as a user's own files are.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "support/memory_env.hpp"

namespace xtts::simulation {

inline const std::string kData = "/data";
inline const std::string kCache = "/cache";

enum class CorpusKind : std::uint8_t { kFiles, kParts };

enum class ChangeKind : std::uint8_t {
  kAdd,
  kRemove,
  kRename,
  kEdit,          // other sound, new time
  kEditInSecret,  // other sound of the same size, the old time put back
  kTouch,
  kReplaceBySame,  // the same bytes in a new file
  kBreak,          // no sound any more
  kRetext,
  kOtherSuffix,   // x.sln becomes x.g722, or back
  kMoveTimes,     // kParts: a clip is cut elsewhere
  kOtherSpeaker,  // kParts
  kTouchAll,      // as a copy of DATA: all files are new
};
inline constexpr std::uint8_t kChangeCount = 13;

struct SourceNow {
  std::string path;  // relative to DATA
  std::string content;
};

class CorpusModel {
 public:
  CorpusModel(testing::MemoryEnv& files, CorpusKind kind, std::uint32_t clip_count);

  // Returns what was done, as a person would say it. `which` chooses a clip, or a value.
  std::string change(ChangeKind kind, std::uint64_t which);
  // Each clip's source.
  [[nodiscard]] std::map<std::string, SourceNow> sources() const;

 private:
  struct Clip {
    std::string name;
    std::string source;  // key in sources_
    std::string text;
    std::string speaker;
    std::uint64_t start_ms = 0;
    std::uint64_t end_ms = 0;
  };
  struct Source {
    std::string path;  // relative to DATA, without the suffix
    std::string suffix;
    std::string content;
  };

  void add(std::uint32_t number);
  void write_list();
  [[nodiscard]] std::string path_of(const Source& source) const;

  testing::MemoryEnv& files_;
  const CorpusKind kind_;
  std::uint32_t next_number_ = 0;
  std::uint64_t next_sound_ = 100;
  std::map<std::string, Clip> clips_;  // by name
  std::map<std::string, Source> sources_;
};

}  // namespace xtts::simulation
