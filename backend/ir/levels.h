/* Loops that are compiled for several levels of processors. */
#ifndef TRIB_BACKEND_IR_LEVELS_H
#define TRIB_BACKEND_IR_LEVELS_H

#if defined(__x86_64__) && defined(__ELF__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define FOR_EACH_LEVEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else /* sanitizers are not ready when the loader chooses a clone */
#define FOR_EACH_LEVEL
#endif
#endif
