// The package manager wants a source file in every C target; what this one offers is its header.
#include "CDepthMatte.h"
