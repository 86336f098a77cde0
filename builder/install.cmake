# `cmake --install`: a tree that may be moved. trib finds its modules in ../lib/trib.
include(GNUInstallDirs)
set(modules lib/trib) # not CMAKE_INSTALL_LIBDIR: only trib loads them
set(installed trib trib-lib trib_codegen trib-gpu trib-page)
if(TARGET trib-git)
	list(APPEND installed trib-git)
endif()
install(TARGETS ${installed} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} LIBRARY DESTINATION ${modules})

# Programs find libtrib.so in lib/. That is a link, because the library finds its modules from its real folder.
file(RELATIVE_PATH to_modules /${CMAKE_INSTALL_LIBDIR} /${modules})
file(RELATIVE_PATH TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" TO_PREFIX "${TO_PREFIX}")
set(links ${CMAKE_BINARY_DIR}/install)
file(MAKE_DIRECTORY ${links})
file(CREATE_LINK ${to_modules}/libtrib.so ${links}/libtrib.so SYMBOLIC)
install(FILES ${links}/libtrib.so DESTINATION ${CMAKE_INSTALL_LIBDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/trib.pc.in ${links}/trib.pc @ONLY)
install(FILES ${links}/trib.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_CURRENT_LIST_DIR}/lib/tri_build.h ${CMAKE_CURRENT_LIST_DIR}/lib/tri_lazy.h ${CMAKE_SOURCE_DIR}/backend/runtime/abi/tri.h ${CMAKE_SOURCE_DIR}/backend/runtime/abi/tri_live.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/trib)

# The manual page and the completions: trib prints them from its tables.
set(texts ${links}/trib.1 ${links}/trib.bash ${links}/_trib ${links}/trib.fish)
add_custom_command(OUTPUT ${texts}
	COMMAND $<TARGET_FILE:trib> help man > ${links}/trib.1
	COMMAND $<TARGET_FILE:trib> completion bash > ${links}/trib.bash
	COMMAND $<TARGET_FILE:trib> completion zsh > ${links}/_trib
	COMMAND $<TARGET_FILE:trib> completion fish > ${links}/trib.fish
	DEPENDS trib VERBATIM)
# Builds what `cmake --install` copies, and nothing else.
add_custom_target(installed ALL DEPENDS ${installed} ${texts})
install(FILES ${links}/trib.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${links}/trib.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME trib)
install(FILES ${links}/_trib DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${links}/trib.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/frontend/LANGUAGE.md ${CMAKE_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${CMAKE_SOURCE_DIR}/frontend/editors DESTINATION ${CMAKE_INSTALL_DATADIR}/trib)
