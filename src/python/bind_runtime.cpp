// Binds RuntimeClips of include/xtts/runtime.hpp: clips that are computed when asked for.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "python/beside.hpp"
#include "python/bindings.hpp"
#include "python/builder_bindings.hpp"
#include "python/builder_options.hpp"
#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"
#include "python/memory_object.hpp"
#include "xtts/runtime.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

struct RuntimeHandle {
  std::shared_ptr<const RuntimeClips> clips;
};

// kind, stage, id, place, reason, rule, its numbers by name, what it is about
using RejectParts = std::tuple<nb::object, nb::object, nb::object, nb::object, nb::object,
                               std::string, std::map<std::string, double>, nb::object>;
// name, dtype, shape, rows a frame, padding
using RuntimeColumnFacts =
    std::tuple<std::string, std::string, std::vector<std::uint32_t>, std::uint32_t, double>;
// true rows, their number, the padding behind them
using RowParts = std::tuple<Memory, std::uint32_t, double>;
// why the clip was rejected, or None; the columns; seconds
using RecordParts = std::tuple<std::optional<RejectParts>, std::vector<RowParts>, double>;

RejectParts reject_parts(const RejectedClip& reject) {
  return {to_text(reject.kind),   to_text(reject.stage), to_text(reject.id), to_text(reject.place),
          to_text(reject.reason), reject.rule,           reject.numbers,     to_text(reject.about)};
}

// Calls `on_wait` about twenty times a second, with the seconds since the beginning.
RuntimeHandle open_runtime(const nb::dict& given, const nb::callable& on_notice,
                           const std::optional<nb::callable>& on_wait) {
  const BuildOptions options = to_build_options(given);
  std::vector<std::string> notices;
  std::optional<Result<RuntimeClips>> opened;
  const auto begin = std::chrono::steady_clock::now();
  WorkBesideGil beside(WorkBesideGil::Threads::kOwn);
  beside.run(
      [&] {
        opened.emplace(RuntimeClips::open(
            options, {.notice = [&](const std::string& text) { notices.push_back(text); }}));
      },
      [&] {
        if (!on_wait) return;
        const auto elapsed = std::chrono::steady_clock::now() - begin;
        (*on_wait)(std::chrono::duration<double>(elapsed).count());
      });
  RuntimeClips clips = must(std::move(*opened));
  for (const std::string& text : notices) on_notice(to_text(text));
  return {make_process_bound(std::move(clips))};
}

RecordParts record_of(const RuntimeHandle& self, std::uint64_t position) {
  auto made = without_gil([&]() -> Result<std::shared_ptr<const RuntimeRecord>> {
    Result<RuntimeRecord> record = self.clips->record(position);
    if (!record.ok()) return record.status();
    return std::make_shared<const RuntimeRecord>(std::move(*record));
  });
  const auto record = must(std::move(made));
  RecordParts parts;
  if (record->reject) {
    std::get<0>(parts) = reject_parts(*record->reject);
    return parts;
  }
  for (const RuntimeRecord::Column& column : record->columns) {
    std::get<1>(parts).emplace_back(memory_of(std::span(column.rows), record), column.length,
                                    column.padding);
  }
  std::get<2>(parts) = record->duration_s;
  return parts;
}

std::vector<RuntimeColumnFacts> columns_of(const RuntimeHandle& self) {
  std::vector<RuntimeColumnFacts> facts;
  for (RuntimeColumn& column : self.clips->columns()) {
    facts.emplace_back(std::move(column.name), to_string(column.dtype), std::move(column.shape),
                       column.rows_per_frame, column.padding);
  }
  return facts;
}

// The positions of a split's clips. An empty `split` means all splits.
std::vector<std::uint64_t> positions_of(const RuntimeHandle& self, const std::string& split) {
  std::vector<std::uint64_t> positions;
  for (std::uint64_t position = 0; position < self.clips->size(); ++position) {
    if (split.empty() || must(self.clips->clip(position)).split == split)
      positions.push_back(position);
  }
  return positions;
}

std::vector<std::string> ids_of(const RuntimeHandle& self,
                                const std::vector<std::uint64_t>& positions) {
  std::vector<std::string> ids;
  for (const std::uint64_t position : positions) ids.push_back(must(self.clips->clip(position)).id);
  return ids;
}

}  // namespace

