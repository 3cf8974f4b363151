#include "tools/files/llmc.hpp"

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "tests/files/damage.hpp"
#include "tests/files/temporary_folder.hpp"
#include "tools/files/little_endian.hpp"

#include "CppUTest/TestHarness.h"

using thimble::LlmcConfig;
using thimble::LlmcFile;
using thimble::StoredTensor;
using thimble::StoredType;
using thimble::write_llmc;
using thimble::detail::put_little;
using thimble::test::error_of;
using thimble::test::refused;
using thimble::test::refused_changes;
using thimble::test::refused_truncations;
using thimble::test::TemporaryFolder;

namespace {

using Shape = std::vector<std::uint64_t>;

LlmcFile open_bytes(std::span<const std::byte> bytes) {
  return LlmcFile::from_bytes(bytes, "t.bin");
}

std::string message(const std::string& bytes) {
  return error_of([&] { open_bytes(std::as_bytes(std::span(bytes))); });
}

/// A model whose every value is different.
class Model {
 public:
  explicit Model(const LlmcConfig& config) {
    const std::uint64_t c = config.width;
    add("wte.weight", {config.vocabulary, c});
    add("wpe.weight", {config.context, c});
    for (std::uint32_t n = 0; n < config.layers; ++n) {
      const std::string h = "h." + std::to_string(n) + ".";
      add(h + "ln_1.weight", {c});
      add(h + "ln_1.bias", {c});
      add(h + "attn.c_attn.weight", {c, 3 * c});
      add(h + "attn.c_attn.bias", {3 * c});
      add(h + "attn.c_proj.weight", {c, c});
      add(h + "attn.c_proj.bias", {c});
      add(h + "ln_2.weight", {c});
      add(h + "ln_2.bias", {c});
      add(h + "mlp.c_fc.weight", {c, 4 * c});
      add(h + "mlp.c_fc.bias", {4 * c});
      add(h + "mlp.c_proj.weight", {4 * c, c});
      add(h + "mlp.c_proj.bias", {c});
    }
    add("ln_f.weight", {c});
    add("ln_f.bias", {c});
  }

  StoredTensor find(const std::string& name) const {
    const auto& [shape, values] = tensors_.at(name);
    return {name, StoredType::kF32, shape, std::as_bytes(std::span(values))};
  }

  float value(const std::string& name, std::size_t index) const { return tensors_.at(name).second[index]; }
  std::size_t size() const { return tensors_.size(); }

 private:
  void add(const std::string& name, const Shape& shape) {
    std::size_t count = 1;
    for (const std::uint64_t size : shape) count *= size;
    std::vector<float> values(count);
    for (float& value : values) value = next_++;
    tensors_[name] = {shape, values};
  }

  std::map<std::string, std::pair<Shape, std::vector<float>>> tensors_;
  float next_ = 1;
};

/// A header alone.
std::string header(std::int32_t version, const LlmcConfig& config) {
  std::string out;
  put_little(out, std::int32_t{20240326});
  put_little(out, version);
  for (const std::uint32_t size : {config.context, config.vocabulary, config.layers, config.heads,
                                   config.width, config.padded_vocabulary}) {
    put_little(out, size);
  }
  out.resize(1024, '\0');
  return out;
}

}  // namespace

