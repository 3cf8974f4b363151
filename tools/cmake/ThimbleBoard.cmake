# Images for a board: cmake -S . -B build/boards/BOARD --toolchain tools/cmake/boards/FAMILY.cmake -DTHIMBLE_BOARD=BOARD
# builds MODEL.elf for every model of THIMBLE_BOARD_MODELS, and board.json, which says how to run them.
set(THIMBLE_BOARD_MODELS "pocket" CACHE STRING "Models that images are built for: names in models/, or paths of headers")
set(THIMBLE_BOARD_DATA "" CACHE FILEPATH "What the images train on; a generated list of names where none is given")
set(THIMBLE_BOARD_DOCUMENTS ON CACHE BOOL "That file holds documents, one a line; off: one long text")
set(THIMBLE_BOARD_RECOMPUTE "" CACHE STRING
  "What is computed again for backward: none, blocks, or a list of the values to keep; empty: as the model wants it on boards")
set(THIMBLE_BOARD_FUSE_UPDATE ON CACHE BOOL
  "Update weights within the backward pass where the model's training does not clip: less RAM; one micro-batch a step")
enable_language(ASM)
include(ThimbleCore)
include(ThimbleModelType)
include(ThimbleBoardConfig)

# RISC-V: the C library is picolibc, the C++ headers are the Arm compiler's.
if(BOARD_FAMILY STREQUAL riscv)
  list(APPEND BOARD_CPU -misa-spec=2.2 --specs=picolibc.specs)
  list(GET riscv_headers -1 cxx_headers)
  set(BOARD_CXX_HEADERS ${cxx_headers} ${cxx_headers}/arm-none-eabi)
endif()

# What every object of an image is compiled with.
add_library(thimble_board_flags INTERFACE)
target_compile_options(thimble_board_flags INTERFACE ${BOARD_CPU}
  -ffunction-sections -fdata-sections -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/= -fstack-usage
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions;-fno-rtti;-fno-threadsafe-statics;-fno-use-cxa-atexit>
  $<$<NOT:$<COMPILE_LANGUAGE:ASM>>:-Wall;-Wextra;-fno-builtin-printf>)
target_include_directories(thimble_board_flags INTERFACE ${PROJECT_BINARY_DIR}/generated)
target_include_directories(thimble_board_flags SYSTEM INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${BOARD_CXX_HEADERS}>")
target_link_libraries(thimble_board_flags INTERFACE thimble_core)

include(ThimbleBoardProgram)

# The port: start-up, console, clock, flash.
file(GLOB bare_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/ports/bare/*.cpp)
file(GLOB family_sources CONFIGURE_DEPENDS ${BOARD_FAMILY_FOLDER}/*.cpp ${BOARD_FAMILY_FOLDER}/*.S)
list(FILTER family_sources EXCLUDE REGEX "/uart_")
add_library(thimble_board_port OBJECT
  ${bare_sources} ${family_sources} ${BOARD_FAMILY_FOLDER}/uart_${BOARD_UART_KIND}.cpp)
target_link_libraries(thimble_board_port PUBLIC thimble_board_flags)

# thimble_add_image(NAME SOURCES file... [DATA file] [LIBRARIES target...]): NAME.elf for the board, from a program that
# defines `int main()` and gets everything through ports/api.
function(thimble_add_image name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DATA" "SOURCES;LIBRARIES")
  set(data_source ${CMAKE_CURRENT_BINARY_DIR}/images/${name}/data.S)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/images/${name})
  set(IMAGE_DATA ${arg_DATA})
  configure_file(${PROJECT_SOURCE_DIR}/ports/image/data.S.in ${data_source} @ONLY)
  set_property(SOURCE ${data_source} PROPERTY OBJECT_DEPENDS ${arg_DATA})
  add_executable(${name} ${arg_SOURCES} ${data_source})
  set_target_properties(${name} PROPERTIES SUFFIX .elf LINK_DEPENDS ${BOARD_LINKER_SCRIPT})
  target_link_libraries(${name} PRIVATE thimble_board_port ${arg_LIBRARIES} -lc -lgcc)
  target_link_options(${name} PRIVATE ${BOARD_CPU} -nostdlib -T ${BOARD_LINKER_SCRIPT}
    -Wl,--gc-sections -Wl,--fatal-warnings -Wl,-Map=$<TARGET_FILE:${name}>.map)
endfunction()

if(THIMBLE_BOARD_DATA)
  get_filename_component(image_data ${THIMBLE_BOARD_DATA} ABSOLUTE BASE_DIR ${CMAKE_BINARY_DIR})
else()
  include(ThimbleNames)
  set(image_data ${PROJECT_BINARY_DIR}/generated/names.txt)
  thimble_write_names(${image_data})
endif()
set(MODEL_FUSE_UPDATE false)
if(THIMBLE_BOARD_FUSE_UPDATE)
  set(MODEL_FUSE_UPDATE true)
endif()
set(DATA_KIND windows)
if(THIMBLE_BOARD_DOCUMENTS)
  set(DATA_KIND documents)
endif()
foreach(model ${THIMBLE_BOARD_MODELS})
  thimble_model_type(${model} MODEL_NAME MODEL_TYPE MODEL_HEADER)
  set(folder ${PROJECT_BINARY_DIR}/images/${MODEL_NAME})
  configure_file(${PROJECT_SOURCE_DIR}/ports/image/program.cpp.in ${folder}/program.cpp @ONLY)
  thimble_add_image(${MODEL_NAME} SOURCES ${folder}/program.cpp DATA ${image_data} LIBRARIES thimble_program)
  configure_file(${PROJECT_SOURCE_DIR}/ports/image/costs.cpp.in ${folder}/costs.cpp @ONLY)
  thimble_add_image(${MODEL_NAME}_costs SOURCES ${folder}/costs.cpp DATA ${image_data})
  set_target_properties(${MODEL_NAME}_costs PROPERTIES EXCLUDE_FROM_ALL TRUE)
endforeach()
# What the tests ask a port.
thimble_add_image(probe SOURCES ${PROJECT_SOURCE_DIR}/tests/boards/probe.cpp DATA ${image_data})
set_target_properties(probe PROPERTIES EXCLUDE_FROM_ALL TRUE)
