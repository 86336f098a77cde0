/* The first call of a unit: one thread has it compiled, other callers wait, then all execute its code. */
#include "backend/runtime/abi/lazy.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "backend/runtime/beside.h"
#include "backend/runtime/context.h"
#include "backend/runtime/model.h"

enum { WHY = 190 };

/* ---- scratch sizes of units that are not compiled ---- */

static int64_t lazy_floor_div(int64_t a, int64_t b)
{
	if (b == 0)
		b = 1;
	if (b == -1)
		return (int64_t)(0 - (uint64_t)a);
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Computes a dim as compiled code does: x // 0 is x. Sets *overflow if 64 bits cannot hold a sum or a product. */
static int64_t lazy_value_of(const tri_dim_desc *d, const int64_t *dims, bool *overflow)
{
	int64_t stack[TRI_LAZY_MOST_DIMS] = {0};
	int top = 0;
	for (int32_t i = 0; i < d->n_steps; i++) {
		const tri_dim_step *s = &d->steps[i];
		if (s->op == TRI_DIM_CONST || s->op == TRI_DIM_SYM) {
			stack[top++] = s->op == TRI_DIM_CONST ? s->value : dims[s->value];
			continue;
		}
		int64_t b = stack[--top], a = stack[top - 1], *to = &stack[top - 1];
		if (s->op == TRI_DIM_ADD)
			*overflow |= __builtin_add_overflow(a, b, to);
		else if (s->op == TRI_DIM_MUL)
			*overflow |= __builtin_mul_overflow(a, b, to);
		else if (s->op == TRI_DIM_FLOORDIV)
			*to = lazy_floor_div(a, b);
		else
			*to = (int64_t)((uint64_t)a - (uint64_t)lazy_floor_div(a, b) * (uint64_t)(b ? b : 1));
	}
	return stack[0];
}

int64_t tri_lazy_scratch(const int64_t *dims, const struct tri_lazy_unit *u)
{
	int64_t most = 0, all;
	bool overflow = false;
	for (uint32_t i = 0; i < u->n_calls; i++) {
		const struct tri_lazy_call *c = &u->calls[i];
		int64_t values[TRI_LAZY_MOST_DIMS];
		for (uint64_t k = 0; k < c->n_dims; k++)
			values[k] = lazy_value_of(&c->dims[k], dims, &overflow);
		int64_t need = __atomic_load_n(&c->callee->slot->scratch, __ATOMIC_ACQUIRE)(values);
		overflow |= need == TRI_TOO_LARGE;
		most = need > most ? need : most;
	}
	int64_t own = lazy_value_of(u->scratch, dims, &overflow);
	bool huge = __builtin_add_overflow(own, most, &all);
	return overflow || huge ? TRI_TOO_LARGE : all;
}

/* ---- libtrib ---- */

static const struct tri_lazy_api *open_at(const char *path, char *why)
{
	void *so = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void *symbol = so ? dlsym(so, TRI_LAZY_ENTRY) : NULL;
	tri_lazy_entry_fn *entry;
	if (!symbol)
		return NULL;
	memcpy(&entry, &symbol, sizeof entry);
	const struct tri_lazy_api *api = entry();
	if (api->abi == TRI_LAZY_ABI)
		return api;
	snprintf(why, WHY, "%.120s is of another version of trib: build the library again", path);
	return NULL;
}

/* True if only this user and root can change the file or folder. In a sticky folder such as /tmp, others cannot rename our files. */
static bool lazy_is_ours(const char *path)
{
	struct statx st; /* through the system call: a C library before 2.33 has no `stat` to link with */
	if (syscall(SYS_statx, AT_FDCWD, path, 0, STATX_MODE | STATX_UID, &st) != 0 || (st.stx_uid != 0 && st.stx_uid != geteuid()))
		return false;
	return !(st.stx_mode & (S_IWGRP | S_IWOTH)) || (S_ISDIR(st.stx_mode) && (st.stx_mode & S_ISVTX));
}

/* True if no other user can replace the file. */
static bool lazy_is_safe(const char *path)
{
	char at[TRI_LONGEST_PATH];
	size_t len = strlen(path);
	if (*path != '/' || len >= sizeof at)
		return false;
	memcpy(at, path, len + 1);
	for (; len > 1; len--)
		if (path[len] == '/' || path[len] == 0) {
			at[len] = 0;
			if (!lazy_is_ours(at))
				return false;
		}
	return lazy_is_ours("/");
}

/* A process with raised privileges (setuid) opens libtrib only at its path at build time, and only if that is safe. */
static const struct tri_lazy_api *open_installed(const struct tri_lazy_library *l, char *why)
{
	if (lazy_is_safe(l->libtrib))
		return open_at(l->libtrib, why);
	snprintf(why, WHY, "this process has raised privileges, and other users may write to %.100s", l->libtrib);
	return NULL;
}

/* Opens the path in the environment. Without one: its path at build time, beside the library, the loader's search path. */
static const struct tri_lazy_api *open_libtrib(const struct tri_lazy_library *l, char *why)
{
	char beside[TRI_LONGEST_PATH];
	const char *chosen = secure_getenv(TRI_LAZY_VARIABLE);
	const struct tri_lazy_api *api = __atomic_load_n(&l->state->api, __ATOMIC_ACQUIRE);
	if (api)
		return api;
	*why = 0;
	if (getauxval(AT_SECURE)) {
		api = open_installed(l, why);
	} else if (chosen && *chosen) {
		api = open_at(chosen, why);
	} else {
		api = open_at(l->libtrib, why);
		if (!api && !*why && tri_beside_library(l, "libtrib.so", beside))
			api = open_at(beside, why);
		if (!api && !*why)
			api = open_at("libtrib.so", why);
	}
	if (api)
		__atomic_store_n(&l->state->api, api, __ATOMIC_RELEASE);
	else if (!*why)
		snprintf(why, WHY, "libtrib.so is not at %.110s: set " TRI_LAZY_VARIABLE, chosen && *chosen ? chosen : l->libtrib);
	return api;
}

/* ---- the first call ---- */

static void futex(uint32_t *at, int op, uint32_t value) { syscall(SYS_futex, at, op, value, NULL, NULL, 0); }

/* True if this thread must compile the unit; otherwise it is compiled. A process that was forked during a compilation compiles the unit
 * itself. */
static bool begin_compile(struct tri_lazy_slot *s)
{
	uint32_t mine = TRI_LAZY_BUSY + (uint32_t)getpid(), state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
	while (state != TRI_LAZY_READY) {
		if (state == mine)
			futex(&s->state, FUTEX_WAIT_PRIVATE, mine);
		else if (__atomic_compare_exchange_n(&s->state, &state, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			return true;
		state = __atomic_load_n(&s->state, __ATOMIC_ACQUIRE);
	}
	return false;
}

static bool compile_once(const struct tri_lazy_unit *u, char *why)
{
	struct tri_lazy_slot *s = u->slot;
	if (!begin_compile(s))
		return true;
	const struct tri_lazy_api *api = open_libtrib(u->library, why);
	bool ok = api && api->compile(u, why, WHY) == 0;
	__atomic_store_n(&s->state, ok ? TRI_LAZY_READY : TRI_LAZY_ABSENT, __ATOMIC_RELEASE);
	futex(&s->state, FUTEX_WAKE_PRIVATE, INT_MAX);
	return ok;
}

void tri_lazy_run(struct tri_context *ctx, void *const *bufs, const void *const *weights, const int64_t *dims, char *scratch,
		  const struct tri_lazy_unit *u)
{
	char why[WHY];
	if (tri_failed(ctx)) /* the results have no meaning any more */
		return;
	if (compile_once(u, why))
		__atomic_load_n(&u->slot->code, __ATOMIC_ACQUIRE)(ctx, bufs, weights, dims, scratch);
	else
		tri_fail_text(ctx, TRI_ERR_COMPILE, "%.40s cannot be compiled: %s", u->name, why);
}
