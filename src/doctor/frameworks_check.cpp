#include "doctor/frameworks_check.hpp"

#include <utility>

#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using nlohmann::json;

// A speedup that is at least this in each round is no chance.
constexpr double kClearSpeedup = 1.2;

std::string word_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

json part_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() ? *found : json();
}

double value_of(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0.0;
}

std::string times_text(double low, double high) {
  return report::format_fixed(low, 1) + " to " + report::format_fixed(high, 1) + " times as fast";
}

// "graph" and "xla" of TensorFlow, "compile" of PyTorch; the others are for the evidence alone.
std::string remedy_of(const std::string& measurement) {
  if (measurement == "graph") return "Run the training step in a tf.function.";
  if (measurement == "xla") return "Compile the step: tf.function(jit_compile=True).";
  if (measurement == "compile") return "Compile the model or the step: torch.compile().";
  return {};
}

void add_measurement(const std::string& framework, const json& measured, Check& check) {
  const std::string name = word_of(measured, "name");
  const std::string what = word_of(measured, "what");
  const json speedup = part_of(measured, "speedup");
  if (!speedup.is_object()) {
    check.evidence.push_back({.what = framework + ", " + what,
                              .value = "cannot tell",
                              .source = word_of(measured, "reason")});
    return;
  }
  const double low = value_of(speedup, "low");
  const double high = value_of(speedup, "high");
  check.evidence.push_back({.what = framework + ", " + what,
                            .value = times_text(low, high),
                            .source = "measured here with a small network",
                            .number = value_of(speedup, "median"),
                            .unit = "times"});
  const std::string remedy = remedy_of(name);
  if (remedy.empty() || low < kClearSpeedup) return;
  check.findings.push_back({.status = CheckStatus::kPass,
                            .text = "Compiling works here: " + framework + ", " + what + ", is " +
                                    times_text(low, high) +
                                    ". A step of a large network gains less.",
                            .remedy = {}});
}

// A compiler that fails is what the check looks for. A measurement that tells nothing is no
// failure.
void judge_failures(const std::string& framework, const json& measured, bool has_gpu,
                    Check& check) {
  const std::string status = word_of(measured, "status");
  const std::string what = word_of(measured, "what");
  const std::string reason = word_of(measured, "reason");
  if (remedy_of(word_of(measured, "name")).empty()) return;
  if (status == "cannot_tell")
    check.findings.push_back({.status = CheckStatus::kCannotTell,
                              .text = framework + ", " + what + ": " + reason + ".",
                              .remedy = {}});
  if (status != "failed") return;
  check.findings.push_back(
      {.status = has_gpu ? CheckStatus::kFail : CheckStatus::kWarn,
       .text = framework + " cannot compile a step here (" + what + "): " + reason + ".",
       .remedy =
           "Mend what it names before you train: a step that is not compiled leaves a GPU at 10 to "
           "15 %."});
}

void add_framework(const json& framework, bool has_gpu, Check& graph, Check& cuda) {
  const std::string name = word_of(framework, "name");
  const std::string installed = word_of(framework, "installed");
  if (installed == "no") return;
  const std::string version = name + " " + word_of(framework, "version");
  // Its import had no end in time, which is no proof that anything is wrong.
  if (installed == "unclear") {
    graph.findings.push_back(
        {.status = CheckStatus::kCannotTell,
         .text = name + " cannot be judged: " + word_of(framework, "reason") + ".",
         .remedy = "Ask again while the machine is idle: its files are in memory then. If it hangs "
                   "again, run `import " +
                   name + "` in the same Python."});
    return;
  }
  if (installed != "yes") {
    graph.findings.push_back(
        {.status = CheckStatus::kFail,
         .text = name + " is installed, and cannot be used: " + word_of(framework, "reason") + ".",
         .remedy = "Install it anew, in a new virtual environment."});
    return;
  }
  for (const json& measured : part_of(framework, "measurements")) {
    add_measurement(version, measured, graph);
    judge_failures(version, measured, has_gpu, graph);
  }
  const json facts = part_of(framework, "cuda");
  const std::string built_for = word_of(facts, "built_for");
  cuda.evidence.push_back({.what = version,
                           .value = built_for.empty() ? "built for CPUs" : "CUDA " + built_for,
                           .source = word_of(facts, "source")});
  const json needs = part_of(facts, "needs");
  if (!has_gpu || !needs.is_object()) return;
  const CheckStatus status =
      status_named(word_of(needs, "status")).value_or(CheckStatus::kCannotTell);
  cuda.findings.push_back({.status = status,
                           .text = version + ": " + word_of(needs, "text") + ".",
                           .remedy = status == CheckStatus::kFail ? "Install the build of " + name +
                                                                        " that fits your driver."
                                                                  : std::string()});
}

void conclude(Check& check, const std::string& where_nothing) {
  if (check.evidence.empty() && check.findings.empty()) {
    check.summary = where_nothing;
    return;
  }
  check.status = worst_of(check.findings);
  for (const Finding& finding : check.findings) {
    if (finding.status == check.status) {
      check.summary = finding.text;
      break;
    }
  }
}

}  // namespace

Result<json> probe_frameworks(const PythonChild& python, const std::string& driver_cuda,
                              const std::function<bool()>& cancelled) {
  PythonCall call{.module = "frameworks",
                  .arguments = {"--timeout", "35"},
                  .time_limit = std::chrono::seconds(95),
                  .cancelled = cancelled};
  if (!driver_cuda.empty()) {
    call.arguments.emplace_back("--driver-cuda");
    call.arguments.push_back(driver_cuda);
  }
  return python.run(call);
}

std::vector<Check> check_frameworks(const Result<json>& probe, bool has_gpu) {
  Check graph{.name = "graph_mode", .title = "Graph mode and compilation"};
  Check cuda{.name = "cuda_versions", .title = "CUDA of the frameworks"};
  if (!probe.ok()) {
    graph.summary = cuda.summary = "Nothing was measured: " + probe.status().message() + ".";
    return {graph, cuda};
  }
  const json frameworks = part_of(*probe, "frameworks");
  if (frameworks.is_array())
    for (const json& framework : frameworks) add_framework(framework, has_gpu, graph, cuda);
  conclude(graph, "Neither TensorFlow nor PyTorch is installed in this Python.");
  if (graph.summary.empty()) graph.summary = "No compiled step was clearly faster here.";
  conclude(cuda, "No framework is installed in this Python.");
  if (!has_gpu) {
    cuda.status = CheckStatus::kCannotTell;
    cuda.summary = "There is no GPU here that their CUDA would have to fit.";
  }
  return {graph, cuda};
}

}  // namespace xtts::doctor
