#include "ports/program/text_data.hpp"

#include "core/base/ids.hpp"

namespace thimble {

namespace {

constexpr std::byte kByteOrderMark[] = {std::byte{0xEF}, std::byte{0xBB}, std::byte{0xBF}};

bool begins_with_mark(std::span<const std::byte> text) {
  return text.size() >= 3 && text[0] == kByteOrderMark[0] && text[1] == kByteOrderMark[1] &&
         text[2] == kByteOrderMark[2];
}

}  // namespace

const char* TextData::prepare(std::int32_t vocabulary, const Extent& limit) {
  for (std::uint8_t& id : ids_) id = 0;
  extent_ = limit;
  next_document_ = 0;
  next_offset_ = 0;
  if (kind_ == TextKind::documents) {
    if (begins_with_mark(text_)) text_ = text_.subspan(3);
    std::int32_t longest = 0;
    document_count_ = 0;
    for (std::size_t offset = 0;; ++document_count_) {
      const Document d = document_at(offset);
      if (d.empty()) break;
      for (const std::byte b : d) ids_[std::size_t(b)] = 1;
      if (document_length(d) > longest) longest = document_length(d);
    }
    if (document_count_ == 0) return "the text has no documents";
    extent_.context = longest - 1;
  } else {
    for (const std::byte b : text_) ids_[std::size_t(b)] = 1;
    const std::size_t window = std::size_t(limit.context) + 1;
    if (text_.size() < window) return "the text is less than a window";
    train_count_ = text_.size() - held_out_count(text_.size(), window, kHeldOut);
  }
  symbol_count_ = 0;
  for (std::uint8_t& id : ids_) id = id ? std::uint8_t(symbol_count_++) : kNone;
  return id_count() <= vocabulary && symbol_count_ < kNone ? nullptr : "the text has too many symbols";
}

std::byte TextData::byte_of(std::int32_t id) const {
  for (int b = 0; b < 256; ++b) {
    if (ids_[b] != kNone && ids_[b] == id) return std::byte(b);
  }
  return std::byte{'\n'};
}

/// The document at or after an offset, which moves behind it; empty at the end of the text.
TextData::Document TextData::document_at(std::size_t& offset) const {
  while (offset < text_.size()) {
    const std::size_t begin = offset;
    std::size_t end = begin;
    while (end < text_.size() && text_[end] != std::byte{'\n'}) ++end;
    offset = end + 1;
    if (end > begin && text_[end - 1] == std::byte{'\r'}) --end;
    if (end > begin) return text_.subspan(begin, end - begin);
  }
  return {};
}

TextData::Document TextData::document(std::uint64_t index) {
  const std::uint32_t wanted = std::uint32_t(index % document_count_);
  if (wanted < next_document_) {
    next_document_ = 0;
    next_offset_ = 0;
  }
  Document d;
  while (next_document_ <= wanted) {
    d = document_at(next_offset_);
    ++next_document_;
  }
  return d;
}

/// With the ids around it, cut to a window.
std::int32_t TextData::document_length(Document d) const {
  const std::size_t whole = d.size() + 2;
  const std::size_t most = std::size_t(extent_.context) + 1;
  return std::int32_t(whole < most ? whole : most);
}

std::int32_t TextData::document_id(Document d, std::int32_t position) const {
  const bool inside = position > 0 && std::size_t(position) <= d.size();
  return inside ? ids_[std::size_t(d[std::size_t(position) - 1])] : symbol_count_;
}

void TextData::batch_of_documents(std::uint64_t index, std::int32_t* tokens, std::int32_t* targets, Extent& extent) {
  const std::uint64_t first = index * std::uint64_t(extent_.batch);
  std::int32_t longest = 0;
  for (std::int32_t r = 0; r < extent_.batch; ++r) {
    const std::int32_t length = document_length(document(first + std::uint64_t(r)));
    if (length > longest) longest = length;
  }
  extent.context = longest - 1;
  for (std::int32_t r = 0; r < extent_.batch; ++r) {
    const Document d = document(first + std::uint64_t(r));
    const std::int32_t length = document_length(d);
    for (std::int32_t t = 0; t < extent.context; ++t) {
      tokens[r * extent.context + t] = t < length ? document_id(d, t) : 0;
      targets[r * extent.context + t] = t + 1 < length ? document_id(d, t + 1) : kIgnoredTarget;
    }
  }
}

Extent TextData::batch(std::uint64_t index, std::uint64_t seed, std::int32_t* tokens, std::int32_t* targets) {
  Extent extent = extent_;
  if (kind_ == TextKind::documents) {
    batch_of_documents(index, tokens, targets, extent);
    return extent;
  }
  const std::size_t window = std::size_t(extent.context) + 1;
  for (std::int32_t r = 0; r < extent.batch; ++r) {
    const std::uint64_t row = index * std::uint64_t(extent.batch) + std::uint64_t(r);
    const std::byte* const start = text_.data() + window_start(seed, row, train_count_, window);
    for (std::int32_t t = 0; t < extent.context; ++t) {
      tokens[r * extent.context + t] = ids_[std::size_t(start[t])];
      targets[r * extent.context + t] = ids_[std::size_t(start[t + 1])];
    }
  }
  return extent;
}

std::uint64_t TextData::fingerprint(std::uint64_t seed) {
  DataFingerprint f;
  if (kind_ == TextKind::documents) {
    for (std::size_t offset = 0;;) {
      const Document d = document_at(offset);
      if (d.empty()) break;
      const std::int32_t length = document_length(d);
      for (std::int32_t t = 0; t < length; ++t) f.add_id(document_id(d, t));
      f.add(std::uint64_t(length));
    }
    return f.add(extent_).value();
  }
  for (const std::byte b : text_) f.add_id(ids_[std::size_t(b)]);
  f.add(std::uint64_t(text_.size()));
  return f.add(std::uint64_t(text_.size() - train_count_)).add(extent_).add(seed).value();
}

}  // namespace thimble
