#pragma once
/// Programs of the system that boards need: emulators, cross compilers.

#include <filesystem>
#include <string>
#include <vector>

namespace thimble {

/// Is there a program of that name on the path?
bool has_program(const std::string& name);

/// An Error that says what to install where there is none.
void require_program(const std::string& name);

/// Runs a command; its exit status. What it prints goes to a file.
int run_program(const std::vector<std::string>& command, const std::filesystem::path& output);

}  // namespace thimble
