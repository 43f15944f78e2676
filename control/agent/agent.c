#include "control/agent/agent.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/engine/transcriber.h"
#include "control/engine/realtime.h"
#include "control/dialect/openai.h"
#include "control/media/media.h"
#include "control/power.h"
#include "control/room/room.h"
#include "control/room/turn/segment.h"
#include "control/room_log.h"
#include "control/agent/voice_output.h"
#include "control/services.h"
#include "control/settings/provider.h"
#include "control/settings/settings.h"
#include "control/status.h"
#include "control/turns.h"
#include "ipc/env.h"
#include "ipc/log.h"
#include "ipc/tmr.h"
#include "proto/base/time.h"
#include "proto/media.h"

/* Between two looks at where the power comes from. */
enum { POWER_S = 30 };
/* Before a line that others spoke over. */
#define CUT_MARK "[interrupted] "

/* An event that came while a step was being performed: it waits, with its own copy of text. */
struct later {
	struct later *next;
	struct room_event ev;
	uint8_t text[];
};

struct agent {
	struct env *env;
	struct media_call *call;
	const struct settings *settings;
	void (*tellh)(const struct words *words, void *arg);
	void (*faulth)(enum fault fault, enum fault_is is, void *arg);
	void (*leaveh)(void *arg);
	int (*soundh)(uint32_t turn, uint32_t chunk, const char *ref, void *arg);
	void *arg;

	struct room *room;
	struct room_log *log;	/* its journal, NULL when none is wanted */
	struct realtime *brain; /* NULL when nobody told where one is */
	struct transcriber *transcriber;	/* the same */
	struct services *services;
	struct tmr *timer;
	struct tmr *power_timer;
	const char *power;	 /* as the room was told last */
	struct tmr *sound_timer; /* of the sound that plays; NULL until there is one */
	uint32_t sound_turn, sound_chunk;
	struct voice_output *output;

	bool stepping;
	struct later *first, **last;
	struct room_effects *fx;

	uint64_t turns;
	uint32_t last_turn;
	enum room_reason last_reason;
	struct status_delays delays; /* end of speech to first audio */
};

static void perform(struct agent *a, const struct room_effect *e);
static void send_recordings(struct agent *a);

/* ---- stepping ---- */

static int put_off(struct agent *a, const struct room_event *ev)
{
	struct later *l = calloc(1, sizeof *l + ev->text.n);

	if (!l)
		return ENOMEM;
	l->ev = *ev;
	l->ev.pcm = (struct slice){0};
	if (ev->text.n)
		memcpy(l->text, ev->text.p, ev->text.n);
	l->ev.text.p = l->text;
	*a->last = l;
	a->last = &l->next;
	return 0;
}

static void step(struct agent *a, const struct room_event *ev)
{
	room_step(a->room, ev, env_now(a->env), a->fx);
	room_log_step(a->log, ev, env_now(a->env), a->fx);
	for (size_t i = 0; i < a->fx->n; i++)
		perform(a, &a->fx->v[i]);
	send_recordings(a);
}

/* One event into the room, and whatever performing its effects causes after it. */
static void feed(struct agent *a, const struct room_event *ev)
{
	uint64_t at;

	if (a->stepping) {
		if (put_off(a, ev))
			log_warn("event_lost", "type=%d", ev->type);
		return;
	}
	a->stepping = true;
	step(a, ev);
	while (a->first) {
		struct later *l = a->first;

		a->first = l->next;
		if (!a->first)
			a->last = &a->first;
		step(a, &l->ev);
		free(l);
	}
	a->stepping = false;
	at = room_deadline(a->room);
	if (at == UINT64_MAX)
		tmr_stop(a->timer);
	else
		tmr_start_at(a->timer, at);
}

static void timer_fired(void *arg)
{
	feed(arg, &(struct room_event){.type = ROOM_TIMER});
}

/* ---- speech ---- */

