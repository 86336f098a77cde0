/* Names that a C source cannot have. */
#ifndef TRIB_BACKEND_TEXT_C_NAMES_H
#define TRIB_BACKEND_TEXT_C_NAMES_H
/* NULL, or why no model that becomes a C source can have this name: the C library has it. */
const char *c_name_fault(const char *name);
#endif
