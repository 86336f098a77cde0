/* Finds files beside the library. */
#ifndef TRI_BESIDE_H
#define TRI_BESIDE_H
#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

enum { TRI_LONGEST_PATH = 4096 };

/* Copies a folder of `length` bytes, with the slash at its end, but no "./" and no further slashes: Python opens libraries under other spellings of
 * their paths. Returns the length of the copy. */
static inline size_t tri_copy_folder(char *out, const char *folder, size_t length)
{
	size_t n = 0;
	for (size_t i = 0; i < length; i++) {
		bool begins = n ? out[n - 1] == '/' : !i || folder[i - 1] == '/';
		if (begins && folder[i] == '.' && folder[i + 1] == '/')
			i++;
		else if (!begins || folder[i] != '/' || !i)
			out[n++] = folder[i];
	}
	return n;
}

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
	memcpy(out + tri_copy_folder(out, library, folder), name, length);
	return true;
}
#endif