static void tell_turn(struct agent *a, const struct room_turn *t, enum turns_stage stage)
{
	const struct media_want *where = media_call_want(a->call);

	struct room_turn silent;

	if (!a->settings->turns_words) {
		silent = *t;
		silent.transcript[0] = silent.answer[0] = '\0';
		t = &silent;
	}
	turns_write(a->env, a->settings->turns_file, t, stage, where->guild, where->channel);
}

static void say_fact(const struct room_event *ev, void *arg)
{
	struct agent *a = arg;
	const struct room_turn *t;

	feed(a, ev);
	t = room_active(a->room);
	if (ev->type == ROOM_SAY_STARTED && t && t->id == ev->turn)
		tell_turn(a, t, TURNS_SPEAKING);
}

/* ---- what goes wrong ---- */

static void fault(struct agent *a, enum fault fault, enum fault_is is)
{
	if (a->faulth)
		a->faulth(fault, is, a->arg);
}

/* What the provider said of itself. */
static enum fault fault_of(enum openai_trouble trouble, enum fault other)
{
	switch (trouble) {
	case OPENAI_TROUBLE_KEY:
		return FAULT_KEY;
	case OPENAI_TROUBLE_CREDIT:
		return FAULT_CREDIT;
	case OPENAI_TROUBLE_BUSY:
		return FAULT_BUSY;
	case OPENAI_TROUBLE_OTHER:
		break;
	}
	return other;
}

/* The link to the brain: it went, and why; or it is back, why NULL. */
static void brain_link(struct agent *a, const uint8_t *why, size_t len)
{
	enum fault f = why ? fault_of(openai_trouble(why, len), FAULT_BRAIN) : FAULT_BRAIN;
	bool lasts = f == FAULT_BRAIN || f == FAULT_KEY;

	if (why) {
		fault(a, f, lasts ? FAULT_IS_THERE : FAULT_IS_ONCE);
	} else {
		fault(a, FAULT_BRAIN, FAULT_IS_OVER);
		fault(a, FAULT_KEY, FAULT_IS_OVER);
	}
}

/* Turns that ended badly. */
static void fault_of_turn(struct agent *a, const struct room_turn *t)
{
	static const struct {
		enum room_reason reason;
		enum fault fault;
	} table[] = {{ROOM_REASON_ASR_FAILED, FAULT_SPEECH},
		     {ROOM_REASON_PLAYBACK_FAILED, FAULT_PLAYBACK},
		     {ROOM_REASON_EXPIRED, FAULT_LATE}};

	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
		if (table[i].reason == t->reason)
			fault(a, table[i].fault, FAULT_IS_ONCE);
}

/* ---- a turn is over ---- */

/* Words for the log: inside quotes, so without any of their own. */
static void quoted(const struct agent *a, const char *text, char *buf, size_t size)
{
	if (!a->settings->log_words) {
		snprintf(buf, size, "(%zu characters)", strlen(text));
		return;
	}
	snprintf(buf, size, "%s", text);
	for (; *buf; buf++)
		if (*buf == '"' || (unsigned char)*buf < 0x20)
			*buf = *buf == '"' ? '\'' : ' ';
}

