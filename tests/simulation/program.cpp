#include "program.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "base/try.hpp"
#include "cli/app.hpp"
#include "cli/output.hpp"
#include "cli/run_command.hpp"
#include "corpus_model.hpp"
#include "maintain/column_addition.hpp"

namespace xtts::simulation {
namespace {

// A file in memory that takes what a program prints.
class Captured {
 public:
  explicit Captured(const char* name) : descriptor_(::memfd_create(name, MFD_CLOEXEC)) {}
  ~Captured() { (void)::close(descriptor_); }
  Captured(const Captured&) = delete;
  Captured& operator=(const Captured&) = delete;

  [[nodiscard]] int descriptor() const { return descriptor_; }
  [[nodiscard]] std::string text() const {
    std::string text(static_cast<std::size_t>(::lseek(descriptor_, 0, SEEK_END)), '\0');
    (void)!::pread(descriptor_, text.data(), text.size(), 0);
    return text;
  }

 private:
  int descriptor_;
};

Status add_column(Env& env, const std::string& name, const std::string& version) {
  XTTS_ASSIGN(auto addition, maintain::ColumnAddition::open(env, kCache,
                                                            {.name = name,
                                                             .version = version,
                                                             .axis = formats::Axis::kFixed,
                                                             .dtype = DType::kFloat32,
                                                             .row_shape = {1}},
                                                            {}));
  const std::vector<std::uint64_t>& positions = addition->to_make();
  for (std::size_t i = addition->done_count(); i < positions.size(); ++i) {
    XTTS_ASSIGN(const auto facts, addition->view().details(positions[i]));
    const float value = added_value(facts, version);
    XTTS_TRY(addition->put(std::as_bytes(std::span(&value, 1))));
  }
  return addition->finish().status();
}

std::vector<std::string> words_of(std::string_view command, const std::string& data) {
  std::istringstream stream{std::string(command)};
  std::vector<std::string> words;
  for (std::string word; stream >> word;) {
    std::erase(word, '\'');  // no path here needs quotes
    words.push_back(word == "DATA" ? data : word);
  }
  return words;
}

bool is_for_a_person(const std::string& word) {
  return std::ranges::any_of(word, [](char c) { return std::isalpha(c) != 0; }) &&
         std::ranges::none_of(word, [](char c) { return std::islower(c) != 0 || c == '/'; });
}

}  // namespace

void run_program(Env& env, const std::vector<std::string>& words, Outcome& outcome) {
  const Captured out("stdout");
  const Captured err("stderr");
  if (words.front() == "add_column") {
    const Status status = add_column(env, words.at(1), words.at(2));
    outcome.exit_code = cli::exit_code_of(status, 0);
    outcome.err = status.message();
    return;
  }
  if (words.front() == "read") {
    auto snapshot = read_snapshot(env, kCache);
    outcome.exit_code = cli::exit_code_of(snapshot.status(), 0);
    outcome.err = snapshot.status().message();
    if (snapshot) outcome.snapshot = std::move(*snapshot);
    return;
  }
  cli::Output results(out.descriptor(), cli::Buffering::kFull);
  cli::Output messages(err.descriptor(), cli::Buffering::kNone);
  cli::Context context(env, results, messages);
  context.caller.make_decoder = [&outcome]() -> Result<audio::MakeDecoder> {
    return make_stub_decoders(&outcome.decoded);
  };
  outcome.exit_code = cli::run_command(words, context);
  outcome.out = out.text();
  outcome.err = err.text();
}

std::vector<std::string> printed_options(const std::string& text) {
  constexpr std::string_view kAgain = "un again with --";
  const std::size_t at = text.find(kAgain);
  if (at == std::string::npos) return {};
  std::istringstream stream(text.substr(at + kAgain.size() - 2));
  std::string option;
  std::string value;
  stream >> option >> value;
  return {option, value};
}

std::vector<std::vector<std::string>> printed_commands(const std::string& text,
                                                       const std::string& data) {
  constexpr std::string_view kProgram = "xtts-precompute ";
  std::vector<std::vector<std::string>> commands;
  for (std::size_t at = text.find(kProgram); at != std::string::npos;
       at = text.find(kProgram, at + 1)) {
    const char before = at == 0 ? '\n' : text[at - 1];
    const bool is_quoted = before == '\'' || before == '`';
    const std::size_t end = text.find(is_quoted ? before : '\n', at);
    const std::size_t begin = at + kProgram.size();
    auto words = words_of(std::string_view(text).substr(begin, end - begin), data);
    if (words.size() < 2 || (!is_quoted && before != ' ' && before != '\n')) continue;
    if (std::ranges::any_of(words, is_for_a_person)) continue;
    if (std::ranges::find(commands, words) == commands.end()) commands.push_back(std::move(words));
  }
  return commands;
}

}  // namespace xtts::simulation
