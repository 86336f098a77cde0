#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/os.h"
#include "base/print.h"
#include "builder/build/session/status.h"
#include "builder/cli/command.h"
#include "builder/cli/commands/bench_kernels.h"
#include "builder/cli/print.h"
#include "builder/profile/profile.h"
#include "builder/run/device_ceilings.h"
#include "builder/run/drivers.h"
#include "gpu/module.h"

static void print_cpu(struct arena *a)
{
	struct profile_machine m = machine_describe(a);
	print(stdout, "cpu       %s\n    %u thread%s, %" PRIu64 " MiB of memory\n", m.cpu, m.cores, m.cores == 1 ? "" : "s",
	      m.memory_bytes >> 20);
}

static void print_device(uint32_t i, const struct gpu_device *device)
{
	print(stdout, "opencl:%u  %s\n", i, device->name);
	print(stdout, "    %s by %s, %s, driver %s\n", device->type, device->vendor, device->version, device->driver);
	print(stdout, "    platform %s\n", device->platform);
	print(stdout,
	      "    %u compute units, %" PRIu64 " MiB of memory, at most %" PRIu64 " MiB a buffer, %" PRIu64
	      " KiB local, work-groups of %u\n",
	      device->compute_units, device->memory_bytes >> 20, device->max_alloc_bytes >> 20, device->local_bytes >> 10,
	      device->max_work_group);
}

