#include "gpu/runtime/fast_forms.h"
#include "gpu/runtime/queue.h"

enum { CAPABILITY_MAJOR = 0x4000, CAPABILITY_MINOR = 0x4001 }; /* cl_nv_device_attribute_query */
enum { SUB_GROUP_SIZES_INTEL = 0x4108 };                       /* cl_intel_required_subgroup_size */
enum { NAME = 128, EXTENSIONS = 8192, VERSION = 256, SIZES = 16 };

static uint32_t fast_forms_number(const struct tri_cl_device *d, cl_device_info what)
{
	cl_uint v = 0;
	return d->cl.clGetDeviceInfo(d->id, what, sizeof v, &v, NULL) == CL_SUCCESS ? v : 0;
}

/* 10 · major + minor of "OpenCL MAJOR.MINOR …"; 0: the text is another one. */
static uint32_t fast_forms_version(const struct tri_cl_device *d)
{
	char text[VERSION] = "";
	d->cl.clGetDeviceInfo(d->id, CL_DEVICE_VERSION, sizeof text - 1, text, NULL);
	return strncmp(text, "OpenCL ", 7) == 0 && text[8] == '.' ? 10u * (uint32_t)(text[7] - '0') + (uint32_t)(text[9] - '0') : 0;
}

/* The sizes of sub-groups that a kernel may ask for, added up. */
static uint32_t fast_forms_sub_groups(const struct tri_cl_device *d)
{
	size_t sizes[SIZES] = {0}, all = 0;
	if (d->cl.clGetDeviceInfo(d->id, SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, NULL) == CL_SUCCESS)
		for (uint32_t i = 0; i < SIZES; i++)
			all |= sizes[i];
	return (uint32_t)all;
}

