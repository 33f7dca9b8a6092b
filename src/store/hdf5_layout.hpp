// Hdf5Layout: libhdf5 itself decides where the datasets of a shard lie and writes every byte that
// is not of a dataset, in a memfd. The datasets are allocated and never written, so the memfd stays
// a sparse file of two pages, whatever the size of the shard. The image is the pages() of this
// file with the datasets put in (hdf5_container.cpp).
//
// The only file of the project that calls libhdf5 (hdf5_library.hpp loads it). That library is not
// safe for threads in every build, so one lock is held round all of its calls; any thread may make
// a layout. Its own printing of errors is off meanwhile. Failures: kResource (memory or /proc
// refused; told in the library's words).
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

// Little-endian, as other programs see them; kText: UTF-8 of a fixed number of bytes, zeros behind.
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
  // Where each dataset begins, in the order of the description; nothing for one without elements.
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
