// Random files in the manner of a config.yaml, and random edits. An edit changes exactly what it is
// asked for or nothing; and a mended file has nothing left that --fix would change. The seed is
// printed; XTTS_SEED=N repeats a run.
#include "doctor/yaml_edit.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>

#include "doctor/config_fix.hpp"
#include "doctor/trainer_fields.hpp"
#include "recipe/yaml_tree.hpp"
#include "tests/support/temp_folder.hpp"

namespace xtts::doctor {
namespace {

using recipe::YamlNode;
using xtts::testing::TempFolder;

class YamlEditProperty : public ::testing::Test {
 protected:
  YamlEditProperty() {
    const char* const given = std::getenv("XTTS_SEED");
    const std::uint64_t seed =
        given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device()();
    random_.seed(seed);
    RecordProperty("seed", std::to_string(seed));
    std::printf("XTTS_SEED=%llu\n", static_cast<unsigned long long>(seed));
  }

  std::size_t below(std::size_t end) { return random_() % end; }
  bool one_in(std::size_t count) { return below(count) == 0; }
  template <typename Value>
  const Value& any(const std::vector<Value>& values) {
    return values[below(values.size())];
  }

  std::string key() {
    static const std::vector<std::string> strange = {
        "zz", "n_mels", "\"batch_size\"", "'q'", "preprocessing_mode", "bach_size"};
    if (one_in(6)) return any(strange);
    const auto fields = trainer_fields();
    const std::string_view name = fields[below(fields.size())].name;
    return std::string(name.substr(name.find('.') + 1));
  }

  std::string value(const std::string& indent) {
    static const std::vector<std::string> values = {"1",
                                                    "0",
                                                    "200",
                                                    "true",
                                                    "no",
                                                    "1e-4",
                                                    "\"x # y\"",
                                                    "'it''s'",
                                                    "",
                                                    "~",
                                                    "null",
                                                    "[a, 'b#']",
                                                    "{a: 1}",
                                                    "&x 5",
                                                    "*x",
                                                    "!!str 5",
                                                    "a b",
                                                    "a#b",
                                                    "\"a\\\"b\"",
                                                    "8 # note",
                                                    "8\t# n",
                                                    "x   ",
                                                    "\"#\"",
                                                    "- 1",
                                                    "\"a\n    b\"",
                                                    "|\n{i}  text\n{i}  # in",
                                                    ">-\n{i}  a\n\n{i}  b",
                                                    "\n{i}- x\n{i}- y",
                                                    "\n{i}  - x",
                                                    "\n{i}  sub: 1",
                                                    "16 #",
                                                    "22050",
                                                    "\"true\"",
                                                    "\xD8\xB3\xD9\x84",
                                                    "0.5",
                                                    "1_000",
                                                    "12:30",
                                                    "yes"};
    std::string text = any(values);
    for (std::size_t at = text.find("{i}"); at != std::string::npos; at = text.find("{i}", at))
      text.replace(at, 3, indent);
    return text;
  }

  // A text that looks like a configuration, and is one most of the time.
  std::string file() {
    static const std::vector<std::string> sections = {"model", "data", "training", "extra"};
    const std::string indent(1 + below(4), ' ');
    std::string text = one_in(6) ? "# first\n---\n" : "";
    for (const std::string& section : sections) {
      if (one_in(5)) continue;
      text += section + ":" + any<std::string>({"", "", "", "", " # s", " &s", "  "}) + "\n";
      for (std::size_t count = below(7); count > 0; --count) {
        if (one_in(6)) text += any<std::string>({"\n", "  \n", indent + "# note: 1\n", "# out\n"});
        const std::string colon = any<std::string>({": ", ": ", ": ", " : ", ":  "});
        text += indent + key() + colon + value(indent) + "\n";
      }
    }
    if (one_in(8)) text += "...\n";
    if (one_in(4) && text.ends_with('\n')) text.pop_back();
    if (one_in(3)) {
      std::string with_carriages;
      for (const char c : text)
        with_carriages += c == '\n' ? std::string("\r\n") : std::string(1, c);
      text = with_carriages;
    }
    if (one_in(8)) text.insert(0, "\xEF\xBB\xBF");
    return text;
  }

