/* A tracer that watches what every element sends and holds it to the rules of a GStreamer stream. A breach is a
 * critical, which names the pad and the rule, so that G_DEBUG=fatal-criticals ends the process there.
 *
 * The pad itself tells which events it has sent: it keeps its sticky events and forgets them at the right moments.
 * Pads without an element are not watched: tests push what they like from such. */

#define GST_USE_UNSTABLE_API
#define G_LOG_DOMAIN "stream-rules"

#include "CStreamRules.h"

#include <gst/gsttracer.h>
#include <gst/video/video.h>

typedef struct {
    GstTracer parent;
} StreamRules;

typedef struct {
    GstTracerClass parent_class;
} StreamRulesClass;

G_DEFINE_TYPE (StreamRules, stream_rules, GST_TYPE_TRACER)

/* What is known of a pad beyond what it knows itself. */
typedef struct {
    /* The next buffer is the first, or the first after a flush. Atomic. */
    gint needs_discont;
    /* The seek that the pad is flushed for, or 0. */
    guint32 flushing_seek;
    /* The seek behind what the pad sends since its last flush, or 0, and whether its segment is still to come. Atomic. */
    gint seek;
    gint awaits_segment;
    /* Violations, where they are kept. */
    GPtrArray *kept;
} PadState;

/* A seek that this thread is sending, and those that it was sent within. */
typedef struct Seek Seek;
struct Seek {
    Seek *outer;
    GstPad *pad;
    guint32 seqnum;
};

static GPrivate current_seek;

/* --- Pads --- */

static void
pad_state_free (gpointer data)
{
    PadState *state = data;

    if (state->kept)
        g_ptr_array_unref (state->kept);
    g_free (state);
}

static PadState *
pad_state (GstPad *pad)
{
    static GMutex creation;
    GQuark quark = g_quark_from_static_string ("stream-rules");
    PadState *state = g_object_get_qdata (G_OBJECT (pad), quark);

    if (state)
        return state;
    g_mutex_lock (&creation);
    state = g_object_get_qdata (G_OBJECT (pad), quark);
    if (!state) {
        state = g_new0 (PadState, 1);
        g_atomic_int_set (&state->needs_discont, TRUE);
        g_object_set_qdata_full (G_OBJECT (pad), quark, state, pad_state_free);
    }
    g_mutex_unlock (&creation);
    return state;
}

static gboolean
is_watched (GstPad *pad)
{
    GstElement *element = gst_pad_get_parent_element (pad);

    if (element)
        gst_object_unref (element);
    return element != NULL;
}

/* Some of GStreamer's own elements break a rule or two; where the code says so, ours and those under test must not. */
static gboolean
is_ours (GstPad *pad)
{
    GstObject *parent = gst_object_get_parent (GST_OBJECT (pad));
    gboolean result;

    /* A request pad may be released meanwhile. */
    if (!parent)
        return FALSE;
    result = pad_state (pad)->kept || g_str_has_prefix (G_OBJECT_TYPE_NAME (parent), "GstDepth");
    gst_object_unref (parent);
    return result;
}

/* A push that comes while the pad is flushed or stopped is refused by the pad, and breaks no rule. */
static gboolean
is_flowing (GstPad *pad)
{
    return GST_PAD_IS_ACTIVE (pad) && !GST_PAD_IS_FLUSHING (pad);
}

static gboolean
is_of_transform (GstPad *pad)
{
    GstObject *parent = gst_object_get_parent (GST_OBJECT (pad));
    GType transform = g_type_from_name ("GstBaseTransform");
    gboolean result = parent && transform && g_type_is_a (G_OBJECT_TYPE (parent), transform);

    if (parent)
        gst_object_unref (parent);
    return result;
}

/* Whether the pad has sent an event of the type that still holds. */
static gboolean
has_sent (GstPad *pad, GstEventType type)
{
    GstEvent *event = gst_pad_get_sticky_event (pad, type, 0);

    if (!event)
        return FALSE;
    gst_event_unref (event);
    return TRUE;
}

