#include "control/report/turns.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/events/events.h"
#include "control/prompts/prompts.def"
#include "control/report/told.h"
#include "control/report/turn_text.h"
#include "control/report/typists.h"
#include "control/room/room.h"
#include "control/room/turn/segment.h"
#include "control/settings/settings.h"
#include "ipc/env.h"
#include "proto/base/time.h"
#include "proto/base/utf8.h"

enum {
	LANGUAGE_MAX = 16,
	OPEN_MAX = 128,	     /* utterances that are followed at a time */
	CANCELLED_MS = 5000, /* a turn that held the utterance has ended by then */
	QUOTING_MAX = 32,    /* asks whose answers are followed */
	UNKEPT_MAX = 64,     /* utterances; those of a turn come before it ends */
};

/* Somebody said it who was not remembered then. */
struct unkept {
	uint64_t user;
	uint32_t id;
};

struct utterance {
	uint64_t user;
	uint32_t id;
	uint64_t started_at, ended_at, cancelled_at; /* ns; 0: not yet */
	bool unkept; /* at some time since it began its speaker was not remembered */
};

struct person {
	uint64_t user;
	bool there, told; /* told: the last event said that they are there */
	uint64_t left;	  /* people who left later have a higher one */
	bool is_bot;
	unsigned allows; /* at the last look: 0 nothing, 1 to be heard, 2 to be remembered */
	bool unkept;	 /* they said something in this session while they were not remembered */
	uint32_t unkept_turn; /* the last turn with such words */
	uint64_t kept_since;  /* ns: when they agreed to be remembered; 0: before they came */
	char name[ROOM_NAME_MAX];
};

struct turns {
	struct turns_conf conf;
	uint64_t session;
	unsigned n_open, n_people;
	struct utterance open[OPEN_MAX];
	struct person person[ROOM_SPEAKERS];
	uint64_t n_left; /* how often somebody left */
	/* Of those who have no place any more: whether one of them was not remembered, and the last
	 * turn with words of such a one. */
	bool unkept_lost;
	uint32_t unkept_turn_lost;
	uint64_t kept_since_lost; /* the same for when they agreed */
	/* Turns whose models were told words that may not be kept, the newest ones. */
	uint32_t quoting[QUOTING_MAX];
	unsigned n_quoting;
	bool knows_unkept; /* a model has been told such words, and tells more than its prompt */
	struct unkept unkept[UNKEPT_MAX]; /* the newest ones */
	unsigned n_unkept;
	struct typists typists;
	struct told told;
	uint32_t asked; /* the newest turn whose model was asked; 0: it has ended */
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

/* The names of people who left stay until their place is needed, because transcripts come later.
 * NULL: all are there. */
static struct person *free_place(struct turns *t)
{
	struct person *first = NULL;

