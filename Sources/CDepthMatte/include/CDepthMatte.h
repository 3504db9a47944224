// The interface between the plugin's descriptor and its Swift half.
#pragma once

// By its path, so that the types here are those of the module CGStreamer and not a second set of the same.
#include "../../CGStreamer/CGStreamer.h"

/// The version of the package, for the descriptor, the build files and the documentation.
#define DEPTHMATTE_VERSION "0.1.0"

/// Registers every element of the plugin; written in Swift.
gboolean depthmatte_register_elements(GstPlugin *_Nonnull plugin);