/* Pads for anything also carry what has no caps: the bytes of a file. */
static gboolean
needs_caps (GstPad *pad)
{
    GstPadTemplate *template = GST_PAD_PAD_TEMPLATE (pad);

    return template && !gst_caps_is_any (GST_PAD_TEMPLATE_CAPS (template));
}

static void
report (GstPad *pad, const gchar *violation)
{
    PadState *state = pad_state (pad);

    if (state->kept)
        g_ptr_array_add (state->kept, g_strdup (violation));
    else
        g_critical ("%s:%s sends %s", GST_DEBUG_PAD_NAME (pad), violation);
}

static void
check_has_sent (GstPad *pad, GstEventType type, const gchar *violation)
{
    /* A pad that was stopped meanwhile has forgotten what it sent. */
    if (!has_sent (pad, type) && is_flowing (pad))
        report (pad, violation);
}

/* --- Data --- */

static void
check_time (GstPad *pad, GstBuffer *buffer)
{
    GstEvent *event = gst_pad_get_sticky_event (pad, GST_EVENT_SEGMENT, 0);
    const GstSegment *segment;
    GstClockTime start = GST_BUFFER_PTS (buffer);
    GstClockTime end = GST_CLOCK_TIME_NONE;

    if (!event)
        return;
    if (GST_BUFFER_DURATION_IS_VALID (buffer))
        end = start + GST_BUFFER_DURATION (buffer);
    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_TIME && !gst_segment_clip (segment, GST_FORMAT_TIME, start, end, NULL, NULL))
        report (pad, "a buffer outside its segment");
    gst_event_unref (event);
}

static void
check_buffer (GstPad *pad, GstBuffer *buffer)
{
    if (!is_watched (pad) || !is_flowing (pad))
        return;
    check_has_sent (pad, GST_EVENT_STREAM_START, "a buffer before stream-start");
    check_has_sent (pad, GST_EVENT_SEGMENT, "a buffer before the segment");
    if (needs_caps (pad))
        check_has_sent (pad, GST_EVENT_CAPS, "a buffer before caps");
    if (has_sent (pad, GST_EVENT_EOS))
        report (pad, "a buffer after the end");
    /* A demuxer begins at a key frame, which may lie before the segment, with raw video too. */
    /* GstBaseTransform passes on whatever comes, inside the segment or not: those downstream clip it. */
    if (GST_BUFFER_PTS_IS_VALID (buffer) && is_ours (pad) && !is_of_transform (pad))
        check_time (pad, buffer);
    /* typefind sends what it has looked at without a mark; a transform whose first buffer failed, the next as it is. */
    if (g_atomic_int_compare_and_exchange (&pad_state (pad)->needs_discont, TRUE, FALSE)
            && !GST_BUFFER_FLAG_IS_SET (buffer, GST_BUFFER_FLAG_DISCONT) && is_ours (pad) && !is_of_transform (pad))
        report (pad, "a first buffer without DISCONT");
}

static void
push_pre (GObject *self, GstClockTime time, GstPad *pad, GstBuffer *buffer)
{
    check_buffer (pad, buffer);
}

static gboolean
check_each (GstBuffer **buffer, guint index, gpointer pad)
{
    check_buffer (pad, *buffer);
    return TRUE;
}

static void
push_list_pre (GObject *self, GstClockTime time, GstPad *pad, GstBufferList *list)
{
    gst_buffer_list_foreach (list, check_each, pad);
}

/* --- Events --- */

static void
check_caps (GstPad *pad, GstEvent *event)
{
    GstCaps *last = gst_pad_get_current_caps (pad);
    GstCaps *caps;
    GstVideoInfo info;

    gst_event_parse_caps (event, &caps);
    /* decodebin and typefind repeat theirs. */
    if (last && gst_caps_is_equal (last, caps) && is_ours (pad))
        report (pad, "the same caps again");
    if (last)
        gst_caps_unref (last);
    else if (has_sent (pad, GST_EVENT_SEGMENT))
        report (pad, "first caps after the segment");
    if (gst_structure_has_name (gst_caps_get_structure (caps, 0), "video/x-raw")
            && !gst_video_info_from_caps (&info, caps))
        report (pad, "caps of raw video that say too little");
}

