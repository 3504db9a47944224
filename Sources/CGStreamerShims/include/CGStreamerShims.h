// Constants that Swift's C importer cannot see: macros that cast, or that shift by another macro. Each constant can go once the
// importer evaluates such macros; nothing here does any work.
#pragma once

// By its path, so that the types here are those of the module CGStreamer and not a second set of the same.
#include "../../CGStreamer/CGStreamer.h"

static const GType GSTSHIMS_TYPE_BOOLEAN = G_TYPE_BOOLEAN;
static const GType GSTSHIMS_TYPE_INT = G_TYPE_INT;
static const GType GSTSHIMS_TYPE_UINT = G_TYPE_UINT;
static const GType GSTSHIMS_TYPE_INT64 = G_TYPE_INT64;
static const GType GSTSHIMS_TYPE_UINT64 = G_TYPE_UINT64;
static const GType GSTSHIMS_TYPE_DOUBLE = G_TYPE_DOUBLE;
static const GType GSTSHIMS_TYPE_STRING = G_TYPE_STRING;

static const guint GSTSHIMS_PARAM_CONTROLLABLE = GST_PARAM_CONTROLLABLE;
static const guint GSTSHIMS_PARAM_MUTABLE_READY = GST_PARAM_MUTABLE_READY;
static const guint GSTSHIMS_PARAM_MUTABLE_PLAYING = GST_PARAM_MUTABLE_PLAYING;

static const GstFlowReturn GSTSHIMS_AGGREGATOR_FLOW_NEED_DATA = GST_AGGREGATOR_FLOW_NEED_DATA;

static const GstClockTime GSTSHIMS_CLOCK_TIME_NONE = GST_CLOCK_TIME_NONE;
