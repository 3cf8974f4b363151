#pragma once
/// Where a training run's windows come from: a text, documents, a column of numbers, or a list of ids.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "tools/train/token_batch.hpp"

namespace thimble {

class DataSource {
 public:
  virtual ~DataSource() = default;

  /// Micro-batch `index`, counted over the whole run. Any may be asked for again.
  virtual TokenBatch batch(std::uint64_t index) = 0;
  /// The largest batch and context that batch() gives.
  virtual Extent extent() const = 0;
  /// How many micro-batches there are; nothing where they never end.
  virtual std::optional<std::uint64_t> batch_count() const { return std::nullopt; }

  /// Held-out windows, in batches of at most extent(); 0 where nothing is held out.
  virtual std::size_t held_out_count() const { return 0; }
  virtual TokenBatch held_out(std::size_t) const { return {}; }

  /// The tokenizer, to stand in the weights file.
  virtual std::map<std::string, std::string> metadata() const { return {}; }
  /// Facts for the log and the last lines ("unigram_entropy": nats a token).
  virtual std::map<std::string, double> facts() const { return {}; }
  /// A hash of all ids and of how they are cut into batches: equal where every batch is.
  virtual std::uint64_t fingerprint() = 0;
  /// Tokens of the held-out text for each of its bytes (of the whole text where none is held out); nothing where the
  /// tokens are not of a text. Loss times this over ln 2 is bits per byte.
  virtual std::optional<double> tokens_per_byte() const { return std::nullopt; }
};

/// What --text, --documents, --csv and --tokens say.
struct DataChoice {
  std::string text;
  std::string tokenizer;  ///< GPT-2's files for the text; empty: the weights' own, else the text's bytes
  std::string weights;    ///< that training starts from; their BPE tokenizer reads the text
  std::string documents;
  bool in_order = false;
  std::string csv;
  std::string column;
  std::string tokens;
  double held_out = 0.1;  ///< part of a text or column that is kept from training
};

/// Opens what was chosen for a model and extent. Exactly one source must be named.
std::unique_ptr<DataSource> open_data(const DataChoice& choice, const Model& model, const Extent& extent,
                                      std::uint64_t seed);

}  // namespace thimble
