/* `trib import`: the Python package reads the models; this starts it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/cli/print.h"

/* Puts the package of a build tree, beside the executable, before those that Python finds itself. */
static void add_package(struct arena *a)
{
	struct file_stamp there;
	char *dir = os_exe_dir();
	const char *package = dir ? arena_printf(a, "%s/python", dir) : NULL;
	free(dir);
	if (!package || !os_stamp(arena_printf(a, "%s/trib/importing.py", package), &there))
		return;
	const char *others = getenv("PYTHONPATH");
	setenv("PYTHONPATH", others && *others ? arena_printf(a, "%s:%s", package, others) : package, 1);
}

enum status cmd_import(const struct options *o)
{
	if (o->n_operands < 1)
		return fail_usage("`trib import` needs a model, and may have a folder for the project: `trib import model.onnx net`");
	struct arena *a = arena_new(0);
	const char *python = getenv("TRIB_PYTHON");
	python = python && *python ? python : "python3";
	add_package(a);
	/* The option -c gives a plain message where the package is missing. */
	char *script = "import sys\n"
		       "try:\n"
		       "    from trib import importing\n"
		       "except ImportError as error:\n"
		       "    sys.exit(f'error: {sys.executable} has no package trib ({error}): pip install it, or set TRIB_PYTHON')\n"
		       "sys.exit(importing.main(sys.argv[1:]))\n";
	char *words[] = {(char *)python, "-c", script, (char *)o->operands[0], o->n_operands > 1 ? (char *)o->operands[1] : NULL, NULL};
	fflush(NULL);
	execvp(python, words);
	enum status s = fail_environment(
		"cannot start `%s`: %s; models are read by the Python package of trib: install Python 3, or set TRIB_PYTHON", python,
		strerror(errno));
	arena_free(a);
	return s;
}
