#include "doctor/help_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "report/human.hpp"

namespace xtts::doctor {
namespace {

using report::format_count;
using report::format_fixed;
using report::format_percent;
using report::format_short;

// Data may take this share of a step: the users' own judgement.
constexpr double kGoodShare = 0.3;
// Below this a gain is within the noise of training.
constexpr double kWorthwhile = 1.15;
// A training step is "the model's" from this share on: the users' third picture.
constexpr double kModelShare = 0.8;
// The users' second picture: a GPU that is steadily this low, in percent.
constexpr double kLowUtilization = 20.0;
constexpr double kSteadyDeviation = 5.0;
// Handing a batch over, and what else a trainer does between steps. A loader that keeps all
// processors busy makes the trainer's own thread wait for one.
constexpr double kOverlapLoss = 0.1;
constexpr double kBusyLoss = 0.2;
// How far two trainings with the same data differ by themselves.
constexpr double kRunMargin = 0.03;
// Steps for which a table shows the prediction where no step is known.
constexpr std::array<double, 5> kUsualSteps{25.0, 50.0, 100.0, 200.0, 500.0};

std::string range_text(const Range& range, const std::string& unit) {
  const std::string low = format_short(range.low);
  const std::string high = format_short(range.high);
  return (low == high ? low : low + " to " + high) + unit;
}

std::string gain_text(const Range& gain) {
  const std::string low = format_fixed(gain.low, 1);
  const std::string high = format_fixed(gain.high, 1);
  return (low == high ? low : low + " to " + high) + " times as fast";
}

std::string share_text(const Range& share) {
  const std::string low = format_fixed(1e2 * share.low, 0);
  const std::string high = format_fixed(1e2 * share.high, 0);
  return (low == high ? low : low + " to " + high) + " %";
}

// A part of an epoch is an epoch.
std::string epochs_text(const Range& epochs) {
  const auto whole = [](double value) {
    return static_cast<std::uint64_t>(std::ceil(std::clamp(value, 1.0, 1e6)));
  };
  const std::uint64_t low = whole(epochs.low);
  const std::uint64_t high = whole(epochs.high);
  if (low == high) return report::format_counted(low, "epoch", "epochs");
  return format_count(low) + " to " + report::format_counted(high, "epoch", "epochs");
}

Range step_with(const HelpQuestion& question, const Supply& supply, Range step_ms) {
  const Range batch = batch_ms_of(supply, question.batch_size);
  const Range sum{step_ms.low + batch.low, step_ms.high + batch.high};
  if (!supply.is_overlapped) return sum;
  const Range overlapped{std::max(step_ms.low, batch.low), std::max(step_ms.high, batch.high)};
  const double work_ms = supply.cpu_ms_per_clip * question.batch_size / question.usable_cores;
  if (!question.step_uses_cpu) {
    const double busy = std::min(work_ms / overlapped.low, 1.0);
    const double most = overlapped.high * (1.0 + kOverlapLoss + kBusyLoss * busy);
    return {overlapped.low, std::min(sum.high, most)};
  }
  // The step and the loader share the processors. At the least the work of both is spread over
  // them. At the most the step stands still meanwhile: its threads wait for one another, so all of
  // them wait for the one whose processor a worker takes.
  const double whole_work_ms = work_ms * question.usable_cores;
  return {
      std::max(overlapped.low, step_ms.low + (1.0 - kOverlapLoss) * std::min(work_ms, batch.low)),
      step_ms.high + std::max(batch.high, whole_work_ms)};
}

Range divided(const Range& a, const Range& b) {
  return {a.low / b.high, a.high / b.low};
}

Range spanned(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Range share_of_step(double step_ms, const Range& whole_ms) {
  return {std::min(step_ms / whole_ms.high, 1.0), std::min(step_ms / whole_ms.low, 1.0)};
}

Evidence range_row(std::string what, const Range& range, const std::string& unit,
                   std::string source) {
  return {.what = std::move(what),
          .value = range_text(range, " " + unit),
          .source = std::move(source),
          .number = range.middle(),
          .unit = unit};
}

void add_supply(const Supply& supply, std::uint32_t batch_size, Check& check) {
  check.evidence.push_back(range_row("clips a second, " + supply.way, supply.clips_per_s, "1/s",
                                     supply.rate_has_reads
                                         ? "measured, with reads: the system keeps nothing of this "
                                           "storage in memory"
                                         : "measured, files in memory"));
  if (supply.disk_batch_ms) {
    std::string source = supply.stays_in_memory
                             ? "measured; only in the first epoch, since all fits into memory"
                             : "measured; in each epoch, since it does not fit into memory";
    if (supply.disk_batch_ms->low < supply.disk_batch_ms->high)
      source += "; at most, because clips so small do not tell how fast a cache's large files come";
    check.evidence.push_back(range_row("reading a batch from the storage, " + supply.way,
                                       *supply.disk_batch_ms, "ms", std::move(source)));
  }
  check.evidence.push_back(range_row("a batch of " + std::to_string(batch_size) + ", " + supply.way,
                                     batch_ms_of(supply, batch_size), "ms", "by the rows above"));
}

void add_prediction(const HelpQuestion& question, const Prediction& found, Check& check) {
  const std::string model = "predicted";
  check.evidence.push_back(
      range_row("the step without a wait for data", *question.step_ms, "ms", question.step_source));
  if (question.step_uses_cpu)
    check.evidence.push_back({.what = "processors that step and loader share",
                              .value = format_short(question.usable_cores),
                              .source = "training runs on the CPU (--train-on)",
                              .number = question.usable_cores,
                              .unit = "processors"});
  check.evidence.push_back(range_row("the step now", found.step_ms_now, "ms",
                                     question.measured_step_ms ? question.profile_source : model));
  check.evidence.push_back(range_row("the step from a cache", found.step_ms_cached, "ms", model));
  check.evidence.push_back(
      {.what = "how many times as fast",
       .value = format_fixed(found.gain.low, 2) + " to " + format_fixed(found.gain.high, 2),
       .source = model,
       .number = found.gain.middle(),
       .unit = "times"});
  const auto share_row = [&](const std::string& what, const Range& share) {
    check.evidence.push_back({.what = what,
                              .value = share_text(share),
                              .source = model,
                              .number = share.middle(),
                              .unit = "share"});
  };
  share_row("share of a step that is computing, now", found.utilization_now);
  share_row("share of a step that is computing, from a cache", found.utilization_cached);
  const auto bar = [](const std::string& label, const Range& range) {
    return ChartBar{.label = label, .value = range.middle(), .low = range.low, .high = range.high};
  };
  check.charts.push_back(
      {.title = "A training step, before and after",
       .note = model,
       .content = BarsChart{
           .unit = "ms",
           .bars = {bar("now", found.step_ms_now), bar("from a cache", found.step_ms_cached),
                    bar("without a wait", *question.step_ms)}}});
  const double own_ms = question.step_ms->middle();
  check.charts.push_back(
      {.title = "The split of a step now",
       .note = model,
       .content = StackChart{
           .unit = "ms",
           .parts = {{"the model", own_ms},
                     {"waiting for data", std::max(found.step_ms_now.middle() - own_ms, 0.0)}}}});
  if (question.build_s)
    check.evidence.push_back(
        range_row("building the cache", *question.build_s, "s", "by the rate of this program"));
  if (found.saved_s_per_epoch)
    check.evidence.push_back(
        range_row("saved in each epoch", *found.saved_s_per_epoch, "s", model));
  if (found.epochs_to_break_even)
    check.evidence.push_back(
        range_row("epochs until building has paid", *found.epochs_to_break_even, "epochs", model));
}

// Without a step: what steps of usual lengths would gain.
void add_usual_steps(const HelpQuestion& question, Check& check) {
  for (const double step : kUsualSteps) {
    const Prediction found = predict(question, {step, step});
    check.evidence.push_back({.what = "with a step of " + format_short(step) + " ms",
                              .value = gain_text(found.gain) + "; it computes " +
                                       share_text(found.utilization_now) + " of the time now, " +
                                       share_text(found.utilization_cached) + " from a cache",
                              .source = "predicted",
                              .number = found.gain.middle(),
                              .unit = "times"});
  }
}

// The longest step that a cache makes clearly faster; unset: there is none, or all are.
std::optional<double> longest_step_helped(const HelpQuestion& question) {
  const auto helps = [&](double step_ms) {
    return predict(question, {step_ms, step_ms}).gain.middle() >= kWorthwhile;
  };
  double low = 1.0;
  double high = 1e6;
  if (!helps(low) || helps(high)) return std::nullopt;
  while (high / low > 1.01) {
    const double middle = std::sqrt(low * high);
    (helps(middle) ? low : high) = middle;
  }
  return low;
}

void judge_without_step(const HelpQuestion& question, Check& check) {
  const Range batch = batch_ms_of(question.on_the_fly, question.batch_size);
  const std::string loading = "Loading a batch of " + std::to_string(question.batch_size) +
                              " on the fly takes " + range_text(batch, " ms") + ".";
  check.summary = loading + " Give --step-ms to get a verdict.";
  if (!question.cache) return;
  add_usual_steps(question, check);
  if (const auto step_ms = longest_step_helped(question))
    check.summary = "A cache helps if your training step takes less than about " +
                    format_fixed(*step_ms, 0) + " ms. " + loading +
                    " Give --step-ms to get a verdict.";
}

std::string_view words_of(Picture picture) {
  switch (picture) {
    case Picture::kDataLate:
      return "data that comes late";
    case Picture::kNotCompiled:
      return "a step that is not compiled";
    case Picture::kModel:
      return "the model's own work";
    case Picture::kUnknown:
      break;
  }
  return "cannot tell";
}

void judge_picture(Picture picture, const std::string& source, Check& check) {
  check.evidence.push_back({.what = "what a GPU waits for here",
                            .value = std::string(words_of(picture)),
                            .source = source});
  if (picture == Picture::kNotCompiled)
    check.findings.push_back(
        {.status = CheckStatus::kFail,
         .text = "The GPU is low and steady, and the step does not wait for data: this is a step "
                 "that is not compiled. Precomputing does not mend it.",
         .remedy = "Run the step in a compiled graph: @tf.function with jit_compile, or "
                   "torch.compile.",
         .gain = Gain{
             .low = 2.0, .high = 3.0, .basis = "documented by the trainer's users, not measured"}});
}

}  // namespace

Range batch_ms_of(const Supply& supply, std::uint32_t batch_size) {
  const Range compute{1e3 * batch_size / supply.clips_per_s.high,
                      1e3 * batch_size / supply.clips_per_s.low};
  if (supply.stays_in_memory || !supply.disk_batch_ms) return compute;
  return {std::max(compute.low, supply.disk_batch_ms->low),
          compute.high + supply.disk_batch_ms->high};
}

Prediction predict(const HelpQuestion& question, Range step_ms) {
  const double steps = static_cast<double>(question.clip_count) / std::max(question.batch_size, 1U);
  // Both ways have the same step, so a gain is that of one step, at either end of its range.
  const auto at = [&](double step) {
    Prediction one;
    one.step_ms_now = step_with(question, question.on_the_fly, {step, step});
    if (const auto& measured = question.measured_step_ms)
      one.step_ms_now = {std::max(measured->low, step), std::max(measured->high, step)};
    one.step_ms_cached = step_with(question, *question.cache, {step, step});
    const Range gain = divided(one.step_ms_now, one.step_ms_cached);
    one.gain = {gain.low * (1.0 - kRunMargin), gain.high * (1.0 + kRunMargin)};
    one.utilization_now = share_of_step(step, one.step_ms_now);
    one.utilization_cached = share_of_step(step, one.step_ms_cached);
    one.saved_s_per_epoch = Range{steps * (one.step_ms_now.low - one.step_ms_cached.high) / 1e3,
                                  steps * (one.step_ms_now.high - one.step_ms_cached.low) / 1e3};
    return one;
  };
  const Prediction shortest = at(step_ms.low);
  const Prediction longest = at(step_ms.high);
  Prediction found;
  found.step_ms_now = spanned(shortest.step_ms_now, longest.step_ms_now);
  found.step_ms_cached = spanned(shortest.step_ms_cached, longest.step_ms_cached);
  found.gain = spanned(shortest.gain, longest.gain);
  found.utilization_now = spanned(shortest.utilization_now, longest.utilization_now);
  found.utilization_cached = spanned(shortest.utilization_cached, longest.utilization_cached);
  const Range saved = spanned(*shortest.saved_s_per_epoch, *longest.saved_s_per_epoch);
  if (saved.low > 0.0) {
    found.saved_s_per_epoch = saved;
    if (question.build_s) found.epochs_to_break_even = divided(*question.build_s, saved);
  }
  return found;
}

Picture picture_of(const HelpQuestion& question) {
  const bool waits = question.measured_data_share.value_or(0.0) > kGoodShare;
  if (waits) return Picture::kDataLate;
  if (question.measured_data_share && question.gpu_utilization &&
      *question.gpu_utilization < kLowUtilization &&
      question.gpu_utilization_std.value_or(kSteadyDeviation) <= kSteadyDeviation)
    return Picture::kNotCompiled;
  if (question.measured_data_share && *question.measured_data_share < 1.0 - kModelShare)
    return Picture::kModel;
  if (!question.step_ms || !question.cache) return Picture::kUnknown;
  const Prediction found = predict(question, *question.step_ms);
  if (found.gain.low >= kWorthwhile) return Picture::kDataLate;
  return found.utilization_now.low >= kModelShare ? Picture::kModel : Picture::kUnknown;
}

namespace {

// The rates of a loader that the trainer may not use promise nothing.
Check without_promise(const HelpQuestion& question, Check check) {
  std::string text = "The loader of your trainer (" + question.trainer +
                     ") was not timed, so no gain is promised. Made " + question.on_the_fly.way +
                     ", this corpus gives " + range_text(question.on_the_fly.clips_per_s, "") +
                     " clips a second";
  if (question.cache)
    text += ", and " + range_text(question.cache->clips_per_s, "") + " from a cache";
  check.findings.insert(
      check.findings.begin(),
      Finding{.status = CheckStatus::kCannotTell,
              .text = text + ".",
              .remedy = "Time your training, as it is: `xtts-precompute trace -- python train.py`. "
                        "`xtts-precompute profile --loader --step --json` makes a file for "
                        "--profile."});
  check.status = worst_of(check.findings);
  check.summary = check.findings.front().text;
  return check;
}

}  // namespace

Check check_help(const HelpQuestion& question) {
  Check check{.name = "will_it_help", .title = "Will precomputing help?"};
  add_supply(question.on_the_fly, question.batch_size, check);
  if (question.cache) add_supply(*question.cache, question.batch_size, check);
  if (question.measured_data_share)
    check.evidence.push_back({.what = "share of your step that data costs",
                              .value = format_percent(*question.measured_data_share),
                              .source = question.profile_source,
                              .number = question.measured_data_share,
                              .unit = "share"});
  const Picture picture = picture_of(question);
  judge_picture(picture,
                question.measured_data_share ? question.profile_source
                                             : "the prediction; a profile would tell more",
                check);
  if (!question.trainer.empty() && !question.measured_step_ms)
    return without_promise(question, std::move(check));
  if (!question.step_ms) {
    judge_without_step(question, check);
    if (!check.findings.empty()) check.status = worst_of(check.findings);
    return check;
  }
  if (!question.cache) {
    check.summary = "No cache could be measured, so nothing is predicted.";
    return check;
  }
  const Prediction found = predict(question, *question.step_ms);
  add_prediction(question, found, check);
  const std::string numbers = gain_text(found.gain) + ": a step of " +
                              range_text(found.step_ms_now, " ms") + " becomes " +
                              range_text(found.step_ms_cached, " ms");
  const bool is_measured = question.is_trainers_way || question.measured_step_ms.has_value();
  if (found.gain.middle() < kWorthwhile && !is_measured) {
    // This program is faster than librosa, so its own rate proves no "No".
    check.findings.insert(
        check.findings.begin(),
        Finding{.status = CheckStatus::kCannotTell,
                .text = "Not if your loader is as fast as this program: training would become at "
                        "most " +
                        format_fixed(std::max(found.gain.high, 1.0), 2) +
                        " times as fast. Your loader was not measured, because librosa could not "
                        "be run here.",
                .remedy = "Name the Python that you train with (--python), or give a profile of "
                          "your training: `xtts-precompute profile --loader --step --json`."});
  } else if (found.gain.middle() < kWorthwhile) {
    check.findings.insert(
        check.findings.begin(),
        Finding{.status = CheckStatus::kPass,
                .text = "No: data is not what training waits for. At most it becomes " +
                        format_fixed(std::max(found.gain.high, 1.0), 2) + " times as fast.",
                .remedy = picture == Picture::kNotCompiled
                              ? std::string()
                              : "Look at the model's own step: `xtts-precompute profile`, or "
                                "xp.StepProfiler around your step."});
  } else {
    const bool is_sure = found.gain.low >= kWorthwhile;
    const std::string against =
        question.measured_step_ms ? "" : "against loading " + question.on_the_fly.way + ", ";
    std::string text =
        (is_sure ? "Yes: " : "Perhaps: ") + against + "training becomes " + numbers + ".";
    text += question.step_uses_cpu ? " This is for training on the CPU."
                                   : " This is for training on a GPU.";
    if (!is_measured)
      text +=
          " Your own loader was not measured: librosa is not there, so this program's stands "
          "for it.";
    if (found.epochs_to_break_even && !question.has_cache)
      text += " Building takes " + report::format_estimate(question.build_s->middle()) +
              ", which is saved after " + epochs_text(*found.epochs_to_break_even) + ".";
    check.findings.insert(
        check.findings.begin(),
        Finding{.status = is_sure ? CheckStatus::kFail : CheckStatus::kWarn,
                .text = std::move(text),
                .remedy = std::string(question.has_cache
                                          ? "Train from the cache."
                                          : "Build a cache with `xtts-precompute DATA CACHE`, and "
                                            "train from it.") +
                          (question.measured_step_ms
                               ? ""
                               : " `xtts-precompute trace -- python train.py` times your own "
                                 "loader."),
                .gain = Gain{.low = std::max(found.gain.low, 1.0),
                             .high = found.gain.high,
                             .basis = "predicted from rates measured here"}});
  }
  check.status = worst_of(check.findings);
  check.summary = check.findings.front().text;
  return check;
}

}  // namespace xtts::doctor
