// What one would write without ptokit: each function does what the instruction of its row does, on
// row-major arrays: p[0] is the output, then come the inputs, then further outputs, in the order of
// the row's operands. `repeat` calls one so often that a call costs nothing.

#include <math.h>
#include <stdint.h>
#include <string.h>

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
    U *restrict d = p[0];                                                                          \
    T *restrict a = p[1];                                                                          \
    T *restrict b = p[2];                                                                          \
    T *restrict c = p[3];                                                                          \
    (void)a, (void)b, (void)c, (void)d;                                                            \
    __VA_ARGS__                                                                                    \
  }
#define POINTWISE(name, T, expression) FUNCTION(name, T, T, EACH d[i] = expression;)

static inline float larger(float x, float y) { return x < y ? y : x; }
static inline float smaller(float x, float y) { return y < x ? y : x; }
static inline int32_t left(int32_t x, int32_t by) {
  return (uint32_t)by < 32 ? (int32_t)((uint32_t)x << by) : 0;
}
static inline int32_t right(int32_t x, int32_t by) { return x >> ((uint32_t)by < 32 ? by : 31); }
static inline float modulo(float x, float y) {  // of the divisor's sign
  float rest = fmodf(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}

POINTWISE(tmin, float, smaller(a[i], b[i]))
POINTWISE(tdiv, float, a[i] / b[i])
POINTWISE(trem, float, modulo(a[i], b[i]))
POINTWISE(tfmod, float, fmodf(a[i], b[i]))
POINTWISE(tpow, float, powf(a[i], b[i]))
POINTWISE(tand, int32_t, a[i] & b[i])
POINTWISE(tor, int32_t, a[i] | b[i])
POINTWISE(txor, int32_t, a[i] ^ b[i])
POINTWISE(tshl, int32_t, left(a[i], b[i]))
POINTWISE(tshr, int32_t, right(a[i], b[i]))
POINTWISE(taddc, float, a[i] + b[i] + c[i])
POINTWISE(tsubc, float, a[i] - b[i] + c[i])
POINTWISE(tprelu, float, a[i] > 0 ? a[i] : a[i] * b[i])
POINTWISE(taddrelu, float, larger(a[i] + b[i], 0))
POINTWISE(tsubrelu, float, larger(a[i] - b[i], 0))
POINTWISE(tfusedmuladd, float, a[i] * d[i] + b[i])
POINTWISE(tfusedmuladdrelu, float, larger(a[i] * d[i] + b[i], 0))
POINTWISE(tmuladddst, float, d[i] + a[i] * b[i])
POINTWISE(tpartadd, float, a[i] + b[i])
POINTWISE(tpartmul, float, a[i] * b[i])
POINTWISE(tpartmax, float, larger(a[i], b[i]))
POINTWISE(tpartmin, float, smaller(a[i], b[i]))
FUNCTION(taddreluconv, float, _Float16, EACH d[i] = larger(a[i] + b[i], 0);)
FUNCTION(tadddeqrelu, int32_t, float, EACH d[i] = larger((a[i] + b[i]) * 1.5f, 0);)
FUNCTION(taxpy, float, float, EACH d[i] += a[i] * 1.5f;)

#define LARGEST(name, compare)                                                                     \
  void name(void **p, long rows, long cols) {                                                      \
    float *restrict d = p[0], *restrict a = p[1], *restrict b = p[2];                              \
    int32_t *restrict m = p[3], *restrict n = p[4], *restrict e = p[5];                            \
    EACH {                                                                                         \
      int first = a[i] compare b[i];                                                               \
      d[i] = first ? a[i] : b[i];                                                                  \
      e[i] = first ? m[i] : n[i];                                                                  \
    }                                                                                              \
  }
LARGEST(tpartargmax, >)
LARGEST(tpartargmin, <)

// with a number
POINTWISE(tsubs, float, a[i] - 1.5f)
POINTWISE(tmuls, float, a[i] * 1.5f)
POINTWISE(tdivs, float, a[i] / 1.5f)
POINTWISE(tmins, float, smaller(a[i], 1.5f))
POINTWISE(tmaxs, float, larger(a[i], 1.5f))
POINTWISE(trems, float, modulo(a[i], 1.5f))
POINTWISE(tfmods, float, fmodf(a[i], 1.5f))
POINTWISE(tpows, float, powf(a[i], 1.5f))
POINTWISE(tands, int32_t, a[i] & 3)
POINTWISE(tors, int32_t, a[i] | 3)
POINTWISE(txors, int32_t, a[i] ^ 3)
POINTWISE(tshls, int32_t, left(a[i], 3))
POINTWISE(tshrs, int32_t, right(a[i], 3))
POINTWISE(taddsc, float, a[i] + 1.5f + b[i])
POINTWISE(tsubsc, float, a[i] - 1.5f + b[i])
POINTWISE(tlrelu, float, a[i] > 0 ? a[i] : a[i] * 1.5f)
POINTWISE(texpands, float, 1.5f)

// of one tile
POINTWISE(tabs, float, fabsf(a[i]))
POINTWISE(tneg, float, -a[i])
POINTWISE(tnot, int32_t, ~a[i])
POINTWISE(texp, float, expf(a[i]))
POINTWISE(tlog, float, logf(a[i]))
POINTWISE(tsqrt, float, sqrtf(a[i]))
POINTWISE(trsqrt, float, (float)(1 / sqrt(a[i])))
POINTWISE(trecip, float, 1 / a[i])

// bits of masks: a row of a mask has 32 bytes
#define ROWS for (long i = 0; i < rows; i++)
#define COLS for (long j = 0; j < cols; j++)
#define BITS(name, right)                                                                          \
  FUNCTION(name, float, uint8_t, ROWS for (long j = 0; j < cols; j += 8) {                         \
    uint8_t bits = 0;                                                                              \
    for (int n = 0; n < 8; n++) bits |= (a[i * cols + j + n] < right) << n;                        \
    d[32 * i + j / 8] = bits;                                                                      \
  })
BITS(tcmp, b[i * cols + j + n])
BITS(tcmps, 1.5f)
#define CHOSEN(name, other)                                                                        \
  FUNCTION(name, float, float, uint8_t *mask = p[1]; ROWS COLS d[i * cols + j] =                   \
               mask[32 * i + j / 8] >> j % 8 & 1 ? b[i * cols + j] : other;)
CHOSEN(tsel, c[i * cols + j])
CHOSEN(tsels, 1.5f)

// one result for each row, in a tile of 8 columns, and for each column
#define BY_ROW(name, T, result, step)                                                              \
  FUNCTION(name, float, T, ROWS {                                                                  \
    float *x = a + i * cols, best = x[0];                                                          \
    long at = 0;                                                                                   \
    for (long j = 1; j < cols; j++) step;                                                          \
    (void)at;                                                                                      \
    d[8 * i] = result;                                                                             \
  })
#define BY_COLUMN(name, expression)                                                                \
  FUNCTION(name, float, float, COLS d[j] = a[j]; for (long i = 1; i < rows; i++) COLS {            \
    float x = a[i * cols + j];                                                                     \
    d[j] = expression;                                                                             \
  })
#define PLACE_BY_COLUMN(name, compare)                                                             \
  FUNCTION(name, float, int32_t, float best[cols]; COLS best[j] = a[j], d[j] = 0;                  \
           for (long i = 1; i < rows; i++) COLS if (a[i * cols + j] compare best[j])               \
               best[j] = a[i * cols + j],                                                          \
               d[j] = i;)
BY_ROW(trowsum, float, best, best += x[j])
BY_ROW(trowprod, float, best, best *= x[j])
BY_ROW(trowmax, float, best, best = larger(x[j], best))
BY_ROW(trowmin, float, best, best = smaller(x[j], best))
BY_ROW(trowargmax, int32_t, at, if (x[j] > best) { best = x[j]; at = j; })
BY_ROW(trowargmin, int32_t, at, if (x[j] < best) { best = x[j]; at = j; })
BY_COLUMN(tcolsum, d[j] + x)
BY_COLUMN(tcolprod, d[j] * x)
BY_COLUMN(tcolmax, larger(d[j], x))
BY_COLUMN(tcolmin, smaller(d[j], x))
PLACE_BY_COLUMN(tcolargmax, >)
PLACE_BY_COLUMN(tcolargmin, <)
FUNCTION(tpairreducesum, float, float, ROWS {
  for (long j = 0; j < cols / 2; j++)
    d[i * cols + j] = a[i * cols + 2 * j] + a[i * cols + 2 * j + 1];
  memset(d + i * cols + cols / 2, 0, cols / 2 * sizeof *d);
})

// a tile with a tile of 8 columns, or one row
#define SPREAD(name, expression)                                                                   \
  FUNCTION(trowexpand##name, float, float, ROWS for (long j = 0; j < cols; j += 8)                 \
           for (long k = 0; k < 8; k++) {                                                          \
             float x = a[i * cols + j + k], y = b[8 * i + k];                                      \
             d[i * cols + j + k] = expression;                                                     \
           })                                                                                      \
  FUNCTION(tcolexpand##name, float, float, ROWS COLS {                                             \
    float x = a[i * cols + j], y = b[j];                                                           \
    d[i * cols + j] = expression;                                                                  \
  })
