#include "tests/unit/control/report/turns_scene.h"

#include "control/events/events.h"
#include "control/settings/settings.h"
#include "proto/media.h"

const struct room_turn turns_scene_turn = {
	.id = 3,
	.reason = ROOM_REASON_ANSWERED,
	.user = 501,
	.name = "alice",
	.transcript = "what \"time\" is it",
	.answer = "ten past four",
	.end_of_speech_at = 2000000000,
	.first_audio_at = 3550000000,
	.decisions = 1,
	.decision = {{ROOM_RULE_DIRECT_ADDRESS, true, 1, 1}},
};

static void keep(const struct bus_event *ev, void *arg)
{
	struct scene *s = arg;

	if (s->n_told < 16)
		s->told[s->n_told++] = bus_event_json(ev, true);
}

static bool consents(uint64_t user, void *arg)
{
	const struct scene *s = arg;

	return user != s->refuses;
}

static bool remembers(uint64_t user, void *arg)
{
	const struct scene *s = arg;

	return user != s->forgets;
}

static int set_settings(struct scene *s, const char *reply_path, const char *compact_context)
{
	int err = settings_alloc(&s->settings);

	if (!err)
		err = settings_set(s->settings, "reply_path", reply_path);
	return err ? err : settings_set(s->settings, "compact_context", compact_context);
}

int turns_scene_open_with(struct scene *s, const char *reply_path, const char *compact_context)
{
	struct turns_conf conf = {
		.guild = 1, .channel = 2, .consentsh = consents, .remembersh = remembers, .arg = s};
	int err;

	memset(s, 0, sizeof *s);
	err = loop_open(&s->l, NULL);
	if (!err)
		err = bus_alloc(&s->bus);
	if (!err)
		err = bus_subscribe(s->bus, BUS_ALL, keep, s);
	if (!err && reply_path)
		err = set_settings(s, reply_path, compact_context);
	conf.env = s->l.env;
	conf.bus = s->bus;
	conf.settings = s->settings;
	return err ? err : turns_alloc(&s->turns, &conf);
}

int turns_scene_open(struct scene *s)
{
	return turns_scene_open_with(s, NULL, NULL);
}

void turns_scene_close(struct scene *s)
{
	turns_free(s->turns, "shutdown");
	settings_free(s->settings);
	bus_free(s->bus);
	loop_close(&s->l);
	turns_scene_forget(s);
}

void turns_scene_come(struct scene *s, uint64_t user, const char *name)
{
	turns_event(s->turns, &(struct room_event){.type = ROOM_MEMBER,
						   .user = user,
						   .yes = true,
						   .text = slice_str(name)});
}

void turns_scene_leave(struct scene *s, uint64_t user)
{
	turns_event(s->turns, &(struct room_event){.type = ROOM_MEMBER, .user = user});
}

void turns_scene_forget(struct scene *s)
{
	while (s->n_told) {
		json_decref(s->told[--s->n_told]);
		s->told[s->n_told] = NULL;
	}
}

const char *turns_scene_told(const struct scene *s, unsigned i, const char *key)
{
	return i < s->n_told ? json_string_value(json_object_get(s->told[i], key)) : NULL;
}

bool turns_scene_keeps(struct scene *s, const struct room_turn *t)
{
	turns_scene_forget(s);
	turns_tell(s->turns, t, TURNS_ENDED);
	return s->n_told == 1 && json_is_false(json_object_get(s->told[0], "transient"));
}
