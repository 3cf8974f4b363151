/// Matrix products against plain loops in the written order of sums, bit for bit.

#include "core/ops/product.hpp"

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "tests/ops/product_test_impl.hpp"

#include "CppUTest/TestHarness.h"

using namespace thimble;
using namespace thimble_test;

namespace {

constexpr int kSeed = 20260214;

/// A matrix whose last number is the last byte of its allocation, so that ASan sees any read behind it. The
/// gaps between rows hold NaN (operands) or a canary (results).
template <class real>
struct Matrix {
  std::int64_t rows, columns, stride;
  std::size_t bytes;
  char* base;
  real* at;

  Matrix(std::int64_t rows, std::int64_t columns, std::int64_t stride, int misalignment)
      : rows(rows), columns(columns), stride(stride) {
    const std::int64_t count = rows > 0 && columns > 0 ? (rows - 1) * stride + columns : 0;
    bytes = std::size_t(count) * sizeof(real) + std::size_t(misalignment) * sizeof(real);
    base = static_cast<char*>(std::malloc(bytes == 0 ? 1 : bytes));
    at = reinterpret_cast<real*>(base) + misalignment;
    for (std::int64_t i = 0; i < count; ++i) at[i] = std::numeric_limits<real>::quiet_NaN();
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { std::free(base); }

  real& operator()(std::int64_t r, std::int64_t c) { return at[r * stride + c]; }

  template <class Random>
  void fill(Random& random) {
    std::uniform_real_distribution<real> uniform(-1, 1);
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t c = 0; c < columns; ++c) (*this)(r, c) = uniform(random);
    }
  }
};

template <class real>
real chain(Profile profile, real a, real b, real c) {
  if (profile == Profile::fused) return std::fma(a, b, c);
  const real product = a * b;
  return product + c;
}

/// The written order of sums, one output at a time.
template <class real>
void reference(Profile profile, ProductKind kind, const ProductArgs<real>& p, real* c) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      real total = c[i * p.ldc + j];
      bool add = p.update == Update::accumulate;
      std::int64_t k = 0;
      do {
        real part = k == 0 && p.bias != nullptr ? p.bias[j] : real(0);
        for (const std::int64_t end = std::min(p.k, k + 256); k < end; ++k) {
          const real a = kind == ProductKind::tn ? p.a[k * p.lda + i] : p.a[i * p.lda + k];
          const real b = kind == ProductKind::nt ? p.b[j * p.ldb + k] : p.b[k * p.ldb + j];
          part = chain(profile, a, b, part);
        }
        total = add ? total + part : part;
        add = true;
      } while (k < p.k);
      c[i * p.ldc + j] = total;
    }
  }
}

struct Case {
  ProductKind kind;
  std::int64_t m, n, k;
  std::int64_t pad_a = 0, pad_b = 0, pad_c = 0;
  int misalign_a = 0, misalign_b = 0, misalign_c = 0;
  Update update = Update::overwrite;
  bool bias = false;
  int workers = 1;
  double poison = 0;  ///< 0: finite operands; else placed at random spots

  std::string text() const {
    char line[200];
    std::snprintf(line, sizeof line,
                  "%s m=%d n=%d k=%d pads=%d,%d,%d misaligned=%d,%d,%d %s bias=%d workers=%d",
                  kind == ProductKind::nn   ? "nn"
                  : kind == ProductKind::nt ? "nt"
                                            : "tn",
                  int(m), int(n), int(k), int(pad_a), int(pad_b), int(pad_c), misalign_a, misalign_b,
                  misalign_c, update == Update::overwrite ? "overwrite" : "accumulate", bias, workers);
    return line;
  }
};

/// Equal bits, where all NaN are one value: its payload is not part of the interface.
template <class real>
bool same(real a, real b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<BitsOf<real>>(a) == std::bit_cast<BitsOf<real>>(b);
}

/// Scratch with a canary behind it, filled with NaN.
template <class real>
struct Scratch {
  std::int64_t bytes;
  char* base;
  explicit Scratch(std::int64_t bytes) : bytes(bytes) {
    base = static_cast<char*>(std::aligned_alloc(64, std::size_t(bytes + 63) / 64 * 64 + 64));
    std::memset(base, 0xFF, std::size_t(bytes));
    std::memset(base + bytes, 0x5A, 64);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(base); }
  bool intact() const {
    for (int i = 0; i < 64; ++i) {
      if (base[bytes + i] != 0x5A) return false;
    }
    return true;
  }
};

/// One set of operands for all implementations, with what each profile should make of them.
template <class real>
struct Problem {
  Case t;
  Matrix<real> a, b, c, before, bias;
  std::vector<real> expected[2];  ///< by Profile; empty until asked for
  ProductArgs<real> args;

