// One column of numbers out of a CSV file (RFC 4180).
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace thimble {

/// The numbers of a column, in file order. The first line names the columns; fields are separated by commas
/// and may be quoted; a quoted field may hold commas, line ends and doubled quotes; lines end in LF or CRLF;
/// empty lines may stand at the end. A number has a decimal point and may have an exponent and spaces around
/// it.
///
/// `Error` at `where` with the line for broken quoting, a line with more or fewer fields than the header, a
/// cell that is empty, no number, or not finite; with the columns that exist for an unknown column.
std::vector<double> read_csv_column(std::string_view text, std::string_view column, const std::string& where);

}  // namespace thimble
