/* Links with the system's linker: for platforms that link_shared lacks, and as its test oracle. The caller writes the objects
 * (object_write) and the version script to files and runs the command. */
#ifndef TRIB_BACKEND_LINK_ELF_LINK_SYSTEM_H
#define TRIB_BACKEND_LINK_ELF_LINK_SYSTEM_H
struct arena;
struct buf;
struct link_request;

/* Appends the version script, which makes all symbols local except the exports. */
void link_version_script(const struct link_request *r, struct buf *out);
/* Returns the NULL-terminated arguments for execvp. object_paths has r->n_objects files. */
const char *const *link_system_command(struct arena *a, const struct link_request *r, const char *cc, const char *const *object_paths,
				       const char *script_path, const char *out_path);
#endif
