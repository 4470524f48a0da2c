include("${CMAKE_CURRENT_LIST_DIR}/weir-sdk-targets.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/WeirAddPlugin.cmake")
