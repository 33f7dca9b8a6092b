// Binds Cache of include/xtts/reader.hpp.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

#include "python/bindings.hpp"
#include "python/errors.hpp"
#include "python/fork.hpp"
#include "python/gil.hpp"
#include "python/memory_object.hpp"

namespace xtts::python {
namespace {

namespace nb = nanobind;

// name, dtype, shape, axis, rows a frame, version or None, number of clips that it lacks
using ColumnFacts = std::tuple<std::string, std::string, std::vector<std::uint32_t>, std::string,
                               std::uint32_t, std::optional<std::string>, std::uint64_t>;
// The parts of a record: memory, dtype, shape, padding.
using RecordParts = std::tuple<Memory, std::string, std::vector<std::uint32_t>, double>;

// Paths come as the system's bytes, because a path need not be UTF-8.
CacheHandle open_cache(const std::vector<nb::bytes>& encoded) {
  std::vector<std::string> paths;
  for (const nb::bytes& path : encoded) paths.emplace_back(path.c_str(), path.size());
  auto cache = must(without_gil([&] { return Cache::open(std::span(paths)); }));
  return {make_process_bound(std::move(cache))};
}

std::vector<ColumnFacts> columns(const CacheHandle& self) {
  std::vector<ColumnFacts> facts;
  for (ColumnInfo& column : self.cache->columns()) {
    auto version = column.is_added ? std::optional(std::move(column.version)) : std::nullopt;
    facts.emplace_back(std::move(column.name), to_string(column.dtype), std::move(column.shape),
                       std::move(column.axis), column.rows_per_frame, std::move(version),
                       column.missing_count);
  }
  return facts;
}

RecordParts view(const CacheHandle& self, const std::string& column, std::uint64_t position) {
  const auto record = std::make_shared<const Record>(
      must(without_gil([&] { return self.cache->view(column, position); })));
  const std::span<const std::byte> bytes = record->bytes();
  return {memory_of(bytes, record), std::string(to_string(record->dtype())), record->shape(),
          record->padding()};
}

// Runs without the GIL, once for all ids. Where other threads are busy, each return to the GIL may
// take milliseconds.
Result<std::vector<std::string>> ids(const Cache& cache,
                                     const std::vector<std::uint64_t>& positions) {
  std::vector<std::string> found;
  found.reserve(positions.size());
  for (const std::uint64_t position : positions) {
    Result<std::string> id = cache.id(position);
    if (!id.ok()) return id.status();
    found.push_back(std::move(*id));
  }
  return found;
}

// means, deviations, frames, whether they are baked in
using StatisticsParts = std::tuple<std::vector<double>, std::vector<double>, std::uint64_t, bool>;

StatisticsParts statistics(const CacheHandle& self, const std::string& column) {
  ColumnStatistics found = must(without_gil([&] { return self.cache->statistics(column); }));
  return {std::move(found.mean), std::move(found.deviation), found.frame_count, found.is_baked};
}

// text, log, floor, whether it is added, range, method, whether baked in, offsets, scales
using NormalizationParts = std::tuple<std::string, std::string, double, bool, double, std::string,
                                      bool, std::vector<double>, std::vector<double>>;

std::optional<NormalizationParts> normalization(const CacheHandle& self) {
  auto found = must(self.cache->normalization());
  if (!found) return std::nullopt;
  return NormalizationParts{
      std::move(found->text), std::move(found->log),    found->floor,    found->is_floor_added,
      found->range,           std::move(found->method), found->is_baked, std::move(found->offset),
      std::move(found->scale)};
}

std::string id_of(const CacheHandle& self, std::uint64_t position) {
  std::string id = must(without_gil([&] { return self.cache->id(position); }));
  must_be_text(id, "an id");
  return id;
}

std::vector<std::string> ids_of(const CacheHandle& self,
                                const std::vector<std::uint64_t>& positions) {
  auto found = must(without_gil([&] { return ids(*self.cache, positions); }));
  for (const std::string& id : found) must_be_text(id, "an id");
  return found;
}

ClipInfo clip(const CacheHandle& self, std::uint64_t position) {
  ClipInfo info = must(without_gil([&] { return self.cache->clip(position); }));
  must_be_text(info.id, "an id");
  must_be_text(info.dataset, "the data set", info.id);
  must_be_text(info.speaker, "the speaker", info.id);
  must_be_text(info.language, "the language", info.id);
  must_be_text(info.text, "the text", info.id);
  must_be_text(info.text_normalized, "the normalized text", info.id);
  return info;
}

}  // namespace

void bind_cache(nb::module_& module) {
  nb::class_<ClipInfo>(module, "ClipInfo", "What is known of a clip. Unknown values are empty.")
      .def_ro("id", &ClipInfo::id)
      .def_ro("dataset", &ClipInfo::dataset)
      .def_ro("split", &ClipInfo::split)
      .def_ro("speaker", &ClipInfo::speaker)
      .def_ro("language", &ClipInfo::language)
      .def_ro("text", &ClipInfo::text)
      .def_ro("text_normalized", &ClipInfo::text_normalized)
      .def_ro("duration_s", &ClipInfo::duration_s)
      .def_ro("frame_count", &ClipInfo::frame_count)
      .def_ro("token_count", &ClipInfo::token_count);
  nb::class_<CacheHandle>(module, "Cache", "Caches that were opened, one generation of each.")
      .def_prop_ro("digest", [](const CacheHandle& self) { return self.cache->digest(); })
      .def_prop_ro("speakers", [](const CacheHandle& self) { return self.cache->speakers(); })
      .def_prop_ro("languages", [](const CacheHandle& self) { return self.cache->languages(); })
      .def_prop_ro("datasets", [](const CacheHandle& self) { return self.cache->datasets(); })
      .def_prop_ro("recipe", [](const CacheHandle& self) { return self.cache->recipe_name(); })
      .def_prop_ro("features_fingerprint",
                   [](const CacheHandle& self) { return self.cache->features_fingerprint(); })
      .def_prop_ro("text_fingerprint",
                   [](const CacheHandle& self) { return self.cache->text_fingerprint(); })
      .def_prop_ro("generation", [](const CacheHandle& self) { return self.cache->generation(); })
      .def_prop_ro("columns", columns)
      .def("statistics", statistics, nb::arg("column"),
           "(means, deviations, frames, whether they are baked in) of a column's channels.")
      .def("normalization", normalization,
           "(text, log, floor, whether it is added, range, method, whether baked in, offsets, "
           "scales) of the mels, or None.")
      .def("__len__", [](const CacheHandle& self) { return self.cache->size(); })
      .def("id", id_of, nb::arg("position"))
      .def("ids", ids_of, nb::arg("positions"))
      .def(
          "find",
          [](const CacheHandle& self, const std::string& id) {
            return must(without_gil([&] { return self.cache->find(id); }));
          },
          nb::arg("id"))
      .def("clip", clip, nb::arg("position"))
      .def("view", view, nb::arg("column"), nb::arg("position"),
           "(memory, dtype, shape, padding) of one record.");
  module.def("open", open_cache, nb::arg("paths"));
}

}  // namespace xtts::python
