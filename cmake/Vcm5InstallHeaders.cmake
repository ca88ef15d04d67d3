# Run by `cmake --install`: copies api/include and, followed from there, every header of ours that a
# public header includes. Nobody has to keep a list of them. Needs source_dir, generated_dir and
# include_dir.

cmake_policy(VERSION 3.25)
set(root $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${include_dir})
file(GLOB_RECURSE todo RELATIVE ${source_dir}/api/include ${source_dir}/api/include/*.h
  ${source_dir}/api/include/*.hpp)
set(seen "")
while(todo)
  list(POP_FRONT todo header)
  if(header IN_LIST seen)
    continue()
  endif()
  list(APPEND seen ${header})
  set(found "")
  foreach(base ${source_dir}/api/include ${source_dir} ${generated_dir})
    if(NOT found AND EXISTS ${base}/${header})
      set(found ${base}/${header})
    endif()
  endforeach()
  if(NOT found)
    continue()  # Someone else's header, such as <boost/...>.
  endif()
  get_filename_component(folder ${header} DIRECTORY)
  file(INSTALL ${found} DESTINATION ${root}/${folder})
  file(STRINGS ${found} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[\"<]")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^[^\"<]*[\"<]([^\">]*)[\">].*$" "\\1" included "${line}")
    list(APPEND todo ${included})
  endforeach()
endwhile()
