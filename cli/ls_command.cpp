// ls: one clip a line.
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/formatted.hpp"
#include "base/nearest_name.hpp"
#include "base/try.hpp"
#include "cli/clip_description.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/stop_signal.hpp"
#include "query/fields.hpp"
#include "reader/cache_set.hpp"
#include "report/human.hpp"
#include "report/table.hpp"
#include "request/json_text.hpp"

namespace xtts::cli {
namespace {

Status unknown_column(std::string_view name) {
  std::vector<std::string> known;
  for (const query::Field& field : query::fields()) known.emplace_back(field.name);
  const std::string near = nearest_of(name, known);
  return {StatusCode::kInvalidArgument,
          formatted("--columns: '{}' is no column{}; `xtts-precompute ls --help` lists them",
                    report::escape_controls(name),
                    near.empty() ? "" : formatted("; did you mean '{}'?", near))};
}

// Shows six digits, enough for a person to compare. --json has every digit.
std::string number_text(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                 std::chars_format::general, 6);
  return {digits.data(), end.ptr};
}

std::string cell_of(const query::Field& field, const query::Clip& clip) {
  const query::FieldValue value = field.get(clip);
  if (const auto* text = std::get_if<std::string_view>(&value))
    return report::escape_controls(*text);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "yes" : "no";
  if (const auto* rules = std::get_if<query::RuleNames>(&value)) {
    std::vector<std::string> names;
    for (const formats::Reason& reason : *rules) names.emplace_back(formats::name_of(reason));
    return report::format_list(names);
  }
  const auto* number = std::get_if<double>(&value);
  if (number == nullptr) return "";
  return field.name == "seconds" ? report::format_fixed(*number, 2) : number_text(*number);
}

// The columns of the list: fields of the query language, by name.
class LsColumns {
 public:
  static constexpr std::string_view kDefault = "id,frames,seconds,split,speaker,text";

  // Parses "id,seconds,text". kInvalidArgument names the unknown column, and the nearest known
  // one.
  [[nodiscard]] static Result<LsColumns> parse(std::string_view names);

  [[nodiscard]] std::vector<report::Align> alignment() const;
  [[nodiscard]] std::vector<std::string> header() const;
  // Gives escaped cells. An unknown value is empty. An id is the full one, with its data set.
  [[nodiscard]] std::vector<std::string> cells(const query::Tables& tables,
                                               const ClipFacts& clip) const;

 private:
  std::vector<const query::Field*> fields_;
};

Result<LsColumns> LsColumns::parse(std::string_view names) {
  LsColumns columns;
  for (std::size_t start = 0; start <= names.size();) {
    const std::size_t end = std::min(names.find(',', start), names.size());
    const std::string_view name = names.substr(start, end - start);
    const query::Field* field = query::find_field(name);
    if (field == nullptr) return unknown_column(name);
    columns.fields_.push_back(field);
    start = end + 1;
  }
  return columns;
}

std::vector<report::Align> LsColumns::alignment() const {
  std::vector<report::Align> alignment;
  for (const query::Field* field : fields_) {
    const bool is_number = field->type == query::FieldType::kNumber;
    alignment.push_back(is_number ? report::Align::kRight : report::Align::kLeft);
  }
  return alignment;
}

std::vector<std::string> LsColumns::header() const {
  std::vector<std::string> names;
  for (const query::Field* field : fields_) names.emplace_back(field->name);
  return names;
}

std::vector<std::string> LsColumns::cells(const query::Tables& tables,
                                          const ClipFacts& clip) const {
  std::vector<std::string> cells;
  for (const query::Field* field : fields_) {
    cells.push_back(field->name == "id" ? report::escape_controls(clip.full_id())
                                        : cell_of(*field, {tables, clip.plan, clip.facts}));
  }
  return cells;
}

struct LsOptions {
  std::string cache;
  std::string where;
  std::string columns;
  std::string limit;
};

// A ClipSink takes the clips. Each kind of output is one.
class ClipSink {
 public:
  virtual ~ClipSink() = default;
  virtual void add(const ClipFacts& clip) = 0;
  virtual void end(const Status& status) = 0;
};

// Writes {"clips": [...]} piece by piece, so ten million clips need no memory. If damage is met
// half-way, the same document reports it.
class JsonSink final : public ClipSink {
 public:
  explicit JsonSink(Context& context) : context_(context) {
    context_.begin_json_stream();
    context_.out.write("{\"clips\": [");
  }
  void add(const ClipFacts& clip) override {
    context_.out.write((is_first_ ? "\n" : ",\n") + request::dump_json(clip_to_json(clip)));
    is_first_ = false;
  }
  void end(const Status& status) override {
    context_.out.write("\n]");
    if (!status.ok()) {
      const nlohmann::json error = {{"code", json_code_name(status.code())},
                                    {"message", status.message()}};
      context_.out.write(", \"error\": " + request::dump_json(error));
    }
    context_.out.write("}\n");
  }

 private:
  Context& context_;
  bool is_first_ = true;
};

// Writes cells between tabs, for pipes. Cuts nothing.
class TabSink final : public ClipSink {
 public:
  TabSink(Context& context, const query::Tables& tables, const LsColumns& columns)
      : context_(context), tables_(tables), columns_(columns) {}
  void add(const ClipFacts& clip) override {
    report::Table row(columns_.alignment());
    row.add_row(columns_.cells(tables_, clip));
    context_.print(row.render_tabs());
  }
  void end(const Status&) override {}

