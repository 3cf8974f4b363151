#pragma once
#include <vector>

namespace thimble {

struct Model;

/// Generated at configure time from the headers in models/ and in the user's folders (see CMakeLists.txt here).
std::vector<Model> registered_models();

}  // namespace thimble
