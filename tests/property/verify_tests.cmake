if(XTTS_BUILD_TESTS)
  xtts_add_test(verify_damage_test
    SOURCES
      lmdb_test_cache.cpp
      read_damage_test.cpp
      read_everything.cpp
      verify_damage_test.cpp
    LINK xtts_verify xtts_store xtts_test_cache
    LABELS property)
endif()
