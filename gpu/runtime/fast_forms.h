/* Forms of kernels that are faster on some devices: definitions for the build of a program, `#if` of templates/groups/tile.cl. */
#ifndef TRI_FAST_FORMS_H
#define TRI_FAST_FORMS_H
#include <string.h>
#include "gpu/runtime/device.h"

enum { TRI_CL_NVIDIA = 0x10de, TRI_CL_AMD = 0x1002 }; /* CL_DEVICE_VENDOR_ID */

/* What tells which dot product of four bytes a device has. */
struct tri_cl_dots {
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

/* Returns a build option that begins with a space, or "". */
static inline const char *tri_cl_dot_option(const struct tri_cl_dots *of)
{
	static const char *const amd[] = {"gfx906", "gfx908", "gfx90a", "gfx94", "gfx950", "gfx1011", "gfx1012", "gfx103", NULL};
	static const char *const amd_11[] = {"gfx11", "gfx12", NULL};
	if (of->vendor == TRI_CL_NVIDIA && (of->major > 6 || (of->major == 6 && of->minor > 0)))
		return " -DTRI_DOT_NVIDIA";
	if (of->vendor == TRI_CL_AMD && tri_cl_starts_with_any(of->name, amd))
		return " -DTRI_DOT_AMD";
	if (of->vendor == TRI_CL_AMD && tri_cl_starts_with_any(of->name, amd_11))
		return " -DTRI_DOT_AMD_11";
	return strstr(of->extensions, "cl_khr_integer_dot_product") ? " -DTRI_DOT_KHR" : "";
}
/* The same for a device; "" where kernels have vectors. */
const char *tri_cl_fast_forms(const struct tri_cl_device *d);
/* Runs the self-check of a program that was built with the option: true if its dot products are those that the host computes, or if it has none. */
bool tri_cl_fast_forms_hold(const struct tri_cl_device *d, cl_program program);
#endif