static void record(struct agent *a, const struct room_turn *t)
{
	char heard[ROOM_TEXT_MAX], said[ROOM_TEXT_MAX + sizeof CUT_MARK],
		line[ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8)];
	char why[4096];
	int64_t ms = -1;

	if (t->first_audio_at && t->end_of_speech_at && t->first_audio_at > t->end_of_speech_at)
		ms = (int64_t)((t->first_audio_at - t->end_of_speech_at) / NS_PER_MS);
	quoted(a, t->transcript, heard, sizeof heard);
	quoted(a, t->answer, said, sizeof said);
	log_info("turn",
		 "id=%u user=%llu heard=\"%s\" reason=%s said=\"%s\" "
		 "end_of_speech_to_first_audio_ms=%lld",
		 t->id, (unsigned long long)t->user, heard, room_reason_name(t->reason), said,
		 (long long)ms);
	if (room_why(a->room, t->id, why, sizeof why) == 0)
		log_debug("turn_why", "id=%u why=\"%s\"", t->id, why);
	tell_turn(a, t, TURNS_ENDED);
	a->turns++;
	a->last_turn = t->id;
	a->last_reason = t->reason;
	if (ms >= 0)
		status_delay(&a->delays, (uint32_t)ms);
	fault_of_turn(a, t);
	if (t->asked_at && a->brain && !room_turn_replaced(t)) {
		room_segment_lines(t, line, sizeof line);
		snprintf(said, sizeof said, "%s%s", t->answer_cut && *t->answer ? CUT_MARK : "",
			 t->answer);
		realtime_remember(a->brain, line, said);
	}
	voice_output_over(a->output, t->id);
}

/* ---- effects ---- */

static void ask(struct agent *a, const struct room_effect *e)
{
	int err = a->brain ? realtime_ask(a->brain, e->turn, e->text) : EHOSTUNREACH;

	if (err)
		feed(a, &(struct room_event){.type = ROOM_BRAIN_FAILED,
					     .turn = e->turn,
					     .text = slice_str(strerror(err))});
}

static void no_words(struct agent *a, uint64_t user, uint32_t utterance, int err)
{
	feed(a, &(struct room_event){.type = ROOM_TRANSCRIPT_FAILED,
				     .user = user,
				     .utterance = utterance,
				     .text = slice_str(strerror(err))});
}

static void perform_asr(struct agent *a, const struct room_effect *e)
{
	static const enum transcriber_input types[ROOM_DO_COUNT] = {
		[ROOM_DO_ASR_START] = TRANSCRIBER_START,
		[ROOM_DO_ASR_APPEND] = TRANSCRIBER_APPEND,
		[ROOM_DO_ASR_PROMOTE] = TRANSCRIBER_SPEECH,
		[ROOM_DO_ASR_COMMIT] = TRANSCRIBER_COMMIT,
		[ROOM_DO_ASR_INTERIM] = TRANSCRIBER_INTERIM,
		[ROOM_DO_ASR_RECORDING] = TRANSCRIBER_FILE,
		[ROOM_DO_ASR_CANCEL] = TRANSCRIBER_CANCEL,
		[ROOM_DO_ASR_CLOSE] = TRANSCRIBER_CLOSE,
	};
	struct transcriber_fact fact = {.type = types[e->type],
					.user = e->user,
					.utterance = e->utterance,
					.pcm = e->pcm,
					.left = e->text && strcmp(e->text, "user_left") == 0};
	int err = a->transcriber ? transcriber_do(a->transcriber, &fact) : EHOSTUNREACH;

	if (!err)
		return;
	if (e->type == ROOM_DO_ASR_START)
		log_warn("asr_start_failed", "error=\"%s\"", strerror(err));
	if (e->type == ROOM_DO_ASR_COMMIT || e->type == ROOM_DO_ASR_RECORDING)
		no_words(a, e->user, e->utterance, err);
}

/* Those that a step asked for go out together. */
static void send_recordings(struct agent *a)
{
	uint64_t user = 0;
	uint32_t utterance = 0;
	int err = a->transcriber ? transcriber_done(a->transcriber, &user, &utterance) : 0;

	if (err)
		no_words(a, user, utterance, err);
}

/* What is written to the session first is known to it first, so nothing needs to be waited for. */
static void instruct(struct agent *a, const struct room_effect *e)
{
	int err = realtime_instruct(a->brain, e->text);

	if (err)
		log_warn("instruct_failed", "error=\"%s\"", strerror(err));
	feed(a, &(struct room_event){.type = ROOM_INSTRUCTED});
}

static void sound_over(struct agent *a, uint32_t turn, uint32_t chunk)
{
	feed(a, &(struct room_event){.type = ROOM_SOUND_DONE, .turn = turn, .chunk = chunk});
}