	if (t->n_people < ROOM_SPEAKERS)
		return &t->person[t->n_people++];
	for (unsigned i = 0; i < t->n_people; i++)
		if (!t->person[i].there && (!first || t->person[i].left < first->left))
			first = &t->person[i];
	if (!first)
		return NULL;
	if (!first->is_bot && (first->unkept || !may_keep(t, first->user)))
		t->unkept_lost = true;
	if (first->unkept_turn > t->unkept_turn_lost)
		t->unkept_turn_lost = first->unkept_turn;
	if (first->kept_since > t->kept_since_lost)
		t->kept_since_lost = first->kept_since;
	return first;
}

static void learn_name(struct turns *t, const struct room_event *ev)
{
	struct person *p = find_person(t, ev->user);
	char name[ROOM_NAME_MAX];
	size_t n = ev->text.n < sizeof name - 1 ? ev->text.n : sizeof name - 1;

	if (!ev->yes || !n)
		return;
	if (!p) {
		p = free_place(t);
		if (!p) {
			t->unkept_lost = t->unkept_lost || (!ev->is_bot && !may_keep(t, ev->user));
			return;
		}
		*p = (struct person){.allows = allows(t, ev->user),
				     .unkept_turn = t->unkept_turn_lost,
				     .kept_since = t->kept_since_lost};
	}
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
	return !t->typists.n && !t->unkept_lost;
}

static struct utterance *find_open(const struct turns *t, uint64_t user, uint32_t id)
{
	for (unsigned i = 0; i < t->n_open; i++)
		if (t->open[i].user == user && t->open[i].id == id)
			return (struct utterance *)(uintptr_t)&t->open[i];
	return NULL;
}

/* An answer to /consent holds for what is said from then on, whenever its transcript comes. */
static bool was_kept(const struct turns *t, uint64_t user, uint32_t utterance)
{
	const struct utterance *u = find_open(t, user, utterance);

	if (u && u->unkept)
		return false;
	for (unsigned i = 0; i < UNKEPT_MAX && i < t->n_unkept; i++)
		if (t->unkept[i].user == user && t->unkept[i].id == utterance)
			return false;
	return true;
}

bool turns_keeps_segment(const struct turns *t, const struct room_segment *s)
{
	return may_keep(t, s->user) && was_kept(t, s->user, s->utterance);
}

/* A question in writing may wait for the floor while its writer agrees. */
static bool was_written_kept(const struct turns *t, const struct room_turn *turn)
{
	const struct person *p = find_person((struct turns *)(uintptr_t)t, turn->quoted_user);
	uint64_t since = p ? p->kept_since : t->kept_since_lost;

	return !since || turn->quoted_since > since;
}

bool turns_keeps_words(const struct turns *t, const struct room_turn *turn)
{
	bool all = true;

	if (turn->quoted_n)
		return may_keep(t, turn->quoted_user) && was_written_kept(t, turn);
	for (unsigned i = 0; i < turn->segments; i++)
		all = all && turns_keeps_segment(t, &turn->segment[i]);
	return all && (!turn->user || may_keep(t, turn->user));
}

static void note_unkept(struct turns *t, uint64_t user, uint32_t utterance)
{
	struct person *p = find_person(t, user);

	t->unkept[t->n_unkept++ % UNKEPT_MAX] = (struct unkept){user, utterance};
	if (p)
		p->unkept = true;
	else
		t->unkept_lost = true;
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

void turns_told(struct turns *t, uint64_t user)
{
	told_add(&t->told, user);
}

void turns_withheld(struct turns *t)
{
	told_make_past(&t->told);
	/* The answer under way may still repeat them, and so may one whose model is asked before
	 * that answer ends. */
	if (!t->asked)
		told_drop_past(&t->told);
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
	uint32_t unkept_turn;

	if (m->bot)
		return !may_quote(t, m->turn);
	if (!m->user)
		return !is_unkept_name(t, m->speaker);
	if (m->message)
		return may_keep(t, m->user) && typists_allow(&t->typists, m->user, m->message);
	unkept_turn = p ? p->unkept_turn : t->unkept_turn_lost;
	return may_keep(t, m->user) && (!unkept_turn || m->turn > unkept_turn);
}

/* An answer may repeat anything that its model was told, whoever asked for it. */
static void follow_ask(struct turns *t, const struct room_effect *e)
{
	bool quotes = t->knows_unkept;

	for (size_t i = 0; i < e->history_n && !quotes; i++)
		quotes = !turns_keeps_line(t, &e->history[i]);
	if (quotes)
		note_quoting(t, e->turn);
	t->asked = e->turn;
}

/* Its answer may repeat them. */
static void follow_turn(struct turns *t, const struct room_turn *turn)
{
	if (turn->quoted_n && !turns_keeps_words(t, turn))
		note_quoting(t, turn->id);
	for (unsigned i = 0; i < turn->segments; i++) {
		struct person *p = find_person(t, turn->segment[i].user);
		uint32_t *last = p ? &p->unkept_turn : &t->unkept_turn_lost;

		if (was_kept(t, turn->segment[i].user, turn->segment[i].utterance))
			continue;
		if (turn->id > *last)
			*last = turn->id;
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

static void forget(struct turns *t, struct utterance *u)
{
	unsigned i = (unsigned)(u - t->open);

	memmove(u, u + 1, (--t->n_open - i) * sizeof *u);
}

/* It is followed no more; whether it may be kept is still asked. */
static void close_utterance(struct turns *t, struct utterance *u)
{
	if (u->unkept)
		note_unkept(t, u->user, u->id);
	forget(t, u);
}

static void open_utterance(struct turns *t, uint64_t user, uint32_t id)
{
	if (t->n_open == OPEN_MAX)
		close_utterance(t, t->open);
	t->open[t->n_open++] = (struct utterance){.user = user,
						  .id = id,
						  .started_at = env_now(t->conf.env),
						  .unkept = !may_keep(t, user)};
}

/* What is allowed to be kept has changed: of what is being said nothing is, if it was not once. */
static void mark_unkept(struct turns *t)
{
	for (unsigned i = 0; i < t->n_open; i++)
		if (!may_keep(t, t->open[i].user))
			t->open[i].unkept = true;
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
	bool keep = may_keep(t, in->user) && was_kept(t, in->user, in->utterance);
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
					 .consent = keep,
					 .transient = !keep};
	if (u)
		forget(t, u);
	if (!keep)
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
			close_utterance(t, u);
	}
}

/* Nothing is published about bots and people who have not agreed to be remembered. */
static void publish_presence(struct turns *t, struct person *p)
{
	struct bus_event ev = {.type = EVENT_MEMBER,
			       .at_ms = env_wall_ms(t->conf.env),
			       .guild = t->conf.guild,
			       .user = p->user};
	bool there = p->there && !p->is_bot && may_keep(t, p->user);

	if (p->told == there)
		return;
	p->told = there;
	ev.member = (struct event_member){
		.session = t->session, .channel = t->conf.channel, .name = p->name, .there = there};
	bus_publish(t->conf.bus, &ev);
}

static void note_allows(struct turns *t, struct person *p)
{
	unsigned now = allows(t, p->user);

	if (now == 2 && p->allows < 2)
		p->kept_since = env_now(t->conf.env);
	p->allows = now;
}

void turns_consent(struct turns *t, uint64_t user)
{
	struct person *p = find_person(t, user);

	mark_unkept(t);
	if (!p) {
		t->kept_since_lost = env_now(t->conf.env);
		return;
	}
	note_allows(t, p);
	publish_presence(t, p);
}

uint64_t turns_withdrawn(struct turns *t)
{
	mark_unkept(t);
	for (unsigned i = 0; i < t->n_people; i++) {
		struct person *p = &t->person[i];
		unsigned before = p->allows;

		note_allows(t, p);
		if (p->allows < before && !p->is_bot)
			return p->user;
	}
	return t->conf.remembersh ? told_find_unkept(&t->told, t->conf.remembersh, t->conf.arg) : 0;
}

static void take_member(struct turns *t, const struct room_event *ev)
{
	struct person *p;

	learn_name(t, ev);
	p = find_person(t, ev->user);
	if (!p)
		return;
	if (p->there && !ev->yes)
		p->left = ++t->n_left;
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
	if (!may_keep(t, ev->user))
		typists_note(&t->typists, ev->user, ev->message);
	turns_shown(t, 0, ev->user);
}

static void take_written(struct turns *t, const struct room_event *ev)
{
	struct person *p = find_person(t, ev->user);

	turns_shown(t, 0, ev->user);
	if (may_keep(t, ev->user))
		return;
	if (p)
		p->unkept = true;
	else
		t->unkept_lost = true;
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
	else if (ev->type == ROOM_WRITTEN)
		take_written(t, ev);
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

/* The words that a prompt quotes are those of no utterance. */
static void add_quoted(const struct turns *t, const struct room_turn *turn, json_t *list)
{
	if (turn->quoted_n && may_tell(t, turn->quoted_user))
		json_array_append_new(list, json_pack("{s:o,s:s,s:i,s:s%}", "user",
						      id_json(turn->quoted_user), "name",
						      turn->quoted_name, "utterance", 0, "text",
						      turn->transcript + turn->quoted_at,
						      (size_t)turn->quoted_n));
}

static char *segments_text(const struct turns *t, const struct room_turn *turn)
{
	json_t *list = json_array();
	char words[ROOM_TEXT_MAX], *text;

	add_quoted(t, turn, list);
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

/* A question in writing is its writer's, though nobody said the prompt that quotes it. */
static bool may_tell_words(const struct turns *t, const struct room_turn *turn)
{
	bool all = may_tell(t, turn->quoted_n ? turn->quoted_user : turn->user);

	for (unsigned i = 0; i < turn->segments && !turn->quoted_n; i++)
		all = all && may_tell(t, turn->segment[i].user);
	return all;
}

/* What the bot says by itself has words of nobody: it is kept where people who have not answered
 * are remembered. */
static bool may_keep_own(const struct turns *t, const struct room_turn *turn)
{
	return turn->user || turn->quoted_n || may_keep(t, 0);
}

bool turns_may_keep(const struct turns *t, const struct room_turn *turn)
{
	return turns_keeps_words(t, turn) && may_keep_own(t, turn) && !turn->told_private &&
	       !may_quote(t, turn->id) && told_is_complete(&t->told);
}

void turns_tell(struct turns *t, const struct room_turn *turn, enum turns_stage stage)
{
	static const char *const stages[] = {"admitted", "speaking", "ended"};
	static const enum event_type types[] = {EVENT_TURN_ADMITTED, EVENT_TURN_SPEAKING,
						EVENT_TURN};
	struct bus_event ev = {.type = types[stage],
			       .at_ms = env_wall_ms(t->conf.env),
			       .guild = t->conf.guild,
			       .user = turn->quoted_n ? turn->quoted_user : turn->user};
	char *why = turn_why_text(turn), *segments = segments_text(t, turn), *told;
	/* Words are not kept if nobody can tell whom they may repeat. */
	bool names = told_print(&t->told, &told) == 0;
	/* Words of a turn in which somebody speaks who may not be heard are not told. */
	bool words = may_tell_words(t, turn);
	char heard[ROOM_TEXT_MAX];

	turn_heard_text(turn, heard, sizeof heard);
	follow_turn(t, turn);
	ev.turn = (struct event_turn){.session = t->session,
				      .channel = t->conf.channel,
				      .turn = turn->id,
				      .stage = stages[stage],
				      .name = turn->quoted_n ? turn->quoted_name : turn->name,
				      .heard = words ? heard : "",
				      .reason = room_reason_name(turn->reason),
				      .said = words ? turn->answer : "",
				      .text = room_reason_text(turn->reason),
				      .first_audio_ms = turn_first_audio_ms(turn),
				      .lasted_ms = turn_lasted_ms(turn, env_now(t->conf.env)),
				      .segments = segments,
				      .why = why,
				      .prompts = PROMPTS_VERSION,
				      .transient = !names || !turns_may_keep(t, turn),
				      .told = told};
	bus_publish(t->conf.bus, &ev);
	if (stage == TURNS_ENDED && turn->id == t->asked) {
		t->asked = 0;
		told_drop_past(&t->told);
	}
	free(why);
	free(told);
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

uint64_t turns_session(const struct turns *t)
{
	return t->session;
}