SPREAD(add, x + y)
SPREAD(sub, x - y)
SPREAD(mul, x *y)
SPREAD(div, x / y)
SPREAD(max, larger(x, y))
SPREAD(min, smaller(x, y))
SPREAD(expdif, expf(x - y))
FUNCTION(trowexpand, float, float, ROWS COLS d[i * cols + j] = a[8 * i];)
FUNCTION(tcolexpand, float, float, ROWS COLS d[i * cols + j] = a[j];)

// generators, and what moves elements
FUNCTION(tci, int32_t, int32_t, EACH d[i] = 5 + i;)
FUNCTION(ttri, float, float, ROWS COLS d[i * cols + j] = j <= i;)
FUNCTION(tscatter, float, float, EACH {
  uint32_t at = ((uint32_t *)b)[i];
  if (at < rows * cols) d[at] = a[i];
})
FUNCTION(mgather, float, float, EACH {
  uint32_t at = ((uint32_t *)b)[i];
  d[i] = a[at < rows * cols ? at : rows * cols - 1];
})
FUNCTION(mscatter, float, float, EACH {
  uint32_t at = ((uint32_t *)b)[i];
  if (at < rows * cols) d[at] = a[i];
})
FUNCTION(tinterleave, float, float, float *e = p[3]; ROWS for (long j = 0; j < cols / 2; j++) {
  long at = i * cols + j, half = cols / 2;
  d[at + j] = a[at], d[at + j + 1] = b[at];
  e[at + j] = a[at + half], e[at + j + 1] = b[at + half];
})
FUNCTION(tdeinterleave, float, float, float *e = p[3]; ROWS for (long j = 0; j < cols / 2; j++) {
  long at = i * cols + j, half = cols / 2;
  d[at] = a[at + j], e[at] = a[at + j + 1];
  d[at + half] = b[at + j], e[at + half] = b[at + j + 1];
})
void thistogram(void **p, long rows, long cols) {  // of upper bytes, up to and with each
  uint32_t *d = p[0];
  uint16_t *a = p[1];
  memset(d, 0, rows * 256 * sizeof *d);
  ROWS {
    COLS d[256 * i + (a[i * cols + j] >> 8)]++;
    for (long n = 1; n < 256; n++) d[256 * i + n] += d[256 * i + n - 1];
  }
}
void trandom(void **p, long rows, long cols) {  // Philox4x32-10, 64 blocks for 256 columns
  uint32_t *d = p[0];
  for (long n = 0; n < rows * cols / 4; n++) {
    uint64_t first = 3 + n, second = 3 + (first >> 32);
    uint32_t x[4] = {first, second, 3, 3}, k[2] = {3, 3};
    for (int round = 0; round < 10; round++) {
      uint64_t u = (uint64_t)x[0] * 0xD2511F53, v = (uint64_t)x[2] * 0xCD9E8D57;
      x[0] = (v >> 32) ^ x[1] ^ k[0], x[1] = v;
      x[2] = (u >> 32) ^ x[3] ^ k[1], x[3] = u;
      k[0] += 0x9E3779B9, k[1] += 0xBB67AE85;
    }
    for (int w = 0; w < 4; w++) d[n / 64 * 256 + 64 * w + n % 64] = x[w];
  }
}

