// Recursive descent over the tokens; the grammar is in expression.hpp.
#include "base/formatted.hpp"
#include "base/nearest_name.hpp"
#include "base/try.hpp"
#include "query/expression.hpp"
#include "query/lexer.hpp"
#include "query/node.hpp"

namespace xtts::query {
namespace {

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const Field& field : fields()) names.emplace_back(field.name);
  return names;
}

std::string type_name(FieldType type) {
  switch (type) {
    case FieldType::kNumber:
      return "a number";
    case FieldType::kText:
      return "a text in quotes";
    case FieldType::kFlag:
      return "true or false";
  }
  return {};
}

Comparison comparison_of(const std::string& sign) {
  if (sign == "==") return Comparison::kEqual;
  if (sign == "!=") return Comparison::kNotEqual;
  if (sign == "<") return Comparison::kLess;
  if (sign == "<=") return Comparison::kLessEqual;
  return sign == ">" ? Comparison::kGreater : Comparison::kGreaterEqual;
}

bool is_choice(std::string_view choices, std::string_view text) {
  const std::string padded = formatted(" {} ", choices);
  return text.find(' ') == std::string_view::npos &&
         padded.find(formatted(" {} ", text)) != std::string::npos;
}

class Parser {
 public:
  Parser(std::string_view expression, std::vector<Token> tokens)
      : expression_(expression), tokens_(std::move(tokens)) {}

  Result<Node> run() {
    XTTS_ASSIGN(Node root, parse_list(NodeKind::kOr, 0));
    if (peek().kind == TokenKind::kClose) return fail(peek(), "this parenthesis was never opened");
    if (peek().kind != TokenKind::kEnd) {
      return fail(peek(), "expected 'and', 'or' or the end");
    }
    return root;
  }

 private:
  [[nodiscard]] const Token& peek() const { return tokens_[at_]; }
  [[nodiscard]] bool at_word(std::string_view word) const {
    return peek().kind == TokenKind::kWord && peek().text == word;
  }
  [[nodiscard]] Status fail(const Token& token, const std::string& message) const {
    return error_at(expression_, token.offset_bytes, message);
  }

  // "or" binds least, then "and".
  Result<Node> parse_list(NodeKind kind, std::size_t depth) {
    const bool is_or = kind == NodeKind::kOr;
    Node list;
    list.kind = kind;
    do {
      if (!list.children.empty()) ++at_;
      auto child = is_or ? parse_list(NodeKind::kAnd, depth) : parse_not(depth);
      if (!child.ok()) return child.status();
      list.children.push_back(std::move(*child));
    } while (at_word(is_or ? "or" : "and"));
    if (list.children.size() > 1) return list;
    Node only = std::move(list.children.front());
    return only;
  }

  Result<Node> parse_not(std::size_t depth) {
    if (depth > kExpressionDepthMax) return fail(peek(), "nested too deeply");
    if (at_word("not")) {
      ++at_;
      Node node;
      node.kind = NodeKind::kNot;
      XTTS_ASSIGN(Node child, parse_not(depth + 1));
      node.children.push_back(std::move(child));
      return node;
    }
    if (peek().kind == TokenKind::kOpen) {
      const Token open = peek();
      ++at_;
      XTTS_ASSIGN(Node inner, parse_list(NodeKind::kOr, depth + 1));
      if (peek().kind == TokenKind::kEnd) return fail(open, "this parenthesis is not closed");
      if (peek().kind != TokenKind::kClose) return fail(peek(), "expected 'and', 'or' or ')'");
      ++at_;
      return inner;
    }
    return parse_test();
  }

  Result<Node> parse_test() {
    XTTS_ASSIGN(const Field* field, parse_field());
    Node node;
    node.field = field;
    if (peek().kind != TokenKind::kOperator) return node;  // kIsSet
    const Token sign = peek();
    ++at_;
    if (sign.text == "~") {
      XTTS_TRY(parse_pattern(sign, node));
      return node;
    }
    node.kind = NodeKind::kCompare;
    node.comparison = comparison_of(sign.text);
    XTTS_TRY(parse_value(sign, node));
    return node;
  }

  Result<const Field*> parse_field() {
    const Token& token = peek();
    if (token.kind != TokenKind::kWord) {
      const bool ends = token.kind == TokenKind::kEnd;
      return fail(token,
                  ends && tokens_.size() == 1 ? "the expression is empty" : "expected a field");
    }
    const Field* field = find_field(token.text);
    if (field == nullptr) {
      const std::string nearest = nearest_of(token.text, field_names());
      return fail(token, formatted("there is no field '{}'{}", token.text,
                                   nearest.empty() ? "; xtts-precompute ls --help lists them"
                                                   : formatted(", did you mean '{}'?", nearest)));
    }
    ++at_;
    return field;
  }

  Status parse_pattern(const Token& sign, Node& node) {
    if (node.field->type != FieldType::kText) {
      return fail(sign, formatted("{} is {}: '~' is for texts", node.field->name,
                                  type_name(node.field->type)));
    }
    if (peek().kind != TokenKind::kText)
      return fail(peek(), "expected a regular expression in quotes");
    auto pattern = Pattern::compile(peek().text);
    if (!pattern.ok()) return fail(peek(), pattern.status().message());
    ++at_;
    node.kind = NodeKind::kMatch;
    node.pattern = std::move(*pattern);
    return {};
  }

  Status parse_value(const Token& sign, Node& node) {
    const Field& field = *node.field;
    const Token& token = peek();
    const bool is_flag_word = at_word("true") || at_word("false");
    const std::string expected =
        formatted("{} is compared with {}", field.name, type_name(field.type));
    if (field.type == FieldType::kNumber && token.kind == TokenKind::kNumber) {
      node.value = token.number;
    } else if (field.type == FieldType::kText && token.kind == TokenKind::kText) {
      if (!field.choices.empty() && !is_choice(field.choices, token.text)) {
        return fail(token, formatted("{} is one of: {}", field.name, field.choices));
      }
      node.value = token.text;
    } else if (field.type == FieldType::kFlag && is_flag_word) {
      if (sign.text != "==" && sign.text != "!=") return fail(sign, expected + " by == or !=");
      node.value = token.text == "true";
    } else if (token.kind == TokenKind::kWord && field.type == FieldType::kText) {
      return fail(token, formatted("{}: \"{}\"", expected, token.text));
    } else {
      return fail(token, expected);
    }
    ++at_;
    return {};
  }

  std::string_view expression_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

Result<Expression> Expression::parse(std::string_view text) {
  if (text.size() > kExpressionBytesMax) {
    return Status(StatusCode::kInvalidArgument, "the expression is longer than 4,096 bytes");
  }
  XTTS_ASSIGN(auto tokens, split_tokens(text));
  XTTS_ASSIGN(Node root, Parser(text, std::move(tokens)).run());
  return Expression(std::make_shared<const Node>(std::move(root)));
}

}  // namespace xtts::query
