#include <array>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "tests/files/temporary_folder.hpp"
#include "tools/files/npz.hpp"
#include "tools/files/npz_writer.hpp"

#include "CppUTest/TestHarness.h"

using thimble::convert_floats;
using thimble::NpzFile;
using thimble::NpzWriter;
using thimble::StoredType;
using thimble::Zip64;
using thimble::test::TemporaryFolder;

TEST_GROUP(NpzPeer) {
  TemporaryFolder folder;
  const std::vector<std::uint64_t> shape = {2, 2};
  const std::array<float, 4> f = {1, -2.5, 0x1p-14F, 96};
  const std::array<double, 4> d = {0.5, -0.75, 3, 1024};

  static bool run(const std::string& command) {
    return std::system(command.c_str()) == 0;
  }

  template <class real>
  std::array<real, 4> read(const NpzFile& file, const char* name) const {
    std::array<real, 4> values{};
    convert_floats(file.require(name, shape), std::span<real>(values), name);
    return values;
  }

  void round_trip(Zip64 zip64, const std::string& compressed) const {
    const auto in = folder / "in.npz";
    const auto out = folder / "out.npz";
    NpzWriter writer(in, zip64);
    writer.append("layer/f", StoredType::kF32, shape, std::as_bytes(std::span(f)));
    writer.append("d\xc3\xa9", StoredType::kF64, shape, std::as_bytes(std::span(d)));
    writer.append("scalar", StoredType::kF64, {}, std::as_bytes(std::span(d).first(1)));
    writer.append("row", StoredType::kF32, std::span(shape).first(1), std::as_bytes(std::span(f).first(2)));
    writer.commit();
    const auto script = std::filesystem::path(THIMBLE_SOURCE_DIR) / "tests/files/npz_peer.py";
    CHECK_TRUE(run("/usr/bin/python3 '" + script.string() + "' '" + in.string() + "' '" + out.string() +
                   "' " + compressed));
    const NpzFile file(out);
    CHECK_EQUAL(8U, file.tensors().size());
    const auto f_twice = read<float>(file, "layer/f");
    const auto d_twice = read<double>(file, "d\xc3\xa9");
    const auto f_half = read<float>(file, "layer/f.f16");
    const auto d_half = read<double>(file, "d\xc3\xa9.f16");
    for (std::size_t i = 0; i < 4; ++i) {
      CHECK_TRUE(f_twice[i] == 2 * f[i] && d_twice[i] == 2 * d[i]);
      CHECK_TRUE(f_half[i] == f[i] && d_half[i] == d[i]);
    }
    CHECK_EQUAL(1U, file.require("scalar", {}).element_count());
    CHECK_EQUAL(2U, file.require("row", std::span(shape).first(1)).element_count());
  }
};

TEST(NpzPeer, NumpyReadsWhatWeWriteAndWeReadWhatItWrites) {
  if (!run("/usr/bin/python3 -c 'import numpy' 2>/dev/null")) {
    UT_PRINT("skipped: python3 with numpy is not installed");
    return;
  }
  round_trip(Zip64::kWhereNeeded, "0");
  round_trip(Zip64::kWhereNeeded, "1");
  round_trip(Zip64::kAlways, "0");
}
