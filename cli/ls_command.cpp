// ls: one clip a line.
#include "base/try.hpp"
#include "cli/clip_facts.hpp"
#include "cli/command.hpp"
#include "cli/commands.hpp"
#include "cli/stop_signal.hpp"
#include "frontend/json_text.hpp"
#include "query/fields.hpp"
#include "report/human.hpp"
#include "report/table.hpp"

namespace xtts::cli {
namespace {

using report::Align;

struct LsOptions {
  std::string cache;
  std::string where;
};

// Where the clips go: each kind of output is one of these.
class ClipSink {
 public:
  virtual ~ClipSink() = default;
  virtual void add(const ClipFacts& clip) = 0;
  virtual void end(const Status& status) = 0;
};

// {"clips": [...]} written as it comes, so that ten million clips need no memory. Damage met
// half-way is told inside the same document.
class JsonSink final : public ClipSink {
 public:
  explicit JsonSink(Context& context) : context_(context) {
    context_.begin_json_stream();
    context_.out.write("{\"clips\": [");
  }
  void add(const ClipFacts& clip) override {
    context_.out.write((is_first_ ? "\n" : ",\n") + frontend::dump_json(clip_to_json(clip)));
    is_first_ = false;
  }
  void end(const Status& status) override {
    context_.out.write("\n]");
    if (!status.ok()) {
      const nlohmann::json error = {{"code", json_code_name(status.code())},
                                    {"message", status.message()}};
      context_.out.write(", \"error\": " + frontend::dump_json(error));
    }
    context_.out.write("}\n");
  }

 private:
  Context& context_;
  bool is_first_ = true;
};

std::vector<std::string> cells_of(const ClipFacts& clip) {
  return {report::escape_controls(clip.full_id()), std::to_string(clip.plan.mel_len),
          report::format_fixed(clip.seconds, 2),   clip.split(),
          report::escape_controls(clip.speaker),   report::escape_controls(clip.text())};
}

const std::vector<Align> kColumns{Align::kLeft, Align::kRight, Align::kRight,
                                  Align::kLeft, Align::kLeft,  Align::kLeft};

// Tabs for pipes, nothing cut.
class TabSink final : public ClipSink {
 public:
  explicit TabSink(Context& context) : context_(context) {}
  void add(const ClipFacts& clip) override {
    report::Table row(kColumns);
    row.add_row(cells_of(clip));
    context_.print(row.render_tabs());
  }
  void end(const Status&) override {}

 private:
  Context& context_;
};

// Aligned within pages of lines, cut at the terminal's edge.
class TerminalSink final : public ClipSink {
 public:
  explicit TerminalSink(Context& context) : context_(context), page_(kColumns) {}
  void add(const ClipFacts& clip) override {
    page_.add_row(cells_of(clip));
    if (++row_count_ % kPageRows == 0) print_page();
  }
  void end(const Status&) override { print_page(); }

 private:
  static constexpr std::uint64_t kPageRows = 1000;
  void print_page() {
    context_.print(page_.render(0, context_.out.width()));
    context_.out.flush();
    page_ = report::Table(kColumns);
  }
  Context& context_;
  report::Table page_;
  std::uint64_t row_count_ = 0;
};

std::unique_ptr<ClipSink> make_sink(Context& context) {
  if (context.flags.json) return std::make_unique<JsonSink>(context);
  if (context.out.is_terminal()) return std::make_unique<TerminalSink>(context);
  return std::make_unique<TabSink>(context);
}

Status list_clips(Context& context, reader::CacheView& view,
                  const std::optional<query::Expression>& where, ClipSink& sink,
                  std::uint64_t& listed) {
  const query::Tables tables = query::Tables::of(view.manifest());
  static const formats::RecordFacts kNoFacts;
  const bool plan_decides = where && !where->needs_facts();
  for (std::uint64_t position = 0; position < view.size(); ++position) {
    if (stop_requested()) return {StatusCode::kCancelled, "stopped"};
    if (context.out.is_abandoned()) return {};
    XTTS_ASSIGN(const formats::PlanRow plan, view.plan_row(position));
    if (plan_decides && !where->matches({tables, plan, kNoFacts})) continue;
    XTTS_ASSIGN(formats::RecordFacts facts, view.details(position));
    if (where && !plan_decides && !where->matches({tables, plan, facts})) continue;
    sink.add(describe_clip(tables, plan, std::move(facts)));
    ++listed;
  }
  return {};
}

Status run_ls(Context& context, const LsOptions& options) {
  std::optional<query::Expression> where;
  if (!options.where.empty()) {
    XTTS_ASSIGN(where, query::Expression::parse(options.where));
  }
  XTTS_ASSIGN(const auto view, reader::CacheView::open(context.env, options.cache));
  const auto sink = make_sink(context);
  std::uint64_t listed = 0;
  const Status status = list_clips(context, *view, where, *sink, listed);
  sink->end(status);
  if (status.ok() && !context.out.is_abandoned()) {
    context.debug(report::format_count(listed) + " of " +
                  report::format_counted(view->size(), "clip", "clips"));
  }
  return status;
}

std::string fields_help() {
  report::Table table({Align::kLeft, Align::kLeft});
  for (const query::Field& field : query::fields()) {
    table.add_row({std::string(field.name), std::string(field.help)});
  }
  return "Fields of --where (== != < <= > >=, ~ for a regular expression, and, or, not, "
         "parentheses):\n" +
         table.render(2) + "\n";
}

}  // namespace

void add_ls_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<LsOptions>();
  Command(app, context, "ls", "List clips, one a line: id, frames, seconds, split, speaker, text")
      .required("CACHE", options->cache, "The cache's folder")
      .option("--where", options->where, "EXPRESSION", "Only clips for which this is true")
      .notes(fields_help())
      .examples(
          "xtts-precompute ls ./cache\n"
          "xtts-precompute ls ./cache --where 'seconds > 10 and speaker == \"anna\"'\n"
          "xtts-precompute ls ./cache --where 'text ~ \"^[Tt]he \" or cut' | cut -f1\n"
          "xtts-precompute ls ./cache --json | jq -r '.clips[].id'")
      .runs([&context, options] { return run_ls(context, *options); });
}

}  // namespace xtts::cli
