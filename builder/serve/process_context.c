#include "builder/serve/message.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/arena.h"
#include "builder/module.h"

/* Variables that the command line, the dynamic linker and libgit2 read at the start. Requests carry all others. */
static const char *const variables[] = {"TRIB_JOBS", "TRIB_PARAM_CODE", "HOME", "XDG_CONFIG_HOME", "LD_LIBRARY_PATH", "LD_PRELOAD"};

static void read_program(struct program *program)
{
	struct arena *scratch = arena_new(0);
	const char *codegen = module_path(scratch, "codegen");
	os_stamp("/proc/self/exe", &program->trib);
	if (codegen)
		os_stamp(codegen, &program->codegen);
	arena_free(scratch);
}

static uint64_t inode_of(const char *path, uint64_t *device)
{
	struct stat st;
	if (stat(path, &st) != 0)
		return 0;
	if (device)
		*device = (uint64_t)st.st_dev;
	return (uint64_t)st.st_ino;
}

static hash128 hash_variables(void)
{
	struct hasher *h = hasher_new();
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		const char *value = secure_getenv(variables[i]);
		hasher_add_u64(h, value != NULL);
		hasher_add_str(h, value ? value : "");
	}
	return hasher_finish(h);
}

void process_context_read(struct process_context *s)
{
	memset(s, 0, sizeof *s);
	read_program(&s->program);
	s->folder = inode_of(".", &s->device);
	s->root[1] = inode_of("/", &s->root[0]);
	s->namespaces[0] = inode_of("/proc/self/ns/mnt", NULL);
	s->namespaces[1] = inode_of("/proc/self/ns/user", NULL);
	s->uid = geteuid();
	s->gid = getegid();
	mode_t mask = umask(0);
	umask(mask);
	s->umask = mask;
	s->nice = (uint64_t)getpriority(PRIO_PROCESS, 0);
	for (int i = 0; i < RLIM_NLIMITS; i++)
		getrlimit((__rlimit_resource_t)i, &s->limits[i]);
	sched_getaffinity(0, sizeof s->cpus, &s->cpus);
	s->variables = hash_variables();
}

bool program_eq(const struct program *a, const struct program *b) { return memcmp(a, b, sizeof *a) == 0; }
bool process_context_eq(const struct process_context *a, const struct process_context *b) { return memcmp(a, b, sizeof *a) == 0; }
