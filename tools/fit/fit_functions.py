#!/usr/bin/env python3
"""Fits the polynomials of core/simd/functions.hpp and prints core/simd/coefficients.hpp.

    tools/fit/fit_functions.py > core/simd/coefficients.hpp      (needs mpmath; takes a few minutes)
    tools/fit/fit_functions.py --errors                          (the error of every polynomial, as a power of two)

Each polynomial is the minimax one under a weight that turns its error into an error of the function's value. The
coefficients are rounded to float or double one after another, from the lowest degree up, and those of higher degree
are fitted again after each, so that they make up for the rounding.
"""

import argparse
import sys

from mpmath import cos, erf, erfc, exp, floor, frexp, inf, ldexp, linspace, log, lu_solve, matrix, mp, mpf, nstr, pi
from mpmath import sqrt, tanh

mp.dps = 60
BITS = {"float": 24, "double": 53}


def rounded(x, bits):
    """x rounded to `bits` significant bits, ties to even."""
    if x == 0:
        return mpf(0)
    _, e = frexp(x)
    scaled = ldexp(x, bits - e)
    low = floor(scaled)
    rest = scaled - low
    up = rest > 0.5 or (rest == 0.5 and int(low) % 2)
    return ldexp(low + (1 if up else 0), e - bits)


def chebyshev_points(low, high, count):
    """Points of [low, high], denser at the ends and never on them."""
    return [(low + high) / 2 - (high - low) / 2 * cos(pi * (mpf(i) + mpf(1) / 2) / count) for i in range(count)]


class Target:
    """A function to fit on [low, high], with the weight of its error, tabulated on a grid."""

    def __init__(self, function, weight, low, high, grid=1500):
        self.points = chebyshev_points(mpf(low), mpf(high), grid)
        self.values = [function(x) for x in self.points]
        self.weights = [weight(x) for x in self.points]


def evaluate(coefficients, x):
    result = mpf(0)
    for c in reversed(coefficients):
        result = result * x + c
    return result


def extrema(errors):
    """Indices of the local extrema of an alternating error, one for each run of equal signs."""
    found = []
    start = 0
    for i in range(1, len(errors) + 1):
        if i == len(errors) or (errors[i] > 0) != (errors[start] > 0):
            found.append(max(range(start, i), key=lambda k: abs(errors[k])))
            start = i
    return found


def remez(target, fixed, free):
    """Minimax coefficients: `fixed` ones of lowest degree are given, `free` ones follow. Also the largest error."""
    points, weights = target.points, target.weights
    rest = [g - evaluate(fixed, x) for g, x in zip(target.values, points)]
    n = len(points)
    chosen = [round((i + 0.5) * n / (free + 1) - 0.5) for i in range(free + 1)]
    best, best_error = None, inf
    for _ in range(12):
        system = matrix(free + 1, free + 1)
        right = matrix(free + 1, 1)
        for row, k in enumerate(chosen):
            power = points[k] ** len(fixed)
            for column in range(free):
                system[row, column] = power
                power *= points[k]
            system[row, free] = (-1) ** row / weights[k]
            right[row] = rest[k]
        solution = list(lu_solve(system, right))[:free]
        errors = [
            w * (evaluate(solution, x) * x ** len(fixed) - g) for x, g, w in zip(points, rest, weights)
        ]
        largest = max(abs(e) for e in errors)
        if largest < best_error:
            best, best_error = solution, largest
        found = extrema(errors)
        while len(found) > free + 1:  # drop the smaller end until the count fits
            found.pop(0 if abs(errors[found[0]]) < abs(errors[found[-1]]) else -1)
        if len(found) < free + 1 or found == chosen:
            break
        chosen = found
    return best, best_error


def fit(target, count, bits):
    """`count` coefficients of `bits` bits, the lowest degree first, and their largest weighted error."""
    fixed = []
    while len(fixed) < count:
        free, _ = remez(target, fixed, count - len(fixed))
        fixed.append(rounded(free[0], bits))
    error = max(
        abs(w * (evaluate(fixed, x) - g)) for x, g, w in zip(target.points, target.values, target.weights)
    )
    return fixed, error


