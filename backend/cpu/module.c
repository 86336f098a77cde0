/* The entry of libtrib-codegen.so: codegen_api on LLVM. No other symbol is visible outside. */
#include "backend/target/codegen.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Support.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include "backend/cpu/emit.h"
#include "backend/cpu/pipeline.h"
#include "base/buf.h"

#define TRIPLE "x86_64-unknown-linux-gnu"

struct codegen {
	LLVMContextRef context;
	LLVMTargetMachineRef machine;
	LLVMTargetDataRef layout;
	struct pipeline *pipeline;
	const struct codegen_stages *stages; /* NULL: not measured */
	struct buf messages;                 /* of LLVM about the current module */
	struct codegen_target target;
	char *cpu, *features;
};

static void codegen_close(struct codegen *c)
{
	if (!c)
		return;
	pipeline_free(c->pipeline);
	if (c->layout)
		LLVMDisposeTargetData(c->layout);
	if (c->machine)
		LLVMDisposeTargetMachine(c->machine);
	if (c->context)
		LLVMContextDispose(c->context);
	buf_free(&c->messages);
	free(c->cpu);
	free(c->features);
	free(c);
}

/* Without a handler LLVM ends the process. */
static void record_message(LLVMDiagnosticInfoRef d, void *ctx)
{
	struct codegen *c = ctx;
	if (LLVMGetDiagInfoSeverity(d) != LLVMDSError)
		return;
	char *text = LLVMGetDiagInfoDescription(d);
	buf_printf(&c->messages, "%s%s", c->messages.len ? "; " : "", text);
	LLVMDisposeMessage(text);
}

static LLVMCodeGenOptLevel level_of(const struct codegen_target *t)
{
	return t->opt == 0 ? LLVMCodeGenLevelNone : t->opt == 1 ? LLVMCodeGenLevelLess : LLVMCodeGenLevelDefault;
}

/* Runs once, because the registry of targets has no lock. Disables loop strength reduction: our addresses have the form that x86 needs,
 * and the search for better ones took two fifths of the compile time. */
static void module_initialise(void)
{
	static const char *const options[] = {"trib",
					      "-disable-lsr",
					      "-disable-x86-domain-reassignment",
					      "-disable-constant-hoisting",
					      "-disable-partial-libcall-inlining",
					      "-disable-mergeicmps"};
	LLVMParseCommandLineOptions(sizeof options / sizeof *options, options, NULL);
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
}

static struct codegen *codegen_open(const struct codegen_target *target, struct buf *error)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	LLVMTargetRef llvm_target;
	char *message = NULL;
	struct codegen *c = calloc(1, sizeof *c);
	if (!c) {
		buf_puts(error, "out of memory");
		return NULL;
	}
	pthread_once(&once, module_initialise);
	c->target = *target;
	c->target.cpu = c->cpu = strdup(target->cpu);
	c->target.features = c->features = strdup(target->features ? target->features : "");
	if (LLVMGetTargetFromTriple(TRIPLE, &llvm_target, &message)) {
		buf_puts(error, message ? message : "no x86-64 target");
		LLVMDisposeMessage(message);
		codegen_close(c);
		return NULL;
	}
	c->context = LLVMContextCreate();
	LLVMContextSetDiscardValueNames(c->context, 1);
	LLVMContextSetDiagnosticHandler(c->context, record_message, c);
	c->machine = LLVMCreateTargetMachine(llvm_target, TRIPLE, c->cpu, c->features, level_of(target), LLVMRelocPIC, LLVMCodeModelSmall);
	c->layout = LLVMCreateTargetDataLayout(c->machine);
	c->pipeline = pipeline_new(c->machine);
	if (c->pipeline)
		return c;
	buf_puts(error, "this LLVM cannot write objects");
	codegen_close(c);
	return NULL;
}

static LLVMModuleRef build_module(struct codegen *c, const struct loop_fn *f, struct buf *error)
{
	struct emit e = {.context = c->context, .target = &c->target};
	char *message = NULL;
	e.fma = e.f16c = c->target.vector_bytes >= 32; /* every processor with AVX2 has both */
	e.module = LLVMModuleCreateWithNameInContext(f->symbol, c->context);
	LLVMSetTarget(e.module, TRIPLE);
	LLVMSetModuleDataLayout(e.module, c->layout);
	e.builder = LLVMCreateBuilderInContext(c->context);
	emit_unit(&e, f);
	LLVMDisposeBuilder(e.builder);
#ifndef NDEBUG
	if (LLVMVerifyModule(e.module, LLVMReturnStatusAction, &message)) {
		buf_printf(error, "%s: invalid LLVM IR: %s", f->symbol, message);
		LLVMDisposeMessage(message);
		LLVMDisposeModule(e.module);
		return NULL;
	}
	LLVMDisposeMessage(message);
#else
	(void)error;
	(void)message;
#endif
	return e.module;
}

/* Reports LLVM's messages. A pipeline whose passes stopped may be in any state, so it is replaced. */
static bool module_fail(struct codegen *c, const char *symbol, struct buf *error)
{
	buf_printf(error, "%s: %s", symbol, c->messages.at);
	buf_clear(&c->messages);
	pipeline_free(c->pipeline);
	c->pipeline = pipeline_new(c->machine);
	return false;
}

