# weir_add_plugin(NAME ID <id> VERSION <version> SOURCES <file>...
#                 [UNLOAD close|resident] [MANIFEST <file.json>] [LIBRARIES <target>...]
#                 [OUTPUT_DIRECTORY <dir>] [INSTALL])
#
# Builds the module <id>.so with its manifest inside. Targets: NAME is the module, NAME_objects its object files (a unit
# test links them), NAME_manifest the program that writes the manifest at build time; it runs the module's static
# constructors, so a cross build needs CMAKE_CROSSCOMPILING_EMULATOR.
#
#   ID                letters, digits, '.', '_' and '-'; names the file
#   VERSION           yours, e.g. 1.2.0
#   UNLOAD            resident: must stay loaded until the gateway stops; default close
#   MANIFEST          for modules in C or another language: a file with the whole manifest, instead of the generator
#   LIBRARIES         linked into the module; a shared one must not be Poco or Boost
#   OUTPUT_DIRECTORY  default: the current binary directory (inside the gateway's own build: lib/weir/plugins)
#   INSTALL           adds an install rule for <prefix>/lib/weir/plugins
include_guard(GLOBAL)

function(weir_add_plugin NAME)
  cmake_parse_arguments(ARG "INSTALL" "ID;VERSION;UNLOAD;MANIFEST;OUTPUT_DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "weir_add_plugin(${NAME}): unknown argument: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT ARG_UNLOAD)
    set(ARG_UNLOAD close)
  endif()
  if(NOT ARG_OUTPUT_DIRECTORY)
    set(ARG_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    if(WEIR_PLUGIN_DIR)
      set(ARG_OUTPUT_DIRECTORY "${WEIR_PLUGIN_DIR}")
    endif()
  endif()
  _weir_check_arguments(${NAME})

  add_library(${NAME}_objects OBJECT ${ARG_SOURCES})
  set_target_properties(${NAME}_objects PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    C_VISIBILITY_PRESET hidden
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON)
  # A GNU-unique symbol would keep the module mapped for ever, and later generations would run on its statics.
  target_compile_options(${NAME}_objects PRIVATE "$<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-gnu-unique>")
  target_link_libraries(${NAME}_objects PUBLIC weir::sdk ${ARG_LIBRARIES})
  if(TARGET weir_options)
    target_link_libraries(${NAME}_objects PUBLIC weir_options)
  endif()

  _weir_add_manifest_note(${NAME} note)

  add_library(${NAME} MODULE "${note}")
  target_link_libraries(${NAME} PRIVATE ${NAME}_objects)
  set_target_properties(${NAME} PROPERTIES
    PREFIX ""
    SUFFIX ".so"
    OUTPUT_NAME "${ARG_ID}"
    LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY "${ARG_OUTPUT_DIRECTORY}"
    LINK_DEPENDS "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/weir_module.map")
  target_link_options(${NAME} PRIVATE
    "-Wl,--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/weir_module.map" -Wl,-z,now)
  _weir_sanitized_by_clang(sanitizedByClang)
  if(NOT sanitizedByClang)
    target_link_options(${NAME} PRIVATE -Wl,-z,defs)
  endif()
  add_custom_command(TARGET ${NAME} POST_BUILD
    COMMAND "${CMAKE_COMMAND}" "-DREADELF=${CMAKE_READELF}" "-DMODULE=$<TARGET_FILE:${NAME}>"
            "-DUNLOAD=${ARG_UNLOAD}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/WeirCheckModule.cmake"
    VERBATIM)

  if(ARG_INSTALL)
    install(TARGETS ${NAME} LIBRARY DESTINATION lib/weir/plugins)
    set_property(GLOBAL APPEND PROPERTY WEIR_INSTALLED_MODULES ${NAME})
  endif()
endfunction()

function(_weir_check_arguments NAME)
  if(NOT ARG_ID MATCHES "^[A-Za-z0-9][A-Za-z0-9._-]*$")
    message(FATAL_ERROR "weir_add_plugin(${NAME}): ID must be letters, digits, '.', '_' and '-', not \"${ARG_ID}\"")
  endif()
  if(NOT ARG_VERSION MATCHES "^[0-9][A-Za-z0-9.+-]*$")
    message(FATAL_ERROR "weir_add_plugin(${NAME}): VERSION must be like 1.2.0, not \"${ARG_VERSION}\"")
  endif()
  if(NOT ARG_UNLOAD MATCHES "^(close|resident)$")
    message(FATAL_ERROR "weir_add_plugin(${NAME}): UNLOAD must be close or resident, not \"${ARG_UNLOAD}\"")
  endif()
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "weir_add_plugin(${NAME}): SOURCES is empty")
  endif()
endfunction()

# Sets OUT to the generated source with the note; reads the arguments of weir_add_plugin.
function(_weir_add_manifest_note NAME OUT)
  set(note "${CMAKE_CURRENT_BINARY_DIR}/${NAME}_note.cpp")
  if(ARG_MANIFEST)
    get_filename_component(manifest "${ARG_MANIFEST}" ABSOLUTE)
  else()
    set(manifest "${CMAKE_CURRENT_BINARY_DIR}/${NAME}_manifest.json")
    add_executable(${NAME}_manifest "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/manifest_main.cpp")
    target_link_libraries(${NAME}_manifest PRIVATE ${NAME}_objects)
    set_target_properties(${NAME}_manifest PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    add_custom_command(OUTPUT "${manifest}"
      COMMAND ${NAME}_manifest "${manifest}" "${ARG_ID}" "${ARG_VERSION}" "${ARG_UNLOAD}"
      DEPENDS ${NAME}_manifest
      VERBATIM)
  endif()
  add_custom_command(OUTPUT "${note}"
    COMMAND "${CMAKE_COMMAND}" "-DMANIFEST=${manifest}" "-DID=${ARG_ID}" "-DVERSION=${ARG_VERSION}"
            "-DUNLOAD=${ARG_UNLOAD}" "-DOUTPUT=${note}" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/WeirWriteNote.cmake"
    DEPENDS "${manifest}" "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/WeirWriteNote.cmake"
    VERBATIM)
  set(${OUT} "${note}" PARENT_SCOPE)
endfunction()

# clang links sanitizer runtimes into the program alone: a module's references to them stay open.
function(_weir_sanitized_by_clang OUT)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  set(flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}")
  if(WEIR_SANITIZE)
    string(APPEND flags " -fsanitize=${WEIR_SANITIZE}")
  endif()
  set(${OUT} OFF PARENT_SCOPE)
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang" AND flags MATCHES "-fsanitize=")
    set(${OUT} ON PARENT_SCOPE)
  endif()
endfunction()
