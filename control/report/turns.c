#include "control/report/turns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/prompts/prompts.def"
#include "control/room/room.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "control/store/turn_file.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum {
	LANGUAGE_MAX = 16,
	OPEN_MAX = 128,	     /* utterances that are followed at a time */
	CANCELLED_MS = 5000, /* a turn that held the utterance has ended by then */
	QUOTING_MAX = 32,    /* asks whose answers are followed */
	UNKEPT_MAX = 64,     /* utterances; those of a turn come before it ends */
	TYPISTS_MAX = 64,    /* people who typed while they were not remembered */
};

/* Somebody said it who was not remembered then. */
struct unkept {
	uint64_t user;
	uint32_t id;
};

/* Somebody typed it who was not remembered then; so were the earlier messages of theirs. */
struct typed {
	uint64_t user, message;
};

struct utterance {
	uint64_t user;
	uint32_t id;
	uint64_t started_at, ended_at, cancelled_at; /* ns; 0: not yet */
};

struct person {
	uint64_t user;
	bool there, told; /* told: the last event said that they are there */
	bool is_bot;
	unsigned allows; /* at the last look: 0 nothing, 1 to be heard, 2 to be remembered */
	bool unkept;	 /* they said something in this session while they were not remembered */
	uint32_t unkept_turn; /* the last turn with such words */
	char name[ROOM_NAME_MAX];
};

struct turns {
	struct turns_conf conf;
	uint64_t session;
	unsigned n_open, n_people;
	struct utterance open[OPEN_MAX];
	struct person person[ROOM_SPEAKERS];
	/* Turns whose models were told words that may not be kept, the newest ones. */
	uint32_t quoting[QUOTING_MAX];
	unsigned n_quoting;
	bool knows_unkept; /* a model has been told such words, and tells more than its prompt */
	struct unkept unkept[UNKEPT_MAX]; /* the newest ones */
	unsigned n_unkept;
	struct typed typed[TYPISTS_MAX]; /* the newest message of each */
	unsigned n_typed;
	uint64_t typed_lost; /* the newest message of those who have no place any more */
};

/* ---- what is known of people ---- */

static struct person *find_person(struct turns *t, uint64_t user)
{
	for (unsigned i = 0; i < t->n_people; i++)
		if (t->person[i].user == user)
			return &t->person[i];
	return NULL;
}

const char *turns_name(const struct turns *t, uint64_t user)
{
	const struct person *p = find_person((struct turns *)(uintptr_t)t, user);

	return p ? p->name : "";
}

static bool may_tell(const struct turns *t, uint64_t user)
{
	return !t->conf.consentsh || t->conf.consentsh(user, t->conf.arg);
}

static bool may_keep(const struct turns *t, uint64_t user)
{
	return may_tell(t, user) && (!t->conf.remembersh || t->conf.remembersh(user, t->conf.arg));
}

static unsigned allows(const struct turns *t, uint64_t user)
{
	return may_keep(t, user) ? 2 : may_tell(t, user) ? 1 : 0;
}

/* The names of people who left stay until their place is needed, because transcripts come later. */
static void learn_name(struct turns *t, const struct room_event *ev)
{
	struct person *p = find_person(t, ev->user);
	char name[ROOM_NAME_MAX];
	size_t n = ev->text.n < sizeof name - 1 ? ev->text.n : sizeof name - 1;

	if (!ev->yes || !n)
		return;
	if (!p && t->n_people == ROOM_SPEAKERS) {
		memmove(t->person, t->person + 1, --t->n_people * sizeof t->person[0]);
	}
	if (!p)
		*(p = &t->person[t->n_people++]) = (struct person){.allows = allows(t, ev->user)};
	memcpy(name, ev->text.p, n);
	name[n] = '\0';
	p->user = ev->user;
	p->is_bot = ev->is_bot;
	utf8_copy(p->name, sizeof p->name, name);
}

