# thimble_core: the header-only core with the flags its arithmetic and its compile-time plans need.
add_library(thimble_core INTERFACE)
add_library(thimble::core ALIAS thimble_core)
set_target_properties(thimble_core PROPERTIES EXPORT_NAME core)
target_compile_features(thimble_core INTERFACE cxx_std_20)
target_include_directories(thimble_core INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/thimble>)
target_compile_options(thimble_core INTERFACE
  -ffp-contract=off -fno-math-errno
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fconstexpr-ops-limit=4000000000;-fconstexpr-loop-limit=100000000>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-fconstexpr-steps=2000000000>)

# The flags of each kernel set, and the sets that this compiler can build.
set(THIMBLE_FLAGS_plain "")
set(THIMBLE_FLAGS_avx2 -mavx2 -mfma)
set(THIMBLE_FLAGS_avx512 -mavx512f -mavx512cd -mavx512dq -mavx512bw -mavx512vl -mfma -mprefer-vector-width=512)
set(THIMBLE_ISAS plain)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND NOT THIMBLE_PLAIN_ONLY)
  list(APPEND THIMBLE_ISAS avx2 avx512)
endif()
