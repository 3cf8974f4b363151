#pragma once
/// Coefficients of the functions, lowest degree first. Printed by tools/fit/fit_functions.py; do not edit.

namespace thimble::detail {

template <class real>
struct Coefficients;

template <>
struct Coefficients<float> {
  /// ln(2) in two parts, the first short enough that its product with an exponent is exact.
  static constexpr float ln2_high = 0.693145752f;
  static constexpr float ln2_low = 1.42860677e-6f;
  /// (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2.
  static constexpr float exp[] = {
      0.49999994f, 0.166665152f, 0.0416680872f, 8.36929958e-3f, 1.38383394e-3f,
  };
  /// (2 atanh(s) / s - 2) / z for z = s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1).
  static constexpr float log[] = {
      0.666667759f,
      0.399775833f,
      0.298707962f,
  };
  /// (tanh(y) / y - 1) / z for z = y^2, y <= 1.
  static constexpr float tanh[] = {
      -0.333332956f,   0.133323461f,  -0.0538798459f,  0.0214866716f,
      -7.94599205e-3f, 2.3011954e-3f, -3.58381483e-4f,
  };
  /// erf(y) / y - 1 in z = y^2, y <= 1.
  static constexpr float erf[] = {
      0.128379166f, -0.37612626f, 0.112835787f, -0.0268533472f, 5.1871622e-3f, -7.9978531e-4f, 7.80690389e-5f,
  };
  /// ln(erfc(1 + t)) for t <= 3 (float), t <= 5 (double).
  static constexpr float erfc[] = {
      -1.84960556f,   -2.63895988f,   -0.843283474f,  -0.0400964245f,  4.29383386e-3f,
      9.98095237e-3f, -0.0136739202f, 9.01978742e-3f, -3.02158482e-3f, 4.03677201e-4f,
  };
};

template <>
struct Coefficients<double> {
  /// ln(2) in two parts, the first short enough that its product with an exponent is exact.
  static constexpr double ln2_high = 0.69314718055989033;
  static constexpr double ln2_low = 5.4979230187083712e-14;
  /// (exp(r) - 1 - r) / r^2 on |r| <= ln(2) / 2.
  static constexpr double exp[] = {
      0.5,
      0.16666666666666691,
      0.041666666666666859,
      8.3333333333116735e-3,
      1.3888888888745161e-3,
      1.9841269909185732e-4,
      2.4801587658156625e-5,
      2.7557222563301434e-6,
      2.7556951388260045e-7,
      2.5116145337450056e-8,
      2.1023270033118967e-9,
  };
  /// (2 atanh(s) / s - 2) / z for z = s^2, |s| <= (sqrt(2) - 1) / (sqrt(2) + 1).
  static constexpr double log[] = {
      0.6666666666666734, 0.39999999999416641, 0.28571428742028154, 0.22222198605062085,
      0.1818356285048546, 0.15314084876357265, 0.14795632824750082,
  };
  /// (tanh(y) / y - 1) / z for z = y^2, y <= 1.
  static constexpr double tanh[] = {
      -0.33333333333332943,   0.13333333333292696,   -0.053968253953368475,  0.021869488258850569,
      -8.8632324420082551e-3, 3.5921055439261718e-3, -1.4557210529204654e-3, 5.8961783977039793e-4,
      -2.3804199570417493e-4, 9.4765208198007098e-5, -3.6083278951418761e-5, 1.2338708689490231e-5,
      -3.4183237715137783e-6, 6.5407920709119451e-7, -6.2635750076423348e-8,
  };
  /// erf(y) / y - 1 in z = y^2, y <= 1.
  static constexpr double erf[] = {
      0.12837916709551256,   -0.37612638903183343,   0.11283791670936949,   -0.026866170641951737,
      5.2239775965863353e-3, -8.5483254728781091e-4, 1.2055279975947183e-4, -1.4924452497080648e-5,
      1.6443948874219902e-6, -1.6182139944107819e-7, 1.3607356861931645e-8, -7.5878776016222684e-10,
  };
  /// ln(erfc(1 + t)) for t <= 3 (float), t <= 5 (double).
  static constexpr double erfc[] = {
      -1.8496055099332482,    -2.6389675142347957,     -0.84310725635820472,   -0.041561098053350377,
      0.010033825519573549,   -1.9779036539091053e-3,  2.3732774975024348e-4,  2.6260348383418762e-5,
      -2.7117577264362388e-5, 9.5369319890817988e-6,   -1.9669886525997136e-6, 5.292659473418395e-8,
      1.6341210859733285e-7,  -8.8405044171269417e-8,  2.9921131535677763e-8,  -7.4120624255060584e-9,
      1.3480921919970558e-9,  -1.7061840121796191e-10, 1.3375663780187628e-11, -4.8680424762471153e-13,
  };
};

}  // namespace thimble::detail