static void codegen_measure(struct codegen *c, const struct codegen_stages *stages) { c->stages = stages; }

static bool codegen_compile(struct codegen *c, const struct loop_fn *f, struct buf *object, struct buf *error)
{
	if (c->stages)
		c->stages->begin("build LLVM IR");
	LLVMModuleRef m = build_module(c, f, error);
	if (c->stages)
		c->stages->end();
	size_t before = object->len;
	if (!m)
		return false;
	pipeline_run(c->pipeline, m, c->stages, object);
	LLVMDisposeModule(m);
	if (!c->messages.len)
		return true;
	object->len = before;
	return module_fail(c, f->symbol, error);
}

/* for (i = 0; i != n; i += 8) p[i … i + 7] = p[i … i + 7] * p[i … i + 7] + p[i … i + 7] */
static void fill_loop(LLVMContextRef context, LLVMModuleRef m, LLVMBuilderRef b)
{
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context), row = LLVMVectorType(LLVMFloatTypeInContext(context), 8);
	LLVMTypeRef params[] = {LLVMPointerTypeInContext(context, 0), i64};
	LLVMValueRef f = LLVMAddFunction(m, "warm", LLVMFunctionType(LLVMVoidTypeInContext(context), params, 2, 0));
	LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(context, f, ""), loop = LLVMAppendBasicBlockInContext(context, f, ""),
			  end = LLVMAppendBasicBlockInContext(context, f, "");
	LLVMPositionBuilderAtEnd(b, entry);
	LLVMBuildBr(b, loop);
	LLVMPositionBuilderAtEnd(b, loop);
	LLVMValueRef i = LLVMBuildPhi(b, i64, ""), place = LLVMBuildGEP2(b, params[0], LLVMGetParam(f, 0), &i, 1, "");
	LLVMValueRef x = LLVMBuildLoad2(b, row, place, "");
	LLVMBuildStore(b, LLVMBuildFAdd(b, LLVMBuildFMul(b, x, x, ""), x, ""), place);
	LLVMValueRef next = LLVMBuildAdd(b, i, LLVMConstInt(i64, 8, 0), ""), start = LLVMConstInt(i64, 0, 0);
	LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntEQ, next, LLVMGetParam(f, 1), ""), end, loop);
	LLVMAddIncoming(i, (LLVMValueRef[]){start, next}, (LLVMBasicBlockRef[]){entry, loop}, 2);
	LLVMPositionBuilderAtEnd(b, end);
	LLVMBuildRetVoid(b);
}

static void codegen_warm(struct codegen *c)
{
	LLVMModuleRef m = LLVMModuleCreateWithNameInContext("warm", c->context);
	LLVMBuilderRef b = LLVMCreateBuilderInContext(c->context);
	struct buf object = {0};
	LLVMSetTarget(m, TRIPLE);
	LLVMSetModuleDataLayout(m, c->layout);
	fill_loop(c->context, m, b);
	LLVMDisposeBuilder(b);
	pipeline_run(c->pipeline, m, NULL, &object);
	LLVMDisposeModule(m);
	buf_free(&object);
}

static bool write_assembly(struct codegen *c, LLVMModuleRef m, struct buf *out, struct buf *error)
{
	LLVMMemoryBufferRef bytes = NULL;
	char *message = NULL;
	if (LLVMTargetMachineEmitToMemoryBuffer(c->machine, m, LLVMAssemblyFile, &message, &bytes)) {
		buf_puts(error, message ? message : "code generation failed");
		LLVMDisposeMessage(message);
		return false;
	}
	buf_put(out, LLVMGetBufferStart(bytes), LLVMGetBufferSize(bytes));
	LLVMDisposeMemoryBuffer(bytes);
	return true;
}

static bool codegen_dump(struct codegen *c, const struct loop_fn *f, enum codegen_text what, struct buf *out, struct buf *error)
{
	LLVMModuleRef m = build_module(c, f, error);
	bool ok = true;
	if (!m)
		return false;
	if (what == CODEGEN_LLVM) {
		char *text = LLVMPrintModuleToString(m);
		buf_puts(out, text);
		LLVMDisposeMessage(text);
	} else {
		ok = write_assembly(c, m, out, error);
	}
	LLVMDisposeModule(m);
	return ok;
}

static char *copy_message(char *m)
{
	char *copy = strdup(m);
	LLVMDisposeMessage(m);
	return copy;
}

static void codegen_host(char **cpu, char **features)
{
	*cpu = copy_message(LLVMGetHostCPUName());
	*features = copy_message(LLVMGetHostCPUFeatures());
}

__attribute__((visibility("default"))) const struct codegen_api *trib_codegen(void);

const struct codegen_api *trib_codegen(void)
{
	static const struct codegen_api api = {
		.abi = CODEGEN_ABI,
		.host = codegen_host,
		.open = codegen_open,
		.compile = codegen_compile,
		.measure = codegen_measure,
		.warm = codegen_warm,
		.dump = codegen_dump,
		.close = codegen_close,
	};
	return &api;
}
