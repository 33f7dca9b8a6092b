#include "store/hdf5_layout.hpp"

#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/formatted.hpp"
#include "base/try.hpp"
#include "formats/constants.hpp"
#include "store/hdf5_library.hpp"

namespace xtts::store {
namespace {

// Up to this many links and attributes stay in the object headers. HDF5's dense storage would need
// more pages and a layout that fewer programs read.
constexpr unsigned kCompactMax = 64;

// While a Session lives, no other thread calls libhdf5 through us and the library prints nothing.
// It restores the printing afterwards, because h5py may share the library with us in one process.
class Session {
 public:
  Session() : lock_(mutex()) {
    hdf5().H5Eget_auto2(H5E_DEFAULT, &print_, &client_);
    hdf5().H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Session() { hdf5().H5Eset_auto2(H5E_DEFAULT, print_, client_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

 private:
  static std::mutex& mutex() {
    static std::mutex only;
    return only;
  }

  const std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* client_ = nullptr;
};

// The library's most specific message about its last error.
std::string last_error() {
  std::string text;
  const auto take_first = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    auto& found = *static_cast<std::string*>(out);
    if (found.empty() && error->desc != nullptr) found = error->desc;
    return 0;
  };
  (void)hdf5().H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
  return text.empty() ? "no reason given" : text;
}

Status failed(const char* operation) {
  return {StatusCode::kResource,
          formatted("making a shard image: HDF5, {}: {}", operation, last_error())};
}

Status check(herr_t code, const char* operation) {
  return code >= 0 ? Status() : failed(operation);
}

class Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Handle(hid_t id, Close how) : id_(id), close_(how) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  [[nodiscard]] hid_t id() const noexcept { return id_; }
  [[nodiscard]] Status close(const char* operation) {
    return check(close_(std::exchange(id_, -1)), operation);
  }

 private:
  hid_t id_;
  Close close_;
};

Result<Handle> handle(hid_t id, Handle::Close close, const char* operation) {
  if (id < 0) return failed(operation);
  return Handle(id, close);
}

// IEEE 754 half precision; HDF5 has a name for it only from 1.14.4 on.
Status make_half(hid_t type) {
  XTTS_TRY(check(hdf5().H5Tset_fields(type, 15, 10, 5, 0, 10), "H5Tset_fields"));
  XTTS_TRY(check(hdf5().H5Tset_size(type, 2), "H5Tset_size"));
  return check(hdf5().H5Tset_ebias(type, 15), "H5Tset_ebias");
}

Status make_text(hid_t type, std::size_t size_bytes) {
  XTTS_TRY(check(hdf5().H5Tset_size(type, size_bytes), "H5Tset_size"));
  XTTS_TRY(check(hdf5().H5Tset_cset(type, H5T_CSET_UTF8), "H5Tset_cset"));
  return check(hdf5().H5Tset_strpad(type, H5T_STR_NULLPAD), "H5Tset_strpad");
}

struct TypeInfo {
  Hdf5Type type;
  std::uint64_t size_bytes;             // kText: the size of one letter
  hid_t* Hdf5Library::*base = nullptr;  // the base type
};

// In the order of the enumerators.
constexpr std::array kTypes = {
    TypeInfo{Hdf5Type::kUInt8, 1, &Hdf5Library::H5T_STD_U8LE_g},
    TypeInfo{Hdf5Type::kUInt16, 2, &Hdf5Library::H5T_STD_U16LE_g},
    TypeInfo{Hdf5Type::kUInt32, 4, &Hdf5Library::H5T_STD_U32LE_g},
    TypeInfo{Hdf5Type::kUInt64, 8, &Hdf5Library::H5T_STD_U64LE_g},
    TypeInfo{Hdf5Type::kInt16, 2, &Hdf5Library::H5T_STD_I16LE_g},
    TypeInfo{Hdf5Type::kInt32, 4, &Hdf5Library::H5T_STD_I32LE_g},
    TypeInfo{Hdf5Type::kInt64, 8, &Hdf5Library::H5T_STD_I64LE_g},
    TypeInfo{Hdf5Type::kFloat16, 2, &Hdf5Library::H5T_IEEE_F32LE_g},
    TypeInfo{Hdf5Type::kFloat32, 4, &Hdf5Library::H5T_IEEE_F32LE_g},
    TypeInfo{Hdf5Type::kText, 1, &Hdf5Library::H5T_C_S1_g},
};
static_assert(std::ranges::is_sorted(kTypes, {}, &TypeInfo::type) &&
              kTypes.size() == static_cast<std::size_t>(Hdf5Type::kText) + 1);

const TypeInfo& info_of(Hdf5Type type) {
  return kTypes.at(static_cast<std::size_t>(type));
}

Result<Handle> make_type(Hdf5Type type, std::uint64_t text_bytes = 0) {
  XTTS_ASSIGN(auto made,
              handle(hdf5().H5Tcopy(*(hdf5().*info_of(type).base)), hdf5().H5Tclose, "H5Tcopy"));
  if (type == Hdf5Type::kFloat16) XTTS_TRY(make_half(made.id()));
  if (type == Hdf5Type::kText) XTTS_TRY(make_text(made.id(), text_bytes));
  return made;
}

Result<Handle> make_space(const std::vector<std::uint64_t>& shape) {
  const std::vector<hsize_t> sizes(shape.begin(), shape.end());
  return handle(hdf5().H5Screate_simple(static_cast<int>(sizes.size()), sizes.data(), nullptr),
                hdf5().H5Sclose, "H5Screate_simple");
}

Status write_attribute(hid_t object, const std::string& name, const Handle& type,
                       const Handle& space, const void* value) {
  XTTS_ASSIGN(auto attribute, handle(hdf5().H5Acreate2(object, name.c_str(), type.id(), space.id(),
                                                       H5P_DEFAULT, H5P_DEFAULT),
                                     hdf5().H5Aclose, "H5Acreate2"));
  XTTS_TRY(check(hdf5().H5Awrite(attribute.id(), type.id(), value), "H5Awrite"));
  return attribute.close("H5Aclose");
}

Result<Handle> make_scalar() {
  return handle(hdf5().H5Screate(H5S_SCALAR), hdf5().H5Sclose, "H5Screate");
}

struct AttributeWriter {
  hid_t object;
  const std::string& name;

