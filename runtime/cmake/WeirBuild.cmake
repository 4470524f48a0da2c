# What every target of this project shares: language level, warnings, sanitizers, output folders, and the two functions
# weir_add_library() and weir_add_test(). Plugins use weir_add_plugin() of the SDK instead.
include(GNUInstallDirs)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(WEIR_PLUGIN_DIR "${PROJECT_BINARY_DIR}/lib/weir/plugins")

find_program(WEIR_CCACHE ccache)
if(WEIR_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${WEIR_CCACHE}")
endif()

add_library(weir_options INTERFACE)
target_compile_options(weir_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(WEIR_SANITIZE)
  target_compile_options(weir_options INTERFACE -fsanitize=${WEIR_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(weir_options INTERFACE -fsanitize=${WEIR_SANITIZE})
endif()

# The gateway's program is optimized as a whole where it is for users: 5 % fewer instructions a request, on fewer cache
# lines, and 3 % fewer again with -O3, on as many. Nearly all code of a request runs once, so it is the lines that cost,
# not the jumps: no alignment, and what is seldom needed is marked [[gnu::cold]] or [[unlikely]], which keeps it away
# from the rest (together 5 % fewer lines). The layers' objects hold ordinary code, too, which everything else is linked
# with: it says so, or the linker would do each test the same favour. -Wrestrict is wrong about std::string here (GCC bug
# 105651).
add_library(weir_whole_program INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT WEIR_SANITIZE)
  target_compile_options(weir_whole_program INTERFACE -O3 -flto=auto -ffat-lto-objects -Wno-restrict
                         -falign-functions=1 -falign-jumps=1 -falign-loops=1 -falign-labels=1)
  add_link_options("$<$<NOT:$<STREQUAL:$<TARGET_PROPERTY:NAME>,weir>>:-fno-lto>")
endif()

# weir_add_library(NAME SOURCES ... [DEPENDS weir_...] [LIBRARIES ...]): the layer runtime/<name> as target weir_<name>.
# DEPENDS: layers to its left; LIBRARIES: third-party targets that stay private to it.
function(weir_add_library NAME)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  add_library(weir_${NAME} STATIC ${ARG_SOURCES})
  target_include_directories(weir_${NAME} PUBLIC "${PROJECT_SOURCE_DIR}/runtime")
  target_link_libraries(weir_${NAME} PUBLIC weir_sdk ${ARG_DEPENDS}
                        PRIVATE weir_options weir_whole_program ${ARG_LIBRARIES})
endfunction()

# weir_add_test(NAME SOURCES ... [LIBRARIES ...]): one test program whose cases ctest lists one by one.
function(weir_add_test NAME)
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${NAME} ${ARG_SOURCES})
  target_link_libraries(${NAME} PRIVATE weir_options weir_test_main ${ARG_LIBRARIES})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_test(NAME ${NAME} COMMAND ${NAME})
  set_tests_properties(${NAME} PROPERTIES TIMEOUT ${ARG_TIMEOUT} LABELS "${ARG_LABELS}")
endfunction()

# weir_add_gateway_test(as weir_add_test): one that starts the real binary. It and its modules must be there first; they
# are no libraries to link. WEIR_SANITIZED is defined when they are slower than they would be.
function(weir_add_gateway_test NAME)
  weir_add_test(${NAME} ${ARGN})
  target_link_libraries(${NAME} PRIVATE weir_test_support)
  add_dependencies(${NAME} weir weir_plugins)
  if(WEIR_SANITIZE)
    target_compile_definitions(${NAME} PRIVATE WEIR_SANITIZED)
  endif()
endfunction()