static void play_sound(struct agent *a, const struct room_effect *e)
{
	int err = a->soundh ? a->soundh(e->turn, e->chunk, e->text, a->arg) : ENOTSUP;

	if (!err)
		return;
	log_warn("sound_not_played", "turn=%u error=\"%s\"", e->turn, strerror(err));
	sound_over(a, e->turn, e->chunk);
}

static void perform_brain(struct agent *a, const struct room_effect *e)
{
	if (e->type == ROOM_DO_ASK)
		ask(a, e);
	else if (!a->brain)
		return;
	else if (e->type == ROOM_DO_INSTRUCT)
		instruct(a, e);
	else if (e->type == ROOM_DO_ASK_AGAIN)
		realtime_again(a->brain, e->turn);
	else if (e->type == ROOM_DO_BRAIN_CANCEL)
		realtime_cancel(a->brain, e->turn);
	else
		realtime_truncate(a->brain, e->turn, e->ms);
}

/* The room's session is over, for this reason. */
static void leave(struct agent *a, const char *why)
{
	struct words words = {0};

	log_info("session_over", "why=%s", why);
	words_end(&words, why);
	if (words.n && a->tellh)
		a->tellh(&words, a->arg);
	if (a->leaveh)
		a->leaveh(a->arg);
}

/* A brain that remembers by itself is told what it listened to. */
static void overhear(struct agent *a, const struct room_turn *t)
{
	char line[ROOM_TEXT_MAX + ROOM_SEGMENTS * (ROOM_NAME_MAX + 8)];

	if (!a->brain)
		return;
	room_segment_lines(t, line, sizeof line);
	realtime_hear(a->brain, line);
}

static void perform(struct agent *a, const struct room_effect *e)
{
	if (a->services && services_do(a->services, e))
		return;
	switch (e->type) {
	case ROOM_DO_LISTEN:
		media_call_listen(a->call, e->user, ROOM_RATE, (uint16_t)e->ms);
		break;
	case ROOM_DO_UNLISTEN:
		media_call_listen(a->call, e->user, 0, 0);
		break;
	case ROOM_DO_ASR_START:
	case ROOM_DO_ASR_APPEND:
	case ROOM_DO_ASR_COMMIT:
	case ROOM_DO_ASR_CANCEL:
	case ROOM_DO_ASR_CLOSE:
	case ROOM_DO_ASR_PROMOTE:
	case ROOM_DO_ASR_RECORDING:
	case ROOM_DO_ASR_INTERIM:
		perform_asr(a, e);
		break;
	case ROOM_DO_INSTRUCT:
	case ROOM_DO_ASK:
	case ROOM_DO_ASK_AGAIN:
	case ROOM_DO_BRAIN_CANCEL:
	case ROOM_DO_BRAIN_TRUNCATE:
		perform_brain(a, e);
		break;
	case ROOM_DO_SAY_PCM:
	case ROOM_DO_SAY_OPEN:
	case ROOM_DO_SAY_END:
	case ROOM_DO_SAY_STOP:
	case ROOM_DO_SAY_PAUSE:
	case ROOM_DO_SAY_RESUME:
	case ROOM_DO_SAY_GAIN:
		voice_output_do(a->output, e);
		break;
	case ROOM_DO_SOUNDBOARD:
		play_sound(a, e);
		break;
	case ROOM_DO_SPEAK:
	case ROOM_DO_SPEAK_CANCEL:
	case ROOM_DO_CLASSIFY:
		break; /* of services.h */
	case ROOM_DO_NOTE:
		log_debug("note", "turn=%u characters=%zu", e->turn, strlen(e->text));
		break;
	case ROOM_DO_TELL:
		if (a->tellh)
			a->tellh(e->words, a->arg);
		break;
	case ROOM_DO_ADMIT:
		log_debug("turn_admitted", "id=%u rule=%s", e->record->id, e->text);
		tell_turn(a, e->record, TURNS_ADMITTED);
		break;
	case ROOM_DO_MUSIC:
	case ROOM_DO_MUSIC_GAIN:
	case ROOM_DO_CHOOSE:
		break; /* there is no music yet, and nothing to choose */
	case ROOM_DO_LEAVE:
		leave(a, e->text);
		break;
	case ROOM_DO_OVERHEARD:
		overhear(a, e->record);
		break;
	case ROOM_DO_DEFER:
		log_debug("turn_deferred", "id=%u rule=%s", e->record->id, e->text);
		break;
	case ROOM_DO_RECORD:
		record(a, e->record);
		break;
	}
}

