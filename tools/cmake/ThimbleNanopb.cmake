# thimble_nanopb(SCHEMA [IMPORTED...]): SCHEMA.pb.c and .h from SCHEMA.proto and .options, below THIMBLE_GENERATED.
# Schemas are paths below the root, without .proto.
find_program(NANOPB_GENERATOR NAMES nanopb_generator nanopb_generator.py)
if(NOT NANOPB_GENERATOR)
  message(FATAL_ERROR "nanopb_generator is missing: apt-get install nanopb")
endif()
set(THIMBLE_GENERATED ${PROJECT_BINARY_DIR}/generated)

function(thimble_nanopb schema)
  set(sources ${schema} ${ARGN})
  list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/)
  list(TRANSFORM sources APPEND .proto)
  add_custom_command(
    OUTPUT ${THIMBLE_GENERATED}/${schema}.pb.c ${THIMBLE_GENERATED}/${schema}.pb.h
    COMMAND ${CMAKE_COMMAND} -E make_directory ${THIMBLE_GENERATED}
    COMMAND ${NANOPB_GENERATOR} -q -I . -D ${THIMBLE_GENERATED} ${schema}.proto
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/${schema}.options VERBATIM)
endfunction()
