#pragma once

#include <stdbool.h>
#include <stdint.h>

// Tables of the functions that a library is asked for while the program runs.
//
// A list names each function once, as F(our name, the library's name, result, parameters...), or with O where a library
// without it does as well. DM_FUNCTIONS makes of it a structure of pointers, which `DynamicLibrary.functions` fills,
// and a text of the library's names in the structure's order; those that may be missing end with a question mark.

#define DM_MEMBER(name, symbol, result, ...) result (*_Nonnull name)(__VA_ARGS__);
#define DM_OPTIONAL_MEMBER(name, symbol, result, ...) result (*_Nullable name)(__VA_ARGS__);
#define DM_SYMBOL(name, symbol, ...) #symbol " "
#define DM_OPTIONAL_SYMBOL(name, symbol, ...) #symbol "? "

#define DM_SYMBOLS(table, LIST) \
    static inline const char *_Nonnull table##_symbols(void) { return LIST(DM_SYMBOL, DM_OPTIONAL_SYMBOL); }
#define DM_FUNCTIONS(table, LIST) \
    typedef struct { LIST(DM_MEMBER, DM_OPTIONAL_MEMBER) } table; \
    DM_SYMBOLS(table, LIST)

/// An object of a library's.
typedef struct dm_opaque *_Nullable dm_object;
/// Where a function puts an object, and where it puts the one that tells its error.
typedef dm_object *_Nonnull dm_object_out;
typedef dm_object *_Nonnull dm_fault;
typedef const char *_Nullable dm_text;