/* ---- facts from the shells ---- */

static void brain_failed(struct agent *a, const struct room_event *ev)
{
	log_warn("brain_failed", "turn=%u why=\"%.*s\"", ev->turn, (int)ev->text.n,
		 (const char *)ev->text.p);
	if (!a->brain || realtime_up(a->brain))
		fault(a, fault_of(openai_trouble(ev->text.p, ev->text.n), FAULT_ANSWER),
		      FAULT_IS_ONCE);
}

static void service_fact(const struct room_event *ev, void *arg)
{
	struct agent *a = arg;

	if (ev->type == ROOM_BRAIN_FAILED)
		brain_failed(a, ev);
	if (ev->type == ROOM_SPEECH_FAILED)
		fault(a, fault_of(openai_trouble(ev->text.p, ev->text.n), FAULT_ANSWER),
		      FAULT_IS_ONCE);
	feed(a, ev);
}

static void brain_fact(enum realtime_event ev, uint32_t turn, const uint8_t *data, size_t len,
		       void *arg)
{
	struct agent *a = arg;
	struct room_event out = {.turn = turn, .text = {data, len}};
	char url[256];

	switch (ev) {
	case REALTIME_AUDIO:
		out.type = ROOM_BRAIN_AUDIO;
		out.pcm = out.text;
		out.text = (struct slice){0};
		break;
	case REALTIME_TEXT:
		out.type = ROOM_BRAIN_TEXT;
		break;
	case REALTIME_DONE:
		out.type = ROOM_BRAIN_DONE;
		break;
	case REALTIME_FAILED_ASK:
		brain_failed(a, &out);
		out.type = ROOM_BRAIN_FAILED;
		break;
	case REALTIME_LINK_UP:
		settings_brain_shown(a->settings, url, sizeof url);
		log_info("brain_up", "url=%s", url);
		brain_link(a, NULL, 0);
		return;
	case REALTIME_LINK_DOWN:
		log_warn("brain_down", "why=\"%.*s\"", (int)len, (const char *)data);
		brain_link(a, data, len);
		return;
	}
	feed(a, &out);
}

static void asr_fact(enum transcribe_event ev, uint64_t user, uint32_t utterance, const uint8_t *text,
		     size_t len, struct transcribe_sure sure, void *arg)
{
	struct agent *a = arg;
	struct room_event out = {.user = user,
				 .utterance = utterance,
				 .text = {text, len},
				 .doubt = sure.doubt,
				 .no_speech = sure.no_speech};

	out.type = ev == TRANSCRIBE_PARTIAL	  ? ROOM_PARTIAL
		   : ev == TRANSCRIBE_TRANSCRIPT ? ROOM_TRANSCRIPT
					  : ROOM_TRANSCRIPT_FAILED;
	feed(a, &out);
}

