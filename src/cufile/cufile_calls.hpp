// The calls of cuFile (libcufile.so.0) that this project makes, and their types.
//
// They are declared here, and not taken from NVIDIA's header, so that one build works with every
// toolkit, and without one. tests/unit/cufile compares this file with cufile.h where that is found.
#pragma once

#include <sys/types.h>

#include <cstddef>

namespace xtts::cufile {

// What most calls return: CUfileError_t.
struct CallError {
  int code;         // CUfileOpError; 0: success
  int driver_code;  // CUresult, where `code` is kDriverError
};
inline constexpr int kSuccess = 0;
inline constexpr int kModuleNotLoaded = 5001;  // the kernel module is nvidia-fs
inline constexpr int kModuleMismatch = 5004;
inline constexpr int kMachineNotSupported = 5007;
inline constexpr int kFileNotSupported = 5008;
inline constexpr int kGpuNotSupported = 5009;
inline constexpr int kDriverError = 5011;
inline constexpr int kAlreadyOpen = 5026;  // by another user of cuFile in this process
inline constexpr int kSetupFailed = 5033;
inline constexpr int kMemoryNotPinned = 5036;

struct FileObject;
using FileHandle = FileObject*;

// CUfileDescr_t, for a file of the system.
struct FileDescription {
  int type = 1;  // CU_FILE_HANDLE_TYPE_OPAQUE_FD
  union {
    int descriptor;
    void* unused = nullptr;
  };
  const void* operations = nullptr;
};

// CUfileDrvProps_t.
struct DriverProperties {
  struct {
    unsigned major_version = 0;
    unsigned minor_version = 0;
    std::size_t poll_threshold = 0;
    std::size_t direct_io_max = 0;
    unsigned supported = 0;  // a bit for each kind of storage that can be read into GPUs
    unsigned control = 0;
  } nvidia_fs;
  unsigned features = 0;
  unsigned device_cache_max = 0;
  unsigned buffer_cache_max = 0;
  unsigned pinned_memory_max = 0;
  unsigned batch_size_max = 0;
  unsigned batch_timeout_max = 0;
  unsigned char more[256] = {};  // of later libraries
};
inline constexpr unsigned kFeaturePeerToPeer = 1U << 4U;  // CU_FILE_P2P_SUPPORTED, since 1.16

// X(name in the code, symbol in the library, what it returns, parameters)
#define XTTS_CUFILE_CALLS(X)                                                                  \
  X(open_driver, cuFileDriverOpen, CallError, ())                                             \
  X(driver_properties, cuFileDriverGetProperties, CallError, (DriverProperties * properties)) \
  X(register_file, cuFileHandleRegister, CallError,                                           \
    (FileHandle * file, FileDescription * description))                                       \
  X(forget_file, cuFileHandleDeregister, void, (FileHandle file))                             \
  X(register_memory, cuFileBufRegister, CallError,                                            \
    (const void* memory, std::size_t size_bytes, int flags))                                  \
  X(forget_memory, cuFileBufDeregister, CallError, (const void* memory))                      \
  X(read, cuFileRead, ssize_t,                                                                \
    (FileHandle file, void* memory, std::size_t size_bytes, off_t file_offset,                \
     off_t memory_offset))

// Calls that older libraries lack, and which are null there.
#define XTTS_CUFILE_NEWER_CALLS(X) X(version, cuFileGetVersion, CallError, (int* version))

// The calls, found in the library. Once CuFile::open() has succeeded, all are set but newer ones.
struct CuFileCalls {
#define XTTS_DECLARE(name, symbol, result, parameters) result(*name) parameters = nullptr;
  XTTS_CUFILE_CALLS(XTTS_DECLARE)
  XTTS_CUFILE_NEWER_CALLS(XTTS_DECLARE)
#undef XTTS_DECLARE
};

}  // namespace xtts::cufile
