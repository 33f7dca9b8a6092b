if(XTTS_BUILD_TESTS)
  xtts_add_test(verify_damage_test SANITIZERS address
    SOURCES
      read_damage_test.cpp
      read_everything.cpp
      real_test_cache.cpp
      verify_damage_test.cpp
    LINK xtts_request xtts_store xtts_test_cache
    LABELS property)
  xtts_add_test(batch_damage_test SANITIZERS address
    SOURCES
      batch_damage_test.cpp
      real_test_cache.cpp
    LINK xtts_loader xtts_store xtts_test_cache xtts_test_device
    LABELS property)
endif()