  template <class Random>
  Problem(const Case& t, Random& random)
      : t(t),
        a(t.kind == ProductKind::tn ? t.k : t.m, t.kind == ProductKind::tn ? t.m : t.k,
          (t.kind == ProductKind::tn ? t.m : t.k) + t.pad_a, t.misalign_a),
        b(t.kind == ProductKind::nt ? t.n : t.k, t.kind == ProductKind::nt ? t.k : t.n,
          (t.kind == ProductKind::nt ? t.k : t.n) + t.pad_b, t.misalign_b),
        c(t.m, t.n, t.n + t.pad_c, t.misalign_c),
        before(t.m, t.n, t.n + t.pad_c, t.misalign_c),
        bias(1, t.n, t.n, t.misalign_a) {
    a.fill(random);
    b.fill(random);
    bias.fill(random);
    if (t.update == Update::accumulate) before.fill(random);
    for (Matrix<real>* x : {&a, &b}) {
      for (int i = 0; t.poison != 0 && i < 3 && x->rows * x->columns > 0; ++i) {
        (*x)(std::int64_t(random() % std::uint64_t(x->rows)),
             std::int64_t(random() % std::uint64_t(x->columns))) = real(t.poison);
      }
    }
    args = {t.m,
            t.n,
            t.k,
            a.at,
            a.stride,
            b.at,
            b.stride,
            c.at,
            c.stride,
            t.update,
            t.bias ? bias.at : nullptr,
            nullptr};
  }

  void check(const char* name, Profile profile, ProductFunction<real> run, std::int64_t scratch_bytes) {
    std::vector<real>& wanted = expected[profile == Profile::fused];
    const std::int64_t count = t.m > 0 && t.n > 0 ? (t.m - 1) * c.stride + t.n : 0;
    if (wanted.empty()) {
      wanted.assign(before.at, before.at + count);
      reference(profile, t.kind, args, wanted.data());
    }
    for (std::int64_t i = 0; i < count; ++i) c.at[i] = before.at[i];
    const Scratch<real> scratch(scratch_bytes);
    args.scratch = scratch_bytes > 0 ? scratch.base : nullptr;
    for (int w = t.workers - 1; w >= 0; --w) run(args, Worker{w, t.workers});
    CHECK_TEXT(scratch.intact(), (std::string(name) + " wrote behind its scratch: " + t.text()).c_str());
    for (std::int64_t i = 0; i < count; ++i) {
      if (same(c.at[i], wanted[std::size_t(i)])) continue;
      char line[400];
      std::snprintf(line, sizeof line, "%s %s: C[%d, %d] is %.17g, not %.17g", name, t.text().c_str(),
                    int(i / c.stride), int(i % c.stride), double(c.at[i]), double(wanted[std::size_t(i)]));
      FAIL(line);
    }
  }
};

bool runs_here(bool avx512) {
  return avx512 ? __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")
                : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

template <class real>
std::vector<const ProductImplementation<real>*> implementations() {
  ProductImplementations<real> all;
  std::vector<const ProductImplementation<real>*> list = {all.plain_fused(), all.plain_separate()};
  if (all.avx2() != nullptr && runs_here(false)) list.push_back(all.avx2());
  if (all.avx512() != nullptr && runs_here(true)) list.push_back(all.avx512());
  return list;
}

template <class real>
void check_everywhere(const Case& t, std::mt19937_64& random) {
  Problem<real> problem(t, random);
  const std::int64_t bytes = product_scratch_bytes(t.kind, t.m, t.n, t.k, t.workers, sizeof(real));
  for (const auto* implementation : implementations<real>()) {
    problem.check(implementation->name, implementation->profile, implementation->run[int(t.kind)], bytes);
  }
}

/// The same for the driver of large products, whatever the size.
template <class real>
void check_packed(const Case& t, std::mt19937_64& random) {
  Problem<real> problem(t, random);
  const std::int64_t bytes = t.workers * detail::packed_count(t.kind, t.m) * std::int64_t(sizeof(real));
  for (const auto* implementation : implementations<real>()) {
    const auto run = implementation->packed[int(t.kind)];
    if (run != nullptr) problem.check(implementation->name, implementation->profile, run, bytes);
  }
}

constexpr ProductKind kKinds[] = {ProductKind::nn, ProductKind::nt, ProductKind::tn};

Case random_case(std::mt19937_64& random, std::int64_t work_limit) {
  static constexpr std::int64_t kSizes[] = {1,  2,  3,   4,   5,   7,   8,   13,  15,  16, 17,
                                            23, 24, 25,  31,  32,  33,  47,  48,  49,  63, 64,
                                            65, 95, 129, 255, 256, 257, 300, 384, 513, 600};
  Case t{};
  const auto size = [&] { return kSizes[random() % std::size(kSizes)]; };
  do {
    t.m = size(), t.n = size(), t.k = size();
  } while (t.m * t.n * t.k > work_limit);
  t.kind = kKinds[random() % 3];
  t.pad_a = std::int64_t(random() % 4), t.pad_b = std::int64_t(random() % 4),
  t.pad_c = std::int64_t(random() % 4);
  t.misalign_a = int(random() % 4), t.misalign_b = int(random() % 4), t.misalign_c = int(random() % 4);
  t.update = random() % 2 ? Update::accumulate : Update::overwrite;
  t.bias = random() % 2;
  t.workers = 1 + int(random() % 3);
  return t;
}

}  // namespace