void agent_media(struct agent *a, const struct media_msg *msg)
{
	struct room_event ev = {0};

	switch (msg->type) {
	case MEDIA_CALL_STATE:
		ev.type = ROOM_CALL;
		ev.yes = msg->call_state.phase == MEDIA_PHASE_UP ||
			 msg->call_state.phase == MEDIA_PHASE_RESUMING;
		if (!ev.yes && msg->call_state.reason == MEDIA_REASON_MEDIA_LOST)
			ev.text = slice_str("crashed");
		break;
	case MEDIA_SPEAKING:
		ev.type = ROOM_SPEAKING;
		ev.user = msg->speaking.user;
		ev.yes = msg->speaking.on;
		ev.at = msg->speaking.at;
		break;
	case MEDIA_HEARD:
		ev.type = ROOM_HEARD;
		ev.user = msg->heard.user;
		ev.at = msg->heard.at;
		ev.pcm = msg->heard.pcm;
		break;
	case MEDIA_HEARD_END:
		ev.type = ROOM_HEARD_END;
		ev.user = msg->heard_end.user;
		ev.at = msg->heard_end.at;
		break;
	default:
		return;
	}
	feed(a, &ev);
}

void agent_member(struct agent *a, uint64_t user, const char *name, bool is_bot, bool present)
{
	feed(a, &(struct room_event){.type = ROOM_MEMBER,
				     .user = user,
				     .is_bot = is_bot,
				     .yes = present,
				     .text = slice_str(name)});
}

void agent_muted(struct agent *a, bool muted)
{
	feed(a, &(struct room_event){.type = ROOM_MUTE, .yes = muted});
}

static void sound_ended(void *arg)
{
	struct agent *a = arg;

	sound_over(a, a->sound_turn, a->sound_chunk);
}

/* How long it lasts nobody tells. */
void agent_sounded(struct agent *a, uint32_t turn, uint32_t chunk, int err)
{
	uint32_t ms = err ? 0 : a->settings->sound_ms;

	if (!ms || (!a->sound_timer && tmr_alloc(&a->sound_timer, a->env, sound_ended, a))) {
		sound_over(a, turn, chunk);
		return;
	}
	a->sound_turn = turn;
	a->sound_chunk = chunk;
	tmr_start(a->sound_timer, ms * NS_PER_MS);
}

void agent_soundboard(struct agent *a, uint64_t user, const char *name)
{
	feed(a, &(struct room_event){.type = ROOM_SOUNDBOARD_PLAYED, .user = user, .text = slice_str(name)});
}

void agent_settings(struct agent *a)
{
	room_log_settings(a->log, a->settings);
	feed(a, &(struct room_event){.type = ROOM_SETTINGS, .yes = true});
}

void agent_end(struct agent *a, const char *why)
{
	a->tellh = NULL;
	a->leaveh = NULL;
	feed(a, &(struct room_event){.type = ROOM_END, .text = slice_str(why)});
}

void agent_status(const struct agent *a, struct status *out)
{
	out->has_brain = true;
	out->brain_up = a->brain ? realtime_up(a->brain) : a->transcriber && services_up(a->services);
	out->guest = settings_guest(a->settings);
	settings_brain_shown(a->settings, out->brain, sizeof out->brain);
	out->turns = a->turns;
	out->answered = room_count(a->room, ROOM_REASON_ANSWERED);
	out->last_turn = a->turns ? room_reason_text(a->last_reason) : NULL;
	out->delays = a->delays;
}

/* ---- coming and going ---- */

/* A laptop is plugged in and out while it runs. */
static void look_at_power(void *arg)
{
	struct agent *a = arg;
	const char *power = power_now(a->env);

	tmr_start(a->power_timer, POWER_S * 1000 * NS_PER_MS);
	if (strcmp(power, a->power) == 0)
		return;
	a->power = power;
	feed(a, &(struct room_event){.type = ROOM_POWER, .text = slice_str(power)});
}

