# Makes the headers that programs outside of graze see: drivers/library/graze.hpp as <graze/graze.hpp>, and what it
# includes, directly or not, as <graze/core/...> and so on. All others are private. Includes are written anew to
# begin with graze/, so that no file of the program's own is taken for one of them.

set(headers drivers/library/graze.hpp)
set(made)
while(headers)
  list(POP_FRONT headers header)
  if(header IN_LIST made)
    continue()
  endif()
  list(APPEND made ${header})
  file(READ ${header} text)
  string(REGEX MATCHALL "\n#include \"[^\"]*\"" includes "${text}")
  list(TRANSFORM includes REPLACE "\n#include \"(.*)\"" "\\1")
  list(APPEND headers ${includes})

  string(REGEX REPLACE "\n#include \"" "\n#include \"graze/" text "${text}")
  set(place graze/${header})
  if(header STREQUAL drivers/library/graze.hpp)
    set(place graze/graze.hpp)
  endif()
  file(CONFIGURE OUTPUT include/${place} CONTENT "${text}" @ONLY)
  cmake_path(GET place PARENT_PATH folder)
  install(FILES ${PROJECT_BINARY_DIR}/include/${place} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder} COMPONENT development)
  list(APPEND GRAZE_PUBLIC_HEADERS ${PROJECT_SOURCE_DIR}/${header})
endwhile()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GRAZE_PUBLIC_HEADERS})
