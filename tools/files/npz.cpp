#include "tools/files/npz.hpp"

#include "tools/files/error.hpp"
#include "tools/files/npy_header.hpp"
#include "tools/files/zip_reader.hpp"

namespace thimble {
namespace {

StoredTensor read_array(const std::string& member_name, std::span<const std::byte> contents,
                        const std::string& where) {
  constexpr std::string_view kSuffix = ".npy";
  const std::string named = where + ", member " + in_quotes(member_name);
  if (!member_name.ends_with(kSuffix) || member_name.size() == kSuffix.size()) {
    throw Error(named, "is not named NAME.npy");
  }
  detail::NpyHeader header = detail::parse_npy_header(contents, named);
  const auto data = contents.subspan(header.data_begin);
  const std::string described =
      shape_text(header.shape) + " of " + std::string(stored_type_name(header.type));
  const std::optional<std::uint64_t> needed = stored_bytes(header.shape, header.type);
  if (!needed) throw Error(named, "has the shape " + described + ", more bytes than 64 bits can count");
  if (*needed != data.size()) {
    throw Error(named, "takes " + std::to_string(*needed) + " bytes (" + described + "), but holds " +
                           std::to_string(data.size()));
  }
  return {member_name.substr(0, member_name.size() - kSuffix.size()), header.type, std::move(header.shape),
          data};
}

}  // namespace

NpzFile::NpzFile(std::span<const std::byte> bytes, const std::filesystem::path& where)
    : TensorFile(where, "npz") {
  for (const detail::ZipMember& member : detail::read_zip_directory(bytes, where.string())) {
    std::vector<std::byte> owned;
    const auto contents = detail::zip_contents(member, owned, where.string());
    if (!owned.empty()) owned_.push_back(std::move(owned));  // the move keeps the contents where they are
    if (!add(read_array(member.name, contents, where.string()))) {
      throw Error(where.string(), "has the member " + in_quotes(member.name) + " twice");
    }
  }
}

NpzFile::NpzFile(const std::filesystem::path& path) : TensorFile(path, "npz") {
  MappedFile file(path);
  *this = from_bytes(file.bytes(), path);
  keep(std::move(file));
}

NpzFile NpzFile::from_bytes(std::span<const std::byte> bytes, const std::filesystem::path& where) {
  return NpzFile(bytes, where);
}

}  // namespace thimble
