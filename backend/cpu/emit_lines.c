/* Marks instructions with the number of their statement, in place of a line. The compile unit asks for no debug information, so LLVM writes
 * none of its own; pipeline.cc writes the numbers. LLVM's verifier wants the scope of a place to be a definition inside a unit. */
#include <llvm-c/DebugInfo.h>
#include "backend/cpu/emit.h"

void emit_lines_open(struct emit *e)
{
	LLVMDIBuilderRef b = LLVMCreateDIBuilder(e->module);
	LLVMMetadataRef file = LLVMDIBuilderCreateFile(b, "unit", 4, "", 0);
	LLVMDIBuilderCreateCompileUnit(b, LLVMDWARFSourceLanguageC, file, "", 0, 1, "", 0, 0, "", 0, LLVMDWARFEmissionNone, 0, 0, 0, "", 0,
				       "", 0);
	LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(b, file, NULL, 0, LLVMDIFlagZero);
	e->scope = LLVMDIBuilderCreateFunction(b, file, "", 0, "", 0, file, 0, type, 1, 1, 0, LLVMDIFlagZero, 1);
	LLVMDIBuilderFinalize(b);
	LLVMDisposeDIBuilder(b);
	emit_line(e, 0);
}

void emit_line(struct emit *e, uint32_t number)
{
	e->statement = number;
	e->line = LLVMDIBuilderCreateDebugLocation(e->context, number, 0, e->scope, NULL);
	emit_same_line(e);
}

void emit_same_line(struct emit *e) { LLVMSetCurrentDebugLocation2(e->builder, e->line); }
