/* Folders of a project. */
#ifndef TRIB_BUILDER_BUILD_SESSION_FOLDERS_H
#define TRIB_BUILDER_BUILD_SESSION_FOLDERS_H

/* What a project remembers between builds. */
#define PROJECT_FOLDER ".trib"
#define PROJECT_STORE PROJECT_FOLDER "/store"
#define PROJECT_FRAGMENTS PROJECT_FOLDER "/fragments"
/* The folder of libraries that are made to be run at once, without code (`trib run --lazy`, tri_open_lazy). */
#define LAZY_FOLDER ".trib/lazy"
/* The folder of libraries with the profile hook, of `trib bench`. */
#define BENCH_FOLDER ".trib/bench"
#define BENCH_UNITS_FOLDER ".trib/bench-units" /* libraries whose entries are units */
#endif
