#include "mutants.h"

#include <stdlib.h>

int dm_mutant = 0;

__attribute__((constructor)) static void read_mutant(void) {
    const char *number = getenv("DEPTHMATTE_MUTANT");
    if (number) dm_mutant = atoi(number);
}