bool turns_all_kept(const struct turns *t)
{
	for (unsigned i = 0; i < t->n_people; i++)
		if (!t->person[i].is_bot &&
		    (t->person[i].unkept || !may_keep(t, t->person[i].user)))
			return false;
	return !t->n_typed;
}

/* An answer to /consent holds for what is said from then on. */
static bool was_kept(const struct turns *t, uint64_t user, uint32_t utterance)
{
	for (unsigned i = 0; i < UNKEPT_MAX && i < t->n_unkept; i++)
		if (t->unkept[i].user == user && t->unkept[i].id == utterance)
			return false;
	return true;
}

bool turns_keeps_segment(const struct turns *t, const struct room_segment *s)
{
	return may_keep(t, s->user) && was_kept(t, s->user, s->utterance);
}

static void note_unkept(struct turns *t, uint64_t user, uint32_t utterance)
{
	struct person *p = find_person(t, user);

	t->unkept[t->n_unkept++ % UNKEPT_MAX] = (struct unkept){user, utterance};
	if (p)
		p->unkept = true;
}

/* Ids of messages grow with time. */
static void note_typed(struct turns *t, uint64_t user, uint64_t message)
{
	struct typed *own = NULL;

	if (may_keep(t, user))
		return;
	for (unsigned i = 0; i < TYPISTS_MAX && i < t->n_typed && !own; i++)
		if (t->typed[i].user == user)
			own = &t->typed[i];
	if (!own) {
		own = &t->typed[t->n_typed++ % TYPISTS_MAX];
		t->typed_lost = own->message > t->typed_lost ? own->message : t->typed_lost;
	}
	*own = (struct typed){user, message};
}

static bool was_typed_kept(const struct turns *t, const struct room_message *m)
{
	for (unsigned i = 0; i < TYPISTS_MAX && i < t->n_typed; i++)
		if (t->typed[i].user == m->user && m->message <= t->typed[i].message)
			return false;
	return m->message > t->typed_lost;
}

/* Somebody who was here has this name and is not remembered. Names that nobody has had here come
 * with words from before this session, which were kept. */
static bool is_unkept_name(const struct turns *t, const char *name)
{
	for (unsigned i = 0; i < t->n_people; i++)
		if (strcmp(t->person[i].name, name) == 0 && !may_keep(t, t->person[i].user))
			return true;
	return false;
}

static bool may_quote(const struct turns *t, uint32_t turn)
{
	for (unsigned i = 0; i < QUOTING_MAX && i < t->n_quoting; i++)
		if (t->quoting[i] == turn)
			return true;
	return false;
}

/* A voice's conversation holds what it was told, and a summary what it was made of, when the lines
 * have left the history. */
static void note_told_unkept(struct turns *t)
{
	const struct settings *s = t->conf.settings;

	if (s && (s->reply_path != SETTINGS_REPLY_BRAIN || s->compact_context))
		t->knows_unkept = true;
}

static void note_quoting(struct turns *t, uint32_t turn)
{
	if (turn && !may_quote(t, turn))
		t->quoting[t->n_quoting++ % QUOTING_MAX] = turn;
	note_told_unkept(t);
}

void turns_shown(struct turns *t, uint32_t turn, uint64_t user)
{
	if (!may_keep(t, user))
		note_quoting(t, turn);
}

void turns_renewed(struct turns *t)
{
	const struct settings *s = t->conf.settings;

	/* A summary goes on. */
	if (!s || s->reply_path != SETTINGS_REPLY_BRAIN)
		t->knows_unkept = false;
}

bool turns_keeps_line(const struct turns *t, const struct room_message *m)
{
	const struct person *p = find_person((struct turns *)(uintptr_t)t, m->user);

	if (m->bot)
		return !may_quote(t, m->turn);
	if (!m->user)
		return !is_unkept_name(t, m->speaker);
	if (m->message)
		return may_keep(t, m->user) && was_typed_kept(t, m);
	return may_keep(t, m->user) && (!p || !p->unkept_turn || m->turn > p->unkept_turn);
}

