/*
 * faiss_c: the few functions of FAISS's C interface that this library calls.
 *
 * Some systems ship FAISS and the headers of its C interface but not the compiled interface; only
 * there is this file built.  Signatures and error codes are those of the headers in faiss/c_api,
 * the names those of search/faiss_c_private.h.  Exceptions stop here.
 */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wcast-qual"
#include "search/faiss_c_private.h"

#include <faiss/AutoTune.h>
#include <faiss/IndexIVFFlat.h>
#include <faiss/impl/FaissException.h>
#include <faiss/index_factory.h>
#include <faiss/index_io.h>
#pragma GCC diagnostic pop

#include <exception>

/* The last exception of each thread, for faiss_get_last_error(). */
static thread_local std::exception_ptr last_exception;

/* Runs 'work'; an exception becomes its code and is kept. */
template <typename Work> static int guarded(Work work) noexcept
{
  try {
    work();
    return OK;
  } catch (const faiss::FaissException &) {
    last_exception = std::current_exception();
    return FAISS_EXCEPT;
  } catch (const std::exception &) {
    last_exception = std::current_exception();
    return STD_EXCEPT;
  } catch (...) {
    last_exception = std::current_exception();
    return UNKNOWN_EXCEPT;
  }
}

static faiss::Index *unwrap(FaissIndex *index)
{
  return reinterpret_cast<faiss::Index *>(index);
}

static const faiss::Index *unwrap(const FaissIndex *index)
{
  return reinterpret_cast<const faiss::Index *>(index);
}

static const faiss::IndexIVF *unwrap_ivf(const FaissIndexIVF *index)
{
  return static_cast<const faiss::IndexIVF *>(unwrap(index));
}

extern "C" {

const char *faiss_get_version(void);

const char *faiss_get_version(void)
{
#define TEXT_OF(number) #number
#define DOTTED(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
  return DOTTED(FAISS_VERSION_MAJOR, FAISS_VERSION_MINOR, FAISS_VERSION_PATCH);
}

const char *faiss_get_last_error()
{
  try {
    if (last_exception) std::rethrow_exception(last_exception);
  } catch (const std::exception &error) {
    return error.what();
  } catch (...) {
    return "unknown error";
  }
  return nullptr;
}

int faiss_index_factory(FaissIndex **p_index, int d, const char *description,
                        FaissMetricType metric)
{
  return guarded([&] {
    faiss::Index *made =
        faiss::index_factory(d, description, static_cast<faiss::MetricType>(metric));
    *p_index = reinterpret_cast<FaissIndex *>(made);
  });
}

void faiss_Index_free(FaissIndex *index)
{
  delete unwrap(index);
}

int faiss_Index_train(FaissIndex *index, idx_t n, const float *x)
{
  return guarded([&] { unwrap(index)->train(n, x); });
}

int faiss_Index_add(FaissIndex *index, idx_t n, const float *x)
{
  return guarded([&] { unwrap(index)->add(n, x); });
}

int faiss_Index_search(const FaissIndex *index, idx_t n, const float *x, idx_t k, float *distances,
                       idx_t *labels)
{
  return guarded([&] { unwrap(index)->search(n, x, k, distances, labels); });
}

int faiss_Index_assign(FaissIndex *index, idx_t n, const float *x, idx_t *labels, idx_t k)
{
  return guarded([&] { unwrap(index)->assign(n, x, labels, k); });
}

FaissIndexIVF *faiss_IndexIVF_cast(FaissIndex *index)
{
  return reinterpret_cast<FaissIndexIVF *>(dynamic_cast<faiss::IndexIVF *>(unwrap(index)));
}

FaissIndexIVFFlat *faiss_IndexIVFFlat_cast(FaissIndex *index)
{
  return reinterpret_cast<FaissIndexIVFFlat *>(dynamic_cast<faiss::IndexIVFFlat *>(unwrap(index)));
}

FaissIndex *faiss_IndexIVF_quantizer(const FaissIndexIVF *index)
{
  return reinterpret_cast<FaissIndex *>(unwrap_ivf(index)->quantizer);
}

size_t faiss_IndexIVF_get_list_size(const FaissIndexIVF *index, size_t list_no)
{
  return unwrap_ivf(index)->get_list_size(list_no);
}

int faiss_IndexIVF_search_preassigned(const FaissIndexIVF *index, idx_t n, const float *x, idx_t k,
                                      const idx_t *assign, const float *centroid_dis,
                                      float *distances, idx_t *labels, int store_pairs)
{
  return guarded([&] {
    unwrap_ivf(index)->search_preassigned(n, x, k, assign, centroid_dis, distances, labels,
                                          store_pairs != 0);
  });
}

int faiss_IndexIVFFlat_add_core(FaissIndexIVFFlat *index, idx_t n, const float *x,
                                const idx_t *xids, const int64_t *precomputed_idx)
{
  return guarded([&] {
    static_cast<faiss::IndexIVFFlat *>(unwrap(index))->add_core(n, x, xids, precomputed_idx);
  });
}

int faiss_ParameterSpace_new(FaissParameterSpace **space)
{
  return guarded(
      [&] { *space = reinterpret_cast<FaissParameterSpace *>(new faiss::ParameterSpace()); });
}

void faiss_ParameterSpace_free(FaissParameterSpace *space)
{
  delete reinterpret_cast<faiss::ParameterSpace *>(space);
}

int faiss_ParameterSpace_set_index_parameter(const FaissParameterSpace *space, FaissIndex *index,
                                             const char *name, double value)
{
  return guarded([&] {
    reinterpret_cast<const faiss::ParameterSpace *>(space)->set_index_parameter(unwrap(index), name,
                                                                                value);
  });
}

int faiss_write_index(const FaissIndex *index, FILE *f)
{
  return guarded([&] { faiss::write_index(unwrap(index), f); });
}

int faiss_read_index(FILE *f, int io_flags, FaissIndex **p_out)
{
  return guarded([&] { *p_out = reinterpret_cast<FaissIndex *>(faiss::read_index(f, io_flags)); });
}

} /* extern "C" */
