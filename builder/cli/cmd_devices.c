#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/cli/command.h"
#include "builder/module.h"
#include "builder/run/device_ceilings.h"
#include "builder/store/crash_guard.h"
#include "gpu/module.h"

enum { MAX_DEVICES = 64 };

static void print_device(uint32_t i, const struct gpu_device *d)
{
	print(stdout, "opencl:%u  %s\n", i, d->name);
	print(stdout, "    %s by %s, %s, driver %s\n", d->type, d->vendor, d->version, d->driver);
	print(stdout, "    platform %s\n", d->platform);
	print(stdout,
	      "    %u compute units, %" PRIu64 " MiB of memory, at most %" PRIu64 " MiB a buffer, %" PRIu64
	      " KiB local, work-groups of %u\n",
	      d->compute_units, d->memory_bytes >> 20, d->max_alloc_bytes >> 20, d->local_bytes >> 10, d->max_work_group);
}

/* ---- --measure ---- */

static void print_ceilings(const char *what, const struct ceilings *c)
{
	print(stdout, "    %-9s memory %8.1f GB/s read", what, c->read_bytes / 1e9);
	if (c->copy_bytes > 0)
		print(stdout, ", %8.1f copy", c->copy_bytes / 1e9);
	print(stdout, "; float32 %8.0f GOP/s, int8 %8.0f\n", c->float_ops / 1e9, c->int8_ops / 1e9);
}

static void put_json(struct buf *out, const char *device, const char *name, const struct ceilings *c)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "device");
	json_member_str(&w, "device", device);
	json_member_str(&w, "name", name);
	json_member_num(&w, "read_bytes", c->read_bytes);
	json_member_num(&w, "copy_bytes", c->copy_bytes);
	json_member_num(&w, "float_ops", c->float_ops);
	json_member_num(&w, "int8_ops", c->int8_ops);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

static bool measure(struct arena *a, const struct options *o, const char *device, uint32_t threads)
{
	struct ceilings c, vendor;
	struct buf text = {0};
	const char *name;
	bool ok = device_ceilings(a, device, threads, CEILINGS_MEASURED, &c, &name, &text);
	if (!ok) {
		print(stderr, "trib: cannot measure %s: %s\n", device, text.at);
	} else if (o->format == PRINT_JSON) {
		put_json(&text, device, name, &c);
		print_text(stdout, &text);
	} else {
		print(stdout, "%s  %s\n", device, name);
		print_ceilings("measured", &c);
		if (strncmp(device, "opencl", 6) == 0 && device_known(name, &vendor))
			print_ceilings("vendor", &vendor);
	}
	buf_free(&text);
	return ok;
}

/* The processor with one thread and with all, then the OpenCL devices. */
static enum status measure_all(struct arena *a, const struct options *o, uint32_t n_devices)
{
	uint32_t cpus = os_cpu_count();
	bool ok = measure(a, o, "cpu", 1) && (cpus == 1 || measure(a, o, "cpu", cpus));
	for (uint32_t i = 0; i < n_devices; i++)
		ok = measure(a, o, arena_printf(a, "opencl:%u", i), 0) && ok;
	return ok ? STATUS_OK : STATUS_ENVIRONMENT;
}

enum status cmd_devices(const struct options *o)
{
	struct arena *a = arena_new(0);
	struct gpu_device *list = ARENA_ARRAY(a, struct gpu_device, MAX_DEVICES);
	struct buf why = {0};
	const char *error = "";
	enum status s = STATUS_OK;
	crash_guard_set_foreign(GPU_DRIVERS); /* to the end: drivers also run code at exit */
	const struct gpu_api *api = module_open(a, "gpu", GPU_ENTRY, GPU_ABI, &error);
	uint32_t n = api ? api->devices(list, MAX_DEVICES, &why) : 0;
	if (o->measure) {
		s = measure_all(a, o, n < MAX_DEVICES ? n : MAX_DEVICES);
	} else {
		for (uint32_t i = 0; i < n && i < MAX_DEVICES; i++)
			print_device(i, &list[i]);
		if (n == 0) {
			print(stderr, "trib: there is no OpenCL device: %s\n", why.at ? why.at : error);
			s = STATUS_ENVIRONMENT;
		}
	}
	buf_free(&why);
	arena_free(a);
	return s;
}
