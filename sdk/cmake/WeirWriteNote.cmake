# cmake -DMANIFEST= -DID= -DVERSION= -DUNLOAD= -DOUTPUT= -P WeirWriteNote.cmake
# Writes the C++ source that puts MANIFEST into an ELF note: owner "WEIR", type 1, in a section that the linker keeps.
cmake_minimum_required(VERSION 3.20)

file(READ "${MANIFEST}" text)
foreach(member id version unload)
  string(TOUPPER ${member} argument)
  string(JSON value ERROR_VARIABLE error GET "${text}" ${member})
  if(error)
    message(FATAL_ERROR "${MANIFEST}: ${error}")
  endif()
  if(NOT value STREQUAL "${${argument}}")
    message(FATAL_ERROR "${MANIFEST}: \"${member}\" is \"${value}\", but weir_add_plugin says \"${${argument}}\"")
  endif()
endforeach()
string(JSON count ERROR_VARIABLE error LENGTH "${text}" provides)
if(error)
  message(FATAL_ERROR "${MANIFEST}: ${error}")
elseif(count EQUAL 0)
  message(FATAL_ERROR "${MANIFEST}: \"provides\" is empty: the module offers nothing")
endif()

file(READ "${MANIFEST}" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
set(lines "")
set(at 0)
while(at LESS digits)
  string(SUBSTRING "${hex}" ${at} 64 row)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," row "${row}")
  string(REGEX REPLACE ",$" "" row "${row}")
  string(APPEND lines "    \".byte ${row}\\n\"\n")
  math(EXPR at "${at} + 64")
endwhile()

file(WRITE "${OUTPUT}" "// Generated from ${MANIFEST}
asm(
    \".pushsection .note.weir,\\\"aR\\\",%note\\n\"
    \".balign 4\\n\"
    \".4byte 5, ${size}, 1\\n\"
    \".asciz \\\"WEIR\\\"\\n\"
    \".balign 4\\n\"
${lines}    \".balign 4\\n\"
    \".popsection\\n\");
")
