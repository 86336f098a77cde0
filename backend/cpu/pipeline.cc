// The only file in C++. LLVM's C interface makes a new pass manager for each module, which takes a millisecond, as long as the passes of a small unit.
// LLVM supports one pass manager for many modules (`llc -compile-twice`): passes keep no data of a module after its end.
//
// The passes are those of TargetMachine::addPassesToEmitFile, and two that write the numbers of statements. A line table by LLVM costs 7 % of the time of
// all passes; this costs too little to measure.
#include "backend/cpu/pipeline.h"
#include <llvm/ADT/SmallVector.h>
#include <llvm/BinaryFormat/ELF.h>
#include <llvm/CodeGen/AsmPrinter.h>
#include <llvm/CodeGen/MachineFunctionPass.h>
#include <llvm/CodeGen/MachineInstrBuilder.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetInstrInfo.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/CodeGen/TargetSubtargetInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCSectionELF.h>
#include <llvm/MC/MCStreamer.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>

extern "C" {
#include "backend/target/code_origins.h"
#include "backend/target/codegen_stages.h"
#include "base/buf.h"
}

namespace
{

struct Row {
	llvm::MCSymbol *at;
	unsigned number;
};
struct Lines {
	llvm::MCStreamer *streamer = nullptr;
	llvm::SmallVector<Row, 64> rows; // of the current function
	llvm::MCSymbol *text = nullptr;  // the first function, at the start of .text
};

// Sets a label before each instruction whose statement is another than that of the one before, and before some instructions after it: the linker
// gives them the lines of other operations of the statement.
constexpr unsigned MOST_LABELS = 4;
struct MarkLines : llvm::MachineFunctionPass {
	static char ID;
	Lines &lines;
	explicit MarkLines(Lines &l) : MachineFunctionPass(ID), lines(l) {}
	bool runOnMachineFunction(llvm::MachineFunction &f) override
	{
		unsigned number = 0, labels = 0;
		const llvm::MCInstrDesc &label = f.getSubtarget().getInstrInfo()->get(llvm::TargetOpcode::GC_LABEL);
		lines.rows.clear();
		for (llvm::MachineBasicBlock &block : f)
			for (llvm::MachineInstr &i : block) {
				const llvm::DebugLoc &at = i.getDebugLoc();
				if (!at || i.isMetaInstruction() || (at.getLine() == number && (!number || labels == MOST_LABELS)))
					continue;
				labels = at.getLine() == number ? labels + 1 : 1;
				number = at.getLine();
				llvm::MCSymbol *here = f.getContext().createTempSymbol();
				llvm::BuildMI(block, i, llvm::DebugLoc(), label).addSym(here);
				lines.rows.push_back({here, number});
			}
		return true;
	}
};

// Writes the labels of a function after its code.
struct WriteLines : llvm::MachineFunctionPass {
	static char ID;
	Lines &lines;
	explicit WriteLines(Lines &l) : MachineFunctionPass(ID), lines(l) {}
	bool runOnMachineFunction(llvm::MachineFunction &f) override
	{
		llvm::MCStreamer &out = *lines.streamer;
		llvm::MCSymbol *start = f.getTarget().getSymbol(&f.getFunction());
		out.pushSection();
		out.switchSection(f.getContext().getELFSection(SECTION_ORIGINS, llvm::ELF::SHT_PROGBITS, 0));
		if (!lines.text)
			lines.text = start;
		write(out, {start, 0});
		for (const Row &r : lines.rows)
			write(out, r);
		out.popSection();
		return false;
	}

      private:
	void write(llvm::MCStreamer &out, const Row &r)
	{
		out.emitAbsoluteSymbolDiff(r.at, lines.text, 4);
		out.emitInt32(r.number);
	}
};

struct Stages {
	const codegen_stages *observer = nullptr;
	bool open = false;
	// Ends the current stage, and begins another one unless the name is NULL.
	void next(const char *name)
	{
		if (!observer)
			return;
		if (open)
			observer->end();
		open = name != nullptr;
		if (open)
			observer->begin(name);
	}
};

// The passes after it belong to another stage. LLVM runs all passes of a function before those of the next one.
struct BeginStage : llvm::MachineFunctionPass {
	static char ID;
	Stages &stages;
	const char *name;
	BeginStage(Stages &s, const char *n) : MachineFunctionPass(ID), stages(s), name(n) {}
	void getAnalysisUsage(llvm::AnalysisUsage &used) const override
	{
		used.setPreservesAll();
		MachineFunctionPass::getAnalysisUsage(used);
	}
	bool runOnMachineFunction(llvm::MachineFunction &) override
	{
		stages.next(name);
		return false;
	}
};

char MarkLines::ID, WriteLines::ID, BeginStage::ID;

} // namespace

struct pipeline {
	llvm::SmallVector<char, 0> bytes;
	llvm::raw_svector_ostream stream{bytes};
	Lines lines;
	Stages stages;
	llvm::legacy::PassManager passes;
};

static bool add_passes(struct pipeline *p, llvm::LLVMTargetMachine *m)
{
	auto *info = new llvm::MachineModuleInfoWrapperPass(m);
	llvm::TargetPassConfig *config = m->createPassConfig(p->passes);
	config->setDisableVerify(true); // debug builds verify the module themselves
	p->passes.add(config);
	p->passes.add(info);
	if (config->addISelPasses())
		return false;
	p->passes.add(new BeginStage(p->stages, "machine passes"));
	config->addMachinePasses();
	config->setInitialized();
	auto streamer = m->createMCStreamer(p->stream, nullptr, llvm::CodeGenFileType::ObjectFile, info->getMMI().getContext());
	if (!streamer) {
		llvm::consumeError(streamer.takeError());
		return false;
	}
	p->lines.streamer = streamer->get();
	llvm::FunctionPass *printer = m->getTarget().createAsmPrinter(*m, std::move(*streamer));
	if (!printer)
		return false;
	p->passes.add(new BeginStage(p->stages, "write the object"));
	p->passes.add(new MarkLines(p->lines));
	p->passes.add(printer);
	p->passes.add(new WriteLines(p->lines));
	p->passes.add(new BeginStage(p->stages, "select instructions"));
	p->passes.add(llvm::createFreeMachineFunctionPass());
	return true;
}

struct pipeline *pipeline_new(LLVMTargetMachineRef machine)
{
	auto *p = new pipeline;
	if (add_passes(p, static_cast<llvm::LLVMTargetMachine *>(reinterpret_cast<llvm::TargetMachine *>(machine))))
		return p;
	delete p;
	return nullptr;
}

void pipeline_run(struct pipeline *p, LLVMModuleRef module, const struct codegen_stages *stages, struct buf *object)
{
	p->bytes.clear();
	p->lines.text = nullptr;
	p->stages.observer = stages;
	p->stages.next("select instructions");
	p->passes.run(*llvm::unwrap(module));
	p->stages.next(nullptr);
	buf_put(object, p->bytes.data(), p->bytes.size());
}

void pipeline_free(struct pipeline *p) { delete p; }
