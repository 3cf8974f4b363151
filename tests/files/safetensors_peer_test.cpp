#include <array>
#include <cstdlib>
#include <span>
#include <string>

#include "tests/files/temporary_folder.hpp"
#include "tools/files/safetensors.hpp"
#include "tools/files/safetensors_writer.hpp"

#include "CppUTest/TestHarness.h"

using thimble::SafetensorsFile;
using thimble::SafetensorsWriter;
using thimble::StoredType;
using thimble::test::TemporaryFolder;

TEST_GROUP(SafetensorsPeer) {
  TemporaryFolder folder;

  static bool run(const std::string& command) {
    return std::system(command.c_str()) == 0;
  }

  template <class real>
  static std::array<real, 4> read(const SafetensorsFile& file, const char* name) {
    constexpr std::array<std::uint64_t, 2> kShape = {2, 2};
    std::array<real, 4> values{};
    file.read_into<real>(file.require(name, kShape), values);
    return values;
  }
};

TEST(SafetensorsPeer, NumpyReadsWhatWeWriteAndWeReadWhatItWrites) {
  const std::string python = "/usr/bin/python3";
  if (!run(python + " -c 'import numpy' 2>/dev/null")) {
    UT_PRINT("skipped: python3 with numpy is not installed");
    return;
  }
  const auto in = folder / "in.safetensors";
  const auto out = folder / "out.safetensors";
  const std::array<float, 4> f = {1, -2.5, 0x1p-14F, 96};
  const std::array<double, 4> d = {0.5, -0.75, 3, 1024};
  SafetensorsWriter writer(in);
  writer.set_metadata("note", "\xc3\xa9");
  writer.declare("f", StoredType::kF32, {2, 2});
  writer.declare("d", StoredType::kF64, {2, 2});
  writer.append("f", f);
  writer.append("d", d);
  writer.commit();

  const auto script = std::filesystem::path(THIMBLE_SOURCE_DIR) / "tests/files/safetensors_peer.py";
  CHECK_TRUE(run(python + " '" + script.string() + "' '" + in.string() + "' '" + out.string() + "'"));
  const SafetensorsFile file(out);
  STRCMP_EQUAL("\xc3\xa9 seen", file.metadata().at("note").c_str());
  const auto f_twice = read<float>(file, "f");
  const auto d_twice = read<double>(file, "d");
  const auto f_half = read<float>(file, "f.f16");
  const auto d_half = read<double>(file, "d.f16");
  const auto f_brain = read<float>(file, "f.bf16");
  const auto d_brain = read<double>(file, "d.bf16");
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK_TRUE(f_twice[i] == 2 * f[i] && d_twice[i] == 2 * d[i]);
    CHECK_TRUE(f_half[i] == f[i] && d_half[i] == d[i]);
    CHECK_TRUE(f_brain[i] == f[i] && d_brain[i] == d[i]);
  }
}
