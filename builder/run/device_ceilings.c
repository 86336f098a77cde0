#include "builder/run/device_ceilings.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "base/path.h"
#include "builder/manifest/backends.h"
#include "builder/cache/config.h"
#include "builder/json_read.h"
#include "builder/module.h"
#include "builder/profile/profile.h"
#include "builder/run/run.h"
#include "builder/store/crash_guard.h"
#include "gpu/module.h"

enum { MOST_ENTRIES = 64, MOST_FILE = 1 << 20 };

/* ---- the file: {"devices": [{"name": "…", "read_bytes": …, …}]} ---- */

static const char *file_path(struct arena *a) { return path_join(a, cache_default_dir(a), "devices.json"); }

/* NULL: there is none, or it is damaged; it is then replaced. */
static json_t *device_ceilings_read_file(struct arena *a)
{
	char *text;
	size_t len;
	if (!os_read_file(file_path(a), MOST_FILE, &text, &len))
		return NULL;
	json_t *root = json_read(text, len, JSON_REJECT_DUPLICATES, NULL);
	free(text);
	return root;
}

/* True if the entry has all figures. */
static bool device_ceilings_read_entry(const json_t *entry, struct ceilings *out)
{
#define CEILING(name) (out->name = json_number_value(json_object_get(entry, #name))) > 0 &&
	return KERNEL_CEILINGS(CEILING) json_is_string(json_object_get(entry, "name"));
#undef CEILING
}

static bool device_ceilings_is_named(const json_t *entry, const char *name)
{
	const char *its = json_string_value(json_object_get(entry, "name"));
	return its && strcmp(its, name) == 0;
}

static bool device_ceilings_find(const json_t *root, const char *name, struct ceilings *out)
{
	size_t i;
	const json_t *entry;
	json_array_foreach(json_object_get(root, "devices"), i,
			   entry) if (device_ceilings_is_named(entry, name) && device_ceilings_read_entry(entry, out)) return true;
	return false;
}

void ceilings_print(struct json_writer *w, const struct ceilings *ceilings)
{
#define CEILING(name) json_member_num(w, #name, ceilings->name);
	KERNEL_CEILINGS(CEILING)
#undef CEILING
}

static void device_ceilings_put_entry(struct json_writer *w, const char *name, const struct ceilings *ceilings)
{
	json_open(w, '{');
	json_member_str(w, "name", name);
	ceilings_print(w, ceilings);
	json_close(w, '}');
}

/* Writes the file with this entry and the others of `root`. A file that cannot be written only costs another measurement. */
static void device_ceilings_save(struct arena *a, const json_t *root, const char *name, const struct ceilings *ceilings)
{
	const json_t *list = json_object_get(root, "devices");
	struct buf text = {0};
	struct json_writer w = {.out = &text};
	struct ceilings other;
	json_open(&w, '{');
	json_member_open(&w, "devices", '[');
	device_ceilings_put_entry(&w, name, ceilings);
	for (size_t i = 0; i < json_array_size(list) && i < MOST_ENTRIES; i++) {
		const json_t *entry = json_array_get(list, i);
		if (device_ceilings_read_entry(entry, &other) && !device_ceilings_is_named(entry, name))
			device_ceilings_put_entry(&w, json_string_value(json_object_get(entry, "name")), &other);
	}
	json_close(&w, ']');
	json_close(&w, '}');
	buf_putc(&text, '\n');
	if (os_mkdirs(cache_default_dir(a)))
		os_write_atomic(file_path(a), text.at, text.len, 0666, false);
	buf_free(&text);
}

/* ---- devices ---- */

static const struct gpu_api *open_gpu(struct arena *a, struct buf *why)
{
	const char *error = "";
	const struct gpu_api *api = module_open(a, "gpu", GPU_ENTRY, GPU_ABI, &error);
	if (!api)
		buf_puts(why, error);
	return api;
}

static bool measure_gpu(struct arena *a, uint32_t number, struct ceilings *out, struct buf *why)
{
	const struct gpu_api *api = open_gpu(a, why);
	struct gpu_ceilings c;
	bool ok = api && api->measure(number, &c, why);
	if (ok)
		*out = (struct ceilings){c.read_bytes, c.copy_bytes, c.float_ops, c.int8_ops};
	return ok;
}

/* Returns the number of a device that is given by it, or by a part of its name. */
static uint32_t gpu_number(const struct gpu_answer *answer, const char *which)
{
	uint32_t i = 0;
	if (!which[strspn(which, "0123456789")])
		return (uint32_t)strtoul(which, NULL, 10);
	while (i < answer->n && i < GPU_MOST_DEVICES && !strcasestr(answer->list[i].name, which))
		i++;
	return i;
}

