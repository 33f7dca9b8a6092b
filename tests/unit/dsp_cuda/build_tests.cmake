# Whole builds. Included by tests/unit/request, behind the pipeline's own support.
xtts_add_test(cuda_build_test
  SOURCES
    ${CMAKE_CURRENT_LIST_DIR}/cuda_build_test.cpp
    ${CMAKE_CURRENT_LIST_DIR}/fake_gpu.cpp
  LINK xtts_test_pipeline xtts_dsp_cuda xtts_fake_cufft xtts_fake_cuda)