static void device_put_json(struct buf *out, uint32_t i, const struct gpu_device *gpu_device)
{
	struct json_writer w = {.out = out};
	char device[32];
	snprintf(device, sizeof device, "opencl:%u", i);
	json_open(&w, '{');
	json_member_str(&w, "type", "device");
	json_member_str(&w, "device", device);
	json_member_str(&w, "name", gpu_device->name);
	json_member_str(&w, "kind", gpu_device->type);
	json_member_str(&w, "vendor", gpu_device->vendor);
	json_member_str(&w, "version", gpu_device->version);
	json_member_str(&w, "driver", gpu_device->driver);
	json_member_str(&w, "platform", gpu_device->platform);
	json_member_int(&w, "compute_units", gpu_device->compute_units);
	json_member_int(&w, "memory_bytes", (int64_t)gpu_device->memory_bytes);
	json_member_int(&w, "most_buffer_bytes", (int64_t)gpu_device->max_alloc_bytes);
	json_member_int(&w, "local_bytes", (int64_t)gpu_device->local_bytes);
	json_member_int(&w, "most_work_group", gpu_device->max_work_group);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

static void devices_list(const struct options *o, struct arena *a, const struct gpu_answer *devices)
{
	struct buf text = {0};
	if (o->format != PRINT_JSON)
		print_cpu(a);
	for (uint32_t i = 0; i < devices->n && i < GPU_MOST_DEVICES; i++)
		if (o->format == PRINT_JSON)
			device_put_json(&text, i, &devices->list[i]);
		else
			print_device(i, &devices->list[i]);
	print_text(stdout, &text);
	buf_free(&text);
}

/* ---- --measure ---- */

static void print_ceilings(const char *what, const struct ceilings *ceilings)
{
	print(stdout, "    %-9s memory %8.1f GB/s read", what, ceilings->read_bytes / 1e9);
	if (ceilings->copy_bytes > 0)
		print(stdout, ", %8.1f copy", ceilings->copy_bytes / 1e9);
	print(stdout, "; float32 %8.0f GOP/s, int8 %8.0f\n", ceilings->float_ops / 1e9, ceilings->int8_ops / 1e9);
}

static void devices_put_json(struct buf *out, const char *device, const char *name, const struct ceilings *ceilings)
{
	struct json_writer w = {.out = out};
	json_open(&w, '{');
	json_member_str(&w, "type", "device");
	json_member_str(&w, "device", device);
	json_member_str(&w, "name", name);
	ceilings_print(&w, ceilings);
	json_close(&w, '}');
	buf_putc(out, '\n');
}

struct measured {
	struct arena *arena;
	const struct options *options;
	const char *device;
	uint32_t threads;
};

/* Returns an exit code: it may be called in a process of its own. */
static int devices_measure(void *ctx)
{
	const struct measured *m = ctx;
	const char *device = m->device;
	struct ceilings c, vendor;
	struct buf text = {0};
	const char *name;
	bool ok = device_ceilings(m->arena, device, m->threads, CEILINGS_MEASURED, &c, &name, &text);
	if (!ok) {
		print(stderr, "trib: cannot measure %s: %s\n", device, text.at);
	} else if (m->options->format == PRINT_JSON) {
		devices_put_json(&text, device, name, &c);
		print_text(stdout, &text);
	} else {
		print(stdout, "%s  %s\n", device, name);
		print_ceilings("measured", &c);
		if (strncmp(device, "opencl", 6) == 0 && device_known(name, &vendor))
			print_ceilings("vendor", &vendor);
	}
	buf_free(&text);
	return ok ? STATUS_OK : STATUS_ENVIRONMENT;
}

static bool measure_cpu(struct arena *a, const struct options *o, uint32_t threads)
{
	return devices_measure(&(struct measured){a, o, "cpu", threads}) == STATUS_OK;
}

static bool measure_device(struct arena *a, const struct options *o, uint32_t number, const struct gpu_device *gpu_device)
{
	const char *died, *device = arena_printf(a, "opencl:%u", number);
	bool ok = drivers_run(devices_measure, &(struct measured){a, o, device, 0}, &died) == STATUS_OK;
	if (died)
		print(stderr, "trib: cannot measure %s: the OpenCL driver of `%s` crashed (%s)\n", device, gpu_device->platform, died);
	return ok;
}

/* ---- --kernels ---- */

struct launched {
	const struct options *options;
	const char *device;
};

/* In a process of its own. */
static int devices_kernels(void *ctx)
{
	const struct launched *l = ctx;
	return (int)bench_kernels(l->options, l->options->kernels, l->device);
}

static enum status devices_print_kernels(struct arena *a, const struct options *o, const struct gpu_answer *devices)
{
	enum status s = STATUS_OK;
	for (uint32_t i = 0; i < devices->n && i < GPU_MOST_DEVICES && s == STATUS_OK; i++) {
		const char *died, *device = arena_printf(a, "opencl:%u", i);
		s = (enum status)drivers_run(devices_kernels, &(struct launched){o, device}, &died);
		if (died)
			s = fail_environment("%s: the OpenCL driver of `%s` crashed (%s)", device, devices->list[i].platform, died);
	}
	return s;
}

/* ---- the command ---- */

/* The processor with one thread and with all, then the OpenCL devices. */
static bool devices_measure_all(struct arena *a, const struct options *o, const struct gpu_answer *devices)
{
	uint32_t cpus = os_cpu_count();
	bool ok = measure_cpu(a, o, 1) && (cpus == 1 || measure_cpu(a, o, cpus));
	for (uint32_t i = 0; i < devices->n && i < GPU_MOST_DEVICES && !os_interrupted(); i++)
		ok = measure_device(a, o, i, &devices->list[i]) && ok;
	return ok;
}

static enum status no_devices(const struct gpu_answer *devices, const char *died)
{
	if (died)
		print(stderr, "trib: error: %s\n", died);
	else
		print(stderr, "trib: there is no OpenCL device: %s\n", devices->why);
	return STATUS_ENVIRONMENT;
}

static enum status devices_run(struct arena *a, const struct options *o, const struct gpu_answer *devices, const char *died)
{
	enum status s = STATUS_OK;
	if (o->measure)
		s = devices_measure_all(a, o, devices) ? STATUS_OK : STATUS_ENVIRONMENT;
	else if (!o->kernels)
		devices_list(o, a, devices);
	else if (!died && devices->n)
		s = devices_print_kernels(a, o, devices);
	return died || (!devices->n && !o->measure) ? no_devices(devices, died) : s;
}

enum status cmd_devices(const struct options *o)
{
	struct arena *a = arena_new(0);
	const char *died;
	const struct gpu_answer *devices = drivers_ask(a, &died);
	enum status s = os_interrupted() ? STATUS_INTERRUPTED : devices_run(a, o, devices, died);
	arena_free(a);
	return os_interrupted() ? STATUS_INTERRUPTED : s;
}