static const char *gpu_name(struct arena *a, const char *which, uint32_t *number, struct buf *why)
{
	const struct gpu_api *api = open_gpu(a, why);
	struct gpu_answer *answer = ARENA_NEW(a, struct gpu_answer);
	if (!api)
		return NULL;
	api->devices(answer);
	*number = gpu_number(answer, which);
	if (*number < answer->n && *number < GPU_MOST_DEVICES)
		return arena_printf(a, "%s, driver %s", answer->list[*number].name, answer->list[*number].driver);
	buf_puts(why, answer->n ? arena_printf(a, "there is no device opencl:%s", which) : answer->why);
	return NULL;
}

static struct ceilings higher_of(const struct ceilings *x, const struct ceilings *y)
{
#define CEILING(name) fmax(x->name, y->name),
	return (struct ceilings){KERNEL_CEILINGS(CEILING)};
#undef CEILING
}

static bool find_or_measure(struct arena *a, const char *device, uint32_t threads, enum ceilings_source source, struct ceilings *out,
			    const char **name, struct buf *why)
{
	bool on_cpu = !device_is_foreign(device), ok = true;
	struct ceilings in_file;
	const char *colon = strchr(device, ':');
	uint32_t number = 0;
	*name = on_cpu ? arena_printf(a, "%s, %u thread%s", machine_describe(a).cpu, threads, threads == 1 ? "" : "s")
		       : gpu_name(a, colon ? colon + 1 : "", &number, why);
	if (!*name)
		return false;
	json_t *root = device_ceilings_read_file(a);
	bool found = device_ceilings_find(root, *name, &in_file);
	if (found)
		*out = in_file;
	if (!found || source != CEILINGS_FROM_FILE) {
		os_end_at_interrupt(RUN_INTERRUPTED);
		if (on_cpu)
			*out = ceilings_measure(threads);
		else
			ok = measure_gpu(a, number, out, why);
		os_end_at_interrupt(NULL);
		if (found && source == CEILINGS_RAISED)
			*out = higher_of(out, &in_file);
		if (ok)
			device_ceilings_save(a, root, *name, out);
	}
	json_decref(root);
	return ok;
}

bool device_ceilings(struct arena *a, const char *device, uint32_t threads, enum ceilings_source source, struct ceilings *out,
		     const char **name, struct buf *why)
{
	const char *outer_code = crash_guard_set_foreign(device_is_foreign(device) ? GPU_DRIVERS : NULL);
	bool ok = find_or_measure(a, device, threads, source, out, name, why);
	crash_guard_set_foreign(outer_code);
	return ok;
}

bool device_ceilings_add(struct profile *p, const char *device, uint32_t threads, struct buf *why)
{
	struct ceilings measured, raised;
	const char *name;
	if (!device_ceilings(p->arena, device, threads, CEILINGS_FROM_FILE, &measured, &name, why))
		return false;
	profile_add_setting(p, "device", name);
	kernel_add_ceilings(p, &measured);
	raised = kernel_raised_ceilings(p);
	if (raised.float_ops <= measured.float_ops && raised.int8_ops <= measured.int8_ops)
		return true;
	if (!device_ceilings(p->arena, device, threads, CEILINGS_RAISED, &measured, &name, why))
		return false;
	kernel_add_ceilings(p, &measured);
	raised = kernel_raised_ceilings(p);
	kernel_add_ceilings(p, &raised);
	if (raised.float_ops > measured.float_ops)
		profile_add_fact(p, "ceiling.float_measured", measured.float_ops);
	if (raised.int8_ops > measured.int8_ops)
		profile_add_fact(p, "ceiling.int8_measured", measured.int8_ops);
	return true;
}

static const struct {
	const char *name;
	double gigabytes, float_gops, int8_gops;
} known[] = {
#define DEVICE(name, gigabytes, float_gops, int8_gops) {name, gigabytes, float_gops, int8_gops},
#include "gpu/devices.def"
};

bool device_known(const char *name, struct ceilings *out)
{
	for (uint32_t i = 0; i < sizeof known / sizeof *known; i++)
		if (strstr(name, known[i].name)) {
			*out = (struct ceilings){known[i].gigabytes * 1e9, 0, known[i].float_gops * 1e9, known[i].int8_gops * 1e9};
			return true;
		}
	return false;
}
