#include "corpus_model.hpp"

#include <iterator>

#include "base/env.hpp"

namespace xtts::simulation {
namespace {

constexpr std::uint32_t kPartsPerSource = 3;
constexpr std::uint64_t kPartMs = 60;
constexpr std::uint32_t kSpeakers = 3;

std::string padded(std::uint64_t number, std::size_t width) {
  std::string text = std::to_string(number);
  return std::string(text.size() < width ? width - text.size() : 0, '0') + text;
}

// Contents look binary, so that files of unknown suffixes are shown to the decoder. All have one
// length, so that a size never gives a change away.
std::string binary(const std::string& words) {
  return std::string("\x7F\0", 2) + words;
}
std::string sound(std::uint64_t number, std::uint64_t ms) {
  return binary("sound " + padded(number, 6) + " " + padded(ms, 4));
}

std::string seconds(std::uint64_t ms) {
  return std::to_string(ms / 1000) + "." + padded(ms % 1000, 3);
}

template <typename Map>
auto& chosen(Map& map, std::uint64_t which) {
  return std::next(map.begin(), static_cast<std::ptrdiff_t>(which % map.size()))->second;
}

}  // namespace

CorpusModel::CorpusModel(testing::MemoryEnv& files, CorpusKind kind, std::uint32_t clip_count)
    : files_(files), kind_(kind) {
  files_.add_folder(kData);
  for (std::uint32_t i = 0; i < clip_count; ++i) add(next_number_++);
  write_list();
}

std::string CorpusModel::path_of(const Source& source) const {
  return kData + "/" + source.path + "." + source.suffix;
}

void CorpusModel::add(std::uint32_t number) {
  const bool is_part = kind_ == CorpusKind::kParts;
  Clip clip;
  clip.name = "clip-" + padded(number, 4);
  clip.source = is_part ? "tape-" + padded(number / kPartsPerSource, 3) : clip.name;
  clip.text = "Sentence " + std::to_string(number) + ".";
  clip.speaker = "speaker-" + std::to_string(number % kSpeakers);
  clip.start_ms = is_part ? number % kPartsPerSource * kPartMs : 0;
  clip.end_ms = clip.start_ms + kPartMs;
  if (!sources_.contains(clip.source)) {
    Source source;
    source.path = (is_part ? "" : "wavs/") + clip.source;
    source.suffix = number % 4 == 3 ? "sln" : "ogg";
    source.content =
        sound(next_sound_++, is_part ? kPartsPerSource * kPartMs + 40 : 60 + 10 * (number % 7));
    files_.add_file(path_of(source), source.content);
    sources_[clip.source] = std::move(source);
  }
  clips_[clip.name] = std::move(clip);
}

void CorpusModel::write_list() {
  std::string list;
  if (kind_ == CorpusKind::kParts) list = "id,audio,text,start,end,speaker\n";
  for (const auto& [name, clip] : clips_) {
    const Source& source = sources_.at(clip.source);
    if (kind_ == CorpusKind::kFiles) {
      list += name + "|" + clip.text + "|" + clip.text + "\n";
    } else {
      list += name + "," + source.path + "." + source.suffix + "," + clip.text + "," +
              seconds(clip.start_ms) + "," + seconds(clip.end_ms) + "," + clip.speaker + "\n";
    }
  }
  files_.add_file(kData + (kind_ == CorpusKind::kFiles ? "/metadata.csv" : "/list.csv"), list);
}

std::map<std::string, SourceNow> CorpusModel::sources() const {
  std::map<std::string, SourceNow> sources;
  for (const auto& [name, clip] : clips_) {
    const Source& source = sources_.at(clip.source);
    sources[name] = {source.path + "." + source.suffix, source.content};
  }
  return sources;
}

std::string CorpusModel::change(ChangeKind kind, std::uint64_t which) {
  using Times = testing::MemoryEnv::Times;
  if (kind == ChangeKind::kAdd || clips_.size() < 3) {
    add(next_number_++);
    write_list();
    return "add clip-" + padded(next_number_ - 1, 4);
  }
  Clip& clip = chosen(clips_, which);
  Source& source = sources_.at(clip.source);
  const std::string path = path_of(source);
  const std::uint64_t ms = 50 + which / 64 % 10 * 10 + (kind_ == CorpusKind::kParts ? 150 : 0);
  switch (kind) {
    case ChangeKind::kAdd:
      break;
    case ChangeKind::kRemove: {
      const std::string name = clip.name;
      if (kind_ == CorpusKind::kFiles) {
        (void)files_.remove_file(path);
        (void)files_.sync_directory(parent_path(path));
        sources_.erase(clip.source);
      }
      clips_.erase(name);
      write_list();
      return "remove " + name;
    }
    case ChangeKind::kRename: {
      Clip moved = clip;
      moved.name = "clip-" + padded(next_number_++, 4);
      if (kind_ == CorpusKind::kFiles) {
        Source renamed = source;
        renamed.path = "wavs/" + moved.name;
        (void)files_.rename(path, path_of(renamed));
        (void)files_.sync_directory(kData + "/wavs");
        sources_.erase(clip.source);
        moved.source = moved.name;
        sources_[moved.source] = std::move(renamed);
      }
      const std::string before = clip.name;
      const std::string text = before + " becomes " + moved.name;
      clips_[moved.name] = std::move(moved);
      clips_.erase(before);
      write_list();
      return text;
    }
    case ChangeKind::kEdit:
    case ChangeKind::kEditInSecret: {
      const bool is_secret = kind == ChangeKind::kEditInSecret;
      source.content = sound(next_sound_++, ms);
      files_.change_in_place(path, source.content, is_secret ? Times::kKeep : Times::kNew);
      return "write '" + source.content.substr(2) + "' into " + path +
             (is_secret ? " and put its time back" : "");
    }
    case ChangeKind::kTouch:
      files_.change_in_place(path, source.content, Times::kNew);
      return "touch " + path;
    case ChangeKind::kReplaceBySame:
      files_.add_file(path, source.content);
      return "copy " + path + " and put the copy in its place";
    case ChangeKind::kBreak:
      source.content = binary("nothing " + padded(next_sound_++, 9));
      files_.change_in_place(path, source.content, Times::kNew);
      return "break " + path;
    case ChangeKind::kRetext:
      clip.text = "Mended " + std::to_string(which % 1000) + ".";
      write_list();
      return "the text of " + clip.name + " becomes '" + clip.text + "'";
    case ChangeKind::kOtherSuffix: {
      source.suffix = source.suffix == "sln" ? "g722" : "sln";
      (void)files_.rename(path, path_of(source));
      (void)files_.sync_directory(parent_path(path));
      write_list();
      return "rename " + path + " to ." + source.suffix;
    }
    case ChangeKind::kMoveTimes:
      if (kind_ == CorpusKind::kFiles) return "nothing";
      clip.start_ms = which / 64 % 10 * 10;
      clip.end_ms = clip.start_ms + 40 + which / 640 % 4 * 10;
      write_list();
      return clip.name + " is " + seconds(clip.start_ms) + " to " + seconds(clip.end_ms) + " now";
    case ChangeKind::kOtherSpeaker:
      if (kind_ == CorpusKind::kFiles) return "nothing";
      clip.speaker = "speaker-" + std::to_string(which / 64 % (kSpeakers + 2));
      write_list();
      return clip.name + " is of " + clip.speaker + " now";
    case ChangeKind::kTouchAll:
      for (const auto& [name, each] : sources_)
        files_.change_in_place(path_of(each), each.content, Times::kNew);
      return "touch all of DATA";
  }
  return "nothing";
}

}  // namespace xtts::simulation