/* An answer may repeat anything that its model was told, whoever asked for it. */
static void follow_ask(struct turns *t, const struct room_effect *e)
{
	bool quotes = t->knows_unkept;

	for (size_t i = 0; i < e->history_n && !quotes; i++)
		quotes = !turns_keeps_line(t, &e->history[i]);
	if (quotes)
		note_quoting(t, e->turn);
}

/* Its answer may repeat them. */
static void follow_turn(struct turns *t, const struct room_turn *turn)
{
	for (unsigned i = 0; i < turn->segments; i++) {
		struct person *p = find_person(t, turn->segment[i].user);

		if (was_kept(t, turn->segment[i].user, turn->segment[i].utterance))
			continue;
		if (p && turn->id > p->unkept_turn)
			p->unkept_turn = turn->id;
		note_quoting(t, turn->id);
	}
}

/* ---- times ---- */

static uint64_t wall_of(const struct turns *t, uint64_t wall_ms, uint64_t at)
{
	uint64_t now = env_now(t->conf.env);

	return !at || at >= now ? wall_ms : wall_ms - (now - at) / NS_PER_MS;
}

/* ---- utterances ---- */

static struct utterance *find_open(struct turns *t, uint64_t user, uint32_t id)
{
	for (unsigned i = 0; i < t->n_open; i++)
		if (t->open[i].user == user && t->open[i].id == id)
			return &t->open[i];
	return NULL;
}

static void forget(struct turns *t, struct utterance *u)
{
	unsigned i = (unsigned)(u - t->open);

	memmove(u, u + 1, (--t->n_open - i) * sizeof *u);
}

static void open_utterance(struct turns *t, uint64_t user, uint32_t id)
{
	if (t->n_open == OPEN_MAX)
		forget(t, t->open);
	t->open[t->n_open++] =
		(struct utterance){.user = user, .id = id, .started_at = env_now(t->conf.env)};
}

/* Thousandths of the tokens' mean likelihood; -1: not told. */
static int64_t confidence_of(uint32_t doubt)
{
	return doubt ? lround(1000 * exp(-(doubt - 1.0) / 1000)) : -1;
}

static void publish_transcript(struct turns *t, const struct room_event *in)
{
	struct utterance *u = find_open(t, in->user, in->utterance);
	struct bus_event ev = {.type = EVENT_UTTERANCE,
			       .at_ms = env_wall_ms(t->conf.env),
			       .guild = t->conf.guild,
			       .user = in->user};
	char text[ROOM_TEXT_MAX] = "", whole[ROOM_TEXT_MAX], language[LANGUAGE_MAX] = "";
	size_t n = in->text.n < sizeof whole - 1 ? in->text.n : sizeof whole - 1;

	if (n && may_tell(t, in->user)) {
		memcpy(whole, in->text.p, n);
		whole[n] = '\0';
		utf8_copy(text, sizeof text, whole);
	}
	if (in->language.n && in->language.n < sizeof language)
		memcpy(language, in->language.p, in->language.n);
	else if (t->conf.settings)
		utf8_copy(language, sizeof language, t->conf.settings->language);
	ev.utterance =
		(struct event_utterance){.session = t->session,
					 .channel = t->conf.channel,
					 .utterance = in->utterance,
					 .name = turns_name(t, in->user),
					 .text = text,
					 .started_ms = wall_of(t, ev.at_ms, u ? u->started_at : 0),
					 .ended_ms = wall_of(t, ev.at_ms, u ? u->ended_at : 0),
					 .source = "realtime-transcription",
					 .language = language,
					 .confidence = confidence_of(in->doubt),
					 .consent = may_keep(t, in->user),
					 .transient = !may_keep(t, in->user)};
	if (u)
		forget(t, u);
	if (ev.utterance.transient)
		note_unkept(t, in->user, in->utterance);
	bus_publish(t->conf.bus, &ev);
}

