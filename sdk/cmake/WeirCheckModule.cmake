# cmake -DREADELF= -DMODULE= -P WeirCheckModule.cmake
# What the gateway would refuse, or could never unload, fails the build here. A failed module is removed, so that the
# next build does not take it for finished.
cmake_minimum_required(VERSION 3.20)

function(refuse text)
  file(REMOVE "${MODULE}")
  message(FATAL_ERROR "${MODULE}: ${text}")
endfunction()

execute_process(COMMAND "${READELF}" --wide --dyn-syms "${MODULE}" OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${READELF}" --wide --dynamic "${MODULE}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${READELF}" --wide --notes "${MODULE}" OUTPUT_VARIABLE notes COMMAND_ERROR_IS_FATAL ANY)

# Num: Value Size Type Bind Vis Ndx Name; an undefined symbol has Ndx UND.
string(REGEX MATCHALL "(GLOBAL|WEAK|UNIQUE) +[A-Z]+ +[0-9A-Z]+ +[^\n]+" lines "${symbols}")
set(exported "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([A-Z]+) +[A-Z]+ +([0-9A-Z]+) +([^ ]+)" matched "${line}")
  if(CMAKE_MATCH_2 STREQUAL "UND")
    continue()
  endif()
  set(symbol "${CMAKE_MATCH_3}")
  if(CMAKE_MATCH_1 STREQUAL "UNIQUE")
    refuse("${symbol} is a GNU-unique symbol, so it could never be unloaded: compile with -fno-gnu-unique")
  endif()
  list(APPEND exported "${symbol}")
endforeach()
if(NOT "${exported}" STREQUAL "weir_module_v1")
  refuse("a module exports weir_module_v1 and nothing else, but this one exports: ${exported}")
endif()

string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]\n]*\\]" needed "${dynamic}")
foreach(line IN LISTS needed)
  string(REGEX REPLACE ".*\\[(.*)\\]" "\\1" library "${line}")
  if(library MATCHES "^lib(Poco|boost_)")
    refuse("it needs ${library}; a module may not link Poco or Boost shared libraries")
  endif()
endforeach()

string(REGEX MATCHALL "\n *WEIR +0x" found "${notes}")
list(LENGTH found count)
if(NOT count EQUAL 1)
  refuse("it has ${count} WEIR notes instead of one")
endif()
