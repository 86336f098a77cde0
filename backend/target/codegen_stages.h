/* The stages of a code generator. */
#ifndef TRIB_BACKEND_TARGET_CODEGEN_STAGES_H
#define TRIB_BACKEND_TARGET_CODEGEN_STAGES_H

/* Called at the begin and at the end of each stage of a compilation. Stages follow one another; they do not nest. */
struct codegen_stages {
	void (*begin)(const char *name);
	void (*end)(void);
};
#endif
