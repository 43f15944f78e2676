/* Turns engine events into events of the room, and into the faults that people are told (agent.h).
 */
#include <string.h>

#include "control/agent/inside.h"
#include "control/settings/settings.h"
#include "ipc/log.h"
#include "proto/http/retry_after.h"
#include "proto/media.h"

enum { NANO_A_MICRO = 1000 };

enum engine_use agent_reply_use(const struct agent *a)
{
	return a->settings->reply_path == SETTINGS_REPLY_BRAIN ? ENGINE_USE_REPLY
							       : ENGINE_USE_VOICE;
}

static enum fault fault_of(enum trouble trouble, enum fault other)
{
	switch (trouble) {
	case TROUBLE_KEY:
		return FAULT_KEY;
	case TROUBLE_CREDIT:
		return FAULT_CREDIT;
	case TROUBLE_BUSY:
		return FAULT_BUSY;
	case TROUBLE_UNREACHABLE:
		return FAULT_BRAIN;
	case TROUBLE_OTHER:
		break;
	}
	return other;
}

/* Tells people why an ask failed. A provider that cannot be reached stays so until it
 * answers. */
static void tell_failure(struct agent *a, enum engine_use use, enum trouble trouble,
			 enum fault other)
{
	if (trouble == TROUBLE_UNREACHABLE)
		a->unreached |= 1u << use;
	agent_fault(a, fault_of(trouble, other),
		    trouble == TROUBLE_UNREACHABLE ? FAULT_IS_NOTICED : FAULT_IS_ONCE);
}

static void tell_reached(struct agent *a, enum engine_use use)
{
	if (!(a->unreached & 1u << use))
		return;
	a->unreached &= ~(1u << use);
	if (!a->unreached)
		agent_fault(a, FAULT_BRAIN, FAULT_IS_OVER);
}

static void tell_silence(struct agent *a, const struct roles_event *ev)
{
	log_warn(ev->use == ENGINE_USE_SPEECH ? "speech_silent" : "brain_silent", "turn=%u",
		 ev->turn);
	if (!a->silent_turn)
		a->silent_turn = ev->turn;
	agent_fault(a, FAULT_SILENT, FAULT_IS_THERE);
}

static void end_silence(struct agent *a)
{
	a->silent_turn = 0;
	agent_fault(a, FAULT_SILENT, FAULT_IS_OVER);
}

/* People know already why this turn gets no answer. */
static bool is_told(const struct agent *a, const struct roles_event *ev)
{
	return ev->turn == a->silent_turn && ev->engine->trouble == TROUBLE_OTHER;
}

/* Nobody knows yet whether the turn wants its speculative answer. */
static void keep_untold(struct agent *a, const struct roles_event *ev)
{
	a->untold.turn = ev->turn;
	a->untold.use = ev->use;
	a->untold.trouble = ev->engine->trouble;
}

void agent_tell_untold(struct agent *a, uint32_t turn)
{
	if (a->untold.turn == turn)
		tell_failure(a, a->untold.use, a->untold.trouble, FAULT_ANSWER);
}

void agent_tell_unheard(struct agent *a)
{
	tell_failure(a, ENGINE_USE_TRANSCRIBE, a->unheard, FAULT_SPEECH);
}

static void link_up(struct agent *a)
{
	a->short_wait = false;
	agent_fault(a, FAULT_BRAIN, FAULT_IS_OVER);
	agent_fault(a, FAULT_KEY, FAULT_IS_OVER);
}

/* A wait that a person who asks does not notice is told only if an answer fails. */
static void link_down(struct agent *a, const struct roles_event *ev)
{
	enum fault f = fault_of(ev->engine->trouble, FAULT_BRAIN);
	bool lasts = f == FAULT_BRAIN || f == FAULT_KEY;
	uint32_t ms = retry_after_told((const char *)ev->engine->data.p, ev->engine->data.n);

	a->short_wait = ms && ms <= RETRY_AFTER_PATIENCE_MS;
	if (!ev->taken_over && !a->short_wait)
		agent_fault(a, f, lasts ? FAULT_IS_THERE : FAULT_IS_ONCE);
}

