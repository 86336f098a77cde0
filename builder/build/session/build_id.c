#include "builder/build/session/build_id.h"
#include <string.h>

/* Made by builder/build/build_id.cmake after the libraries. */
extern const unsigned char trib_build_id[16] __attribute__((weak));

hash128 build_id(void)
{
	hash128 id = {0, 0};
	if (trib_build_id)
		memcpy(&id, trib_build_id, sizeof id);
	return id;
}
