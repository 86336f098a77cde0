// The only file in C++. LLVM's C interface makes a new pass manager for each module, which takes a millisecond, as long as the passes of a small unit.
// LLVM supports one pass manager for many modules (`llc -compile-twice`): passes keep no data of a module after its end.
#include "backend/cpu/pipeline.h"
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

extern "C" {
#include "base/buf.h"
}

struct pipeline {
	llvm::SmallVector<char, 0> bytes;
	llvm::raw_svector_ostream stream{bytes};
	llvm::legacy::PassManager passes;
};

struct pipeline *pipeline_new(LLVMTargetMachineRef machine)
{
	auto *p = new pipeline;
	auto *m = reinterpret_cast<llvm::TargetMachine *>(machine);
	if (!m->addPassesToEmitFile(p->passes, p->stream, nullptr, llvm::CodeGenFileType::ObjectFile))
		return p;
	delete p;
	return nullptr;
}

void pipeline_run(struct pipeline *p, LLVMModuleRef module, struct buf *object)
{
	p->bytes.clear();
	p->passes.run(*llvm::unwrap(module));
	buf_put(object, p->bytes.data(), p->bytes.size());
}

void pipeline_free(struct pipeline *p) { delete p; }