static void publish_dropped(struct turns *t, const struct utterance *u)
{
	struct bus_event ev = {.type = EVENT_SPEECH_DROPPED,
			       .at_ms = env_wall_ms(t->conf.env),
			       .guild = t->conf.guild,
			       .user = u->user};

	ev.speech = (struct event_speech){.session = t->session,
					  .channel = t->conf.channel,
					  .utterance = u->id,
					  .name = turns_name(t, u->user),
					  .started_ms = wall_of(t, ev.at_ms, u->started_at),
					  .ended_ms = wall_of(t, ev.at_ms, u->cancelled_at),
					  .reason = "not_promoted"};
	bus_publish(t->conf.bus, &ev);
}

/* Those whose sound was cancelled and that no turn claimed since. */
static void sweep_cancelled(struct turns *t, bool all)
{
	uint64_t now = env_now(t->conf.env);

	for (unsigned i = 0; i < t->n_open;) {
		struct utterance u = t->open[i];

		if (!u.cancelled_at || (!all && now < u.cancelled_at + CANCELLED_MS * NS_PER_MS)) {
			i++;
			continue;
		}
		forget(t, &t->open[i]);
		publish_dropped(t, &u);
	}
}

static void claim_utterances(struct turns *t, const struct room_turn *turn)
{
	for (unsigned i = 0; i < turn->chunks; i++) {
		struct utterance *u = find_open(t, turn->user, turn->chunk[i].utterance);

		if (u && u->cancelled_at)
			forget(t, u);
	}
}

/* Nothing is published about people who have not agreed to be remembered. */
static void publish_presence(struct turns *t, struct person *p)
{
	struct bus_event ev = {.type = EVENT_MEMBER,
			       .at_ms = env_wall_ms(t->conf.env),
			       .guild = t->conf.guild,
			       .user = p->user};
	bool there = p->there && may_keep(t, p->user);

	if (p->told == there)
		return;
	p->told = there;
	ev.member = (struct event_member){
		.session = t->session, .channel = t->conf.channel, .name = p->name, .there = there};
	bus_publish(t->conf.bus, &ev);
}

void turns_consent(struct turns *t, uint64_t user)
{
	struct person *p = find_person(t, user);

	if (!p)
		return;
	p->allows = allows(t, user);
	publish_presence(t, p);
}

uint64_t turns_withdrawn(struct turns *t)
{
	for (unsigned i = 0; i < t->n_people; i++) {
		struct person *p = &t->person[i];
		unsigned now = allows(t, p->user), before = p->allows;

		p->allows = now;
		if (now < before && !p->is_bot)
			return p->user;
	}
	return 0;
}

static void take_member(struct turns *t, const struct room_event *ev)
{
	struct person *p;

	learn_name(t, ev);
	p = ev->is_bot ? NULL : find_person(t, ev->user);
	if (!p)
		return;
	p->there = ev->yes;
	publish_presence(t, p);
}

static void publish_asr(struct turns *t, const struct room_effect *e)
{
	struct bus_event ev = {.type = EVENT_ASR_SESSION,
			       .at_ms = env_wall_ms(t->conf.env),
			       .guild = t->conf.guild,
			       .user = e->user};
	bool opens = e->type == ROOM_DO_ASR_START;

	ev.asr = (struct event_asr){.session = t->session,
				    .channel = t->conf.channel,
				    .name = turns_name(t, e->user),
				    .state = opens ? "opened" : "closed",
				    .why = opens ? "" : e->text};
	bus_publish(t->conf.bus, &ev);
}

static void take_typed(struct turns *t, const struct room_event *ev)
{
	note_typed(t, ev->user, ev->message);
	turns_shown(t, 0, ev->user);
}

