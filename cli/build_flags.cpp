#include "cli/build_flags.hpp"

#include <utility>

#include "base/formatted.hpp"
#include "corpus/corpus.hpp"
#include "recipe/trainer_config.hpp"
#include "report/human.hpp"
#include "request/build_options.hpp"

namespace xtts::cli {
namespace {

std::string layout_choices() {
  std::string text;
  for (const auto& layout : corpus::layout_names())
    text += (text.empty() ? "{" : ",") + std::string(layout.name);
  return text + "}";
}

}  // namespace

std::vector<std::string> settings_of(const ListFlags& lists) {
  std::vector<std::string> settings;
  for (const auto& [key, name] : {std::pair("audio", &lists.audio),
                                  {"id", &lists.id},
                                  {"text", &lists.text},
                                  {"normalized", &lists.normalized},
                                  {"speaker", &lists.speaker},
                                  {"language", &lists.language},
                                  {"split", &lists.split},
                                  {"start", &lists.start},
                                  {"end", &lists.end}}) {
    if (!name->empty())
      settings.push_back(formatted("corpus.{}_column={}", std::string(key), *name));
  }
  if (!lists.encoding.empty()) settings.push_back("corpus.encoding=" + lists.encoding);
  return settings;
}

void add_list_flags(Command& command, ListFlags& lists) {
  const auto add = [&](const std::string& name, std::string& value, const std::string& what) {
    command.option(formatted("--{}-column", name), value, "NAME", what);
  };
  add("audio", lists.audio, "The column that names the audio, in a CSV, TSV or JSONL list");
  add("id", lists.id, "The column with ids");
  add("text", lists.text, "The column with texts");
  add("normalized", lists.normalized, "The column with normalized texts");
  add("speaker", lists.speaker, "The column with speakers");
  add("language", lists.language, "The column with languages");
  add("split", lists.split, "The column with train, validation or test");
  add("start", lists.start, "The column that says where a clip begins in its file, in seconds");
  add("end", lists.end, "The column that says where a clip ends, in seconds");
  command.option("--encoding", lists.encoding, "NAME",
                 "The encoding of the lists, such as cp1256 or UTF-16LE (default: UTF-8, or UTF-16 "
                 "with its mark)");
}

void add_recipe_options(Command& command, BuildOptions& options) {
  command
      .option(
          "--recipe", options.recipe, "NAME|FILE",
          "A shipped recipe (see `xtts-precompute recipes`) or a YAML file (default: what --config "
          "asks for, else the recipe of CACHE, else myxtts)")
      .repeated("--set", options.settings, "KEY=VALUE",
                "One key of the recipe: --set max_frames=1024; CACHE keeps it")
      .option("--config", options.config, "FILE",
              "The trainer's config.yaml, whose data keys choose recipe and settings")
      .option("--layout-of-data", options.layout_of_data, layout_choices(),
              "The layout of DATA (default: auto)")
      .repeated(
          "--audio-root", options.audio_roots, "DIR",
          "A folder outside of DATA that lists and links may lead to (default: those of the last "
          "build)")
      .option("--language", options.language, "NAME", "Language of clips whose list does not say")
      .option("--speakers", options.speakers_file, "FILE",
              "A file of speaker names, one a line, in the order of their numbers")
      .choice("--store", options.store, {"lmdb", "hdf5"}, "The file format of shards: LMDB or HDF5")
      .choice("--layout", options.layout, {"padded", "packed"},
              "padded: ready tensors; packed: records of their true lengths")
      .choice("--dtype", options.dtype, {"float32", "float16", "bfloat16"},
              "The number type of the stored mels");
}

void add_machine_options(Command& command, BuildOptions& options) {
  command
      .option("--device", options.device, "{auto,cpu,cuda}",
              "Where features are computed; cuda:1 is the second GPU (auto: as the cache was made, "
              "else on the CPU)")
      .option("--isa", options.isa, "{best,scalar,avx2,avx512}",
              "The instruction set of the features; FFTW (but for scalar), FFmpeg and libsoxr "
              "choose their own")
      .option("--memory", options.memory, "SIZE",
              "The most memory to use (default: a quarter of RAM, 2G at most)")
      .option("--max-rejects", options.max_rejects, "N|P%", "How many faulty clips are tolerated")
      .option("--max-dropped", options.max_dropped, "P%",
              "The share of clips or hours that rules of the recipe may drop");
}

void tell_trainer_keys(Context& context, const recipe::TrainerConfig& config) {
  std::size_t honoured = 0;  // keys of the file
  std::size_t no_effect = 0;
  for (const auto& key : config.keys) {
    if (key.kind == recipe::KeyClass::kNotReproduced) continue;
    std::size_t& count = key.kind == recipe::KeyClass::kHonoured ? honoured : no_effect;
    if (!key.is_default) ++count;
    context.debug(formatted("{}: {}", key.key, key.note));
  }
  for (const std::string& line : config.choices) context.inform("config: " + line);
  for (const std::string& line : request::not_reproduced(config)) context.warn(line);
  context.inform(
      formatted("config: {} honoured, {} without effect on features (--log-level debug lists them)",
                report::format_counted(honoured, "key", "keys"), no_effect));
}

}  // namespace xtts::cli
