#include "CComparisons.h"
