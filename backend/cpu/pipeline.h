/* LLVM's passes from IR to an object. A pipeline is made once and compiles many modules. */
#ifndef TRIB_BACKEND_CPU_PIPELINE_H
#define TRIB_BACKEND_CPU_PIPELINE_H
#include <stdbool.h>
#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

struct buf;
struct codegen_stages;
struct pipeline;

/* Makes a pipeline for a target machine, which must outlive it. Returns NULL if LLVM cannot write objects for it. */
struct pipeline *pipeline_new(LLVMTargetMachineRef machine);
/* Appends the module's object, with the bytes that a new pipeline would write. Afterwards the module can only be disposed. The object
 * has the section SECTION_ORIGINS (backend/target/code_origins.h). `stages` may be NULL. */
void pipeline_run(struct pipeline *p, LLVMModuleRef module, const struct codegen_stages *stages, struct buf *object);
/* Must precede the disposal of the machine and of the modules' context. p may be NULL. */
void pipeline_free(struct pipeline *p);

#ifdef __cplusplus
}
#endif
#endif
