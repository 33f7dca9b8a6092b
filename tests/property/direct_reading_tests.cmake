# Records that are read past the page cache.
xtts_add_test(direct_reading_test SANITIZERS address thread
  SOURCES
    direct_reading_test.cpp
    real_test_cache.cpp
    taken_batches.cpp
  LINK xtts_loader xtts_store xtts_test_cache xtts_test_device
  LABELS property)
