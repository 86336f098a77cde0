/* Files inside the program. The assembler reads them, which is faster than compiling a large array. */
#ifndef TRIB_BASE_EMBED_H
#define TRIB_BASE_EMBED_H

/* Defines NAME_begin and NAME_end: the bytes of the file, NUL-terminated. The build must know that the object depends on it. */
#define EMBED(name, path)                                                                                                              \
	extern const char name##_begin[] __attribute__((visibility("hidden"))), name##_end[] __attribute__((visibility("hidden")));    \
	__asm__(".pushsection .rodata\n.global " #name "_begin\n.global " #name "_end\n" #name "_begin:\n.incbin \"" path "\"\n" #name \
		"_end:\n.byte 0\n.popsection\n");
#endif
