#include "builder/cli/project.h"
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/interp/interp.h"
#include "backend/link/model/model.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/os.h"
#include "base/path.h"
#include "base/print.h"
#include "base/vec.h"
#include "builder/cli/command.h"
#include "builder/manifest/glob.h"
#include "builder/run/run.h"
#include "builder/run/run_input.h"
#include "builder/run/test_case.h"
#include "builder/weights/npy.h"

static const char manifest[] = "project %s\n"
			       "    version = 0.1\n"
			       "\n"
			       "model %s\n"
			       "    sources = %s\n"
			       "    entry   = %s\n"
			       "%s"
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

enum { MAX_NAME = 200 }; /* leaves room for lib….so and the suffix of a temporary file */
enum { EXAMPLE_ROWS = 4, EXAMPLE_COLUMNS = 16 };

/* ---- names ---- */

static bool is_library(const char *word)
{
	static const char *const libraries[] = {"c", "m", "dl", "rt", "pthread", "gcc", "trib"};
	for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
		if (strcmp(libraries[i], word) == 0)
			return true;
	return false;
}

static bool is_command(const char *word)
{
	for (uint32_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(command_table[i].name, word) == 0)
			return true;
	return strcmp(word, "help") == 0;
}

/* Returns the length of the UTF-8 character in bytes. */
static int character_length(const char *s)
{
	int n = 1;
	while (((unsigned char)s[n] & 0xc0) == 0x80)
		n++;
	return n;
}

static const char *why_invalid(struct arena *a, const char *name, const char *id)
{
	if (!*name || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, "/") == 0)
		return "it is no name";
	if (strlen(name) > MAX_NAME)
		return "it has more than 200 characters";
	if (isdigit((unsigned char)*name))
		return "it begins with a digit, and C functions are named after it";
	for (const char *s = name; *s; s++)
		if (!isalnum((unsigned char)*s) && *s != '_' && *s != '-')
			return arena_printf(a, "it contains `%.*s`; use a to z, A to Z, 0 to 9, `_` and `-`", character_length(s), s);
	if (*name == '-')
		return "it begins with `-`, as flags do";
	if (model_name_fault(id))
		return model_name_fault(id);
	if (strcmp(id, "main") == 0)
		return "a C program begins with a function of this name";
	if (is_library(id))
		return arena_printf(a, "lib%s.so is a library of the system or of trib", id);
	if (is_command(id))
		return arena_printf(a, "`trib %s` is a command", id);
	return NULL;
}

const char *project_identifier(struct arena *a, const char *name, const char **why)
{
	char *id = arena_strdup(a, name);
	for (char *s = id; *s; s++)
		*s = *s == '-' ? '_' : *s;
	*why = why_invalid(a, name, id);
	return *why ? NULL : id;
}

/* ---- files ---- */

static bool new_project_put_bytes(struct arena *a, const char *path, const void *bytes, size_t n)
{
	if (os_mkdirs(path_dir(a, path)) && os_write_atomic(path, bytes, n, 0666, false))
		return true;
	print(stderr, "trib: cannot write `%s`: %s\n", path, strerror(errno));
	return false;
}

static bool new_project_put(struct arena *a, const char *path, const char *text)
{
	return new_project_put_bytes(a, path, text, strlen(text));
}

/* The name after the last `layer ` at the start of a line. */
static const char *last_layer(struct arena *a, const char *text)
{
	const char *found = NULL;
	for (const char *line = text; line; line = strchr(line, '\n'), line += line != NULL) {
		if (strncmp(line, "layer ", 6) != 0)
			continue;
		const char *name = line + 6 + strspn(line + 6, " \t");
		size_t n = 0;
		while (isalnum((unsigned char)name[n]) || name[n] == '_')
			n++;
		if (n)
			found = arena_strndup(a, name, n);
	}
	return found;
}

/* The entry of existing sources. */
static const char *new_project_find_entry(struct arena *a, const char *const *files, uint32_t n)
{
	const char *entry = NULL;
	for (uint32_t i = 0; i < n; i++) {
		char *text;
		size_t len;
		if (!os_read_file(files[i], INT32_MAX, &text, &len))
			continue;
		const char *found = last_layer(a, arena_strndup(a, text, len));
		vec_free_raw(text);
		entry = found ? found : entry;
	}
	return entry;
}

/* Writes random inputs, and the outputs that the reference interpreter computes. */
static bool put_test(struct arena *a, const char *id, const struct options *o)
{
	float data[EXAMPLE_ROWS * EXAMPLE_COLUMNS];
	tri_tensor x = {.data = data, .shape = {EXAMPLE_ROWS, EXAMPLE_COLUMNS}, .rank = 2, .dtype = TRI_FLOAT32};
	struct tensor t = {.elem = DT_FLOAT32, .rank = 2, .dims = {EXAMPLE_ROWS, EXAMPLE_COLUMNS}, .data = data};
	const char *input = arena_printf(a, TEST_FOLDER "/%s/x.npy", id), *output = arena_printf(a, TEST_FOLDER "/%s/out.npy", id);
	const char *inputs[] = {arena_printf(a, "x=%s", input)}, *outputs[] = {arena_printf(a, "out=%s", output)};
	struct options run = *o;
	struct buf b = {0};
	run_make_input("x", SOURCE_RANDOM, &x);
	npy_write(&t, &b);
	bool ok = new_project_put_bytes(a, input, b.at, b.len);
	buf_free(&b);
	run.operands = &id;
	run.n_operands = 1;
	run.inputs = inputs;
	run.n_inputs = 1;
	run.run.outputs = outputs;
	run.run.n_outputs = 1;
	run.quiet = true;
	return ok && reference_visit(&run, reference_interpret, run_once, &run) == STATUS_OK;
}

static bool put_ignored(struct arena *a)
{
	struct file_stamp there;
	return os_stamp(".gitignore", &there) || new_project_put(a, ".gitignore", "/build/\n/.trib/\n");
}

enum status project_write(struct arena *a, const char *name, const char *identifier, const struct options *o)
{
	uint32_t n;
	const char *pattern = "src/*.tri";
	const char *const *files = glob_expand(a, pattern, &n);
	if (!n) {
		files = glob_expand(a, "*.tri", &n);
		pattern = n ? "*.tri" : pattern;
	}
	const char *found = n ? new_project_find_entry(a, files, n) : "Net", *entry = found ? found : "Net",
		   *input = n ? "" : "    input x = float32 [?, 16]\n";
	const char *text = arena_printf(a, manifest, name, identifier, pattern, entry, input, identifier);
	bool ok = new_project_put(a, "tri.build", text) && (n || new_project_put(a, "src/main.tri", source)) && put_ignored(a) &&
		  (n || put_test(a, identifier, o));
	if (ok && !o->quiet && strcmp(name, identifier) != 0)
		print(stdout, "`%s` is called `%s` in C: build/lib%s.so, %s_open(), %s_run()\n", name, identifier, identifier, identifier,
		      identifier);
	if (ok && !o->quiet && n)
		print(stdout, "found %u source%s: `sources = %s` in tri.build\n", n, n == 1 ? "" : "s", pattern);
	if (ok && !o->quiet && n && found)
		print(stdout, "`entry = %s` in tri.build is the last layer in them\n", entry);
	if (ok && !found)
		print(stderr, "trib: found no layer in the sources: set `entry = %s` in tri.build to your layer or function\n", entry);
	return ok ? STATUS_OK : STATUS_ENVIRONMENT;
}
