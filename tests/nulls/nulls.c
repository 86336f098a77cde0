/* Gives NULL to every pointer of the public headers. `nulls model LIBRARY`, `nulls live LIBRARY`, `nulls lazy FOLDER NAME` and `nulls build
 * FOLDER` print "ok WHAT" for each pointer that behaved as the headers say, where WHAT is "function.parameter", "struct.member" or, for a function in a
 * struct, "struct.member.parameter". `MEMBER[]` is an element of an array of pointers. A case runs in a process of its own; one that crashes or fails
 * is printed, too. */
#include "nulls.h"
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct nulls_case {
	const char *command, *name;
	void (*run)(struct subject *s);
} cases[] = {
#define CASE_OF(command, f) {command, #f, f},
#define MODEL(f) CASE_OF("model", f)
#define LIVE(f) CASE_OF("live", f)
#define LAZY(f) CASE_OF("lazy", f)
#define BUILD(f) CASE_OF("build", f)
	MODEL_CASES(MODEL) LIVE_CASES(LIVE) LAZY_CASES(LAZY) BUILD_CASES(BUILD)};

/* Takes the functions from a library. */
static void load(struct subject *s, const char *path)
{
	s->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	CHECK(s->library);
	s->desc = (const tri_model_desc *)dlsym(s->library, TRI_DESC_SYMBOL);
#define LOAD(name)                                          \
	do {                                                \
		void *at = dlsym(s->library, "net_" #name); \
		CHECK(at);                                  \
		memcpy(&s->name, &at, sizeof at);           \
	} while (0);
	MODEL_FUNCTIONS(LOAD)
}

static int run_case(const struct nulls_case *c, struct subject *s)
{
	int status = 0;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		if (strcmp(c->command, "model") == 0 || strcmp(c->command, "live") == 0)
			load(s, s->args[0]);
		c->run(s);
		exit(0);
	}
	waitpid(child, &status, 0);
	if (status)
		printf("%s: %s ended with %s %d\n", c->command, c->name, WIFSIGNALED(status) ? "signal" : "code",
		       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return status != 0;
}

int main(int argc, char **argv)
{
	struct subject s = {.args = argv + 2};
	int failed = 0;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; argc > 2 && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].command, argv[1]) == 0)
			failed += run_case(&cases[i], &s);
	return failed != 0;
}
