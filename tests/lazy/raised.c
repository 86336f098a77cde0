/* A program that may be installed setuid: raised LIBRARY SYMBOL [FOLDER]. Runs the library's first entry on zeros. With FOLDER, it first
 * opens the model `net` of that project. Prints "secure" or "plain", and the results. */
#include <dlfcn.h>
#include <stdio.h>
#include <sys/auxv.h>
#include "tri_lazy.h"

static const char *run(const tri_model_desc *d, tri_error *err)
{
	static float x[64], y[64];
	tri_options one = {.size = sizeof one, .threads = 1};
	tri_tensor io[] = {{x, {3, 8}, 2, TRI_FLOAT32}, {y, {3, 8}, 2, TRI_FLOAT32}};
	struct tri_model *m = d->open(&one, err);
	return m && d->run(m, 0, io, err) == TRI_OK ? "ran" : err->message;
}

int main(int argc, char **argv)
{
	tri_error err = {0}, refused = {0};
	void *so = argc > 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	const tri_model_desc *d = so ? dlsym(so, argv[2]) : NULL;
	if (!d) {
		printf("no library: %s\n", dlerror());
		return 1;
	}
	const char *opened = argc > 3 ? tri_open_lazy(argv[3], "net", NULL, &refused) ? "opened, " : refused.message : "";
	printf("%s %s%s\n", getauxval(AT_SECURE) ? "secure" : "plain", opened, run(d, &err));
	return 0;
}