/* Whether the pad's element has taken a segment with that seqnum, or needs none: a source makes its own, and a
 * transform sends one while it takes it. After a seek upstream may end, or be refused, before it has sent one. */
static gboolean
can_send (GstPad *pad, guint32 seqnum)
{
    GstElement *element = gst_pad_get_parent_element (pad);
    gboolean result;

    if (!element)
        return TRUE;
    GST_OBJECT_LOCK (element);
    result = !element->sinkpads || is_of_transform (pad);
    for (GList *item = element->sinkpads; item && !result; item = item->next) {
        GstEvent *segment = gst_pad_get_sticky_event (item->data, GST_EVENT_SEGMENT, 0);

        if (segment) {
            result = gst_event_get_seqnum (segment) == seqnum;
            gst_event_unref (segment);
        }
    }
    GST_OBJECT_UNLOCK (element);
    gst_object_unref (element);
    return result;
}

static void
check_segment (GstPad *pad, GstEvent *event)
{
    PadState *state = pad_state (pad);
    const GstSegment *segment;

    gst_event_parse_segment (event, &segment);
    if (segment->format == GST_FORMAT_UNDEFINED || segment->rate == 0
            || (segment->stop != (guint64) -1 && segment->start > segment->stop))
        report (pad, "a segment without meaning");
    if (g_atomic_int_compare_and_exchange (&state->awaits_segment, TRUE, FALSE)) {
        guint32 seek = (guint32) g_atomic_int_get (&state->seek);

        /* y4mdec makes seqnums of its own. */
        if (gst_event_get_seqnum (event) != seek && is_ours (pad)) {
            if (can_send (pad, seek))
                report (pad, "a segment with another seqnum than the seek's");
            else
                g_atomic_int_set (&state->awaits_segment, TRUE);
        }
    } else {
        g_atomic_int_set (&state->seek, 0);
    }
}

static void
check_end (GstPad *pad, GstEvent *event)
{
    guint32 seek = g_atomic_int_get (&pad_state (pad)->seek);

    if (seek && gst_event_get_seqnum (event) != seek && is_ours (pad) && can_send (pad, seek))
        report (pad, "an end with another seqnum than the seek's");
}

static void
check_serialized (GstPad *pad, GstEvent *event)
{
    GstEventType type = GST_EVENT_TYPE (event);

    if (type != GST_EVENT_STREAM_START) {
        check_has_sent (pad, GST_EVENT_STREAM_START, "an event before stream-start");
        if (has_sent (pad, GST_EVENT_EOS))
            report (pad, "an event after the end");
    }
    switch (type) {
        case GST_EVENT_STREAM_START:
            g_atomic_int_set (&pad_state (pad)->needs_discont, TRUE);
            /* A seek that a stop has overtaken is forgotten with the stream. */
            g_atomic_int_set (&pad_state (pad)->awaits_segment, FALSE);
            break;
        case GST_EVENT_CAPS:
            check_caps (pad, event);
            break;
        case GST_EVENT_SEGMENT:
            check_segment (pad, event);
            break;
        case GST_EVENT_GAP:
            check_has_sent (pad, GST_EVENT_SEGMENT, "a gap before the segment");
            break;
        case GST_EVENT_EOS:
            check_end (pad, event);
            break;
        default:
            break;
    }
}

/* The seek that made this thread flush the pad; 0 where there is none. */
static guint32
seek_behind_flush (GstPad *pad)
{
    for (Seek *seek = g_private_get (&current_seek); seek; seek = seek->outer) {
        if (seek->pad == GST_PAD_PEER (pad))
            return seek->seqnum;
    }
    return 0;
}

static void
check_flush_start (GstPad *pad, GstEvent *event)
{
    PadState *state = pad_state (pad);
    guint32 seek = seek_behind_flush (pad);

    if (!GST_PAD_IS_ACTIVE (pad))
        return;
    if (GST_PAD_IS_FLUSHING (pad))
        report (pad, "a second flush-start");
    /* typefind flushes with seqnums of its own. */
    if (seek && gst_event_get_seqnum (event) != seek && is_ours (pad))
        report (pad, "a flush-start with another seqnum than the seek's");
    state->flushing_seek = seek;
}

