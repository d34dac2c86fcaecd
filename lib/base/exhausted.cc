#include "base/exhausted.h"

#include <exception>
#include <new>

namespace
{

void (*told)(void);
std::terminate_handler usual;

void end() noexcept
{
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    told();
  } catch (...) {
    // Not ours to judge.
  }
  usual();
}

} // namespace

extern "C" void gpnn_exhausted_watch(void (*tell)(void))
{
  told = tell;
  usual = std::set_terminate(end);
}
