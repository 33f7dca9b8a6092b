// Hdf5Layout lets libhdf5 decide where the datasets of a shard lie and write all other bytes, in a
// memfd. The datasets are allocated and never written, so the memfd stays a sparse file of two
// pages for any size of shard. The image is the pages() of this file with the datasets put in
// (hdf5_container.cpp).
//
// This is the only file that calls libhdf5 (hdf5_library.hpp loads it). Not every build of that
// library is thread-safe, so one lock guards all calls; any thread may make a layout. The
// library's own printing of errors is off during the calls. Failures: kResource (memory or /proc
// refused; in the library's words).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "store/memory_file.hpp"
#include "xtts/status.hpp"

namespace xtts::store {

// The types as other programs see them, little-endian. kText: UTF-8 of fixed size, padded with
// zeros.
enum class Hdf5Type : std::uint8_t {
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kInt16,
  kInt32,
  kInt64,
  kFloat16,
  kFloat32,
  kText,
};

struct Hdf5Attribute {
  std::string name;
  std::variant<std::string, std::uint64_t, std::vector<std::uint64_t>> value;
};

struct Hdf5Dataset {
  std::string name;
  Hdf5Type type = Hdf5Type::kUInt8;
  std::uint64_t text_bytes = 0;  // of kText: at least 1
  std::vector<std::uint64_t> shape;
  std::vector<Hdf5Attribute> attributes;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept;
};

struct Hdf5Description {
  std::vector<Hdf5Attribute> attributes;  // of the root
  std::vector<Hdf5Dataset> datasets;      // their data lie in this order
};

class Hdf5Layout {
 public:
  [[nodiscard]] static Result<Hdf5Layout> of(const Hdf5Description& description);

  // The file; the datasets' bytes in it are zero. Valid while this object lives.
  [[nodiscard]] std::span<const std::byte> pages() const noexcept { return pages_; }
  // The offset of each dataset, in the order of the description; nullopt: no elements.
  [[nodiscard]] const std::vector<std::optional<std::uint64_t>>& offsets() const noexcept {
    return offsets_;
  }

 private:
  explicit Hdf5Layout(MemoryFile file) : file_(std::move(file)) {}

  MemoryFile file_;
  std::span<const std::byte> pages_;
  std::vector<std::optional<std::uint64_t>> offsets_;
};

}  // namespace xtts::store