// records of a value and an index
typedef struct {
  float value;
  uint32_t index;
} record;
void tsort32(void **p, long rows, long cols) {  // by value, greatest first; equal ones by index
  record *d = p[0];
  float *a = p[1];
  uint32_t *index = p[2];
  for (long begin = 0; begin < rows * cols; begin += 32)
    for (long i = begin; i < begin + 32; i++) {
      long j = i;
      for (; j > begin && d[j - 1].value < a[i]; j--) d[j] = d[j - 1];
      d[j].value = a[i], d[j].index = index[i];
    }
}
void tmrgsort(void **p, long rows, long cols) {  // four sorted runs
  record *d = p[0], *a = p[1], *at[4], *end[4];
  long run = rows * cols / 8;
  for (long n = 0; n < 4; n++) at[n] = a + n * run, end[n] = at[n] + run;
  for (long i = 0; i < 4 * run; i++) {
    long best = -1;
    for (long n = 0; n < 4; n++)
      if (at[n] < end[n] && (best < 0 || at[n]->value > at[best]->value)) best = n;
    d[i] = *at[best]++;
  }
}

// products
static void product(float *restrict c, float *restrict a, float *restrict b, long m, long k,
                    long n) {
  for (long i = 0; i < m; i++)
    for (long l = 0; l < k; l++)
      for (long j = 0; j < n; j++) c[i * n + j] = fmaf(a[i * k + l], b[l * n + j], c[i * n + j]);
}
#define PRODUCTS(name, bias, FACTORS)                                                              \
  void name(void **p, long rows, long cols) {                                                      \
    FACTORS                                                                                        \
    memset(p[0], 0, rows * cols * sizeof(float));                                                  \
    product(p[0], a, b, rows, cols, cols);                                                         \
  }                                                                                                \
  void name##_acc(void **p, long rows, long cols) {                                                \
    FACTORS                                                                                        \
    product(p[0], a, b, rows, cols, cols);                                                         \
  }                                                                                                \
  void name##_bias(void **p, long rows, long cols) {                                               \
    FACTORS                                                                                        \
    ROWS memcpy((float *)p[0] + i * cols, p[bias], cols * sizeof(float));                          \
    product(p[0], a, b, rows, cols, cols);                                                         \
  }