 private:
  Context& context_;
  const query::Tables& tables_;
  const LsColumns& columns_;
};

// Writes a header and aligned columns, page by page. Cuts lines at the terminal's edge.
class TerminalSink final : public ClipSink {
 public:
  TerminalSink(Context& context, const query::Tables& tables, const LsColumns& columns)
      : context_(context), tables_(tables), columns_(columns), page_(columns.alignment()) {
    page_.add_row(columns.header());
  }
  void add(const ClipFacts& clip) override {
    page_.add_row(columns_.cells(tables_, clip));
    if (++row_count_ % kPageRows == 0) print_page();
  }
  void end(const Status&) override {
    if (row_count_ > 0) print_page();
  }

 private:
  static constexpr std::uint64_t kPageRows = 1000;
  void print_page() {
    context_.print(page_.render(0, context_.out.width()));
    context_.out.flush();
    page_ = report::Table(columns_.alignment());
  }
  Context& context_;
  const query::Tables& tables_;
  const LsColumns& columns_;
  report::Table page_;
  std::uint64_t row_count_ = 0;
};

std::unique_ptr<ClipSink> make_sink(Context& context, const query::Tables& tables,
                                    const LsColumns& columns) {
  if (context.flags.json) return std::make_unique<JsonSink>(context);
  if (context.out.is_terminal()) return std::make_unique<TerminalSink>(context, tables, columns);
  return std::make_unique<TabSink>(context, tables, columns);
}

Status list_clips(Context& context, const reader::CacheSet& clips, const query::Tables& tables,
                  const std::optional<query::Expression>& where, std::uint64_t limit,
                  ClipSink& sink, std::uint64_t& listed) {
  static const formats::RecordFacts kNoFacts;
  const bool plan_decides = where && !where->needs_facts();
  for (std::uint64_t position = 0; position < clips.size() && listed < limit; ++position) {
    if (stop_requested()) return {StatusCode::kCancelled, "stopped"};
    if (context.out.is_abandoned()) return {};
    XTTS_ASSIGN(const formats::PlanRow plan, clips.plan_row(position));
    if (plan_decides && !where->matches({tables, plan, kNoFacts})) continue;
    XTTS_ASSIGN(formats::RecordFacts facts, clips.details(position));
    if (where && !plan_decides && !where->matches({tables, plan, facts})) continue;
    sink.add(describe_clip(tables, plan, std::move(facts)));
    ++listed;
  }
  return {};
}

Result<std::uint64_t> parse_limit(const std::string& text) {
  std::uint64_t limit = std::numeric_limits<std::uint64_t>::max();
  if (text.empty()) return limit;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, limit);
  if (error == std::errc() && rest == end && limit > 0) return limit;
  return Status(StatusCode::kInvalidArgument,
                formatted("--limit is a number of clips from 1 on, not '{}'", text));
}

Status run_ls(Context& context, const LsOptions& options) {
  std::optional<query::Expression> where;
  if (!options.where.empty()) {
    XTTS_ASSIGN(where, query::Expression::parse(options.where));
  }
  if (context.flags.json && !options.columns.empty()) {
    return {StatusCode::kInvalidArgument,
            "--columns has no use with --json, which writes all that is known of each clip: leave "
            "out --columns"};
  }
  XTTS_ASSIGN(const LsColumns columns,
              LsColumns::parse(options.columns.empty() ? LsColumns::kDefault
                                                       : std::string_view(options.columns)));
  XTTS_ASSIGN(const std::uint64_t limit, parse_limit(options.limit));
  XTTS_ASSIGN(const auto clips, reader::CacheSet::open(context.env, options.cache));
  const query::Tables tables = query::Tables::of(clips->whole());
  const auto sink = make_sink(context, tables, columns);
  std::uint64_t listed = 0;
  const Status status = list_clips(context, *clips, tables, where, limit, *sink, listed);
  sink->end(status);
  if (status.ok() && !context.out.is_abandoned()) {
    context.debug(formatted("{} of {}", report::format_count(listed),
                            report::format_counted(clips->size(), "clip", "clips")));
  }
  return status;
}

std::string fields_help() {
  report::Table table({report::Align::kLeft, report::Align::kLeft});
  for (const query::Field& field : query::fields()) {
    table.add_row({std::string(field.name), std::string(field.help)});
  }
  return "Columns, and the fields of --where (== != < <= > >=, ~ for a regular expression, and, "
         "or, "
         "not, parentheses):\n" +
         table.render(2) + "\n";
}

}  // namespace

void add_ls_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<LsOptions>();
  Command(app, context, "ls", "List clips, one a line: id, frames, seconds, split, speaker, text")
      .required("CACHE", options->cache, "The cache's folder")
      .option("--where", options->where, "EXPRESSION", "List only clips for which this is true")
      .option("--columns", options->columns, "NAME,...",
              formatted("What to show of a clip ({})", LsColumns::kDefault))
      .option("--limit", options->limit, "N", "List the first N clips only")
      .notes(fields_help())
      .examples(
          "xtts-precompute ls ./cache\n"
          "xtts-precompute ls ./cache --where 'seconds > 10 and speaker == \"anna\"'\n"
          "xtts-precompute ls ./cache --where 'text ~ \"^[Tt]he \" or cut' | cut -f1\n"
          "xtts-precompute ls ./cache --columns id,peak,warning --limit 20\n"
          "xtts-precompute ls ./cache --json | jq -r '.clips[].id'")
      .runs([&context, options] { return run_ls(context, *options); });
}

}  // namespace xtts::cli
