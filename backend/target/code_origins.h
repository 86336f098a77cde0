/* The section of a fragment that says which statement its code belongs to: pairs of 32-bit numbers, an offset in .text and the number of the
 * code from there on. The number is that of a statement of the unit's loops, from 1 on; 0: the code is of no statement. Each of the first
 * instructions of a statement has a pair. A fragment knows no lines, so moving them compiles nothing; the linker makes lines of the numbers. */
#ifndef TRIB_BACKEND_TARGET_CODE_ORIGINS_H
#define TRIB_BACKEND_TARGET_CODE_ORIGINS_H
#define SECTION_ORIGINS ".trib.origins"
#endif