PRODUCTS(tgemv, 3, float *a = p[1]; float *b = p[2];)

static float octet(uint8_t code) {  // f8e4m3
  int exponent = code >> 3 & 15, mantissa = code & 7;
  float x = exponent ? ldexpf(8 + mantissa, exponent - 10) : ldexpf(mantissa, -9);
  return code & 128 ? -x : x;
}
static float power(uint8_t code) { return ldexpf(1, code - 127); }  // f8e8m0
static void scaled(float *a, float *b, void **p, long rows, long cols) {
  static float table[256];
  if (table[1] == 0)
    for (int n = 0; n < 256; n++) table[n] = octet(n);
  uint8_t *x = p[0], *of_x = p[1], *y = p[2], *of_y = p[3];
  for (long i = 0; i < rows; i++)
    for (long k = 0; k < cols; k += 32) {
      float scale = power(of_x[(i * cols + k) / 32]);
      for (long n = 0; n < 32; n++) a[i * cols + k + n] = table[x[i * cols + k + n]] * scale;
    }
  for (long k = 0; k < cols; k += 32) {
    float scale[cols];
    for (long j = 0; j < cols; j++) scale[j] = power(of_y[k / 32 * cols + j]);
    for (long i = k; i < k + 32; i++)
      for (long j = 0; j < cols; j++) b[i * cols + j] = table[y[i * cols + j]] * scale[j];
  }
}
#define SCALED                                                                                     \
  float a[rows * cols], b[cols * cols];                                                            \
  scaled(a, b, p + 1, rows, cols);
PRODUCTS(tmatmul_mx, 5, SCALED)
PRODUCTS(tgemv_mx, 5, SCALED)

// HiFloat4: 64 elements share four bytes, a number and bits that double eighths and sixteenths;
// elements come as codes in bytes
static float number(int code) { return ldexpf(4 + code % 4, code / 4 - 50); }
static float doubled(uint8_t *four, long step, long k) {
  int eighth = four[step] >> k / 8 & 1, sixteenth = four[(2 + k / 32) * step] >> k / 4 % 8 & 1;
  return number(four[0]) * (1 << (eighth + sixteenth));
}
static float quarters(uint8_t code) { return (code & 8 ? -0.25f : 0.25f) * (code & 7); }
void tmatmul_mx_hif4(void **p, long rows, long cols) {  // of 64 columns: one group along k
  float a[rows * cols], b[cols * cols];
  uint8_t *x = p[1], *of_x = p[2], *y = p[3], *of_y = p[4];
  ROWS for (long k = 0; k < cols; k += 4) {
    float scale = doubled(of_x + 4 * i, 1, k);
    for (long n = k; n < k + 4; n++) a[i * cols + n] = quarters(x[i * cols + n]) * scale;
  }
  for (long k = 0; k < cols; k += 4) {
    float scale[cols];
    COLS scale[j] = doubled(of_y + j, cols, k);
    for (long n = k; n < k + 4; n++) COLS b[n * cols + j] = quarters(y[n * cols + j]) * scale[j];
  }
  memset(p[0], 0, rows * cols * sizeof(float));
  product(p[0], a, b, rows, cols, cols);
}

static float wide(uint16_t code) {  // bf16
  uint32_t bits = (uint32_t)code << 16;
  float x;
  memcpy(&x, &bits, 4);
  return x;
}
static uint16_t narrow(float x) {
  uint32_t bits;
  memcpy(&bits, &x, 4);
  return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}