static void answer_failed(struct agent *a, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	const struct room_turn *t = room_active(a->room);
	bool begun = t && t->id == ev->turn && t->first_audio_at;

	log_warn("brain_failed", "turn=%u why=\"%.*s\"", ev->turn, (int)e->data.n,
		 (const char *)e->data.p);
	if (room_speculates(a->room, ev->turn)) {
		keep_untold(a, ev);
		return;
	}
	if (is_told(a, ev))
		return;
	/* A link that is down has a fault of its own; but everybody heard an answer break off. */
	if (begun || a->short_wait || ev->use != ENGINE_USE_VOICE ||
	    roles_health(a->roles, ev->use) != ROLES_DOWN)
		tell_failure(a, ev->use, e->trouble, FAULT_ANSWER);
}

static void take_reply(struct agent *a, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	struct room_event out = {.turn = ev->turn, .text = e->data};

	switch (e->type) {
	case ENGINE_LINK_UP:
		link_up(a);
		return;
	case ENGINE_LINK_DOWN:
		link_down(a, ev);
		return;
	case ENGINE_SILENT:
		tell_silence(a, ev);
		return;
	case ENGINE_AUDIO:
		out.type = ROOM_BRAIN_AUDIO;
		out.pcm = e->data;
		out.text = (struct slice){0};
		break;
	case ENGINE_WORDS:
		agent_tools_words(a->tools, ev);
		out.type = ROOM_BRAIN_TEXT;
		out.tainted = agent_tools_tainted(a->tools);
		break;
	case ENGINE_TOOL_CALL:
		agent_tools_call(a->tools, ev);
		return;
	case ENGINE_TOOL_REVOKED:
		agent_tools_revoke(a->tools, ev);
		return;
	case ENGINE_SEARCH_BEGAN:
	case ENGINE_SEARCHED:
	case ENGINE_SOURCE:
		agent_tools_search(a->tools, ev);
		return;
	case ENGINE_ASIDE:
		out.type = ROOM_ADDRESSEE;
		break;
	case ENGINE_DONE:
		out.type = ROOM_BRAIN_DONE;
		break;
	case ENGINE_FAILED:
		answer_failed(a, ev);
		out.type = ROOM_BRAIN_FAILED;
		break;
	default:
		return;
	}
	if (ev->answers)
		end_silence(a);
	agent_feed(a, &out);
}

static void take_speech(struct agent *a, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	struct room_event out = {.turn = ev->turn, .chunk = ev->chunk};

	switch (e->type) {
	case ENGINE_SILENT:
		tell_silence(a, ev);
		return;
	case ENGINE_AUDIO:
		out.type = ROOM_SPEECH_AUDIO;
		out.pcm = e->data;
		break;
	case ENGINE_WORD_END:
		out.type = ROOM_SPEECH_WORD;
		out.text = e->data;
		out.samples = e->samples;
		break;
	case ENGINE_DONE:
		out.type = ROOM_SPEECH_DONE;
		break;
	case ENGINE_FAILED:
		log_warn("speech_failed", "turn=%u why=\"%.*s\"", ev->turn, (int)e->data.n,
			 (const char *)e->data.p);
		if (room_speculates(a->room, ev->turn))
			keep_untold(a, ev);
		else if (ev->chunk != ROOM_LINE_CHUNK && !is_told(a, ev))
			tell_failure(a, ev->use, e->trouble, FAULT_ANSWER);
		out.type = ROOM_SPEECH_FAILED;
		out.text = e->data;
		break;
	default:
		return;
	}
	if (ev->answers)
		end_silence(a);
	agent_feed(a, &out);
}

static void take_decision(struct agent *a, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;

	if (e->type == ENGINE_FAILED)
		log_warn("not_judged", "turn=%u why=\"%.*s\"", ev->turn, (int)e->data.n,
			 (const char *)e->data.p);
	/* An end without words is no decision either; behind words the room passes it over. */
	if (e->type == ENGINE_FAILED || e->type == ENGINE_WORDS || e->type == ENGINE_DONE)
		agent_feed(a, &(struct room_event){.type = ROOM_CLASSIFIED,
						   .turn = ev->turn,
						   .chunk = ev->chunk,
						   .yes = e->type == ENGINE_WORDS,
						   .text = e->data});
}

