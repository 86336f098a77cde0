/* The cache is a folder of SLOTS files. The key of a program selects its file; a later program with the same file replaces it. So the folder needs no
 * index and no pruning. A file is a header and the binary. It is written under another name and renamed. A damaged file, or one of another
 * program, counts as missing. */
#include "gpu/runtime/binaries.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backend/runtime/abi/triw.h"

#define MAGIC 0x31304e4942434c54ull /* "TLCBIN01" */
enum { SLOTS = 256, MOST_BYTES = 16 << 20, PATH = 512, TEXT = 256 };

struct binary_header {
	uint64_t magic, key[2], size;
	uint64_t check; /* of the binary */
};
struct binary_place {
	uint64_t key[2];
	char path[PATH];
};

static uint64_t mix_text(uint64_t sum, const char *text, size_t n)
{
	char last[8] = {0};
	memcpy(last, text + n / 8 * 8, n % 8);
	return triw_mix(triw_mix(sum, text, n / 8), last, 1);
}

static uint64_t binaries_key(const struct tri_cl_device *d, const struct tri_cl_program *data, const char *options, uint64_t seed)
{
	static const cl_device_info texts[] = {CL_DEVICE_NAME, CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION};
	uint64_t h = mix_text(mix_text(seed, data->text, data->text_size), options, strlen(options));
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char text[TEXT] = "";
		if (d->cl.clGetDeviceInfo(d->id, texts[i], sizeof text - 1, text, NULL) == CL_SUCCESS)
			h = mix_text(h, text, strlen(text));
	}
	return h;
}

/* True if a variable has one of four words: those of a setting of trib that mean yes, or no. */
static bool binaries_says(const char *variable, const char *const words[4])
{
	const char *has = secure_getenv(variable);
	for (int i = 0; has && i < 4; i++)
		if (strcmp(has, words[i]) == 0)
			return true;
	return false;
}

static const char *const yes[4] = {"true", "yes", "on", "1"}, *const no[4] = {"false", "no", "off", "0"};

/* $TRIB_CACHE_DIR/opencl, $XDG_CACHE_HOME/trib/opencl or ~/.cache/trib/opencl. False: there is no cache. */
static bool binaries_folder(char out[PATH])
{
	const char *own = secure_getenv("TRIB_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
	int n = -1;
	if (binaries_says("TRIB_CACHE", no))
		return false;
	if (own && *own == '/')
		n = snprintf(out, PATH, "%s/opencl", own);
	else if (xdg && *xdg == '/')
		n = snprintf(out, PATH, "%s/trib/opencl", xdg);
	else if (home && *home == '/')
		n = snprintf(out, PATH, "%s/.cache/trib/opencl", home);
	return n > 0 && n < PATH - 64; /* room for a file's name */
}

static bool binaries_find(const struct tri_cl_device *d, const struct tri_cl_program *data, const char *options, struct binary_place *out)
{
	if (!binaries_folder(out->path))
		return false;
	out->key[0] = binaries_key(d, data, options, 1);
	out->key[1] = binaries_key(d, data, options, 2);
	size_t n = strlen(out->path);
	snprintf(out->path + n, PATH - n, "/%02x", (unsigned)(out->key[0] % SLOTS));
	return true;
}

static bool read_all(int file, void *to, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t part = read(file, (char *)to + done, n - done);
		if (part <= 0)
			return false;
		done += (size_t)part;
	}
	return true;
}

static bool binaries_write(int file, const void *from, size_t n)
{
	for (size_t done = 0; done < n;) {
		ssize_t part = write(file, (const char *)from + done, n - done);
		if (part <= 0)
			return false;
		done += (size_t)part;
	}
	return true;
}

/* Returns the binary in memory that the caller frees, or NULL. */
static unsigned char *binaries_read(const struct binary_place *p, size_t *size)
{
	struct binary_header h;
	unsigned char *bytes = NULL;
	int file = open(p->path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	if (read_all(file, &h, sizeof h) && h.magic == MAGIC && h.key[0] == p->key[0] && h.key[1] == p->key[1] && h.size > 0 &&
	    h.size <= MOST_BYTES)
		bytes = malloc(h.size);
	if (bytes && (!read_all(file, bytes, h.size) || h.check != mix_text(0, (const char *)bytes, h.size))) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes && !binaries_says("TRIB_CACHE_READ_ONLY", yes))
		futimens(file, NULL); /* `trib cache prune` asks when it was used */
	close(file);
	*size = bytes ? h.size : 0;
	return bytes;
}

cl_program tri_cl_binary_load(const struct tri_cl_device *d, const struct tri_cl_program *data, const char *options)
{
	struct binary_place p;
	size_t size;
	unsigned char *bytes = binaries_find(d, data, options, &p) ? binaries_read(&p, &size) : NULL;
	if (!bytes)
		return NULL;
	cl_int status, of_device = CL_SUCCESS;
	cl_program program =
		d->cl.clCreateProgramWithBinary(d->context, 1, &d->id, &size, (const unsigned char *[]){bytes}, &of_device, &status);
	free(bytes);
	if (program && of_device == CL_SUCCESS && d->cl.clBuildProgram(program, 1, &d->id, options, NULL, NULL) == CL_SUCCESS)
		return program;
	if (program)
		d->cl.clReleaseProgram(program);
	return NULL;
}

static void make_folders(char *path)
{
	for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
		*at = 0;
		mkdir(path, 0700);
		*at = '/';
	}
}

static void binaries_store(struct binary_place *p, const unsigned char *bytes, size_t size)
{
	const struct binary_header h = {MAGIC, {p->key[0], p->key[1]}, size, mix_text(0, (const char *)bytes, size)};
	char fresh[PATH + 32];
	make_folders(p->path);
	snprintf(fresh, sizeof fresh, "%s.%ld-%p", p->path, (long)getpid(), (const void *)p); /* threads of a process, too */
	int file = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file < 0)
		return;
	bool ok = binaries_write(file, &h, sizeof h) && binaries_write(file, bytes, size);
	ok = close(file) == 0 && ok;
	if (!ok || rename(fresh, p->path) != 0)
		unlink(fresh);
}

void tri_cl_binary_save(const struct tri_cl_device *d, const struct tri_cl_program *data, const char *options, cl_program program)
{
	struct binary_place p;
	size_t size = 0;
	if (binaries_says("TRIB_CACHE_READ_ONLY", yes) || !binaries_find(d, data, options, &p) ||
	    d->cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL) != CL_SUCCESS || !size || size > MOST_BYTES)
		return;
	unsigned char *bytes = malloc(size);
	if (bytes && d->cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) == CL_SUCCESS)
		binaries_store(&p, bytes, size);
	free(bytes);
}
