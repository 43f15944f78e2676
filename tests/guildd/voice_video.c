#include "tests/guildd/voice_video.h"

#include "tests/guildd/golive.h"
#include "tests/guildd/objects.h"

#include <stdio.h>

enum { QUALITY_MAX = 100, TYPE_OPUS = 120 };

/* The session of the stream's owner; NULL: not there, or not of a stream. */
static struct vsession *owner_of(const struct vsession *s)
{
	const struct gd_golive *l = gd_golive_of_server(s->v->g, s->guild);

	return l ? vsession_find(s->v, s->guild, gd_golive_owner(l)) : NULL;
}

void vvideo_identify(struct vsession *s, const json_t *d)
{
	const json_t *streams = json_object_get(d, "streams"), *first = json_array_get(streams, 0);

	if (!gd_golive_of_server(s->v->g, s->guild) || !json_is_true(json_object_get(d, "video")) ||
	    !json_is_string(json_object_get(first, "type")) ||
	    !json_is_string(json_object_get(first, "rid")) ||
	    !json_is_integer(json_object_get(first, "quality")))
		return;
	gd_stream_video_open(s->stream);
	s->offered = json_deep_copy(first);
}

json_t *vvideo_streams(const struct vsession *s)
{
	json_t *list = json_array(), *o = s->offered ? json_deep_copy(s->offered) : NULL;

	if (!o)
		return list;
	json_object_set_new(o, "ssrc", json_integer(gd_stream_video_ssrc(s->stream)));
	json_object_set_new(o, "rtx_ssrc", json_integer(gd_stream_video_rtx(s->stream)));
	json_object_set_new(o, "active", json_false());
	json_array_append_new(list, o);
	return list;
}

/* ---- codecs ---- */

static bool is_type(const json_t *o, const char *key, bool required)
{
	const json_t *v = json_object_get(o, key);

	if (!v || json_is_null(v))
		return !required;
	return json_is_integer(v) && json_integer_value(v) >= 1 && json_integer_value(v) <= 127;
}

/* A codec by its name, case as it is; NULL. */
static const json_t *codec_named(const json_t *codecs, const char *name)
{
	json_t *o;
	size_t i;

	json_array_foreach(codecs, i, o)
	{
		if (strcmp(json_string_value(json_object_get(o, "name")), name) == 0)
			return o;
	}
	return NULL;
}

/* encode and decode are true when they are left out. */
static bool can(const json_t *codec, const char *what)
{
	return codec && !json_is_false(json_object_get(codec, what));
}

static bool codecs_ok(const json_t *codecs)
{
	const json_t *opus;
	json_t *o;
	size_t i;

	json_array_foreach(codecs, i, o)
	{
		const char *type = json_string_value(json_object_get(o, "type"));

		if (!json_is_string(json_object_get(o, "name")) || !type ||
		    (strcmp(type, "audio") != 0 && strcmp(type, "video") != 0) ||
		    !json_is_integer(json_object_get(o, "priority")) ||
		    !is_type(o, "payload_type", true) || !is_type(o, "rtx_payload_type", false))
			return false;
	}
	opus = codec_named(codecs, "opus");
	return opus && json_integer_value(json_object_get(opus, "payload_type")) == TYPE_OPUS;
}

const char *vvideo_codec(const struct vsession *s)
{
	const struct vsession *owner = owner_of(s);
	json_t *o;
	size_t i;

	json_array_foreach(owner ? owner->codecs : NULL, i, o)
	{
		const char *name = json_string_value(json_object_get(o, "name"));

		if (strcmp(json_string_value(json_object_get(o, "type")), "video") != 0 ||
		    !can(o, "encode"))
			continue;
		return s == owner || can(codec_named(s->codecs, name), "decode") ? name : NULL;
	}
	return NULL;
}

/* The relay gets the payload types of the codec that the owner chose, for each client. */
static void settle_types(const struct vsession *of)
{
	for (size_t i = 0; i < of->v->sessions.n; i++) {
		struct vsession *s = of->v->sessions.v[i];
		const char *name = s->channel == of->channel ? vvideo_codec(s) : NULL;
		const json_t *codec = name ? codec_named(s->codecs, name) : NULL;

		if (s->channel == of->channel)
			gd_stream_video_types(
				s->stream,
				(uint8_t)json_integer_value(json_object_get(codec, "payload_type")),
				(uint8_t)json_integer_value(
					json_object_get(codec, "rtx_payload_type")));
	}
}

int vvideo_select(struct vsession *s, const json_t *codecs)
{
	if (!codecs || json_is_null(codecs))
		return 0;
	if (!json_is_array(codecs) || !codecs_ok(codecs))
		return EINVAL;
	json_decref(s->codecs);
	s->codecs = json_deep_copy(codecs);
	if (!s->codecs)
		return ENOMEM;
	settle_types(s);
	return 0;
}

