// Audio outside of DATA: manifests with absolute paths, and links that leave DATA.

#include "tests/unit/corpus/corpus_checks.hpp"

namespace xtts::corpus {
namespace {

using testing::MemoryEnv;

Corpus discover_with_roots(MemoryEnv& env, const std::vector<std::string>& roots,
                           const formats::CorpusConfig& config = {}) {
  auto corpus = discover({.env = env, .data = {"/data", roots}, .config = config});
  EXPECT_TRUE(corpus.ok()) << corpus.status().message();
  return corpus.ok() ? std::move(*corpus) : Corpus();
}

std::string full_path_of(const Corpus& corpus, std::string_view id) {
  const Clip clip = clip_of(corpus, id);
  return clip.source.empty() ? std::string() : corpus.path_of(clip);
}

std::string nemo_line(const std::string& path) {
  return R"({"audio_filepath": ")" + path + R"(", "text": "x"})" + "\n";
}

TEST(OutsideAudio, AManifestMayNameItByAbsolutePathsWhereARootHoldsIt) {
  MemoryEnv env;
  env.add_file("/data/train.json", nemo_line("/mnt/hdd/wavs/p225/a.wav") +
                                       nemo_line("/mnt/hdd/wavs/p226/b") +
                                       nemo_line("../mnt/hdd/wavs/c.flac") + nemo_line("d.wav"));
  env.add_file("/mnt/hdd/wavs/p225/a.wav", "RIFF");
  env.add_file("/mnt/hdd/wavs/p226/b.mp3", "RIFF");
  env.add_file("/mnt/hdd/wavs/p226/b.flac", "RIFF");
  env.add_file("/mnt/hdd/wavs/c.flac", "RIFF");
  add_audio(env, {"d.wav"});
  const Corpus corpus = discover_with_roots(env, {"/mnt/hdd/wavs/"});
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(ids_of(corpus), (Ids{"c", "d", "p225/a", "p226/b"}));
  EXPECT_EQ(clip_of(corpus, "p225/a").source, ".audio-root-1/p225/a.wav");
  EXPECT_EQ(full_path_of(corpus, "p225/a"), "/mnt/hdd/wavs/p225/a.wav");
  EXPECT_EQ(full_path_of(corpus, "p226/b"), "/mnt/hdd/wavs/p226/b.flac")
      << "as in DATA, flac goes first";
  EXPECT_EQ(full_path_of(corpus, "c"), "/mnt/hdd/wavs/c.flac");
  EXPECT_EQ(full_path_of(corpus, "d"), "/data/d.wav");
  EXPECT_EQ(clip_of(corpus, "c").source_bytes, 4U);
}

TEST(OutsideAudio, WithoutARootTheRefusalSaysWhichToGive) {
  MemoryEnv env;
  env.add_file("/data/m.json", nemo_line("/mnt/my disk/wavs/p225/a.wav") +
                                   nemo_line("/mnt/my disk/wavs/p226/b.wav") +
                                   nemo_line("/srv/it's/x/c.wav") + nemo_line("d.wav"));
  EXPECT_TRUE(says(refusal_of(env),
                   R"(read with --audio-root '/mnt/my disk/wavs' --audio-root '/srv/it'\''s/x')"));
  add_audio(env, {"d.wav"});
  const Corpus corpus = discover_data(env);
  EXPECT_EQ(ids_of(corpus), (Ids{"d"}));
  EXPECT_TRUE(says(problems_of(corpus),
                   "give the folder that holds it: --audio-root "
                   "'/mnt/my disk/wavs/p225'"))
      << problems_of(corpus);
  EXPECT_TRUE(says(notes_of(corpus),
                   "3 clips have their audio outside of DATA, which is read with --audio-root "
                   R"('/mnt/my disk/wavs' --audio-root '/srv/it'\''s/x')"))
      << notes_of(corpus);
}

TEST(OutsideAudio, IdsAndSourcesDoNotTellWhereTheDiskIsMounted) {
  std::vector<std::string> seen;
  for (const std::string mount : {"/mnt/a", "/media/other/b"}) {
    MemoryEnv env;
    env.add_file("/data/m.json", nemo_line(mount + "/x/a.wav") + nemo_line("wavs/b.wav"));
    env.add_file(mount + "/x/a.wav", "RIFF");
    env.add_file(mount + "/y/b.wav", "RIFF");
    env.add_link("/data/wavs", mount + "/y");
    const Corpus corpus = discover_with_roots(env, {mount});
    EXPECT_EQ(problems_of(corpus), "");
    std::string text;
    for (const Clip& clip : corpus.clips) text += clip.id + " " + clip.source + "\n";
    seen.push_back(text);
  }
  EXPECT_EQ(seen[0], "b wavs/b.wav\nx/a .audio-root-1/x/a.wav\n");
  EXPECT_EQ(seen[1], seen[0]);
}

TEST(OutsideAudio, ALinkedFolderIsReadUnderTheNameOfTheLink) {
  MemoryEnv env;
  env.add_file("/data/metadata.csv", "a|A\nsub/b|B\n");
  env.add_file("/mnt/hdd/wavs/a.wav", "RIFF");
  env.add_file("/mnt/hdd/wavs/sub/b.wav", "RIFF");
  env.add_link("/data/wavs", "/mnt/hdd/wavs");
  const Corpus corpus = discover_with_roots(env, {"/mnt/hdd"});
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(ids_of(corpus), (Ids{"a", "sub/b"}));
  EXPECT_EQ(clip_of(corpus, "sub/b").source, "wavs/sub/b.wav");
  EXPECT_EQ(full_path_of(corpus, "sub/b"), "/mnt/hdd/wavs/sub/b.wav");
  EXPECT_TRUE(says(refusal_of(env), "--audio-root /mnt/hdd/wavs"));
}

TEST(OutsideAudio, LinksToSingleFilesAreReadToo) {
  MemoryEnv env;
  env.add_file("/blobs/1234", "RIFF");
  env.add_link("/data/a.wav", "/blobs/1234");
  const Corpus corpus = discover_with_roots(env, {"/blobs"});
  EXPECT_EQ(ids_of(corpus), (Ids{"a"}));
  EXPECT_EQ(clip_of(corpus, "a").source, "a.wav");
  EXPECT_EQ(full_path_of(corpus, "a"), "/blobs/1234");
}

TEST(OutsideAudio, ARootIsAsConfinedAsData) {
  MemoryEnv env;
  env.add_file("/etc/secret.wav", "RIFF");
  env.add_file("/mnt/good.wav", "RIFF");
  env.add_file("/mnt/.hidden/h.wav", "RIFF");
  env.add_link("/mnt/out.wav", "/etc/secret.wav");
  env.add_link("/mnt/out", "/etc");
  env.add_link("/mnt/nowhere.wav", "/nothing");
  env.add_link("/data/linked", "/mnt");
  std::string list = nemo_line("/mnt/good.wav");
  for (const std::string bad :
       {"/mnt/out.wav", "/mnt/out/secret.wav", "/mnt/../etc/secret.wav", "/mnt/nowhere.wav",
        "/mnt/.hidden/h.wav", "/mntx/a.wav", "linked/out.wav", "linked/out/secret.wav"}) {
    list += nemo_line(bad);
  }
  env.add_file("/data/m.json", list);
  const Corpus corpus = discover_with_roots(env, {"/mnt"});
  EXPECT_EQ(ids_of(corpus), (Ids{"good"}));
  const std::string problems = problems_of(corpus);
  for (const std::string_view reason :
       {"/mnt/out.wav leads out of DATA and of each --audio-root (to /etc/secret.wav)",
        "/mnt/out leads out of DATA and of each --audio-root (to /etc/)",
        "/mnt/../etc/secret.wav leaves DATA (/data)",
        "/mnt/nowhere.wav is a FIFO, socket or device, or a link that leads nowhere",
        "is a hidden folder", "/mntx/a.wav leaves DATA",
        "linked/out.wav is a symbolic link that leaves DATA",
        "linked/out is a symbolic link that leaves DATA"}) {
    EXPECT_TRUE(says(problems, reason)) << reason << "\n" << problems;
  }
}

TEST(OutsideAudio, LoopsOfLinksAndTwoWaysInCountEachFileOnce) {
  MemoryEnv env;
  env.add_file("/mnt/x/a.wav", "RIFF");
  env.add_file("/mnt/x/y/b.wav", "RIFF");
  env.add_link("/mnt/x/y/up", "/mnt/x");
  env.add_link("/mnt/x/home", "/data");
  env.add_link("/data/one", "/mnt/x/y");
  env.add_link("/data/two", "/mnt/x");
  add_audio(env, {"own.wav"});
  const Corpus corpus = discover_with_roots(env, {"/mnt"}, {.layout = "folder"});
  EXPECT_EQ(ids_of(corpus), (Ids{"one/b", "own", "two/a"}));
}

TEST(OutsideAudio, APathThatLeadsBackIntoDataIsThatOfData) {
  MemoryEnv env;
  add_audio(env, {"wavs/a.wav"});
  env.add_link("/mnt/data", "/data");
  env.add_file("/data/m.json", nemo_line("/mnt/data/wavs/a.wav"));
  const Corpus corpus = discover_with_roots(env, {"/mnt"});
  EXPECT_EQ(problems_of(corpus), "");
  EXPECT_EQ(ids_of(corpus), (Ids{"a"}));
  EXPECT_EQ(clip_of(corpus, "a").source, "wavs/a.wav");
}

TEST(OutsideAudio, TheSecondRootHasItsOwnNumber) {
  MemoryEnv env;
  env.add_file("/data/m.json", nemo_line("/a/x.wav") + nemo_line("/b/y.wav"));
  env.add_file("/a/x.wav", "RIFF");
  env.add_file("/b/y.wav", "RIFF");
  const Corpus corpus = discover_with_roots(env, {"/a", "/b"});
  EXPECT_EQ(clip_of(corpus, "x").source, ".audio-root-1/x.wav");
  EXPECT_EQ(clip_of(corpus, "y").source, ".audio-root-2/y.wav");
}

TEST(OutsideAudio, ARootThatIsNoneIsRefusedByName) {
  MemoryEnv env;
  add_audio(env, {"a.wav"});
  env.add_file("/file", "");
  for (const auto& [root, code] :
       {std::pair("/nothing", StatusCode::kNotFound), {"/file", StatusCode::kInvalidArgument}}) {
    const auto status = discover({.env = env, .data = {"/data", {root}}, .config = {}}).status();
    EXPECT_EQ(status.code(), code);
    EXPECT_TRUE(says(status.message(), std::string("--audio-root ") + root)) << status.message();
  }
}

TEST(OutsideAudio, AnEntryOfSeveralCorporaHasRootsOfItsOwn) {
  MemoryEnv env;
  env.add_file("/one/m.json", nemo_line("/a/x.wav"));
  env.add_file("/two/m.json", nemo_line("/b/x.wav"));
  env.add_file("/a/x.wav", "RIFF");
  env.add_file("/b/x.wav", "RIFF");
  const std::vector<formats::CorporaEntry> entries{
      {.name = "one", .folder = "/one", .audio_roots = {"/a"}}, {.name = "two", .folder = "/two"}};
  const std::vector<std::string> roots{"/b"};
  const auto corpus = discover({.env = env, .data = {"", roots}, .corpora = entries, .config = {}});
  ASSERT_TRUE(corpus.ok()) << corpus.status().message();
  ASSERT_EQ(corpus->clips.size(), 2U);
  EXPECT_EQ(corpus->path_of(corpus->clips[0]), "/a/x.wav");
  EXPECT_EQ(corpus->path_of(corpus->clips[1]), "/b/x.wav");
}

}  // namespace
}  // namespace xtts::corpus