static float rounded(float x) { return wide(narrow(x)); }
void tquant_hif4(void **p, long rows, long cols) {
  uint8_t *d = p[0], *four = p[2];
  uint16_t *a = p[1], *most = p[3], *scaling = p[4];
  for (long at = 0; at < rows * cols; at += 64, four += at % cols ? 4 : 36 - cols / 16) {
    float of_4[16] = {0}, of_8[8] = {0}, whole = 0;
    for (long n = 0; n < 64; n++) of_4[n / 4] = larger(of_4[n / 4], fabsf(wide(a[at + n])));
    for (long n = 0; n < 16; n++) of_8[n / 2] = larger(of_8[n / 2], of_4[n]);
    for (long n = 0; n < 8; n++) whole = larger(whole, of_8[n]);
    uint32_t bits = (uint32_t)narrow(whole * rounded(1 / 7.0f)) << 16;
    int code = (int)((bits + 0xFFFFF + (bits >> 21 & 1)) >> 21) - 316;
    four[0] = code < 0 ? 0 : code > 254 ? 254 : code, four[1] = four[2] = four[3] = 0;
    float inverse = rounded(1 / number(four[0]));
    for (long n = 0; n < 16; n++) {
      int eighth = rounded(of_8[n / 2] * inverse) >= 4;
      float half = inverse * (eighth ? 0.5f : 1);
      int sixteenth = rounded(of_4[n] * half) >= 2;
      float factor = half * (sixteenth ? 0.5f : 1);
      four[1] |= eighth << n / 2, four[2 + n / 8] |= sixteenth << n % 8;
      most[at / 4 + n] = narrow(of_4[n]), scaling[at / 4 + n] = narrow(factor);
      for (long m = at + 4 * n; m < at + 4 * n + 4; m++) {
        float x = rounded(wide(a[m]) * factor);
        d[m] = (x < 0 ? 8 : 0) | (int)rintf(smaller(fabsf(x), 1.75f) * 4);
      }
    }
    for (long n = 0; n < 8; n++) most[rows * cols / 4 + at / 8 + n] = narrow(of_8[n]);
  }
}

// quantisation
FUNCTION(tquant, float, int8_t, ROWS COLS {
  float x = rintf(a[i * cols + j] * b[i]);
  d[i * cols + j] = smaller(larger(x, -128), 127);
})
FUNCTION(tquant_asymmetric, float, uint8_t, ROWS COLS {
  float x = rintf(a[i * cols + j] * b[i] + c[i]);
  d[i * cols + j] = smaller(larger(x, 0), 255);
})
FUNCTION(tdequant, float, float, int8_t *x = p[1];
         ROWS COLS d[i * cols + j] = (x[i * cols + j] - c[i]) * b[i];)

static uint8_t to_octet(float x) {  // the nearest f8e4m3, ties to even; |x| is at most 448
  float size = fabsf(x);
  uint32_t sign = x < 0 ? 128 : 0, bits;
  if (size < 0x1p-6f) {
    uint32_t code = (uint32_t)rintf(size * 512);
    return code ? code | sign : 0;
  }
  memcpy(&bits, &size, 4);
  bits += 0x7FFFF + (bits >> 20 & 1);
  return ((bits >> 20) - (120 << 3)) | sign;
}
static void quantised(void **p, long group, long shared, long at, long step) {  // 32 elements
  uint8_t *d = p[0], *exponent = p[2];
  float *a = p[1], *most = p[3], *scaling = p[4], largest = 0;
  uint32_t bits;
  for (long n = 0; n < 32; n++) largest = larger(largest, fabsf(a[at + n * step]));
  memcpy(&bits, &largest, 4);
  int e = (int)(bits >> 23) - 8;
  float factor = ldexpf(1, 127 - (exponent[shared] = e < 0 ? 0 : e));
  most[group] = largest, scaling[group] = factor;
  for (long n = 0; n < 32; n++)
    d[at + n * step] = to_octet(larger(smaller(a[at + n * step] * factor, 448), -448));
}
void tquant_mx(void **p, long rows, long cols) {
  for (long group = 0; group < rows * cols / 32; group++) {
    long line = cols / 32, shared = group / line * 32 + group % line;
    quantised(p, group, shared, group * 32, 1);
  }
}
void tquant_dn(void **p, long rows, long cols) {
  for (long group = 0; group < rows * cols / 32; group++)
    quantised(p, group, group, group / cols * 32 * cols + group % cols, cols);
}