void turns_event(struct turns *t, const struct room_event *ev)
{
	sweep_cancelled(t, false);
	if (ev->type == ROOM_MEMBER)
		take_member(t, ev);
	else if (ev->type == ROOM_TRANSCRIPT)
		publish_transcript(t, ev);
	else if (ev->type == ROOM_TYPED && !ev->is_bot)
		take_typed(t, ev);
}

void turns_effect(struct turns *t, const struct room_effect *e)
{
	struct utterance *u;

	switch (e->type) {
	case ROOM_DO_ASR_START:
		open_utterance(t, e->user, e->utterance);
		if (e->opens)
			publish_asr(t, e);
		break;
	case ROOM_DO_ASR_CLOSE:
		publish_asr(t, e);
		break;
	case ROOM_DO_ASR_COMMIT:
	case ROOM_DO_ASR_RECORDING:
		u = find_open(t, e->user, e->utterance);
		if (u)
			u->ended_at = env_now(t->conf.env);
		break;
	case ROOM_DO_ASR_CANCEL:
		u = find_open(t, e->user, e->utterance);
		if (u)
			u->cancelled_at = env_now(t->conf.env);
		break;
	case ROOM_DO_ASK:
		follow_ask(t, e);
		break;
	case ROOM_DO_ADMIT:
		turns_tell(t, e->record, TURNS_ADMITTED);
		break;
	case ROOM_DO_RECORD:
		claim_utterances(t, e->record);
		turns_tell(t, e->record, TURNS_ENDED);
		break;
	default:
		break;
	}
}

/* ---- turns ---- */

static json_t *id_json(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "%llu", (unsigned long long)id);
	return json_string(text);
}

