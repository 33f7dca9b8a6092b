// Sources that became links after the corpus was discovered, when nobody looks at links any more.
#include <gtest/gtest.h>

#include <filesystem>

#include "build_support.hpp"
#include "support/temp_folder.hpp"

namespace xtts::testing {
namespace {

namespace fs = std::filesystem;

// Between planning and computing somebody puts links into DATA.
class LinkingObserver final : public TestObserver {
 public:
  explicit LinkingObserver(std::string folder) : folder_(std::move(folder)) {}
  void before(const pipeline::BuildPreview&) override {
    replace("clip-0001.wav", folder_ + "/private/clip-0001.wav");
    replace("clip-0002.wav", "kept/clip-0002.wav");
    fs::rename(folder_ + "/data/deep", folder_ + "/data/deep-before");
    fs::create_symlink(folder_ + "/private", folder_ + "/data/deep");
  }

 private:
  void replace(const std::string& name, const std::string& target) const {
    fs::remove(folder_ + "/data/" + name);
    fs::create_symlink(target, folder_ + "/data/" + name);
  }
  std::string folder_;
};

TEST(ConfinedData, SourceThatBecameALinkOutOfDataIsRefused) {
  const TempFolder folder;
  for (std::uint32_t i = 0; i < 4; ++i) folder.write("data/" + clip_name(i) + ".wav", sound(i));
  folder.write("data/kept/" + clip_name(2) + ".wav", sound(2));
  folder.write("data/deep/" + clip_name(5) + ".wav", sound(5));
  folder.write("private/" + clip_name(1) + ".wav", sound(1));
  folder.write("private/" + clip_name(5) + ".wav", sound(5));
  auto request = request_for(recipe_with({"corpus.layout=folder"}));
  request.data.path = folder.path() + "/data";
  request.options.cache = folder.path() + "/cache";
  request.max_rejects.share = 1.0;
  LinkingObserver observer(folder.path());
  const auto report = pipeline::build(Env::real(), request, observer);
  ASSERT_TRUE(report.ok()) << report.status().message();
  std::set<std::string> refused;
  for (const auto& reject : report->rejects) {
    refused.insert(reject.path);
    EXPECT_NE(reject.reason.detail.find("leads out of"), std::string::npos) << reject.reason.detail;
  }
  EXPECT_EQ(refused, (std::set<std::string>{"clip-0001.wav", "deep/clip-0005.wav"}));
  EXPECT_EQ(report->record_count, 4U) << "the link that stays inside is followed";
}

}  // namespace
}  // namespace xtts::testing