  std::mt19937_64 random_;
};

// All nodes but those at `section`.`name`, as text.
std::string shape(const YamlNode& node, const std::string& place, const std::string& skipped) {
  if (place == skipped) return "";
  std::string out = place + "(" + std::to_string(static_cast<int>(node.kind)) + node.text +
                    (node.quoted ? "q" : "") + ")";
  for (const YamlNode& item : node.items) out += shape(item, place + "[]", skipped);
  for (const auto& entry : node.entries)
    out += shape(entry.value, place.empty() ? entry.key : place + "." + entry.key, skipped);
  return out;
}

std::string lines_but(const std::string& text, std::size_t skipped) {
  std::string out;
  std::size_t number = 0, from = 0;
  while (from < text.size()) {
    const std::size_t end = std::min(text.find('\n', from), text.size() - 1) + 1;
    if (++number != skipped) out += text.substr(from, end - from);
    from = end;
  }
  return out;
}

const recipe::YamlEntry* entry_of(const YamlNode& root, const std::string& section,
                                  const std::string& name) {
  for (const auto& one : root.entries) {
    if (one.key != section) continue;
    for (const auto& entry : one.value.entries)
      if (entry.key == name) return &entry;
  }
  return nullptr;
}

TEST_F(YamlEditProperty, ASetChangesOneLineAndOneValue) {
  constexpr int kFiles = 8000;
  int read = 0, made = 0;
  for (int i = 0; i < kFiles; ++i) {
    const std::string text = file();
    const std::string section = any<std::string>({"model", "data", "training"});
    std::string name = key();
    if (name.front() == '"' || name.front() == '\'') name = name.substr(1, name.size() - 2);
    const auto before = recipe::read_yaml_map(text, "f");
    const auto edited =
        set_yaml_value(text, "f", section + "." + name, "12345", ValueStyle::kPlain);
    if (!before.ok()) {
      EXPECT_FALSE(edited.ok()) << text;
      continue;
    }
    ++read;
    if (!edited.ok()) continue;
    ++made;
    const auto after = recipe::read_yaml_map(*edited, "f");
    ASSERT_TRUE(after.ok()) << text << "\n=>\n" << *edited;
    const auto* const now = entry_of(*after, section, name);
    ASSERT_NE(now, nullptr);
    EXPECT_EQ(now->value.text, "12345");
    const auto* const old = entry_of(*before, section, name);
    if (old != nullptr) {
      EXPECT_EQ(shape(*before, "", section + "." + name), shape(*after, "", section + "." + name));
      EXPECT_EQ(lines_but(text, old->line), lines_but(*edited, old->line)) << text;
    } else {
      EXPECT_GT(edited->size(), text.size());
    }
    const auto again =
        set_yaml_value(*edited, "f", section + "." + name, "12345", ValueStyle::kPlain);
    ASSERT_TRUE(again.ok()) << again.status().message() << *edited;
    EXPECT_EQ(*again, *edited);
  }
  EXPECT_GT(read, kFiles / 4);
  EXPECT_GT(made, read / 4);
}

TEST_F(YamlEditProperty, ARemovalLosesNoByte) {
  int made = 0;
  for (int i = 0; i < 8000; ++i) {
    const std::string text = file();
    const auto before = recipe::read_yaml_map(text, "f");
    if (!before.ok() || before->entries.empty()) continue;
    const auto& section = before->entries[below(before->entries.size())];
    if (section.value.entries.empty()) continue;
    const auto& entry = section.value.entries[below(section.value.entries.size())];
    const auto edited = remove_yaml_key(text, "f", section.key + "." + entry.key);
    if (!edited.ok()) continue;
    ++made;
    const auto after = recipe::read_yaml_map(*edited, "f");
    ASSERT_TRUE(after.ok());
    EXPECT_EQ(entry_of(*after, section.key, entry.key), nullptr) << text;
    std::string without = *edited;
    for (std::size_t at = 0; without.size() > text.size();) {
      at = without.find("# ", at);
      ASSERT_NE(at, std::string::npos) << text << "\n=>\n" << *edited;
      if (text.compare(at, 2, "# ") != 0) {
        without.erase(at, 2);
      } else {
        ++at;
      }
    }
    EXPECT_EQ(without, text);
  }
  EXPECT_GT(made, 200);
}

TEST_F(YamlEditProperty, AMendedFileHasNothingToMend) {
  const TempFolder folder;
  int mended = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string text = file();
    const std::string path = folder.write("config.yaml", text);
    const ConfigSituation situation =
        one_in(2) ? ConfigSituation{} : ConfigSituation{.gpu = *gpu_named("4090"), .gpu_count = 1};
    const auto first = fix_config(Env::real(), path, situation);
    const auto now = read_text_file(Env::real(), path, recipe::kYamlBytesMax);
    ASSERT_TRUE(now.ok());
    if (!first.ok() || first->changes.empty()) {
      EXPECT_EQ(*now, text);
      continue;
    }
    ++mended;
    EXPECT_TRUE(recipe::read_yaml_map(*now, "f").ok());
    const auto second = fix_config(Env::real(), path, situation);
    ASSERT_TRUE(second.ok()) << second.status().message();
    ASSERT_TRUE(second->changes.empty()) << second->changes.front().key << "\n"
                                         << text << "\n=>\n"
                                         << *now;
    EXPECT_EQ(*read_text_file(Env::real(), first->backup, recipe::kYamlBytesMax), text);
    ASSERT_TRUE(Env::real().remove_file(first->backup).ok());
  }
  EXPECT_GT(mended, 50);
}

}  // namespace
}  // namespace xtts::doctor
