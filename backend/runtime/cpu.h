/* Does this machine have what a library was compiled for? */
#ifndef TRI_CPU_H
#define TRI_CPU_H

/* `target` is tri_model_desc.target: words such as x86-64-v3 and +avx512vnni. NULL, or the name of a feature that the processor or the
 * operating system lacks (static text). Words it does not know are taken as present. */
const char *tri_cpu_lacks(const char *target);
#endif
