/// thimble: trains, samples and inspects the models that it carries.

#include <iostream>
#include <new>

#include "tools/command/common.hpp"

namespace {

constexpr int kUserError = 1;

int fail(const std::string& message) {
  std::cerr << "thimble: " << message << "\n";
  return kUserError;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"thimble trains GPTs inside one fixed arena, with the same bits on every machine."};
  app.require_subcommand(1);
  app.set_version_flag("--version", THIMBLE_VERSION);
  thimble::add_models_command(app);
  thimble::add_plan_command(app);
  thimble::add_train_command(app);
  thimble::add_sample_command(app);
  thimble::add_grad_command(app);
  thimble::add_gradcheck_command(app);
  thimble::add_bench_command(app);
  thimble::add_tokenize_command(app);
  thimble::add_inspect_command(app);
  thimble::add_diff_command(app);
  thimble::add_export_command(app);
  thimble::add_import_command(app);
  thimble::add_convert_command(app);
  thimble::add_board_command(app);
  thimble::add_sim_command(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RuntimeError& e) {
    return e.get_exit_code();  // a subcommand's own verdict
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const thimble::Error& e) {
    return fail(e.what());
  } catch (const std::bad_alloc&) {
    return fail("the system has not enough memory for this arena; thimble plan shows what it needs");
  } catch (const std::exception& e) {
    return fail(e.what());
  }
  if (!std::cout.flush()) return fail("standard output could not be written");
  return 0;
}
