/* Compares this processor with the target that a library was compiled for. */
#ifndef TRI_CPU_H
#define TRI_CPU_H

/* Returns a feature of `target` that the processor or the operating system lacks, or NULL. `target` is tri_model_desc.target: words such
 * as x86-64-v3 and +avx512vnni. Unknown words are ignored. */
const char *tri_cpu_lacks(const char *target);
#endif
