/* The same link by the system's linker: for machines that link_shared does not write for, and as its test oracle. The caller writes the objects
 * (object_write) and the version script to files and runs the command. */
#ifndef TRIB_BACKEND_LINK_LINK_SYSTEM_H
#define TRIB_BACKEND_LINK_LINK_SYSTEM_H
struct arena;
struct buf;
struct link_request;

/* Appends the version script: the exports are global, all else is local. */
void link_version_script(const struct link_request *r, struct buf *out);
/* Arguments for execvp, NULL-terminated: `cc` with r->n_objects object files, the script, the library. */
const char *const *link_system_command(struct arena *a, const struct link_request *r, const char *cc, const char *const *object_paths,
				       const char *script_path, const char *out_path);
#endif
