/*
 * faiss_c: FAISS's C interface, under the names by which this library calls it.
 *
 * Where the system has the interface compiled (libfaiss_c), the build defines GPNN_SYSTEM_FAISS_C
 * and the names are the system's.  Elsewhere search/faiss_c.cc implements the functions that are
 * needed, and here they get our prefix: a program may then link this library together with a
 * libfaiss_c of its own.
 */
#ifndef GPNN_SEARCH_FAISS_C_PRIVATE_H
#define GPNN_SEARCH_FAISS_C_PRIVATE_H

#ifndef GPNN_SYSTEM_FAISS_C
#define faiss_IndexIVFFlat_add_core gpnn_faiss_IndexIVFFlat_add_core
#define faiss_IndexIVFFlat_cast gpnn_faiss_IndexIVFFlat_cast
#define faiss_IndexIVF_cast gpnn_faiss_IndexIVF_cast
#define faiss_IndexIVF_get_list_size gpnn_faiss_IndexIVF_get_list_size
#define faiss_IndexIVF_quantizer gpnn_faiss_IndexIVF_quantizer
#define faiss_IndexIVF_search_preassigned gpnn_faiss_IndexIVF_search_preassigned
#define faiss_Index_add gpnn_faiss_Index_add
#define faiss_Index_assign gpnn_faiss_Index_assign
#define faiss_Index_free gpnn_faiss_Index_free
#define faiss_Index_search gpnn_faiss_Index_search
#define faiss_Index_train gpnn_faiss_Index_train
#define faiss_ParameterSpace_free gpnn_faiss_ParameterSpace_free
#define faiss_ParameterSpace_new gpnn_faiss_ParameterSpace_new
#define faiss_ParameterSpace_set_index_parameter gpnn_faiss_ParameterSpace_set_index_parameter
#define faiss_get_last_error gpnn_faiss_get_last_error
#define faiss_get_version gpnn_faiss_get_version
#define faiss_index_factory gpnn_faiss_index_factory
#define faiss_read_index gpnn_faiss_read_index
#define faiss_write_index gpnn_faiss_write_index
#endif

#include <faiss/c_api/AutoTune_c.h>
#include <faiss/c_api/IndexIVFFlat_c.h>
#include <faiss/c_api/IndexIVF_c.h>
#include <faiss/c_api/Index_c.h>
#include <faiss/c_api/error_c.h>
#include <faiss/c_api/index_factory_c.h>
#include <faiss/c_api/index_io_c.h>

#endif