  [[nodiscard]] Status operator()(const std::string& text) const {
    XTTS_ASSIGN(const auto type, make_type(Hdf5Type::kText, std::max<std::size_t>(text.size(), 1)));
    XTTS_ASSIGN(const auto space, make_scalar());
    return write_attribute(object, name, type, space, text.c_str());
  }
  [[nodiscard]] Status operator()(std::uint64_t number) const {
    XTTS_ASSIGN(const auto type, make_type(Hdf5Type::kUInt64));
    XTTS_ASSIGN(const auto space, make_scalar());
    return write_attribute(object, name, type, space, &number);
  }
  [[nodiscard]] Status operator()(const std::vector<std::uint64_t>& numbers) const {
    XTTS_ASSIGN(const auto type, make_type(Hdf5Type::kUInt64));
    XTTS_ASSIGN(const auto space, make_space({numbers.size()}));
    return write_attribute(object, name, type, space, numbers.data());
  }
};

Status write_attributes(hid_t object, const std::vector<Hdf5Attribute>& attributes) {
  for (const Hdf5Attribute& attribute : attributes) {
    XTTS_TRY(std::visit(AttributeWriter{object, attribute.name}, attribute.value));
  }
  return {};
}

// Makes a dataset; returns the offset of its bytes, nullopt if it has none.
Result<std::optional<std::uint64_t>> make_dataset(hid_t file, const Hdf5Dataset& dataset) {
  XTTS_ASSIGN(const auto type, make_type(dataset.type, dataset.text_bytes));
  XTTS_ASSIGN(const auto space, make_space(dataset.shape));
  XTTS_ASSIGN(const auto how, handle(hdf5().H5Pcreate(*hdf5().H5P_CLS_DATASET_CREATE_ID_g),
                                     hdf5().H5Pclose, "H5Pcreate"));
  const hid_t id = how.id();
  XTTS_TRY(check(hdf5().H5Pset_layout(id, H5D_CONTIGUOUS), "H5Pset_layout"));
  XTTS_TRY(check(hdf5().H5Pset_alloc_time(id, H5D_ALLOC_TIME_EARLY), "H5Pset_alloc_time"));
  XTTS_TRY(check(hdf5().H5Pset_fill_time(id, H5D_FILL_TIME_NEVER), "H5Pset_fill_time"));
  XTTS_TRY(check(hdf5().H5Pset_obj_track_times(id, false), "H5Pset_obj_track_times"));
  XTTS_TRY(check(hdf5().H5Pset_attr_phase_change(id, kCompactMax, 0), "H5Pset_attr_phase_change"));
  XTTS_ASSIGN(auto made, handle(hdf5().H5Dcreate2(file, dataset.name.c_str(), type.id(), space.id(),
                                                  H5P_DEFAULT, id, H5P_DEFAULT),
                                hdf5().H5Dclose, "H5Dcreate2"));
  std::optional<std::uint64_t> offset;
  if (dataset.size_bytes() > 0) {
    offset = hdf5().H5Dget_offset(made.id());
    if (*offset == HADDR_UNDEF) return failed("H5Dget_offset");
  }
  XTTS_TRY(write_attributes(made.id(), dataset.attributes));
  XTTS_TRY(made.close("H5Dclose"));
  return offset;
}

// The driver is stdio because sec2 needs the real path of the file, and a memfd has none (1.10.8,
// H5F__build_actual_name). With bounds V18, 1.10.8, 1.14.2 and 2.0.0 write the same bytes; with
// V110 their layout messages differ in version. Only the first block of metadata lies before the
// first dataset; small datasets get no blocks of their own.
Result<Handle> file_access() {
  XTTS_ASSIGN(auto how, handle(hdf5().H5Pcreate(*hdf5().H5P_CLS_FILE_ACCESS_ID_g), hdf5().H5Pclose,
                               "H5Pcreate"));
  const hid_t id = how.id();
  XTTS_TRY(check(hdf5().H5Pset_fapl_stdio(id), "H5Pset_fapl_stdio"));
  XTTS_TRY(check(hdf5().H5Pset_libver_bounds(id, H5F_LIBVER_V18, H5F_LIBVER_V18),
                 "H5Pset_libver_bounds"));
  XTTS_TRY(check(hdf5().H5Pset_meta_block_size(id, formats::kHdf5PayloadOffset),
                 "H5Pset_meta_block_size"));
  XTTS_TRY(check(hdf5().H5Pset_small_data_block_size(id, 0), "H5Pset_small_data_block_size"));
  // No other process can reach a memfd.
  XTTS_TRY(check(hdf5().H5Pset_file_locking(id, false, true), "H5Pset_file_locking"));
  return how;
}

Result<Handle> file_creation() {
  XTTS_ASSIGN(auto how, handle(hdf5().H5Pcreate(*hdf5().H5P_CLS_FILE_CREATE_ID_g), hdf5().H5Pclose,
                               "H5Pcreate"));
  const hid_t id = how.id();
  XTTS_TRY(check(hdf5().H5Pset_obj_track_times(id, false), "H5Pset_obj_track_times"));
  XTTS_TRY(check(hdf5().H5Pset_attr_phase_change(id, kCompactMax, 0), "H5Pset_attr_phase_change"));
  XTTS_TRY(check(hdf5().H5Pset_link_phase_change(id, kCompactMax, 0), "H5Pset_link_phase_change"));
  return how;
}

Result<std::vector<std::optional<std::uint64_t>>> write_file(const std::string& path,
                                                             const Hdf5Description& description) {
  XTTS_TRY(load_hdf5());
  const Session session;  // before the handles, so that it outlives them
  XTTS_ASSIGN(const auto creation, file_creation());
  XTTS_ASSIGN(const auto access, file_access());
  XTTS_ASSIGN(auto file,
              handle(hdf5().H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()),
                     hdf5().H5Fclose, "H5Fcreate (it reaches its memory through /proc)"));
  XTTS_TRY(write_attributes(file.id(), description.attributes));
  std::vector<std::optional<std::uint64_t>> offsets;
  for (const Hdf5Dataset& dataset : description.datasets) {
    XTTS_ASSIGN(const auto offset, make_dataset(file.id(), dataset));
    offsets.push_back(offset);
  }
  XTTS_TRY(file.close("H5Fclose"));
  return offsets;
}

}  // namespace

std::uint64_t Hdf5Dataset::size_bytes() const noexcept {
  const std::uint64_t letters = type == Hdf5Type::kText ? text_bytes : 1;
  return std::accumulate(shape.begin(), shape.end(), info_of(type).size_bytes * letters,
                         std::multiplies<>());
}

Result<Hdf5Layout> Hdf5Layout::of(const Hdf5Description& description) {
  XTTS_ASSIGN(auto file, MemoryFile::create());
  Hdf5Layout layout(std::move(file));
  XTTS_ASSIGN(layout.offsets_, write_file(layout.file_.path(), description));
  XTTS_ASSIGN(layout.pages_, layout.file_.map());
  return layout;
}

}  // namespace xtts::store