/* A summary comes in pieces. */
static void take_summary(struct agent *a, const struct roles_event *ev)
{
	const struct engine_event *e = ev->engine;
	size_t n = strlen(a->summary), more = e->data.n;

	if (e->type == ENGINE_WORDS) {
		if (more > sizeof a->summary - 1 - n)
			more = sizeof a->summary - 1 - n;
		memcpy(a->summary + n, e->data.p, more);
		a->summary[n + more] = '\0';
	} else if (e->type == ENGINE_DONE || e->type == ENGINE_FAILED) {
		agent_feed(a, &(struct room_event){.type = ROOM_SUMMARY,
						   .chunk = ev->chunk,
						   .yes = e->type == ENGINE_DONE,
						   .text = slice_str(a->summary)});
	}
}

static void take_transcript(struct agent *a, const struct engine_event *e)
{
	if (e->type == ENGINE_NO_TRANSCRIPT)
		a->unheard = e->trouble;
	agent_feed(a, &(struct room_event){.type = e->type == ENGINE_PARTIAL ? ROOM_PARTIAL
						   : e->type == ENGINE_TRANSCRIPT
							   ? ROOM_TRANSCRIPT
							   : ROOM_TRANSCRIPT_FAILED,
					   .user = e->user,
					   .utterance = e->utterance,
					   .text = e->data,
					   .doubt = e->doubt,
					   .no_speech = e->no_speech,
					   .language = slice_str(e->language ? e->language : "")});
}

static bool shows_life(enum engine_event_type type)
{
	return type == ENGINE_AUDIO || type == ENGINE_WORDS || type == ENGINE_DONE ||
	       type == ENGINE_TRANSCRIPT;
}

static void take_event(const struct roles_event *ev, void *arg)
{
	struct agent *a = arg;

	if (ev->engine->type == ENGINE_REFUSED || ev->engine->type == ENGINE_FAILOVER) {
		agent_publish_provider(a, ev);
		if (ev->engine->type == ENGINE_REFUSED)
			agent_fault(a, FAULT_REFUSED, FAULT_IS_ONCE);
		return;
	}
	if (ev->engine->type == ENGINE_USAGE) {
		uint64_t nano = agent_spend(a, ev);

		if (ev->use == ENGINE_USE_WORKER)
			agent_tools_worker(a->tools, ev, nano / NANO_A_MICRO);
		return;
	}
	if (ev->engine->type == ENGINE_LINK_UP || ev->engine->type == ENGINE_LINK_DOWN)
		agent_publish_link(a, ev);
	if (shows_life(ev->engine->type))
		tell_reached(a, ev->use);
	switch (ev->use) {
	case ENGINE_USE_VOICE:
	case ENGINE_USE_REPLY:
		take_reply(a, ev);
		break;
	case ENGINE_USE_SPEECH:
		take_speech(a, ev);
		break;
	case ENGINE_USE_DECISION:
	case ENGINE_USE_INTERRUPTION:
		take_decision(a, ev);
		break;
	case ENGINE_USE_TRANSCRIBE:
		take_transcript(a, ev->engine);
		break;
	case ENGINE_USE_SUMMARY:
		take_summary(a, ev);
		break;
	case ENGINE_USE_WORKER:
		agent_tools_worker(a->tools, ev, 0);
		break;
	case ENGINE_USE_EMBED: /* of no room */
	case ENGINE_USE_TEXT:
	case ENGINE_USE_SEE:
	case ENGINE_USE_FOLLOWUP:
	case ENGINE_USE_TEXT_FOLLOWUP:
	case ENGINE_USE_COUNT:
		break;
	}
}

int agent_open_roles(struct agent *a, const struct agent_conf *conf)
{
	const struct roles_conf rc = {.env = conf->env,
				      .ws = conf->ws,
				      .http = conf->http,
				      .settings = conf->settings,
				      .h = take_event,
				      .arg = a};

	return roles_alloc(&a->roles, &rc);
}
