static void checks_k0(const void *p0, void *p2, int64_t n2)
{
	const float *b0 = (const float *)(p0);
	float *b2 = (float *)(p2);
	(void)n2;
	for (int64_t i0 = 0; i0 < (n2 * 8); i0++) {
		const float v0 = b0[16 + i0];
		b2[i0] = v0;
	}
}

static void checks_k1(const void *p0, void *p3, int64_t n1, int64_t n2)
{
	const float *b0 = (const float *)(p0);
	float *b3 = (float *)(p3);
	(void)n1;
	(void)n2;
	for (int64_t i0 = 0; i0 < (n1 * 8); i0++) {
		const float v0 = b0[((n2 * 8) + 7) + i0 * (-1)];
		b3[i0] = v0;
	}
}

static void checks_k2(const void *p1, void *p5, int64_t n2)
{
	const float *b1 = (const float *)(p1);
	float *b5 = (float *)(p5);
	(void)n2;
	for (int64_t i0 = 0; i0 < 2; i0++) {
		for (int64_t i1 = 0; i1 < n2; i1++) {
			const float v0 = b1[i1];
			b5[i0 * n2 + i1] = v0;
		}
	}
}

static void checks_k3(const void *p1, void *p6, int64_t n0, int64_t n2)
{
	const float *b1 = (const float *)(p1);
	float *b6 = (float *)(p6);
	(void)n0;
	(void)n2;
	for (int64_t i0 = 0; i0 < (n0 + (-3)); i0++) {
		for (int64_t i1 = 0; i1 < n2; i1++) {
			const float v0 = b1[i0 * 2 + i1];
			b6[i0 * n2 + i1] = v0;
		}
	}
}

static void checks_k4(void *p7, int64_t n2)
{
	float *b7 = (float *)(p7);
	(void)n2;
	for (int64_t i0 = 0; i0 < n2; i0++) {
		const float v0 = 0.0f;
		b7[i0] = v0;
	}
}

static void checks_k5(const void *p1, void *p7, int64_t n0, int64_t n1)
{
	const float *b1 = (const float *)(p1);
	float *b7 = (float *)(p7);
	(void)n0;
	(void)n1;
	for (int64_t i0 = 0; i0 < n1; i0++) {
		const float v0 = b1[i0];
		b7[(n0 + (-5)) + i0] = v0;
	}
}

static void checks_k6(const void *p0, void *p4, int64_t n0)
{
	const float *b0 = (const float *)(p0);
	float *b4 = (float *)(p4);
	(void)n0;
	for (int64_t i0 = 0; i0 < (n0 * 8); i0++) {
		const float v0 = b0[i0];
		b4[i0] = v0;
	}
}

static void checks(struct tri_run *run, void *const *io, const struct tri_slot *slots, const int64_t *n, unsigned char *scratch)
{
	(void)run, (void)io, (void)slots, (void)n, (void)scratch;
	const int64_t n0 = n[0];
	(void)n0;
	const int64_t n1 = n[1];
	(void)n1;
	const int64_t n2 = n[2];
	(void)n2;
	if (tri_size_add(tri_size_add(n0, tri_size_mul(n2, (-1))), (-2)) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d500000007u, "the input sizes do not fit: a slice ends after the end of its tensor");
		return;
	}
	if (tri_size_add(tri_size_add(tri_size_mul(n1, (-1)), n2), 1) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d500000008u, "the input sizes do not fit: a slice ends after the end of its tensor");
		return;
	}
	if (tri_size_add(tri_size_add(n0, tri_size_mul(n2, (-1))), (-1)) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d500000009u, "the input sizes do not fit: a slice ends after the end of its tensor");
		return;
	}
	if (tri_size_add(tri_size_mul(n0, 8), tri_size_mul(tri_size_mul(n1, n2), (-1))) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d50000000au, "the input sizes do not fit: a reshape changes the number of elements");
		return;
	}
	if (tri_size_add(tri_size_mul(n0, (-8)), tri_size_mul(n1, n2)) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d50000000bu, "the input sizes do not fit: a reshape changes the number of elements");
		return;
	}
	if (tri_size_add(n1, tri_size_mul(n2, (-1))) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d50000000cu, "the input sizes do not fit: two dimensions differ but must be equal");
		return;
	}
	if (tri_size_add(tri_size_mul(n1, (-1)), n2) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d50000000du, "the input sizes do not fit: two dimensions differ but must be equal");
		return;
	}
	if (tri_size_add(n0, (-4)) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d50000000eu, "the input sizes do not fit: the window of a convolution or pooling is larger than its padded input");
		return;
	}
	if (tri_size_add(tri_size_add(tri_size_add(tri_size_mul(n0, (-2)), n1), tri_size_mul(n2, (-1))), 8) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d50000000fu, "the input sizes do not fit: the window of a convolution or pooling is larger than its padded input");
		return;
	}
	if (tri_size_add(n0, (-3)) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d500000010u, "the input sizes do not fit: the window of a convolution or pooling is larger than its padded input");
		return;
	}
	if (tri_size_add(n0, (-5)) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d500000011u, "the input sizes do not fit: a padding or concatenation has another size");
		return;
	}
	if (tri_size_add(tri_size_add(tri_size_add(tri_size_mul(n0, (-1)), tri_size_mul(n1, (-1))), n2), 5) < 0) {
		tri_fail(run, TRI_ERR_SHAPE, 0, 0, 0x9ea6c0d500000012u, "the input sizes do not fit: a padding or concatenation has another size");
		return;
	}
	checks_k0(io[0], io[2], n2);
	checks_k1(io[0], io[3], n1, n2);
	checks_k2(io[1], io[5], n2);
	checks_k3(io[1], io[6], n0, n2);
	checks_k4(io[7], n2);
	checks_k5(io[1], io[7], n0, n1);
	checks_k6(io[0], io[4], n0);
}

static int64_t checks_scratch(const int64_t *n)
{
	int64_t most = 0;
	(void)n;
	const int64_t n0 = n[0];
	(void)n0;
	const int64_t n1 = n[1];
	(void)n1;
	const int64_t n2 = n[2];
	(void)n2;
	return tri_size_add(most, 0);
}

