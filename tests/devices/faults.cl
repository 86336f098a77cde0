/* A kernel for each fault that scripts/gpu-compile finds, and two without any. */
kernel void divides(global int *y, int n, int m)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += y[i] / m;
	y[0] = sum;
}

kernel void divides_before(global int *y, int n, int m)
{
	int sum = 0;
	const int from = n / m;
	for (int i = from; i < n; i++)
		sum += y[i];
	y[0] = sum;
}

kernel void loads_bytes(global int *y, global const char *x, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += x[4 * i] * y[i] + x[4 * i + 1] * y[i + 1] + x[4 * i + 2] * y[i + 2] + x[4 * i + 3] * y[i + 3];
	y[0] = sum;
}

kernel void loads_a_byte(global int *y, global const char *x, int n, int step)
{
	int sum = 0;
	for (int i = 0; i < n; i += step)
		sum += x[i];
	y[0] = sum;
}

kernel void indexes_an_array(global int *y, int n)
{
	int a[64];
	for (int i = 0; i < n; i++)
		a[y[i] & 63] = i;
	y[0] = a[n & 63];
}

kernel void divides_longs(global long *y, int n, long m)
{
	long sum = 0;
	for (int i = 0; i < n; i++)
		sum += m % y[i];
	y[0] = sum;
}

/* More vectors than any device has registers for. */
kernel void spills(global float16 *y, int n)
{
#define EACH(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11) f(12) f(13) f(14) f(15) f(16) f(17) f(18) f(19) f(20) f(21) f(22) f(23) \
	f(24) f(25) f(26) f(27) f(28) f(29) f(30) f(31) f(32) f(33)
#define BEGIN(k) float16 s##k = y[k];
#define STEP(k) s##k = fma(s##k, x, x);
#define END(k) y[k] = s##k;
	EACH(BEGIN)
	for (int i = 0; i < n; i++) {
		float16 x = y[i + get_global_id(0)];
		EACH(STEP)
	}
	EACH(END)
}
