/* LLVM's passes from IR to an object, made once and run over module after module. */
#ifndef TRIB_BACKEND_CPU_PIPELINE_H
#define TRIB_BACKEND_CPU_PIPELINE_H
#include <stdbool.h>
#include <llvm-c/TargetMachine.h>

#ifdef __cplusplus
extern "C" {
#endif

struct buf;
struct pipeline;

/* For that target machine, which must outlive it. NULL: it cannot write objects. */
struct pipeline *pipeline_new(LLVMTargetMachineRef machine);
/* Appends the module's object and leaves the module in a state fit only for being disposed of. The bytes are those that a new pipeline would give. */
void pipeline_run(struct pipeline *p, LLVMModuleRef module, struct buf *object);
/* Before the machine and the context of the modules. NULL is accepted. */
void pipeline_free(struct pipeline *p);

#ifdef __cplusplus
}
#endif
#endif
