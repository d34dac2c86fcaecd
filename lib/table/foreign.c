#include "table/table_private.h"

#include <assert.h>

#define THROUGH(program) "is compressed by " program ": pipe in the output of " program " -dc FILE"

/* 'what' is the rest of the name of a function, and its arguments. */
#define THROUGH_PANDAS(what)                                                 \
  "pipe in the output of python3 -c \"import pandas, sys; pandas.read_" what \
  ".to_csv(sys.stdout, index=False)\""

/* Parquet: the first page, or the footer, begins with a 32-bit field number 1 of Thrift's compact
 * protocol, hence the fifth byte. */
static const struct gpnn_foreign formats[GPNN_FOREIGN_FORMATS] = {
    {"PAR1\x15", 5,
     "is a Parquet file: pipe in the output of duckdb -c \"copy (from 'FILE') to '/dev/stdout' "
     "(format csv)\""},
    {"ARROW1\0", 8, "is an Arrow file: " THROUGH_PANDAS("feather('FILE')")},
    {"PK\x03\x04", 4, "is a zip archive, as .npz and .xlsx files are: save .npy or CSV instead"},
    {"\x89HDF\r\n\x1a\n", 8, "is an HDF5 file: save .npy or CSV instead"},
    {"BZh91AY&SY", 10, THROUGH("bzip2")},
    {"\xfd"
     "7zXZ",
     5, THROUGH("xz")},
    {"\x28\xb5\x2f\xfd", 4, THROUGH("zstd")},
    {"\xff\xfe\0\0", 4, "is in UTF-32: iconv -f UTF-32 -t UTF-8 makes it UTF-8"},
    {"\0\0\xfe\xff", 4, "is in UTF-32: iconv -f UTF-32 -t UTF-8 makes it UTF-8"},
    {"[{", 2, "is JSON: " THROUGH_PANDAS("json('FILE')")},
    {"[\n", 2, "is JSON: " THROUGH_PANDAS("json('FILE')")},
    {"{\n", 2, "is JSON: " THROUGH_PANDAS("json('FILE')")},
};

const struct gpnn_foreign *gpnn_foreign(size_t i)
{
  assert(i < GPNN_FOREIGN_FORMATS);
  return &formats[i];
}
