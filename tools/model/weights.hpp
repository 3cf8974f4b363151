#pragma once
/// Weights in and out of a session, under the tape's names (Hugging Face's for the gpt family).

#include "tools/files/tensor_file.hpp"
#include "tools/model/session.hpp"

namespace thimble {

/// Reads every weight of the model. All or nothing: names, shapes, types and values (no NaN, no infinity) are checked
/// before the first weight changes. F16, BF16, F32 and F64 are converted. As Hugging Face writes GPT-2, names may begin
/// with "transformer.", masks (attn.bias, attn.masked_bias) are left aside, and so is the lm_head.weight of a tied head
/// where it equals wte.weight.
/// A file that says that its weights are of a GPT that is built in another way is refused; one that names another model
/// is, too, unless `origin` is any_name.
enum class Origin { same_model, any_name };
template <class real>
void load_weights(Session<real>& session, const TensorFile& file, Origin origin = Origin::same_model);

/// A tape's shape as files hold it: one size a dimension.
std::vector<std::uint64_t> stored_shape(const Shape& shape);

/// An Error at the first value that is not finite.
void require_finite(const TensorFile& file, const StoredTensor& tensor);

/// A session's weights, seen as a file of tensors; they must outlive it. `metadata` is added to "model", "config" and
/// "step".
template <class real>
class SessionWeights : public TensorFile {
 public:
  SessionWeights(const Session<real>& session, std::map<std::string, std::string> metadata = {});
};

}  // namespace thimble
