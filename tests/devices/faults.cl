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
