/* The .cl files of gpu/templates/, embedded when trib is built. */
#ifndef TRIB_GPU_TEMPLATES_H
#define TRIB_GPU_TEMPLATES_H

/* Returns the text of templates/NAME.cl, or NULL. */
const char *opencl_template(const char *name);
#endif
