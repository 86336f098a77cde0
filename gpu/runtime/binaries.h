/* Programs that drivers built, kept in the user's cache: the next start of the library needs no compiler. */
#ifndef TRI_BINARIES_H
#define TRI_BINARIES_H
#include "gpu/runtime/device.h"

/* Returns the program as it was built for this device and driver with these options, or NULL: there is none, it is damaged, or the driver refuses it. */
cl_program tri_cl_binary_load(const struct tri_cl_device *d, const struct tri_cl_program *data, const char *options);
/* Keeps a program that was built, if it can. */
void tri_cl_binary_save(const struct tri_cl_device *d, const struct tri_cl_program *data, const char *options, cl_program program);
#endif