static int transcriber_find(struct agent *a, struct transcribe_conf *conf)
{
	static const enum transcriber_how how[] = {[SETTINGS_ASR_SPEAKER] = TRANSCRIBER_EACH,
					    [SETTINGS_ASR_SHARED] = TRANSCRIBER_SHARED,
					    [SETTINGS_ASR_FILE] = TRANSCRIBER_FILES};
	struct settings_provider where;

	if (settings_provider(a->settings, SETTINGS_SERVICE_ASR, &where) == 0) {
		conf->base = where.base;
		conf->base_key = where.key;
	}
	return transcriber_alloc(&a->transcriber, conf, how[a->settings->asr_sessions]);
}

static int shells_alloc(struct agent *a, const struct agent_conf *conf)
{
	const struct settings *s = conf->settings;
	const char *url = settings_brain_url(s);
	struct services_conf sc = {.http = conf->http, .settings = s, .h = service_fact, .arg = a};
	struct realtime_conf bc = {.env = conf->env,
				   .ws = conf->ws,
				   .url = url,
				   .model = s->brain_model,
				   .voice = s->brain_voice,
				   .key = s->openai_api_key,
				   .h = brain_fact,
				   .arg = a};
	struct transcribe_conf ac = {.env = conf->env,
			      .ws = conf->ws,
			      .url = url,
			      .model = s->asr_model,
			      .language = s->language,
			      .key = s->openai_api_key,
			      .http = conf->http,
			      .h = asr_fact,
			      .arg = a};
	int err = services_alloc(&a->services, &sc);

	if (err)
		return err;
	if (!url) {
		log_warn("no_brain", "hint=\"set OPENAI_API_KEY or PARLEY_BRAIN_URL\"");
		return 0;
	}
	/* What writes is asked by HTTP, and needs no session. */
	if (s->reply_path != SETTINGS_REPLY_BRAIN)
		err = realtime_alloc(&a->brain, &bc);
	return err ? err : transcriber_find(a, &ac);
}

int agent_alloc(struct agent **out, const struct agent_conf *conf)
{
	const struct media_call_state *state;
	struct agent *a;
	int err;

	if (!out || !conf->env || !conf->call || !conf->settings)
		return EINVAL;
	a = calloc(1, sizeof *a);
	if (!a)
		return ENOMEM;
	a->env = conf->env;
	a->call = conf->call;
	a->settings = conf->settings;
	a->tellh = conf->tellh;
	a->faulth = conf->faulth;
	a->leaveh = conf->leaveh;
	a->soundh = conf->soundh;
	a->arg = conf->arg;
	a->last = &a->first;
	a->power = "";
	a->fx = calloc(1, sizeof *a->fx);
	err = a->fx ? room_alloc(&a->room, conf->settings, conf->bot_name) : ENOMEM;
	if (!err)
		err = voice_output_alloc(&a->output, a->call, say_fact, a);
	if (!err)
		err = tmr_alloc(&a->timer, a->env, timer_fired, a);
	if (!err)
		err = tmr_alloc(&a->power_timer, a->env, look_at_power, a);
	if (!err)
		err = shells_alloc(a, conf);
	if (err) {
		agent_free(a);
		return err;
	}
	*out = a;
	a->log = room_log_new(a->env, a->settings, conf->bot_name, media_call_want(a->call)->guild);
	look_at_power(a);
	/* The call may have been up before its agent was. */
	state = media_call_last(a->call);
	if (state)
		agent_media(a, &(struct media_msg){.type = MEDIA_CALL_STATE, .call_state = *state});
	return 0;
}

struct agent *agent_free(struct agent *a)
{
	if (!a)
		return NULL;
	if (a->room && a->timer)
		feed(a, &(struct room_event){.type = ROOM_SHUTDOWN});
	while (a->first) {
		struct later *l = a->first;

		a->first = l->next;
		free(l);
	}
	tmr_free(a->timer);
	tmr_free(a->power_timer);
	tmr_free(a->sound_timer);
	voice_output_free(a->output);
	transcriber_free(a->transcriber);
	realtime_free(a->brain);
	services_free(a->services);
	room_log_free(a->log);
	room_free(a->room);
	free(a->fx);
	free(a);
	return NULL;
}
