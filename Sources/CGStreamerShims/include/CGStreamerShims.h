// Constants that Swift's C importer cannot see: macros that cast, or that shift by another macro. Each constant can go once the
// importer evaluates such macros; nothing here does any work. And flags of GLib, which Swift names otherwise where GLib's headers mark
// them as flags, as newer ones do.
#pragma once

// By its path, so that the types here are those of the module CGStreamer and not a second set of the same.
#include "../../CGStreamer/CGStreamer.h"

static const GType GSTSHIMS_TYPE_NONE = G_TYPE_NONE;
static const GType GSTSHIMS_TYPE_BOOLEAN = G_TYPE_BOOLEAN;
static const GType GSTSHIMS_TYPE_INT = G_TYPE_INT;
static const GType GSTSHIMS_TYPE_UINT = G_TYPE_UINT;
static const GType GSTSHIMS_TYPE_INT64 = G_TYPE_INT64;
static const GType GSTSHIMS_TYPE_UINT64 = G_TYPE_UINT64;
static const GType GSTSHIMS_TYPE_DOUBLE = G_TYPE_DOUBLE;
static const GType GSTSHIMS_TYPE_STRING = G_TYPE_STRING;

static const GFileTest GSTSHIMS_FILE_TEST_EXISTS = G_FILE_TEST_EXISTS;
static const GFileTest GSTSHIMS_FILE_TEST_IS_DIR = G_FILE_TEST_IS_DIR;
static const GFileTest GSTSHIMS_FILE_TEST_IS_REGULAR = G_FILE_TEST_IS_REGULAR;
static const GFileSetContentsFlags GSTSHIMS_FILE_SET_CONTENTS_SAFELY =
    G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE;

static const GParamFlags GSTSHIMS_PARAM_READABLE = G_PARAM_READABLE;
static const GParamFlags GSTSHIMS_PARAM_READWRITE = G_PARAM_READWRITE;
static const guint GSTSHIMS_PARAM_CONTROLLABLE = GST_PARAM_CONTROLLABLE;
static const guint GSTSHIMS_PARAM_MUTABLE_READY = GST_PARAM_MUTABLE_READY;
static const guint GSTSHIMS_PARAM_MUTABLE_PLAYING = GST_PARAM_MUTABLE_PLAYING;

static const GstFlowReturn GSTSHIMS_AGGREGATOR_FLOW_NEED_DATA = GST_AGGREGATOR_FLOW_NEED_DATA;

static const GstClockTime GSTSHIMS_CLOCK_TIME_NONE = GST_CLOCK_TIME_NONE;
