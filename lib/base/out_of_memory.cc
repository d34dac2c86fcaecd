#include "base/out_of_memory.h"

#include <exception>
#include <new>

namespace
{

void (*out_of_memory)(void);
std::terminate_handler previous;

void terminate() noexcept
{
  const std::exception_ptr thrown = std::current_exception();
  try {
    if (thrown) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc &) {
    out_of_memory();
  } catch (...) {
    // Left to the previous handler, below.
  }
  previous();
}

} // namespace

extern "C" void gpnn_out_of_memory_call(void (*handler)(void))
{
  out_of_memory = handler;
  previous = std::set_terminate(terminate);
}