TEST_GROUP(Product) {
  std::mt19937_64 random{kSeed};
};

TEST(Product, RandomSmallShapesEqualThePlainLoop) {
  for (int i = 0; i < 1000; ++i) {
    const Case t = random_case(random, 20000);
    check_everywhere<float>(t, random);
    check_everywhere<double>(t, random);
  }
}

TEST(Product, RandomLargerShapesEqualThePlainLoop) {
  for (int i = 0; i < 60; ++i) {
    const Case t = random_case(random, 2000000);
    check_everywhere<float>(t, random);
    check_everywhere<double>(t, random);
  }
}

TEST(Product, LargeShapesEqualThePlainLoop) {
  static constexpr std::int64_t kShapes[][3] = {{64, 1025, 513}, {17, 192, 2800}, {33, 700, 768},
                                                {65, 2049, 256}, {30, 8200, 64}, {31, 2100, 255},
                                                {20, 89, 6000}};
  for (const auto& shape : kShapes) {
    for (const ProductKind kind : kKinds) {
      Case t = random_case(random, 100);
      t.kind = kind, t.m = shape[0], t.n = shape[1], t.k = shape[2];
      CHECK(product_scratch_bytes(kind, t.m, t.n, t.k, 1, sizeof(float)) > 0);
      check_everywhere<float>(t, random);
      check_everywhere<double>(t, random);
    }
  }
}

TEST(Product, PackingIsRightAtAnySize) {
  for (int i = 0; i < 1000; ++i) {
    Case t = random_case(random, i < 900 ? 20000 : 2000000);
    t.poison = i % 16 == 0 ? std::numeric_limits<double>::quiet_NaN() : 0;
    check_packed<float>(t, random);
    check_packed<double>(t, random);
  }
}

TEST(Product, EveryTailOfRowsAndColumns) {
  for (const ProductKind kind : kKinds) {
    for (int m = 1; m <= 18; ++m) {
      for (int n = 1; n <= 66; n += 1 + (m + n) % 3) {
        Case t{kind, m, n, 1 + (m * n) % 21};
        t.update = (m + n) % 2 ? Update::accumulate : Update::overwrite;
        t.bias = m % 3 == 0;
        check_everywhere<float>(t, random);
        check_everywhere<double>(t, random);
      }
    }
  }
}

TEST(Product, NoSummandsGiveZeroOrLeaveTheSum) {
  for (const ProductKind kind : kKinds) {
    for (const Update update : {Update::overwrite, Update::accumulate}) {
      for (const bool bias : {false, true}) {
        Case t{kind, 5, 19, 0};
        t.update = update, t.bias = bias;
        check_everywhere<float>(t, random);
        check_everywhere<double>(t, random);
      }
    }
  }
}

TEST(Product, EmptyResultsTouchNothing) {
  for (const ProductKind kind : kKinds) {
    check_everywhere<float>(Case{kind, 0, 7, 3}, random);
    check_everywhere<float>(Case{kind, 7, 0, 3}, random);
  }
}

TEST(Product, NanAndInfinitySpreadAsInThePlainLoop) {
  for (const double poison :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    for (int i = 0; i < 100; ++i) {
      Case t = random_case(random, i < 90 ? 20000 : 2000000);
      t.poison = poison;
      check_everywhere<float>(t, random);
      check_everywhere<double>(t, random);
    }
  }
}

TEST(Product, SmallProductsNeedNoScratch) {
  for (const ProductKind kind : kKinds) {
    LONGS_EQUAL(0, product_scratch_bytes(kind, 16, 64, 16, 1, sizeof(float)));
    LONGS_EQUAL(0, product_scratch_bytes(kind, 64, 256, 64, 1, sizeof(float)));
    LONGS_EQUAL(0, product_scratch_bytes(kind, 256, 384, 256, 2, sizeof(float)));
  }
}