void bind_runtime(nb::module_& module) {
  using nb::literals::operator""_a;
  nb::class_<RuntimeClip>(module, "RuntimeClip",
                          "What is known of a clip before it is computed. Unknown is empty.")
      .def_ro("id", &RuntimeClip::id)
      .def_ro("dataset", &RuntimeClip::dataset)
      .def_ro("split", &RuntimeClip::split)
      .def_ro("speaker", &RuntimeClip::speaker)
      .def_ro("language", &RuntimeClip::language)
      .def_ro("text", &RuntimeClip::text)
      .def_ro("text_normalized", &RuntimeClip::text_normalized)
      .def_ro("source", &RuntimeClip::source)
      .def_ro("speaker_number", &RuntimeClip::speaker_number)
      .def_ro("language_number", &RuntimeClip::language_number);
  nb::class_<RuntimeHandle>(module, "Runtime", "Clips that are computed when they are asked for.")
      .def_prop_ro("recipe", [](const RuntimeHandle& self) { return self.clips->recipe_name(); })
      .def_prop_ro("features_fingerprint",
                   [](const RuntimeHandle& self) { return self.clips->features_fingerprint(); })
      .def_prop_ro("text_fingerprint",
                   [](const RuntimeHandle& self) { return self.clips->text_fingerprint(); })
      .def_prop_ro("digest", [](const RuntimeHandle& self) { return self.clips->digest(); })
      .def_prop_ro("layout_of_data",
                   [](const RuntimeHandle& self) { return self.clips->layout_of_data(); })
      .def_prop_ro("speakers", [](const RuntimeHandle& self) { return self.clips->speakers(); })
      .def_prop_ro("languages", [](const RuntimeHandle& self) { return self.clips->languages(); })
      .def_prop_ro("columns", columns_of)
      .def_prop_ro("fault_count",
                   [](const RuntimeHandle& self) { return self.clips->fault_count(); })
      .def_prop_ro("faults_allowed",
                   [](const RuntimeHandle& self) { return self.clips->faults_allowed(); })
      .def(
          "planned_rejects",
          [](const RuntimeHandle& self) {
            std::vector<RejectParts> rejects;
            for (const RejectedClip& reject : self.clips->planned_rejects())
              rejects.push_back(reject_parts(reject));
            return rejects;
          },
          nb::sig("def planned_rejects(self) -> list[tuple[str, str, str, str, str, str, dict[str, "
                  "float], str]]"),
          "(kind, stage, id, place, reason, rule, its numbers, about) of each.")
      .def(
          "source", [](const RuntimeHandle& self) { return SourceHandle{self.clips->source()}; },
          nb::sig("def source(self) -> xtts_precompute._core.ClipSource"),
          "The source for a _core.Reader.")
      .def(
          "reject",
          [](const RuntimeHandle& self, std::uint64_t position) -> std::optional<RejectParts> {
            const auto reject = self.clips->reject(position);
            return reject ? std::optional(reject_parts(*reject)) : std::nullopt;
          },
          "position"_a,
          nb::sig(
              "def reject(self, position: int) -> tuple[str, str, str, str, str, str, dict[str, "
              "float], str] | None"),
          "Why a clip has no record, if that is known.")
      .def("__len__", [](const RuntimeHandle& self) { return self.clips->size(); })
      .def(
          "clip",
          [](const RuntimeHandle& self, std::uint64_t position) {
            return must(self.clips->clip(position));
          },
          "position"_a)
      .def("ids", ids_of, "positions"_a)
      .def("positions", positions_of, "split"_a,
           "The positions of a split, ascending. Empty means all splits.")
      .def(
          "find",
          [](const RuntimeHandle& self, const std::string& id) { return self.clips->find(id); },
          "id"_a)
      .def(
          "record", record_of, "position"_a,
          nb::sig("def record(self, position: int) -> tuple[tuple[str, str, str, str, str, str, "
                  "dict[str, float], str] | None, "
                  "list[tuple[xtts_precompute._core.Memory, int, float]], float]"),
          "Computes a clip: (kind, stage, id, place, reason, rule, its numbers, about) where it is "
          "rejected; (true rows, their number, padding) of each column; seconds.");
  module.def("open_runtime", open_runtime, "options"_a, nb::kw_only(), "on_notice"_a,
             "on_wait"_a.none(),
             nb::sig("def open_runtime(options: dict[str, object], *, on_notice: "
                     "collections.abc.Callable[[str], object], on_wait: "
                     "collections.abc.Callable[[float], object] | None) -> Runtime"),
             "Plans DATA. The options are those of build().");
}

}  // namespace xtts::python
