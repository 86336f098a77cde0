/* A project as far as a command needs it, without building it: `trib params`, `trib graph`, `trib run --main`. */
#ifndef TRIB_BUILDER_BUILD_LOAD_H
#include "builder/build/model/project.h"
#include "builder/build/session/context.h"
#include "builder/build/session/session.h"
#define TRIB_BUILDER_BUILD_LOAD_H

enum load_depth {
	LOAD_MANIFEST,     /* the manifest alone */
	LOAD_DEPENDENCIES, /* the manifest and its dependencies, which are resolved again as by `trib update` */
	LOAD_CHECKED,      /* the front end: checked sources */
	LOAD_FILES,        /* the same of the files that the options name, without a manifest */
	LOAD_ELABORATED,   /* and the programs of the models */
	LOAD_PARAMS,       /* the same; absent weights files are no errors */
	LOAD_INDEXED,      /* as LOAD_ELABORATED, with an index of names, and the project's store if there is one */
	LOAD_BOUND,        /* as LOAD_ELABORATED, with the values of the parameters */
};
struct loaded_project {
	struct session session;
	struct build_context context;
	struct project project;
};

/* Fills *l, which stays where it is until project_unload. Anything but STATUS_OK: only project_unload may follow. */
enum status project_load(struct loaded_project *l, const struct options *o, enum load_depth depth);
/* Prints the diagnostics and frees all. Returns `s`. */
enum status project_unload(struct loaded_project *l, enum status s);

/* For a session that builds later: starts its workers, or fills its warm front ends. Nothing is printed. */
bool session_start_pool(struct session *s, const struct options *o);
bool session_warm_frontends(struct session *s, const struct options *o);
#endif