# name -> (what the polynomial stands for, how it is tabulated, coefficients for float, for double)
HALF_LN2 = log(2) / 2 + mpf(1) / 1000
LOG_ARGUMENT = (sqrt(2) - 1) / (sqrt(2) + 1)


def log_rest(z):
    """2 atanh(s) / s - 2 over z, for z = s^2."""
    s = sqrt(z)
    return (log((1 + s) / (1 - s)) / s - 2) / z


def tanh_rest(z):
    y = sqrt(z)
    return (tanh(y) / y - 1) / z


def erf_rest(z):
    y = sqrt(z)
    return erf(y) / y - 1


FITS = {
    "exp": (
        "(exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2",
        lambda bits: Target(lambda r: (exp(r) - 1 - r) / r**2, lambda r: r**2 / exp(r), -HALF_LN2, HALF_LN2),
        {"float": 5, "double": 11},
    ),
    "log": (
        "(2 atanh(s) / s - 2) / z for z = s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1)",
        lambda bits: Target(log_rest, lambda z: z / 2, 0, LOG_ARGUMENT**2),
        {"float": 3, "double": 7},
    ),
    "tanh": (
        "(tanh(y) / y - 1) / z for z = y^2, y <= 1",
        lambda bits: Target(tanh_rest, lambda z: z * sqrt(z) / tanh(sqrt(z)), 0, 1),
        {"float": 7, "double": 15},
    ),
    "erf": (
        "erf(y) / y - 1 in z = y^2, y <= 1",
        lambda bits: Target(erf_rest, lambda z: sqrt(z) / erf(sqrt(z)), 0, 1),
        {"float": 7, "double": 12},
    ),
    "erfc": (
        "ln(erfc(1 + t)) for t <= 3 (float), t <= 5 (double)",
        lambda bits: Target(
            lambda t: log(erfc(1 + t)), lambda t: erfc(1 + t) / erf(1 + t), 0, 3 if bits == 24 else 5
        ),
        {"float": 10, "double": 20},
    ),
}


def literal(x, kind):
    digits = 9 if kind == "float" else 17
    text = nstr(x, digits, strip_zeros=True, min_fixed=-3, max_fixed=6)
    return text + "f" if kind == "float" else text


def table(name, kind, log_errors):
    what, target, counts = FITS[name]
    coefficients, error = fit(target(BITS[kind]), counts[kind], BITS[kind])
    if log_errors:
        print(f"{kind} {name} {counts[kind]} coefficients: 2^{nstr(log(error, 2), 4)}", file=sys.stderr)
    lines = [f"  /// {what}.", f"  static constexpr {kind} {name}[] = {{"]
    lines += [f"      {literal(c, kind)}," for c in coefficients]
    return lines + ["  };"]


def split_ln2(kind):
    """ln 2 as a sum of two: the first so short that its product with any exponent is exact."""
    bits = BITS[kind]
    high = rounded(log(2), bits - (11 if kind == "double" else 8))
    low = rounded(log(2) - high, bits)
    return [
        "  /// ln(2) in two parts, the first short enough that its product with an exponent is exact.",
        f"  static constexpr {kind} ln2_high = {literal(high, kind)};",
        f"  static constexpr {kind} ln2_low = {literal(low, kind)};",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--errors", action="store_true", help="print the errors instead of the header")
    arguments = parser.parse_args()
    out = [
        "#pragma once",
        "/// Coefficients of the functions, lowest degree first. Printed by tools/fit/fit_functions.py; do not edit.",
        "",
        "namespace thimble::detail {",
        "",
        "template <class real>",
        "struct Coefficients;",
    ]
    for kind in BITS:
        out += ["", "template <>", f"struct Coefficients<{kind}> {{"]
        out += split_ln2(kind)
        for name in FITS:
            out += table(name, kind, arguments.errors)
        out += ["};"]
    out += ["", "}  // namespace thimble::detail"]
    if not arguments.errors:
        print("\n".join(out))


if __name__ == "__main__":
    main()
