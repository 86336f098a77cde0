/* Finds files beside the library. */
#ifndef TRI_BESIDE_H
#define TRI_BESIDE_H
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

enum { TRI_LONGEST_PATH = 4096 };

/* Stores the path of the file `name` in the folder of the library that contains `in`; the name alone if the folder is unknown. Returns
 * false if the path is too long. */
static inline bool tri_beside_library(const void *in, const char *name, char out[TRI_LONGEST_PATH])
{
	Dl_info info;
	const char *library = dladdr(in, &info) && info.dli_fname ? info.dli_fname : "";
	size_t folder = strlen(library), length = strlen(name) + 1;
	while (folder > 0 && library[folder - 1] != '/')
		folder--;
	if (folder + length > TRI_LONGEST_PATH)
		return false;
	memcpy(out, library, folder);
	memcpy(out + folder, name, length);
	return true;
}
#endif
