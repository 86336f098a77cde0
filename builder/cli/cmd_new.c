#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/cli/command.h"

static const char manifest[] = "project %s\n"
			       "    version = 0.1\n"
			       "\n"
			       "model %s\n"
			       "    sources = src/*.tri\n"
			       "    entry   = Net\n"
			       "    input x = float32 [?, 16]\n"
			       "    # weights = weights/%s.safetensors\n";

static const char source[] = "# A small ternary network. Its parameters have initial values, so it builds without a weights file.\n"
			     "import nn\n"
			     "\n"
			     "layer Net() {\n"
			     "    let fc1 = nn.TernaryLinear(16, 32)\n"
			     "    let fc2 = nn.TernaryLinear(32, 4)\n"
			     "\n"
			     "    fn forward(x: Tensor<float32, [N, 16]>) -> Tensor<float32, [N, 4]> {\n"
			     "        return fc2(relu(fc1(x)))\n"
			     "    }\n"
			     "}\n";

static bool valid_name(const char *s)
{
	if (!isalpha((unsigned char)*s) && *s != '_')
		return false;
	while (isalnum((unsigned char)*s) || *s == '_')
		s++;
	return !*s;
}

static bool put(struct arena *a, const char *dir, const char *name, const char *text)
{
	const char *path = path_join(a, dir, name);
	if (os_mkdirs(path_dir(a, path)) && os_write_atomic(path, text, strlen(text), 0666, false))
		return true;
	fprintf(stderr, "trib: cannot write `%s`: %s\n", path, strerror(errno));
	return false;
}

enum status cmd_new(const struct options *o)
{
	struct stat st;
	if (o->n_models != 1) {
		fputs("trib: `trib new` wants the name of the project, a new folder\n", stderr);
		return STATUS_USAGE;
	}
	const char *dir = o->models[0], *name = path_base(dir);
	if (!valid_name(name)) {
		fprintf(stderr, "trib: `%s` is no C identifier: it becomes the prefix of the library's functions\n", name);
		return STATUS_USAGE;
	}
	if (lstat(dir, &st) == 0) {
		fprintf(stderr, "trib: `%s` exists already\n", dir);
		return STATUS_USAGE;
	}
	struct arena *a = arena_new(0);
	bool ok = put(a, dir, "tri.build", arena_printf(a, manifest, name, name, name)) && put(a, dir, "src/main.tri", source) &&
		  put(a, dir, ".gitignore", "/build/\n/.trib/\n");
	if (ok && !o->quiet)
		printf("made the project %s; build it with `trib build -C %s`\n", name, dir);
	arena_free(a);
	return ok ? STATUS_OK : STATUS_ENVIRONMENT;
}
