// What one would write without ptokit: each function does what the instruction of its row does, on
// arrays in the order of the row's operands. `repeat` calls one so often that a call costs nothing.

#include <math.h>
#include <stdint.h>

typedef void (*kernel)(void **, long, long);

void repeat(kernel f, void **p, long rows, long cols, long times) {
  for (long n = 0; n < times; n++) {
    f(p, rows, cols);
    __asm__ volatile("" ::: "memory");
  }
}

#define EACH for (long i = 0; i < rows * cols; i++)
#define FUNCTION(name, T, U, ...)                                                                  \
  void name(void **p, long rows, long cols) {                                                      \
    T *restrict a = p[0];                                                                          \
    T *restrict b = p[1];                                                                          \
    T *restrict c = p[2];                                                                          \
    U *restrict d = p[3];                                                                          \
    (void)b, (void)c, (void)a, (void)d;                                                            \
    __VA_ARGS__                                                                                    \
  }
#define POINTWISE(name, T, expression) FUNCTION(name, T, T, EACH d[i] = expression;)

POINTWISE(tmin, float, b[i] < a[i] ? b[i] : a[i])
POINTWISE(tdiv, float, a[i] / b[i])
POINTWISE(trem, float, a[i] - floorf(a[i] / b[i]) * b[i])
POINTWISE(tfmod, float, fmodf(a[i], b[i]))
POINTWISE(tpow, float, powf(a[i], b[i]))
POINTWISE(tand, int32_t, a[i] & b[i])
POINTWISE(tshl, int32_t, b[i] < 32 && b[i] >= 0 ? (int32_t)((uint32_t)a[i] << b[i]) : 0)
POINTWISE(taddc, float, a[i] + b[i] + c[i])
POINTWISE(tprelu, float, a[i] > 0 ? a[i] : a[i] * b[i])
POINTWISE(taddrelu, float, a[i] + b[i] > 0 ? a[i] + b[i] : 0)
POINTWISE(tmuladddst, float, d[i] + a[i] * b[i])
POINTWISE(tmuls, float, a[i] * 1.5f)
POINTWISE(tlrelu, float, a[i] > 0 ? a[i] : a[i] * 1.5f)
POINTWISE(texpands, float, 1.5f)
POINTWISE(tabs, float, fabsf(a[i]))
POINTWISE(texp, float, expf(a[i]))
POINTWISE(tlog, float, logf(a[i]))
POINTWISE(tsqrt, float, sqrtf(a[i]))
POINTWISE(trsqrt, float, (float)(1 / sqrt(a[i])))
POINTWISE(trecip, float, 1 / a[i])
POINTWISE(tpartadd, float, a[i] + b[i])
FUNCTION(tsel, float, float, uint8_t *mask = p[0];
         EACH d[i] = mask[i / cols * 32 + i % cols / 8] >> i % 8 & 1 ? b[i] : c[i];)
FUNCTION(taddreluconv, float, _Float16, EACH d[i] = a[i] + b[i] > 0 ? a[i] + b[i] : 0;)
FUNCTION(tcvt, float, _Float16, EACH d[i] = a[i];)
FUNCTION(tcmp, float, uint8_t, for (long i = 0; i < rows * cols / 8; i++) {
  uint8_t bits = 0;
  for (int n = 0; n < 8; n++) bits |= (a[8 * i + n] < b[8 * i + n]) << n;
  d[i] = bits;
})

// one result for each row, in a tile of 8 columns, and for each column
#define BY_ROW(name, T, first, step)                                                               \
  FUNCTION(name, float, T, for (long i = 0; i < rows; i++) {                                       \
    float *x = a + i * cols, best = x[0];                                                          \
    long at = 0;                                                                                   \
    for (long j = 1; j < cols; j++) step;                                                          \
    d[8 * i] = first;                                                                              \
  })
#define BY_COLUMN(name, T, step)                                                                   \
  FUNCTION(name, float, T, for (long j = 0; j < cols; j++) d[j] = a[j];                            \
           for (long i = 1; i < rows; i++) for (long j = 0; j < cols; j++) {                       \
             float x = a[i * cols + j];                                                            \
             step;                                                                                 \
           })
BY_ROW(trowsum, float, best, best += x[j])
BY_ROW(trowprod, float, best, best *= x[j])
BY_ROW(trowmin, float, best, best = x[j] < best ? x[j] : best)
BY_ROW(trowargmax, int32_t, at, if (x[j] > best) { best = x[j]; at = j; })
BY_COLUMN(tcolsum, float, d[j] += x)
BY_COLUMN(tcolmax, float, d[j] = d[j] < x ? x : d[j])
void tcolargmax(void **p, long rows, long cols) {
  float *a = p[0], best[cols];
  int32_t *d = p[3];
  for (long j = 0; j < cols; j++) best[j] = a[j], d[j] = 0;
  for (long i = 1; i < rows; i++)
    for (long j = 0; j < cols; j++)
      if (a[i * cols + j] > best[j]) best[j] = a[i * cols + j], d[j] = i;
}

// a tile with a tile of 8 columns, or one row
#define SPREAD(name, expression)                                                                   \
  FUNCTION(name, float, float, for (long i = 0; i < rows; i++) for (long j = 0; j < cols; j++) {   \
    float x = a[i * cols + j], line = b[8 * i + j % 8], row = b[j];                                \
    (void)line, (void)row;                                                                         \
    d[i * cols + j] = expression;                                                                  \
  })
SPREAD(trowexpandmul, x *line)
SPREAD(trowexpandexpdif, expf(x - line))
SPREAD(tcolexpandadd, x + row)
FUNCTION(trowexpand, float, float,
         for (long i = 0; i < rows; i++) for (long j = 0; j < cols; j++) d[i * cols + j] = a[8 * i];)

FUNCTION(tci, int32_t, int32_t, EACH d[i] = 5 + i;)
FUNCTION(ttri, float, float,
         for (long i = 0; i < rows; i++) for (long j = 0; j < cols; j++) d[i * cols + j] = j <= i;)
FUNCTION(tscatter, float, float, EACH d[((int32_t *)b)[i]] = a[i];)
FUNCTION(tinterleave, float, float, {
  float *e = (float *)p[2];
  for (long i = 0; i < rows; i++)
    for (long j = 0; j < cols / 2; j++) {
      d[i * cols + 2 * j] = a[i * cols + j], d[i * cols + 2 * j + 1] = b[i * cols + j];
      e[i * cols + 2 * j] = a[i * cols + cols / 2 + j];
      e[i * cols + 2 * j + 1] = b[i * cols + cols / 2 + j];
    }
})

void tsort32(void **p, long rows, long cols) {  // by value, greatest first; equal ones by index
  float *a = p[0];
  uint32_t *index = p[1];
  struct { float value; uint32_t index; } *d = p[3];
  for (long begin = 0; begin < rows * cols; begin += 32)
    for (long i = begin; i < begin + 32; i++) {
      long j = i;
      for (; j > begin && d[j - 1].value < a[i]; j--) d[j] = d[j - 1];
      d[j].value = a[i], d[j].index = index[i];
    }
}
