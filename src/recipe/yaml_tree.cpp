#include "recipe/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <exception>
#include <istream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "base/utf8.hpp"

namespace xtts::recipe {
namespace {

using Kind = YamlNode::Kind;

std::uint32_t line_of(const YAML::Mark& mark) {
  return static_cast<std::uint32_t>(mark.line + 1);
}

// yaml-cpp reports "?" for a plain node and "!" for a quoted scalar; anything else was written by
// hand.
bool has_own_tag(const std::string& tag) {
  return !tag.empty() && tag != "?" && tag != "!";
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    leaf(Kind::kNull, mark);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override {
    leaf(Kind::kAlias, mark);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    YamlNode node = node_of(has_own_tag(tag) ? Kind::kTagged : Kind::kScalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    close(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& /*tag*/,
                       YAML::anchor_t /*anchor*/, YAML::EmitterStyle::value /*style*/) override {
    open(Kind::kList, mark);
  }
  void OnSequenceEnd() override { close_open(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    open(Kind::kMap, mark);
  }
  void OnMapEnd() override { close_open(); }

  std::optional<YamlNode> root;
  std::optional<std::uint32_t> line_of_bad_key;  // a list or map as a key, or none

 private:
  struct Frame {
    YamlNode node;
    std::optional<YamlNode> key;  // of a map: its value comes next
  };

  static YamlNode node_of(Kind kind, const YAML::Mark& mark) {
    YamlNode node;
    node.kind = kind;
    node.line = line_of(mark);
    return node;
  }
  void leaf(Kind kind, const YAML::Mark& mark) { close(node_of(kind, mark)); }
  void open(Kind kind, const YAML::Mark& mark) {
    stack_.push_back({node_of(kind, mark), std::nullopt});
  }
  void close_open() {
    YamlNode node = std::move(stack_.back().node);
    stack_.pop_back();
    close(std::move(node));
  }
  void close(YamlNode node) {
    if (stack_.empty()) {
      root = std::move(node);
      return;
    }
    Frame& parent = stack_.back();
    if (parent.node.kind == Kind::kList) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.key) {
      if (node.kind != Kind::kScalar && !line_of_bad_key) line_of_bad_key = node.line;
      parent.key = std::move(node);
    } else {
      parent.node.entries.push_back({parent.key->text, parent.key->line, std::move(node)});
      parent.key.reset();
    }
  }

  std::vector<Frame> stack_;
};

Status fail(std::string_view origin, std::size_t line, std::string_view problem) {
  return {StatusCode::kInvalidArgument, formatted("{}:{}: {}", origin, line, problem)};
}

Status check_bytes(std::string_view text, std::string_view origin) {
  if (text.size() > kYamlBytesMax) {
    return {StatusCode::kInvalidArgument,
            formatted("{}: {} bytes, at most {}", origin, text.size(), kYamlBytesMax)};
  }
  const auto line_at = [&](std::size_t offset) {
    return 1 + static_cast<std::size_t>(std::count(
                   text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n'));
  };
  if (const std::size_t valid = utf8_valid_bytes(text); valid != text.size()) {
    return fail(origin, line_at(valid), "not UTF-8");
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return fail(origin, line_at(nul), "holds a NUL byte");
  }
  // For YAML a CR alone ends a line; for yaml-cpp it does not, and whole entries would be lost.
  for (std::size_t cr = text.find('\r'); cr != std::string_view::npos;
       cr = text.find('\r', cr + 1)) {
    if (cr + 1 < text.size() && text[cr + 1] == '\n') continue;
    return fail(origin, line_at(cr),
                "a line ends in CR alone, as the old Mac OS wrote them: make it end in LF, as "
                "\"tr '\\r' '\\n' <OLD >NEW\" does");
  }
  return {};
}

// Two documents in a file: which one counts would be a guess.
Result<bool> build_tree(std::string_view text, std::string_view origin, TreeBuilder& builder) {
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    if (!parser.HandleNextDocument(builder)) return false;
    TreeBuilder second;
    if (parser.HandleNextDocument(second) && second.root) {
      return fail(origin, second.root->line, "a second document begins: keep one only");
    }
    return true;
  } catch (const YAML::Exception& error) {
    const int line = error.mark.is_null() ? 0 : error.mark.line;
    return fail(origin, static_cast<std::size_t>(line) + 1, "not YAML: " + error.msg);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    return Status(StatusCode::kInvalidArgument,
                  formatted("{}: not YAML: {}", origin, error.what()));
  }
}

}  // namespace

std::string_view describe(const YamlNode& node) {
  switch (node.kind) {
    case Kind::kNull:
      return "nothing";
    case Kind::kScalar:
      return "a single value";
    case Kind::kList:
      return "a list";
    case Kind::kMap:
      return "a section";
    case Kind::kAlias:
      return "an alias";
    case Kind::kTagged:
      return "a tagged value";
  }
  return "something else";
}

Result<YamlNode> read_yaml(std::string_view text, std::string_view origin) {
  XTTS_TRY(check_bytes(text, origin));
  TreeBuilder builder;
  XTTS_ASSIGN(const bool found, build_tree(text, origin, builder));
  if (!found || !builder.root || builder.root->kind == Kind::kNull) {
    return Status(StatusCode::kInvalidArgument, std::string(origin) + ": holds nothing");
  }
  if (builder.line_of_bad_key)
    return fail(origin, *builder.line_of_bad_key, "a key must be a word");
  return std::move(*builder.root);
}

Result<YamlNode> read_yaml_map(std::string_view text, std::string_view origin) {
  XTTS_ASSIGN(YamlNode root, read_yaml(text, origin));
  if (root.kind == Kind::kMap) return root;
  return fail(origin, root.line,
              "expected 'key: value' lines, found " + std::string(describe(root)));
}

}  // namespace xtts::recipe