static char *why_text(const struct room_turn *turn)
{
	json_t *list = json_array();
	char *text;

	for (unsigned i = 0; i < turn->decisions && i < ROOM_CHAIN; i++) {
		const struct room_decision *d = &turn->decision[i];

		json_array_append_new(
			list, json_pack("{s:s,s:b,s:I,s:I,s:s,s:s}", "rule",
					room_rule_name(d->rule), "yes", d->yes, "value",
					(json_int_t)d->value, "limit", (json_int_t)d->limit, "unit",
					room_rule_unit(d->rule), "text", room_rule_text(d->rule)));
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static char *segments_text(const struct turns *t, const struct room_turn *turn)
{
	json_t *list = json_array();
	char words[ROOM_TEXT_MAX], *text;

	for (unsigned i = 0; i < turn->segments; i++) {
		const struct room_segment *s = &turn->segment[i];

		if (!may_tell(t, s->user) || turn->prompted)
			continue;
		room_segment_text(turn, i, words, sizeof words);
		json_array_append_new(list, json_pack("{s:o,s:s,s:I,s:s}", "user", id_json(s->user),
						      "name", s->name, "utterance",
						      (json_int_t)s->utterance, "text", words));
	}
	text = json_dumps(list, JSON_COMPACT);
	json_decref(list);
	return text;
}

static int64_t first_audio_ms(const struct room_turn *turn)
{
	if (!turn->first_audio_at || !turn->end_of_speech_at ||
	    turn->first_audio_at < turn->end_of_speech_at)
		return -1;
	return (int64_t)((turn->first_audio_at - turn->end_of_speech_at) / NS_PER_MS);
}

static bool all_may(bool (*may)(const struct turns *, uint64_t), const struct turns *t,
		    const struct room_turn *turn)
{
	bool all = may(t, turn->user);

	for (unsigned i = 0; i < turn->segments; i++)
		all = all && may(t, turn->segment[i].user);
	return all;
}

bool turns_may_keep(const struct turns *t, const struct room_turn *turn)
{
	bool all = all_may(may_keep, t, turn) && !turn->told_private && !may_quote(t, turn->id);

	for (unsigned i = 0; i < turn->segments; i++)
		all = all && turns_keeps_segment(t, &turn->segment[i]);
	return all;
}

/* What people said. A turn of the bot's own was begun by a prompt, in which a person's words may be
 * quoted: nobody said the rest. */
static void copy_heard(const struct room_turn *turn, char *out, size_t size)
{
	if (turn->prompted)
		snprintf(out, size, "%.*s", (int)turn->quoted_n,
			 turn->transcript + turn->quoted_at);
	else
		snprintf(out, size, "%s", turn->transcript);
}

void turns_tell(struct turns *t, const struct room_turn *turn, enum turns_stage stage)
{
	static const char *const stages[] = {"admitted", "speaking", "ended"};
	static const enum event_type types[] = {EVENT_TURN_ADMITTED, EVENT_TURN_SPEAKING,
						EVENT_TURN};
	struct bus_event ev = {.type = types[stage],
			       .at_ms = env_wall_ms(t->conf.env),
			       .guild = t->conf.guild,
			       .user = turn->user};
	char *why = why_text(turn), *segments = segments_text(t, turn);
	/* Words of a turn in which somebody speaks who may not be heard are not told. */
	bool words = all_may(may_tell, t, turn);
	uint64_t now = env_now(t->conf.env);
	char heard[ROOM_TEXT_MAX];

	copy_heard(turn, heard, sizeof heard);
	follow_turn(t, turn);
	ev.turn = (struct event_turn){.session = t->session,
				      .channel = t->conf.channel,
				      .turn = turn->id,
				      .stage = stages[stage],
				      .name = turn->name,
				      .heard = words ? heard : "",
				      .reason = room_reason_name(turn->reason),
				      .said = words ? turn->answer : "",
				      .text = room_reason_text(turn->reason),
				      .first_audio_ms = first_audio_ms(turn),
				      .lasted_ms =
					      turn->born_at && turn->born_at <= now
						      ? (int64_t)((now - turn->born_at) / NS_PER_MS)
						      : -1,
				      .segments = segments,
				      .why = why,
				      .prompts = PROMPTS_VERSION,
				      .transient = !turns_may_keep(t, turn)};
	bus_publish(t->conf.bus, &ev);
	free(why);
	free(segments);
}

/* ---- the voice session ---- */

static void publish_session(struct turns *t, enum event_type type, const char *why)
{
	struct bus_event ev = {
		.type = type, .at_ms = env_wall_ms(t->conf.env), .guild = t->conf.guild};

	if (type == EVENT_SESSION_STARTED)
		t->session = ev.at_ms;
	ev.session = (struct event_session){
		.session = t->session, .channel = t->conf.channel, .why = why};
	bus_publish(t->conf.bus, &ev);
}

int turns_alloc(struct turns **out, const struct turns_conf *conf)
{
	struct turns *t = calloc(1, sizeof *t);

	if (!t)
		return ENOMEM;
	t->conf = *conf;
	publish_session(t, EVENT_SESSION_STARTED, "");
	*out = t;
	return 0;
}

struct turns *turns_free(struct turns *t, const char *why)
{
	if (!t)
		return NULL;
	sweep_cancelled(t, true);
	publish_session(t, EVENT_SESSION_OVER, why);
	free(t);
	return NULL;
}

/* ---- the turn file ---- */

void turns_append(const char *file, const struct bus_event *ev, bool words)
{
	json_t *j = bus_event_json(ev, words);
	char *text = j ? json_dumps(j, JSON_COMPACT) : NULL, *line = NULL;
	int n = -1, err = ENOMEM;

	if (text)
		n = asprintf(&line, "%s\n", text);
	if (n > 0) {
		err = turn_file_append(file, line, (size_t)n);
		free(line);
	}
	if (err)
		log_warn("turn_not_written", "file=\"%s\" error=\"%s\"", file, strerror(err));
	free(text);
	json_decref(j);
}

uint64_t turns_session(const struct turns *t)
{
	return t->session;
}