TEST_GROUP(Llmc) {
  TemporaryFolder folder;

  std::string write(const LlmcConfig& config) const {
    const Model model(config);
    write_llmc(folder / "m.bin", config, [&](const std::string& name) { return model.find(name); });
    std::ifstream file(folder / "m.bin", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static float at(const std::string& bytes, std::size_t element) {
    float value = 0;
    std::memcpy(&value, bytes.data() + 1024 + 4 * element, sizeof(value));
    return value;
  }
};

TEST(Llmc, RoundTripKeepsEveryBit) {
  const LlmcConfig config{5, 130, 3, 2, 20, 0};
  const Model model(config);
  const std::string bytes = write(config);
  LlmcFile opened = open_bytes(std::as_bytes(std::span(bytes)));
  const LlmcFile file = std::move(opened);  // transposed matrices move with their file
  CHECK_EQUAL(5U, file.config().context);
  CHECK_EQUAL(130U, file.config().vocabulary);
  CHECK_EQUAL(3U, file.config().layers);
  CHECK_EQUAL(2U, file.config().heads);
  CHECK_EQUAL(20U, file.config().width);
  CHECK_EQUAL(256U, file.config().padded_vocabulary);
  CHECK_EQUAL(model.size(), file.tensors().size());
  for (const StoredTensor& tensor : file.tensors()) {
    const StoredTensor source = model.find(tensor.name);
    CHECK_TRUE(tensor.shape == source.shape);
    CHECK_EQUAL(source.bytes.size(), tensor.bytes.size());
    MEMCMP_EQUAL(source.bytes.data(), tensor.bytes.data(), tensor.bytes.size());
  }
  CHECK_EQUAL(model.size(), LlmcFile(folder / "m.bin").tensors().size());
  CHECK_EQUAL(1U, folder.entry_count());
}

TEST(Llmc, FileHasTheLayoutOfLlmC) {
  const LlmcConfig config{5, 130, 2, 2, 4, 256};
  const Model model(config);
  const std::string bytes = write(config);
  CHECK_TRUE(bytes.starts_with(header(3, config)));
  constexpr std::size_t kWidth = 4;
  std::size_t place = 0;
  CHECK_EQUAL(model.value("wte.weight", 0), at(bytes, place));
  CHECK_EQUAL(model.value("wte.weight", 130 * kWidth - 1), at(bytes, 130 * kWidth - 1));
  for (std::size_t i = 130 * kWidth; i < 256 * kWidth; ++i) CHECK_EQUAL(0.0F, at(bytes, i));
  place += 256 * kWidth;
  CHECK_EQUAL(model.value("wpe.weight", 0), at(bytes, place));
  place += 5 * kWidth;
  CHECK_EQUAL(model.value("h.0.ln_1.weight", 0), at(bytes, place));
  CHECK_EQUAL(model.value("h.1.ln_1.weight", 0), at(bytes, place + kWidth));
  CHECK_EQUAL(model.value("h.0.ln_1.bias", 0), at(bytes, place + 2 * kWidth));
  place += 4 * kWidth;
  // c_attn: output 7, input 2 of layer 1.
  const std::size_t matrix = 3 * kWidth * kWidth;
  CHECK_EQUAL(model.value("h.1.attn.c_attn.weight", 2 * 3 * kWidth + 7),
              at(bytes, place + matrix + 7 * kWidth + 2));
  // The last kinds: mlp.c_proj [C, 4C], its bias, ln_f.
  const std::size_t end = (bytes.size() - 1024) / 4;
  CHECK_EQUAL(model.value("ln_f.bias", kWidth - 1), at(bytes, end - 1));
  CHECK_EQUAL(model.value("ln_f.weight", 0), at(bytes, end - 2 * kWidth));
  CHECK_EQUAL(model.value("h.0.mlp.c_proj.bias", 0), at(bytes, end - 4 * kWidth));
  const std::size_t projection = end - 4 * kWidth - 4 * kWidth * kWidth;  // of layer 1
  CHECK_EQUAL(model.value("h.1.mlp.c_proj.weight", 13 * kWidth + 3),
              at(bytes, projection + 3 * 4 * kWidth + 13));
}

TEST(Llmc, ReadsBfloat16AndAnyPadding) {
  const LlmcConfig config{2, 3, 1, 1, 2, 4};
  // 4*2 + 2*2 + 12*4 + 13*2 + 2*2 elements
  std::string bytes = header(5, config);
  for (std::uint16_t i = 0; i < 90; ++i) put_little(bytes, i);
  const LlmcFile file = open_bytes(std::as_bytes(std::span(bytes)));
  const auto element = [](const StoredTensor& tensor, std::size_t index) {
    std::uint16_t value = 0;
    std::memcpy(&value, tensor.bytes.data() + 2 * index, sizeof(value));
    return value;
  };
  const StoredTensor& wte = file.require("wte.weight", Shape{3, 2});
  CHECK_TRUE(wte.type == StoredType::kBF16);
  CHECK_EQUAL(5, element(wte, 5));
  CHECK_EQUAL(8, element(file.require("wpe.weight", Shape{2, 2}), 0));
  const StoredTensor& attention = file.require("h.0.attn.c_attn.weight", Shape{2, 6});
  CHECK_EQUAL(16, element(attention, 0));
  CHECK_EQUAL(18, element(attention, 1));  // output 1, input 0
  CHECK_EQUAL(17, element(attention, 6));  // output 0, input 1
  CHECK_EQUAL(89, element(file.require("ln_f.bias", Shape{2}), 1));
}

TEST(Llmc, RefusesBadFilesWithTheirReason) {
  const LlmcConfig good{2, 3, 1, 1, 2, 128};
  const auto with = [&](auto change) {
    LlmcConfig config = good;
    change(config);
    return message(header(3, config));
  };
  STRCMP_CONTAINS("t.bin: does not begin with the magic", message(std::string(2000, 'x')).c_str());
  STRCMP_CONTAINS("ends inside the header", message(header(3, good).substr(0, 1000)).c_str());
  STRCMP_CONTAINS("is version 2; versions 3", message(header(2, good)).c_str());
  STRCMP_CONTAINS("has 1024 bytes, but its sizes demand 2", message(header(3, good)).c_str());
  STRCMP_CONTAINS("a size is zero", with([](LlmcConfig& c) { c.context = 0; }).c_str());
  STRCMP_CONTAINS("a size is zero", with([](LlmcConfig& c) { c.layers = ~0U; }).c_str());
  STRCMP_CONTAINS("3 heads do not divide the width 2", with([](LlmcConfig& c) { c.heads = 3; }).c_str());
  STRCMP_CONTAINS("does not hold the vocabulary",
                  with([](LlmcConfig& c) { c.padded_vocabulary = 2; }).c_str());
  STRCMP_CONTAINS("does not hold the vocabulary",
                  with([](LlmcConfig& c) { c.padded_vocabulary = ~0U; }).c_str());
  STRCMP_CONTAINS("more than 64 bits can count", with([](LlmcConfig& c) {
                                                   c.width = 0x7fffffff;
                                                   c.layers = 0x7fffffff;
                                                 }).c_str());
}

TEST(Llmc, WriterRefusesWrongTensorsAndSizes) {
  const LlmcConfig config{2, 3, 1, 1, 2, 0};
  const Model model(config);
  const auto given = [&](auto change) {
    return error_of([&] {
      write_llmc(folder / "m.bin", config, [&](const std::string& name) {
        StoredTensor tensor = model.find(name);
        if (name == "h.0.mlp.c_fc.weight") change(tensor);
        return tensor;
      });
    });
  };
  STRCMP_CONTAINS("'h.0.mlp.c_fc.weight' has the shape [8, 2], but the file takes [2, 8]",
                  given([](StoredTensor& t) { std::swap(t.shape[0], t.shape[1]); }).c_str());
  STRCMP_CONTAINS("is F64, but the file takes F32",
                  given([](StoredTensor& t) { t.type = StoredType::kF64; }).c_str());
  STRCMP_CONTAINS("the file takes [2, 8]",
                  given([](StoredTensor& t) { t.bytes = t.bytes.first(4); }).c_str());
  const auto none = [](const std::string&) { return StoredTensor{}; };
  CHECK_THROWS(std::logic_error, write_llmc(folder / "m.bin", LlmcConfig{2, 3, 1, 4, 6, 0}, none));
  CHECK_THROWS(std::logic_error, write_llmc(folder / "m.bin", LlmcConfig{0, 3, 1, 1, 6, 0}, none));
  CHECK_THROWS(std::logic_error, write_llmc(folder / "m.bin", LlmcConfig{2, 0x7fffffff, 1, 1, 6, 0}, none));
  CHECK_EQUAL(0U, folder.entry_count());
}

TEST(Llmc, DamageIsRefusedOrHarmless) {
  const std::string good = write(LlmcConfig{2, 3, 1, 1, 1, 0});
  CHECK_FALSE(refused(good, open_bytes));
  CHECK_EQUAL(good.size(), refused_truncations(good, open_bytes));
  CHECK_TRUE(refused(good + "x", open_bytes));
  CHECK_TRUE(refused_changes(good, open_bytes) > 100);
}
