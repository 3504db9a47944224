// The C half of the kernels.
#pragma once

#include "dm_loops.h"
#include "dm_memory.h"
#include "dm_processor.h"
#include "dm_vectors.h"
