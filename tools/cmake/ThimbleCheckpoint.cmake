# thimble_checkpoint: the reader, writer and store of checkpoints, on nanopb; and checkpoint_pb2 for Python.
include(ThimbleNanopb)
find_program(PROTOC protoc REQUIRED)
find_path(NANOPB_INCLUDE pb_encode.h REQUIRED)
find_library(NANOPB_LIBRARY NAMES protobuf-nanopb REQUIRED)

set(THIMBLE_PYTHON ${PROJECT_BINARY_DIR}/python)

set(schema core/checkpoint/checkpoint)
thimble_nanopb(${schema})
add_library(thimble_checkpoint STATIC
  ${PROJECT_SOURCE_DIR}/core/checkpoint/crc32c.cpp
  ${PROJECT_SOURCE_DIR}/core/checkpoint/reader.cpp
  ${PROJECT_SOURCE_DIR}/core/checkpoint/writer.cpp
  ${PROJECT_SOURCE_DIR}/core/checkpoint/store.cpp
  ${PROJECT_SOURCE_DIR}/core/checkpoint/training_state.cpp
  ${THIMBLE_GENERATED}/${schema}.pb.c ${THIMBLE_GENERATED}/${schema}.pb.h)
add_library(thimble::checkpoint ALIAS thimble_checkpoint)
set_target_properties(thimble_checkpoint PROPERTIES EXPORT_NAME checkpoint)
target_include_directories(thimble_checkpoint PUBLIC
  $<BUILD_INTERFACE:${THIMBLE_GENERATED}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/thimble> ${NANOPB_INCLUDE})
target_link_libraries(thimble_checkpoint PUBLIC thimble_core ${NANOPB_LIBRARY})
target_compile_options(thimble_checkpoint PRIVATE -Wall -Wextra
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti>)

# The Python package: its sources beside the module that protoc makes.
file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/python/thimble/*.py)
add_custom_command(
  OUTPUT ${THIMBLE_PYTHON}/thimble/checkpoint_pb2.py
  COMMAND ${CMAKE_COMMAND} -E make_directory ${THIMBLE_PYTHON}/thimble
  COMMAND ${PROTOC} -I ${PROJECT_SOURCE_DIR}/core/checkpoint --python_out=${THIMBLE_PYTHON}/thimble checkpoint.proto
  COMMAND ${CMAKE_COMMAND} -E copy ${python_sources} ${THIMBLE_PYTHON}/thimble
  DEPENDS ${PROJECT_SOURCE_DIR}/${schema}.proto ${python_sources} VERBATIM)
add_custom_target(thimble_python ALL DEPENDS ${THIMBLE_PYTHON}/thimble/checkpoint_pb2.py)
