/* Faster forms of kernels: build options that define the macros of `#if` in templates/groups/tile.cl, templates/wide/tile.cl and trits.cl. */
#ifndef TRI_FAST_FORMS_H
#define TRI_FAST_FORMS_H
#include <stdio.h>
#include <string.h>
#include "gpu/runtime/device.h"

enum { TRI_CL_NVIDIA = 0x10de, TRI_CL_AMD = 0x1002 }; /* CL_DEVICE_VENDOR_ID */
enum { TRI_CL_FORM = 96 };                            /* bytes of the options */

/* The properties by which a form is chosen. */
struct tri_cl_features {
	uint32_t vendor;       /* CL_DEVICE_VENDOR_ID */
	uint32_t major, minor; /* compute capability, of NVIDIA */
	const char *name, *extensions;
	uint32_t version;    /* of OpenCL, 10 · major + minor */
	uint32_t sub_groups; /* all sizes that a kernel may ask for, added up: powers of two; cl_intel_required_subgroup_size */
};

static inline bool tri_cl_starts_with_any(const char *name, const char *const *starts)
{
	for (; *starts; starts++)
		if (strncmp(name, *starts, strlen(*starts)) == 0)
			return true;
	return false;
}

/* True if a list, whose words are separated by spaces, has a word. */
static inline bool tri_cl_has_word(const char *list, const char *word)
{
	const size_t n = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += n)
		if ((at == list || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

/* A form, and the devices that should support it. */
struct tri_cl_form {
	uint32_t vendor, capability; /* 0: any; 10 · major + minor at least */
	const char *names[9];        /* how the name of the device begins; none: any */
	const char *extensions[3];   /* all are needed */
	uint32_t language;           /* the version of OpenCL C, and the least of OpenCL: 10 · major + minor; 0: 1.2 */
	uint32_t sub_group;          /* a size of sub-groups; 0: none is needed */
	const char *option;
};

static inline bool tri_cl_has_form(const struct tri_cl_form *x, const struct tri_cl_features *of)
{
	for (uint32_t i = 0; i < 3 && x->extensions[i]; i++)
		if (!tri_cl_has_word(of->extensions, x->extensions[i]))
			return false;
	return (!x->vendor || x->vendor == of->vendor) && 10 * of->major + of->minor >= x->capability &&
	       (!x->names[0] || tri_cl_starts_with_any(of->name, x->names)) && of->version >= x->language &&
	       (of->sub_groups & x->sub_group) == x->sub_group;
}

/* Forms of the same thing, the fastest first. Returns the *n-th of the first `most` that the device should support; after them comes NULL, for none. Divides *n
 * by their number. */
static inline const struct tri_cl_form *tri_cl_choose(const struct tri_cl_form *forms, uint32_t n_forms, uint32_t most,
						      const struct tri_cl_features *of, uint32_t *n)
{
	const struct tri_cl_form *supported[8] = {NULL};
	uint32_t has = 0;
	for (uint32_t i = 0; i < n_forms && has < most; i++)
		if (tri_cl_has_form(&forms[i], of))
			supported[has++] = &forms[i];
	const uint32_t i = *n % (has + 1);
	*n /= has + 1;
	return supported[i];
}

/* Writes the build options, each after a space, of the n-th choice of forms that a device with these properties should support, the fastest first; "" if there is none.
 * Each form of products comes with the other forms that the device has, and then without them. */
static inline void tri_cl_form_option(const struct tri_cl_features *of, uint32_t n, char out[TRI_CL_FORM])
{
#define TRI_CL_SUB_GROUPS {"cl_intel_subgroups", "cl_intel_subgroups_short", "cl_intel_required_subgroup_size"}
	static const struct tri_cl_form products[] = {
		{TRI_CL_NVIDIA, 80, {NULL}, {NULL}, 0, 0, " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=80"},
		{TRI_CL_NVIDIA, 75, {NULL}, {NULL}, 0, 0, " -DTRI_DOT_NVIDIA -DTRI_MMA_NVIDIA=75"},
		{TRI_CL_NVIDIA, 61, {NULL}, {NULL}, 0, 0, " -DTRI_DOT_NVIDIA"},
		{TRI_CL_AMD,
		 0,
		 {"gfx906", "gfx908", "gfx90a", "gfx94", "gfx950", "gfx1011", "gfx1012", "gfx103"},
		 {NULL},
		 0,
		 0,
		 " -DTRI_DOT_AMD"},
		{TRI_CL_AMD, 0, {"gfx11", "gfx12"}, {NULL}, 0, 0, " -DTRI_DOT_AMD_11"},
		{0, 0, {NULL}, {"cl_khr_integer_dot_product"}, 30, 0, " -DTRI_DOT_KHR"},
		{0, 0, {NULL}, {"cl_khr_integer_dot_product"}, 0, 0, " -DTRI_DOT_KHR"},
	};
	static const struct tri_cl_form swaps[] = {
		{TRI_CL_NVIDIA, 30, {NULL}, {NULL}, 0, 0, " -DTRI_SWAP_NVIDIA"},
		{TRI_CL_AMD, 0, {"gfx9", "gfx10", "gfx11", "gfx12"}, {NULL}, 0, 0, " -DTRI_SWAP_AMD"},
		{0, 0, {NULL}, TRI_CL_SUB_GROUPS, 0, 16, " -DTRI_SWAP_INTEL"},
		{0, 0, {NULL}, {"cl_khr_subgroup_shuffle"}, 30, 0, " -DTRI_SWAP_KHR"},
	};
	static const struct tri_cl_form reads[] = {{0, 0, {NULL}, TRI_CL_SUB_GROUPS, 0, 16, " -DTRI_READ_INTEL"}};
	const struct tri_cl_form *chosen[3]; /* the last of which changes first */
	chosen[2] = tri_cl_choose(reads, sizeof reads / sizeof *reads, 1, of, &n);
	chosen[1] = tri_cl_choose(swaps, sizeof swaps / sizeof *swaps, 1, of, &n);
	chosen[0] = tri_cl_choose(products, sizeof products / sizeof *products, 5, of, &n);
	uint32_t language = 0;
	size_t used = 0;
	out[0] = '\0';
	for (uint32_t i = 0; i < 3 && n == 0; i++)
		if (chosen[i]) {
			used += (size_t)snprintf(out + used, TRI_CL_FORM - used, "%s", chosen[i]->option);
			language = chosen[i]->language > language ? chosen[i]->language : language;
		}
	if (language)
		snprintf(out + used, TRI_CL_FORM - used, " -cl-std=CL%u.%u", language / 10, language % 10);
#undef TRI_CL_SUB_GROUPS
}
/* The same for a device. Kernels with vectors ask the compiler for the instructions of its processor. */
void tri_cl_fast_form(const struct tri_cl_device *d, uint32_t n, char out[TRI_CL_FORM]);
/* Runs the self-checks of a program, if it has any. True if all results equal those of the host. */
bool tri_cl_fast_forms_hold(struct tri_cl_device *d, cl_program program);
#endif
