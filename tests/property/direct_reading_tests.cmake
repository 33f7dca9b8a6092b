# Records that are read past the page cache: into the host's memory, and into a GPU's.
xtts_add_test(direct_reading_test
  SOURCES
    direct_reading_test.cpp
    real_test_cache.cpp
    taken_batches.cpp
  LINK xtts_loader xtts_store xtts_test_cache xtts_test_device
  LABELS property)
# This program is apart, because it finds our libcufile.so.0 in place of NVIDIA's.
xtts_add_test(gpu_direct_test
  SOURCES
    gpu_direct_test.cpp
    real_test_cache.cpp
    taken_batches.cpp
  LINK xtts_loader xtts_store xtts_test_cache xtts_test_device xtts_fake_cufile
  LABELS property)