void vvideo_described(struct vsession *s)
{
	struct vsession *owner = owner_of(s);
	json_t *update;

	if (owner && owner != s && owner->video)
		vsession_send(s, 12, json_deep_copy(owner->video));
	if (owner != s || !vvideo_codec(s))
		return;
	update = json_pack("{s:s}", "video_codec", vvideo_codec(s));
	vsession_tell_others(s, 14, update);
	json_decref(update);
}

/* ---- op 12 ---- */

static bool is_ssrc(const json_t *o, const char *key, uint32_t own)
{
	json_int_t v = json_integer_value(json_object_get(o, key));

	return v == 0 || (own && v == own);
}

/* EPERM for another's SSRC. *active: a stream of its list is sent. */
static int check_streams(const struct vsession *s, const json_t *d, bool *active)
{
	uint32_t video = gd_stream_video_ssrc(s->stream), rtx = gd_stream_video_rtx(s->stream);
	json_t *o;
	size_t i;

	if (json_integer_value(json_object_get(d, "audio_ssrc")) != gd_stream_ssrc(s->stream) &&
	    json_integer_value(json_object_get(d, "audio_ssrc")) != 0)
		return EPERM;
	if (!is_ssrc(d, "video_ssrc", video) || !is_ssrc(d, "rtx_ssrc", rtx))
		return EPERM;
	json_array_foreach(json_object_get(d, "streams"), i, o)
	{
		const json_t *quality = json_object_get(o, "quality");

		if (!json_is_string(json_object_get(o, "rid")) ||
		    !json_is_boolean(json_object_get(o, "active")) || !json_is_integer(quality) ||
		    json_integer_value(quality) < 0 || json_integer_value(quality) > QUALITY_MAX)
			return EINVAL;
		if (!is_ssrc(o, "ssrc", video) || !is_ssrc(o, "rtx_ssrc", rtx))
			return EPERM;
		*active = *active || json_is_true(json_object_get(o, "active"));
	}
	return 0;
}

int vvideo_told(struct vsession *s, const json_t *d)
{
	bool active = false;
	int err;

	if (!json_is_integer(json_object_get(d, "audio_ssrc")) ||
	    !json_is_integer(json_object_get(d, "video_ssrc")) ||
	    !json_is_integer(json_object_get(d, "rtx_ssrc")) ||
	    !json_is_array(json_object_get(d, "streams")))
		return EINVAL;
	/* Only streams have video here; clients of calls tell that they send none. */
	if (!owner_of(s))
		return 0;
	err = check_streams(s, d, &active);
	if (err)
		return err;
	if (owner_of(s) != s)
		return active ? EPERM : 0;
	json_decref(s->video);
	s->video = json_deep_copy(d);
	if (!s->video)
		return ENOMEM;
	json_object_set_new(s->video, "user_id", gd_id_json(s->user));
	gd_stream_video_sends(s->stream, active);
	vsession_tell_others(s, 12, s->video);
	return 0;
}

/* ---- op 15 ---- */

static int quality_of(const json_t *v)
{
	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > QUALITY_MAX)
		return -1;
	return (int)json_integer_value(v);
}

/* {"<ssrc>": quality, …, "any": quality}; also with the SSRCs in an object "streams". */
static int quality_wanted(const json_t *d, uint32_t ssrc)
{
	char key[16];
	const json_t *one;

	snprintf(key, sizeof(key), "%u", ssrc);
	one = json_object_get(d, key);
	if (!one)
		one = json_object_get(json_object_get(d, "streams"), key);
	return one ? quality_of(one) : quality_of(json_object_get(d, "any"));
}

/* The owner is told the most that any viewer wants. */
static void tell_owner(struct vsession *owner, unsigned most)
{
	char key[16];

	snprintf(key, sizeof(key), "%u", gd_stream_video_ssrc(owner->stream));
	vsession_send(owner, 15, json_pack("{s:i, s:i}", "any", 0, key, (int)most));
}

int vvideo_wanted(struct vsession *s, const json_t *d)
{
	struct vsession *owner = owner_of(s);
	int most = 0;

	if (!json_is_object(d) ||
	    (json_object_get(d, "any") && quality_of(json_object_get(d, "any")) < 0))
		return EINVAL;
	if (!owner || owner == s)
		return 0;
	s->wants = quality_wanted(d, gd_stream_video_ssrc(owner->stream));
	if (s->wants < 0)
		s->wants = 0;
	gd_stream_video_wants(s->stream, (unsigned)s->wants);
	for (size_t i = 0; i < s->v->sessions.n; i++) {
		const struct vsession *o = s->v->sessions.v[i];

		if (o->channel == s->channel && o->wants > most)
			most = o->wants;
	}
	tell_owner(owner, (unsigned)most);
	return 0;
}

void vvideo_free(struct vsession *s)
{
	json_decref(s->offered);
	json_decref(s->codecs);
	json_decref(s->video);
}