static void
check_flush_stop (GstPad *pad, GstEvent *event)
{
    PadState *state = pad_state (pad);
    guint32 seek = state->flushing_seek;

    if (!GST_PAD_IS_ACTIVE (pad))
        return;
    if (!GST_PAD_IS_FLUSHING (pad))
        report (pad, "a flush-stop without a flush-start");
    else if (seek && gst_event_get_seqnum (event) != seek && is_ours (pad))
        report (pad, "a flush-stop with another seqnum than the seek's");
    g_atomic_int_set (&state->seek, seek);
    g_atomic_int_set (&state->awaits_segment, seek != 0);
    g_atomic_int_set (&state->needs_discont, TRUE);
}

static void
note_seek (GstPad *pad, GstEvent *event)
{
    Seek *seek = g_new (Seek, 1);

    seek->outer = g_private_get (&current_seek);
    seek->pad = pad;
    seek->seqnum = gst_event_get_seqnum (event);
    g_private_set (&current_seek, seek);
}

static void
push_event_pre (GObject *self, GstClockTime time, GstPad *pad, GstEvent *event)
{
    if (GST_EVENT_TYPE (event) == GST_EVENT_SEEK)
        note_seek (pad, event);
    if (!is_watched (pad))
        return;
    if (gst_event_get_seqnum (event) == GST_SEQNUM_INVALID)
        report (pad, "an event without a seqnum");
    if (!GST_PAD_IS_SRC (pad))
        return;
    if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_START)
        check_flush_start (pad, event);
    else if (GST_EVENT_TYPE (event) == GST_EVENT_FLUSH_STOP)
        check_flush_stop (pad, event);
    else if (GST_EVENT_IS_SERIALIZED (event) && is_flowing (pad))
        check_serialized (pad, event);
}

static void
push_event_post (GObject *self, GstClockTime time, GstPad *pad, gboolean result)
{
    Seek *seek = g_private_get (&current_seek);

    if (seek && seek->pad == pad) {
        g_private_set (&current_seek, seek->outer);
        g_free (seek);
    }
}

/* --- Queries --- */

static void
query_post (GObject *self, GstClockTime time, GstPad *pad, GstQuery *query, gboolean result)
{
    GstFormat format;
    gint64 position, duration;

    if (!result || GST_QUERY_TYPE (query) != GST_QUERY_POSITION || !GST_PAD_IS_SRC (pad) || !is_watched (pad))
        return;
    gst_query_parse_position (query, &format, &position);
    if (gst_pad_query_duration (pad, format, &duration) && duration >= 0 && position > duration)
        report (pad, "a position beyond the duration");
}

/* --- The tracer --- */

static void
stream_rules_class_init (StreamRulesClass *klass)
{
}

static void
stream_rules_init (StreamRules *self)
{
    GstTracer *tracer = GST_TRACER (self);

    gst_tracing_register_hook (tracer, "pad-push-pre", G_CALLBACK (push_pre));
    gst_tracing_register_hook (tracer, "pad-push-list-pre", G_CALLBACK (push_list_pre));
    gst_tracing_register_hook (tracer, "pad-push-event-pre", G_CALLBACK (push_event_pre));
    gst_tracing_register_hook (tracer, "pad-push-event-post", G_CALLBACK (push_event_post));
    gst_tracing_register_hook (tracer, "pad-query-post", G_CALLBACK (query_post));
}

void
stream_rules_start (void)
{
    /* The hooks hold it from now on. */
    gst_object_unref (gst_object_ref_sink (g_object_new (stream_rules_get_type (), NULL)));
}

void
stream_rules_keep (GstPad *pad)
{
    PadState *state = pad_state (pad);

    if (!state->kept)
        state->kept = g_ptr_array_new_with_free_func (g_free);
}

gchar *
stream_rules_take (GstPad *pad)
{
    PadState *state = pad_state (pad);
    GString *all = g_string_new (NULL);

    for (guint i = 0; state->kept && i < state->kept->len; i++)
        g_string_append_printf (all, "%s%s", i ? "; " : "", (const gchar *) g_ptr_array_index (state->kept, i));
    if (state->kept)
        g_ptr_array_set_size (state->kept, 0);
    return g_string_free (all, FALSE);
}
