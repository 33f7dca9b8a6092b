// Loads libhdf5 when the first HDF5 shard is made. Linking it would cost 8 ms at every start,
// because Debian's libhdf5 loads libcurl, OpenSSL, Kerberos and 30 more.
#pragma once

#include <hdf5.h>

#include "xtts/status.hpp"

// The library's macros call functions by name to open it and to compare versions. We disable both:
// load_hdf5() opens it, and the name of its file determines the version.
#undef H5OPEN
#define H5OPEN
#undef H5CHECK
#define H5CHECK

namespace xtts::store {

// clang-format off
#define XTTS_HDF5_FUNCTIONS(X) \
  X(H5open) X(H5Aclose) X(H5Acreate2) X(H5Awrite) X(H5Dclose) X(H5Dcreate2) X(H5Dget_offset) \
  X(H5Eget_auto2) X(H5Eset_auto2) X(H5Ewalk2) X(H5Fclose) X(H5Fcreate) X(H5Pclose) X(H5Pcreate) \
  X(H5Pset_alloc_time) X(H5Pset_attr_phase_change) X(H5Pset_fapl_stdio) X(H5Pset_file_locking) \
  X(H5Pset_fill_time) X(H5Pset_layout) X(H5Pset_libver_bounds) X(H5Pset_link_phase_change) \
  X(H5Pset_meta_block_size) X(H5Pset_obj_track_times) X(H5Pset_small_data_block_size) \
  X(H5Sclose) X(H5Screate) X(H5Screate_simple) X(H5Tclose) X(H5Tcopy) X(H5Tset_cset) \
  X(H5Tset_ebias) X(H5Tset_fields) X(H5Tset_size) X(H5Tset_strpad)

// The variables behind H5T_STD_U8LE, H5P_FILE_ACCESS and so on.
#define XTTS_HDF5_IDS(X) \
  X(H5P_CLS_DATASET_CREATE_ID_g) X(H5P_CLS_FILE_ACCESS_ID_g) X(H5P_CLS_FILE_CREATE_ID_g) \
  X(H5T_C_S1_g) X(H5T_IEEE_F32LE_g) X(H5T_STD_I16LE_g) X(H5T_STD_I32LE_g) X(H5T_STD_I64LE_g) \
  X(H5T_STD_U16LE_g) X(H5T_STD_U32LE_g) X(H5T_STD_U64LE_g) X(H5T_STD_U8LE_g)
// clang-format on

// Each function and variable of the library that we use, under its own name.
struct Hdf5Library {
#define XTTS_MEMBER(name) decltype(&::name) name = nullptr;
  XTTS_HDF5_FUNCTIONS(XTTS_MEMBER)
  XTTS_HDF5_IDS(XTTS_MEMBER)
#undef XTTS_MEMBER
};

// Loads the library; later calls do nothing. Any thread. kUnsupported: failed, with the reason.
[[nodiscard]] Status load_hdf5();
// Only after load_hdf5() has succeeded.
[[nodiscard]] const Hdf5Library& hdf5() noexcept;

}  // namespace xtts::store
