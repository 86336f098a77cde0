/* Faster forms of kernels: build options that define the macros of `#if` in templates/groups/tile.cl and templates/wide/tile.cl. */
#ifndef TRI_FAST_FORMS_H
#define TRI_FAST_FORMS_H
#include <stdio.h>
#include <string.h>
#include "gpu/runtime/device.h"

enum { TRI_CL_NVIDIA = 0x10de, TRI_CL_AMD = 0x1002 }; /* CL_DEVICE_VENDOR_ID */
enum { TRI_CL_FORM = 80 };                            /* bytes of an option */

/* The properties by which a form is chosen. */
struct tri_cl_features {
	uint32_t vendor;       /* CL_DEVICE_VENDOR_ID */
	uint32_t major, minor; /* compute capability, of NVIDIA */
	const char *name, *extensions;
};

static inline bool tri_cl_starts_with_any(const char *name, const char *const *starts)
{
	for (; *starts; starts++)
		if (strncmp(name, *starts, strlen(*starts)) == 0)
			return true;
	return false;
}

/* A form, and the devices that should support it. */
struct tri_cl_form {
	uint32_t vendor, capability; /* 0: any; 10 · major + minor at least */
	const char *names[9];        /* how the name of the device begins; none: any */
	const char *extension;       /* NULL: none is needed */
	const char *option;
};

static inline bool tri_cl_has_form(const struct tri_cl_form *x, const struct tri_cl_features *of)
{
	return (!x->vendor || x->vendor == of->vendor) && 10 * of->major + of->minor >= x->capability &&
	       (!x->names[0] || tri_cl_starts_with_any(of->name, x->names)) && (!x->extension || strstr(of->extensions, x->extension));
}

/* Writes the build option, after a space, of the n-th form that a device with these properties should support, the fastest first; "" if there is none. Each
 * form of products comes with an exchange of values among neighbours, if the device has one, and then without it. */
static inline void tri_cl_form_option(const struct tri_cl_features *of, uint32_t n, char out[TRI_CL_FORM])
{
	static const struct tri_cl_form products[] = {
		{TRI_CL_NVIDIA, 80, {NULL}, NULL, " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=80"},
		{TRI_CL_NVIDIA, 75, {NULL}, NULL, " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=75"},
		{TRI_CL_NVIDIA, 61, {NULL}, NULL, " -DTRI_DOT_NVIDIA"},
		{TRI_CL_AMD, 0, {"gfx906", "gfx908", "gfx90a", "gfx94", "gfx950", "gfx1011", "gfx1012", "gfx103"}, NULL, " -DTRI_DOT_AMD"},
		{TRI_CL_AMD, 0, {"gfx11", "gfx12"}, NULL, " -DTRI_DOT_AMD_11"},
		{0, 0, {NULL}, "cl_khr_integer_dot_product", " -DTRI_DOT_KHR"},
	};
	static const struct tri_cl_form swaps[] = {
		{TRI_CL_NVIDIA, 30, {NULL}, NULL, " -DTRI_SWAP_NVIDIA"},
		{TRI_CL_AMD, 0, {"gfx9", "gfx10", "gfx11", "gfx12"}, NULL, " -DTRI_SWAP_AMD"},
	};
	const char *product = "", *swap = "";
	for (uint32_t i = 0; i < sizeof swaps / sizeof *swaps && !*swap; i++)
		swap = tri_cl_has_form(&swaps[i], of) ? swaps[i].option : "";
	const uint32_t each = *swap ? 2 : 1;
	uint32_t skip = n / each;
	for (uint32_t i = 0; i < sizeof products / sizeof *products && !*product; i++)
		if (tri_cl_has_form(&products[i], of) && skip-- == 0)
			product = products[i].option;
	snprintf(out, TRI_CL_FORM, "%s%s", product, n % each == 0 ? swap : "");
}
/* The same for a device. Kernels with vectors ask the compiler for the instructions of its processor. */
void tri_cl_fast_form(const struct tri_cl_device *d, uint32_t n, char out[TRI_CL_FORM]);
/* Runs the self-checks of a program, if it has any. True if all results equal those of the host. */
bool tri_cl_fast_forms_hold(struct tri_cl_device *d, cl_program program);
#endif
