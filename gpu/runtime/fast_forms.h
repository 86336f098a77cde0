/* Faster forms of kernels: build options that define the macros of `#if` in templates/groups/tile.cl and templates/wide/tile.cl. */
#ifndef TRI_FAST_FORMS_H
#define TRI_FAST_FORMS_H
#include <string.h>
#include "gpu/runtime/device.h"

enum { TRI_CL_NVIDIA = 0x10de, TRI_CL_AMD = 0x1002 }; /* CL_DEVICE_VENDOR_ID */

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

/* Returns the build option, after a space, of the n-th form that a device with these properties should support, the fastest first; "" if there is none. */
static inline const char *tri_cl_form_option(const struct tri_cl_features *of, uint32_t n)
{
	static const struct {
		uint32_t vendor, capability; /* 0: any; 10 · major + minor at least */
		const char *names[9];        /* how the name of the device begins; none: any */
		const char *extension;       /* NULL: none is needed */
		const char *option;
	} forms[] = {
		{TRI_CL_NVIDIA, 80, {NULL}, NULL, " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=80"},
		{TRI_CL_NVIDIA, 75, {NULL}, NULL, " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=75"},
		{TRI_CL_NVIDIA, 61, {NULL}, NULL, " -DTRI_DOT_NVIDIA"},
		{TRI_CL_AMD, 0, {"gfx906", "gfx908", "gfx90a", "gfx94", "gfx950", "gfx1011", "gfx1012", "gfx103"}, NULL, " -DTRI_DOT_AMD"},
		{TRI_CL_AMD, 0, {"gfx11", "gfx12"}, NULL, " -DTRI_DOT_AMD_11"},
		{0, 0, {NULL}, "cl_khr_integer_dot_product", " -DTRI_DOT_KHR"},
	};
	for (uint32_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if ((!forms[i].vendor || forms[i].vendor == of->vendor) && 10 * of->major + of->minor >= forms[i].capability &&
		    (!forms[i].names[0] || tri_cl_starts_with_any(of->name, forms[i].names)) &&
		    (!forms[i].extension || strstr(of->extensions, forms[i].extension)) && n-- == 0)
			return forms[i].option;
	return "";
}
/* The same for a device. Kernels with vectors ask the compiler for the instructions of its processor. */
const char *tri_cl_fast_form(const struct tri_cl_device *d, uint32_t n);
/* Runs the self-checks of a program, if it has any. True if all results equal those of the host. */
bool tri_cl_fast_forms_hold(struct tri_cl_device *d, cl_program program);
#endif