void tri_cl_fast_form(const struct tri_cl_device *d, uint32_t n, char out[TRI_CL_FORM])
{
	char name[NAME] = "", extensions[EXTENSIONS] = "";
	if (d->variant != TRI_CL_GROUPS) {
		snprintf(out, TRI_CL_FORM, "%s", n == 0 ? " -DTRI_DOT_X86" : "");
		return;
	}
	d->cl.clGetDeviceInfo(d->id, CL_DEVICE_NAME, sizeof name - 1, name, NULL);
	d->cl.clGetDeviceInfo(d->id, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
	struct tri_cl_features of = {.vendor = fast_forms_number(d, CL_DEVICE_VENDOR_ID), .name = name, .extensions = extensions};
	of.version = fast_forms_version(d);
	of.sub_groups = tri_cl_has_word(extensions, "cl_intel_required_subgroup_size") ? fast_forms_sub_groups(d) : 0;
	if (of.vendor == TRI_CL_NVIDIA) {
		of.major = fast_forms_number(d, CAPABILITY_MAJOR);
		of.minor = fast_forms_number(d, CAPABILITY_MINOR);
	}
	tri_cl_form_option(&of, n, out);
}

/* ---- self-checks ---- */

static int32_t dot(uint32_t a, uint32_t b, int32_t sum)
{
	for (int k = 0; k < 32; k += 8)
		sum += (int8_t)(a >> k) * (int8_t)(b >> k);
	return sum;
}

/* What item i of tri_check_dot computes. */
static int32_t checked_dot(uint32_t i) { return dot((i + 1) * 0x9e3779b9u, (i + 7) * 0x85ebca6bu, (int32_t)i * 1000003); }

/* What item i of tri_check_pairs computes: numbers of two bits times signed ones, and one of the former as a trit. */
static int32_t checked_pairs(uint32_t i)
{
	uint32_t a = (i + 1) * 0x9e3779b9u & 0x03030303u;
	return dot(a, (i + 7) * 0x85ebca6bu, (int32_t)i * 1000003) + ((int32_t)(a >> 8 & 3u) - 1) * 1000033;
}

/* What item i of tri_check_swap computes: of words of its neighbours. */
static int32_t checked_swap(uint32_t i)
{
	uint32_t sum = 0;
	for (uint32_t gap = 1; gap < 32; gap <<= 1)
		sum = sum * 3 + ((i ^ gap) + 1) * 0x9e3779b9u;
	return (int32_t)sum;
}

/* What item i of tri_check_blocks computes: of four words, its own, and its short of those of its sub-group. */
static int32_t checked_blocks(uint32_t i)
{
	const uint32_t first = i / 16 * 16, lane = i % 16;
	uint32_t sum = 0;
	for (uint32_t q = 0; q < 4; q++)
		sum = sum * 3 + (first + 16 * q + lane + 1) * 0x9e3779b9u;
	const uint32_t halves = (first + lane / 2 + 1) * 0x9e3779b9u;
	return (int32_t)(sum + (i + 1) * 0x9e3779b9u * 5 + (halves >> lane % 2 * 16 & 0xffff) * 7);
}

/* Word n of those that a lane of tri_check_mma holds: four of the left operand, two of the right one. */
static uint32_t held(uint32_t lane, uint32_t n) { return (6 * lane + n + 1) * 0x9e3779b9u; }

/* Sum i % 4 of lane i / 4 of tri_check_mma, by the definition of mma.m16n8k32: two sums of a row, and two of the row eight below. */
static int32_t checked_mma(uint32_t i)
{
	static const int32_t from[] = {1000003, 1000033, 1000037, 1000039};
	uint32_t lane = i / 4, column = lane % 4 * 2 + i % 2, below = i % 4 / 2;
	int32_t sum = (int32_t)lane * from[i % 4];
	for (uint32_t q = 0; q < 8; q++) /* words of k */
		sum = dot(held(lane / 4 * 4 + q % 4, below + q / 4 * 2), held(column * 4 + q % 4, 4 + q / 4), sum);
	return sum;
}

static const struct check {
	const char *kernel;
	size_t items; /* of its group */
	uint32_t results;
	int32_t (*want)(uint32_t i);
} checks[] = {{"tri_check_dot", 64, 64, checked_dot},
	      {"tri_check_pairs", 64, 64, checked_pairs},
	      {"tri_check_swap", 64, 64, checked_swap},
	      {"tri_check_blocks", 64, 64, checked_blocks},
	      {"tri_check_mma", 32, 128, checked_mma}};
enum { MOST_RESULTS = 128 };

static bool check_runs(struct tri_cl_device *d, const struct check *c, cl_kernel kernel, cl_mem results, cl_int got[MOST_RESULTS])
{
	return d->cl.clSetKernelArg(kernel, 0, sizeof results, &results) == CL_SUCCESS &&
	       d->cl.clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &c->items, &c->items, 0, NULL, NULL) == CL_SUCCESS &&
	       tri_cl_read(d, results, 0, got, c->results * sizeof *got, true, NULL) == CL_SUCCESS;
}

static bool check_holds(struct tri_cl_device *d, const struct check *c, cl_program program)
{
	cl_int status, got[MOST_RESULTS];
	cl_kernel kernel = d->cl.clCreateKernel(program, c->kernel, &status);
	if (!kernel)
		return status == CL_INVALID_KERNEL_NAME;
	cl_mem results = tri_cl_buffer(d, sizeof got, NULL, "the self-check", NULL);
	bool holds = results && check_runs(d, c, kernel, results, got);
	for (uint32_t i = 0; holds && i < c->results; i++)
		holds = got[i] == c->want(i);
	if (results)
		d->cl.clReleaseMemObject(results);
	d->cl.clReleaseKernel(kernel);
	return holds;
}

bool tri_cl_fast_forms_hold(struct tri_cl_device *d, cl_program program)
{
	for (uint32_t i = 0; i < sizeof checks / sizeof *checks; i++)
		if (!check_holds(d, &checks[i], program))
			return false;
	return true;
}
