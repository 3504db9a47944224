// Which fault is switched on: only in the copy of the sources that Tests/mutants.sh makes.
#pragma once

#include <stdbool.h>

/// The number in the environment variable DEPTHMATTE_MUTANT; 0 without one.
extern int dm_mutant;

/// True where the fault of that number is switched on.
static inline bool isMutant(int number) { return dm_mutant == number; }
