#include "control/room/turn/admission.h"

#include <stdio.h>

#include "control/room/base/answers.h"
#include "control/room/base/context.h"
#include "control/room/base/turns.h"
#include "control/room/floor/address.h"
#include "control/room/floor/choice.h"
#include "control/room/floor/floor.h"
#include "control/room/floor/followup.h"
#include "control/room/floor/music.h"
#include "control/room/floor/phrase.h"
#include "control/room/turn/classifier.h"
#include "control/room/turn/deferred.h"
#include "control/room/turn/history.h"
#include "control/room/turn/moments.h"
#include "control/room/turn/saying.h"
#include "control/room/turn/segment.h"
#include "control/room/turn/supersede.h"
#include "control/room/turn/turn_queue.h"
#include "control/settings/provider_record.h"
#include "control/settings/settings.h"
#include "proto/base/time.h"

/* The input of the rules. */
struct look {
	struct room_context *context;
	struct room_turn *turn;
	enum room_address address;
	enum room_floor_decision floor;
	uint64_t tool_owner;
};

/* The answer of a rule: whether it applies at all, whether it fits, and the compared values. */
struct fits {
	bool concerns, yes;
	int64_t value, limit;
};

static struct fits fits_if(bool concerns, bool yes)
{
	return (struct fits){concerns, yes, yes, 1};
}

static struct fits fits_no_words(const struct look *l)
{
	return (struct fits){true, !l->turn->transcript[0], (int64_t)strlen(l->turn->transcript),
			     1};
}

static struct fits fits_arrival(const struct look *l)
{
	return fits_if(l->turn->arrival, true);
}

static struct fits fits_remark(const struct look *l)
{
	return fits_if(l->turn->remark, true);
}

/* True if the speaker has an open choice. */
static bool has_open_choice(const struct look *l)
{
	return room_choice_open(l->context->choice, l->context->now) &&
	       room_choice_user(l->context->choice) == l->turn->user;
}

bool room_bot_asked_question(const struct room_context *context)
{
	const struct room_history *h = context->history;

	if (room_turn_on_floor(context) && room_turn_on_floor(context)->first_audio_at)
		return room_phrase_asks(room_turn_on_floor(context)->answer);
	for (unsigned i = room_history_count(h); i-- > 0;)
		if (room_history_at(h, i)->bot)
			return room_phrase_asks(room_history_at(h, i)->text);
	return false;
}

/* True if the words mean nothing unless they answer a question. */
static bool means_nothing_alone(const struct look *l,
				bool (*says_nothing)(const struct room_saying *s))
{
	struct room_saying s = room_saying_of(l->context, l->turn->transcript, l->turn->language);

	return !l->turn->named && says_nothing(&s) && !room_bot_asked_question(l->context);
}

/* Over an answer; a speaker with a waiting turn may be adding to it. */
static bool is_passing_remark(const struct look *l)
{
	const struct room_turn *a = room_turn_on_floor(l->context),
			       *q = room_turn_queued(l->context);
	uint64_t user = l->turn->user;

	if (!a || !a->first_audio_at || has_open_choice(l) || (q && q->user == user) ||
	    (room_turn_deferred_of(l->context, user) &&
	     room_turn_deferred_of(l->context, user) != l->turn))
		return false;
	return means_nothing_alone(l, room_phrase_passing);
}

static struct fits fits_backchannel(const struct look *l)
{
	struct room_saying s = room_saying_of(l->context, l->turn->transcript, l->turn->language);

	return fits_if(true, room_phrase_is_nonverbal(&s) || is_passing_remark(l));
}

/* Such a word does not continue a conversation. */
static struct fits fits_idle_words(const struct look *l)
{
	bool holder = l->floor == ROOM_FLOOR_OFFER_HOLDER;

	return fits_if(holder, holder && means_nothing_alone(l, room_phrase_idle));
}

static void emit_choice(struct room_context *context, uint64_t user, const char *option)
{
	struct room_effect *e = room_emit(context, ROOM_DO_CHOOSE);
	const char *text = room_text_of(context, option, strlen(option));

	e->user = user;
	e->text = text ? text : "";
	room_choice_clear(context->choice);
}

static enum room_music_control find_music_control(const struct look *l)
{
	struct room_saying s = room_saying_of(l->context, l->turn->transcript, l->turn->language);

	return room_music_control(&s);
}

static struct fits fits_music_control(const struct look *l)
{
	bool music = !room_music_idle(l->context->music) && !room_turn_on_floor(l->context) &&
		     room_music_obeys(l->context->music, l->context, l->turn);
	enum room_music_control control = find_music_control(l);

	/* "Go on" is for the answerer while nothing is paused. */
	return fits_if(music, control == ROOM_MUSIC_RESUME ? room_music_paused(l->context->music)
							   : control != ROOM_MUSIC_NO_CONTROL);
}

static bool addresses_somebody_else(const struct look *l)
{
	return !l->turn->named &&
	       room_saying_to_other(l->context, l->turn->user, l->turn->transcript,
				    l->turn->language, false);
}

static struct fits fits_choice_made(const struct look *l)
{
	bool open = has_open_choice(l) && !addresses_somebody_else(l);
	int which = open ? room_choice_match(l->context->choice, l->turn->transcript) : -1;

	return (struct fits){has_open_choice(l), which >= 0, which + 1,
			     room_choice_count(l->context->choice)};
}

static bool is_stop_request(const struct look *l)
{
	struct room_saying s = room_saying_of(l->context, l->turn->transcript, l->turn->language);

	return room_phrase_of(&s) == ROOM_PHRASE_STOP;
}

/* Whose jobs a stop request of this speaker ends: their own, or where they may stop the answer to
 * somebody else, everybody's. */
static bool may_stop_others(const struct look *l)
{
	return l->turn->named || room_people_present(l->context) == 1;
}

static unsigned count_jobs(const struct look *l)
{
	unsigned own = room_followup_jobs(l->context->followup, l->turn->user);

	return own || !may_stop_others(l) ? own : room_followup_jobs(l->context->followup, 0);
}

/* "Stop the search", while one runs. */
static bool stops_job(const struct look *l)
{
	struct room_saying s = room_saying_of(l->context, l->turn->transcript, l->turn->language);

	return count_jobs(l) && room_phrase_stops_work(&s);
}

/* "Stop", "never mind": fits if the speaker has something to cancel, or speaks to the bot, which
 * then stays silent. */
static struct fits fits_cancel_intent(const struct look *l)
{
	const struct room_context *context = l->context;
	const struct room_turn *a = room_turn_on_floor(context), *q = room_turn_queued(l->context);
	uint64_t user = l->turn->user;
	bool stop = is_stop_request(l) || stops_job(l);
	bool own = count_jobs(l) || (a && a->user == user) || (q && room_segment_of(q, user)) ||
		   l->tool_owner == user || room_turn_deferred_of(l->context, user) ||
		   has_open_choice(l);
	bool was = room_followup_interrupted_since(context->followup, context->settings, user,
						   context->now) != UINT64_MAX;
	bool standing = own || was || l->turn->named || l->floor == ROOM_FLOOR_OFFER_HOLDER ||
			room_people_present(context) == 1;

	return fits_if(stop, stop && standing);
}

static struct fits fits_pending_command(const struct look *l)
{
	return fits_if(room_choice_open(l->context->choice, l->context->now),
		       has_open_choice(l) && !addresses_somebody_else(l));
}

static struct fits fits_same_speaker_queued(const struct look *l)
{
	const struct room_turn *q = room_turn_queued(l->context);
	bool yes = q && q->user == l->turn->user;

	return (struct fits){yes, yes, yes ? q->id : 0, 0};
}

static struct fits fits_same_speaker_deferred(const struct look *l)
{
	const struct room_turn *d = room_turn_deferred_of(l->context, l->turn->user);
	bool yes = d && d != l->turn && !l->turn->deferred_at;

	return (struct fits){yes, yes, yes ? d->id : 0, 0};
}

static struct fits fits_same_speaker_goes_on(const struct look *l)
{
	bool yes = room_supersede_stage(l->context, l->turn->user) != ROOM_STAGE_NONE;

	return fits_if(yes, yes);
}

/* The interrupt classifier has yet to tell whether these words are for the bot. */
static struct fits fits_overlap_judged(const struct look *l)
{
	bool asked = room_overlap_verdict(l->context, l->turn) == ROOM_OVERLAP_ASKED;

	return fits_if(asked, asked && !l->turn->named);
}

static struct fits fits_overlap_ignored(const struct look *l)
{
	bool ignored = room_overlap_verdict(l->context, l->turn) == ROOM_OVERLAP_IGNORE;
	struct room_saying s = room_saying_of(l->context, l->turn->transcript, l->turn->language);

	return fits_if(ignored, ignored && !l->turn->named && !room_phrase_is_listed(&s));
}

/* The simple floor mode: over an answer only the bot's name counts, other words are recorded. */
static struct fits fits_recorded_only(const struct look *l)
{
	const struct room_turn *a = room_turn_on_floor(l->context);
	bool only = l->context->settings->interruptions == SETTINGS_INTERRUPT_NAME && a &&
		    a->first_audio_at;

	return fits_if(only, only && !l->turn->named);
}

static struct fits fits_bot_turn_open(const struct look *l)
{
	const struct room_turn *a = room_turn_on_floor(l->context);

	return (struct fits){true, a != NULL, a ? a->id : 0, 0};
}

static struct fits fits_tool_cancel(const struct look *l)
{
	bool stop = is_stop_request(l);

	return fits_if(l->tool_owner && stop,
		       stop && (l->tool_owner == l->turn->user || l->turn->named));
}

static struct fits fits_tool_owner(const struct look *l)
{
	return fits_if(l->tool_owner, l->tool_owner == l->turn->user);
}

static struct fits fits_tool_of_other(const struct look *l)
{
	bool busy =
		room_followup_tools_until(l->context->followup, l->context->now) || !l->turn->named;

	return fits_if(l->tool_owner, l->tool_owner != l->turn->user && busy);
}

static bool is_command_only(const struct look *l)
{
	return l->context->settings->command_only || room_music_locks(l->context->music);
}

static struct fits fits_command_addressed(const struct look *l)
{
	return fits_if(is_command_only(l), l->turn->named);
}

static struct fits fits_command_name_cue(const struct look *l)
{
	bool only = is_command_only(l);

	return fits_if(only, only && room_name_cue(l->context->names, l->turn->transcript));
}

static struct fits fits_command_not_addressed(const struct look *l)
{
	return fits_if(is_command_only(l), !room_music_locks(l->context->music));
}

static struct fits fits_direct_address(const struct look *l)
{
	return fits_if(true, l->turn->named);
}

/* A single person need not name the bot: there is nobody else to speak to. */
static struct fits fits_guest(const struct look *l)
{
	unsigned people = room_people_present(l->context);

	return (struct fits){true, l->context->guest && people != 1, people, 1};
}

static struct fits fits_interrupted_reply(const struct look *l)
{
	const struct settings *s = l->context->settings;
	uint64_t ms = room_followup_interrupted_since(l->context->followup, s, l->turn->user,
						      l->context->now);
	bool yes = ms != UINT64_MAX && !addresses_somebody_else(l);

	return (struct fits){room_followup_interrupted_at(l->context->followup), yes,
			     ms > INT64_MAX ? INT64_MAX : (int64_t)ms, s->barge_in_follow_ms};
}

/* The turn began or arrived while the music latch was open. */
static struct fits fits_music_latch(const struct look *l)
{
	const struct room_music *m = l->context->music;

	return fits_if(room_music_gates(m),
		       room_music_admits(m, l->turn->user, l->turn->latched, l->context->now));
}

static struct fits fits_not_awake(const struct look *l)
{
	return fits_if(room_music_gates(l->context->music), true);
}

static struct fits fits_native(const struct look *l)
{
	return fits_if(l->context->settings->admission == SETTINGS_ADMISSION_NATIVE, true);
}

static struct fits fits_generation_decides(const struct look *l)
{
	return fits_if(l->context->settings->admission == SETTINGS_ADMISSION_GENERATION, true);
}

static struct fits fits_alone(const struct look *l)
{
	unsigned people = room_people_present(l->context);

	return (struct fits){true, people == 1, people, 1};
}

static struct fits fits_to_other(const struct look *l)
{
	return fits_if(true, addresses_somebody_else(l));
}

/* The older chain of rules: a setting selects it instead of the floor. */
static bool is_focus(const struct look *l)
{
	return l->context->settings->admission == SETTINGS_ADMISSION_FOCUS;
}

static struct fits fits_low_signal(const struct look *l)
{
	struct room_saying s = room_saying_of(l->context, l->turn->transcript, l->turn->language);

	return fits_if(is_focus(l), is_focus(l) && room_phrase_is_fragment(&s) &&
					    !room_bot_asked_question(l->context));
}

/* Whoever else has spoken since. */
static struct fits fits_focused_speaker(const struct look *l)
{
	const struct room_floor *f = l->context->floor;
	uint64_t limit = l->context->settings->focus_s * 1000ull;
	uint64_t ms = (l->context->now - room_floor_relevant_at(f)) / NS_PER_MS;
	bool holder =
		is_focus(l) && room_floor_relevant_at(f) && room_floor_holder(f) == l->turn->user;

	return (struct fits){holder, holder && ms <= limit, (int64_t)ms, (int64_t)limit};
}

static struct fits fits_eagerness_disabled(const struct look *l)
{
	return fits_if(is_focus(l), l->context->settings->volition == SETTINGS_VOLITION_OFF);
}

/* The floor holder goes on, and nobody else has spoken since. */
static struct fits fits_floor_holder(const struct look *l)
{
	const struct room_floor *f = l->context->floor;
	bool holder = l->floor == ROOM_FLOOR_OFFER_HOLDER && !is_focus(l);
	/* "I asked Parley" is said to others. */
	bool of_bot = holder && room_name_occurs(l->context->names, l->turn->transcript);

	return (struct fits){holder, holder && !room_floor_others(f) && !of_bot,
			     room_floor_others(f), 0};
}

static struct fits fits_volition(const struct look *l)
{
	const struct settings *s = l->context->settings;
	uint64_t ms = room_floor_volition_in(l->context->floor, s, l->context->now);
	bool offer = l->floor == ROOM_FLOOR_OFFER_VOLITION ||
		     (l->floor == ROOM_FLOOR_OFFER_MENTIONED && ms == 0);

	return (struct fits){s->volition != SETTINGS_VOLITION_OFF && !is_focus(l), offer,
			     ms > INT64_MAX ? INT64_MAX : (int64_t)ms, 0};
}

/* Cases that the rules leave open are for the classifier, if there is one. */
static struct fits fits_classifier(const struct look *l)
{
	bool asks = settings_classifies_turns(l->context->settings) &&
		    room_classifier_ready(l->context->classifier, l->context);

	return fits_if(asks, asks);
}

static struct fits fits_always(const struct look *l)
{
	return fits_if(l != NULL, true);
}

/* The outcome of a rule that fits. */
enum verdict {
	ALLOW,
	DENY,
	DEFER,
	MERGE_QUEUED,
	MERGE_DEFERRED,
	SUPERSEDE,
	CANCEL,
	CONTROL,
	CHOOSE,
	JUDGE,
	AWAIT
};

static const struct row {
	enum room_rule rule;
	enum verdict verdict;
	enum room_reason reason; /* of a turn that is denied */
	struct fits (*fits)(const struct look *l);
} rows[] = {
	{ROOM_RULE_MISSING_TRANSCRIPT, DENY, ROOM_REASON_EMPTY_TRANSCRIPT, fits_no_words},
	{ROOM_RULE_GREETING, ALLOW, 0, fits_arrival},
	{ROOM_RULE_SCREEN_REMARK, ALLOW, 0, fits_remark},
	{ROOM_RULE_MUSIC_CONTROLLED, CONTROL, 0, fits_music_control},
	{ROOM_RULE_CANCEL_INTENT, CANCEL, ROOM_REASON_CANCELLED, fits_cancel_intent},
	{ROOM_RULE_BACKCHANNEL, DENY, ROOM_REASON_BACKCHANNEL, fits_backchannel},
	{ROOM_RULE_CHOICE_MADE, CHOOSE, 0, fits_choice_made},
	{ROOM_RULE_PENDING_COMMAND, ALLOW, 0, fits_pending_command},
	{ROOM_RULE_SAME_SPEAKER_QUEUED, MERGE_QUEUED, 0, fits_same_speaker_queued},
	{ROOM_RULE_SAME_SPEAKER_DEFERRED, MERGE_DEFERRED, 0, fits_same_speaker_deferred},
	{ROOM_RULE_SAME_SPEAKER_GOES_ON, SUPERSEDE, 0, fits_same_speaker_goes_on},
	{ROOM_RULE_OVERLAP_JUDGED, AWAIT, 0, fits_overlap_judged},
	{ROOM_RULE_OVERLAP_IGNORED, DENY, ROOM_REASON_NOT_ADDRESSED, fits_overlap_ignored},
	{ROOM_RULE_RECORDED_ONLY, DENY, ROOM_REASON_NOT_ADDRESSED, fits_recorded_only},
	{ROOM_RULE_BOT_TURN_OPEN, DEFER, 0, fits_bot_turn_open},
	{ROOM_RULE_TOOL_FOLLOWUP_CANCEL, ALLOW, 0, fits_tool_cancel},
	{ROOM_RULE_TOOL_FOLLOWUP, ALLOW, 0, fits_tool_owner},
	{ROOM_RULE_TOOL_OF_OTHER, DEFER, 0, fits_tool_of_other},
	{ROOM_RULE_COMMAND_ADDRESSED, ALLOW, 0, fits_command_addressed},
	{ROOM_RULE_COMMAND_NAME_CUE, ALLOW, 0, fits_command_name_cue},
	{ROOM_RULE_COMMAND_NOT_ADDRESSED, DENY, ROOM_REASON_NOT_ADDRESSED,
	 fits_command_not_addressed},
	{ROOM_RULE_DIRECT_ADDRESS, ALLOW, 0, fits_direct_address},
	{ROOM_RULE_GUEST_NAMED_ONLY, DENY, ROOM_REASON_NOT_ADDRESSED, fits_guest},
	{ROOM_RULE_INTERRUPTED_REPLY, ALLOW, 0, fits_interrupted_reply},
	{ROOM_RULE_MUSIC_LATCH, ALLOW, 0, fits_music_latch},
	{ROOM_RULE_MUSIC_NOT_AWAKE, DENY, ROOM_REASON_NOT_AWAKE, fits_not_awake},
	{ROOM_RULE_NATIVE, ALLOW, 0, fits_native},
	{ROOM_RULE_GENERATION_DECIDES, ALLOW, 0, fits_generation_decides},
	{ROOM_RULE_LOW_SIGNAL_FRAGMENT, DENY, ROOM_REASON_NOT_ADDRESSED, fits_low_signal},
	{ROOM_RULE_ALONE_WITH_SPEAKER, ALLOW, 0, fits_alone},
	{ROOM_RULE_TO_SOMEBODY_ELSE, DENY, ROOM_REASON_NOT_ADDRESSED, fits_to_other},
	{ROOM_RULE_BACKCHANNEL, DENY, ROOM_REASON_BACKCHANNEL, fits_idle_words},
	{ROOM_RULE_FOCUSED_SPEAKER, ALLOW, 0, fits_focused_speaker},
	{ROOM_RULE_EAGERNESS_DISABLED, DENY, ROOM_REASON_NOT_ADDRESSED, fits_eagerness_disabled},
	{ROOM_RULE_FLOOR_HOLDER, ALLOW, 0, fits_floor_holder},
	{ROOM_RULE_VOLITION, ALLOW, 0, fits_volition},
	{ROOM_RULE_CLASSIFIER, JUDGE, 0, fits_classifier},
	{ROOM_RULE_NOT_ADDRESSED, DENY, ROOM_REASON_NOT_ADDRESSED, fits_always},
};

static void emit_record(struct room_context *context, enum room_effect_type type,
			const struct room_turn *turn, enum room_rule rule)
{
	struct room_effect *e = room_emit(context, type);

	e->record = turn;
	e->text = room_rule_name(rule);
}

static void admit_turn(struct look *l, enum room_rule rule)
{
	struct room_context *context = l->context;

	emit_record(context, ROOM_DO_ADMIT, l->turn, rule);
	room_floor_apply(context->floor, context->settings, l->floor, l->turn->user, context->now);
	if (l->floor >= ROOM_FLOOR_OFFER_HOLDER)
		room_floor_resolve_offer(context->floor, true, l->turn->user, context->now);
	if (l->turn->named || rule == ROOM_RULE_COMMAND_NAME_CUE)
		room_music_wake(context->music, context, l->turn->user);
	else if (room_music_gates(context->music))
		room_music_renew(context->music);
	room_turn_enqueue(context, l->turn);
}

/* True if a model may know what people say to each other: a voice model is told at once, a text
 * model with its next question. */
static bool is_overheard(const struct room_context *context)
{
	switch (context->settings->overhear) {
	case SETTINGS_OVERHEAR_ALWAYS:
		return true;
	case SETTINGS_OVERHEAR_ENGAGED:
		return !context->guest &&
		       room_floor_engaged(context->floor, context->settings, context->now);
	default:
		return false;
	}
}

static void deny_turn(struct look *l, const struct row *row)
{
	struct room_context *context = l->context;

	bool offer = l->floor == ROOM_FLOOR_OFFER_HOLDER || l->floor == ROOM_FLOOR_OFFER_MENTIONED;

	if (row->reason == ROOM_REASON_NOT_ADDRESSED && is_overheard(context))
		room_emit(context, ROOM_DO_OVERHEARD)->record = l->turn;
	else if (row->reason == ROOM_REASON_NOT_ADDRESSED)
		room_history_withhold(context->history, l->turn->id);
	if (row->reason == ROOM_REASON_NOT_ADDRESSED)
		room_floor_apply(context->floor, context->settings,
				 l->floor == ROOM_FLOOR_OFFER_VOLITION ? ROOM_FLOOR_IGNORE
								       : l->floor,
				 l->turn->user, context->now);
	if (offer && row->reason == ROOM_REASON_NOT_ADDRESSED)
		room_floor_resolve_offer(context->floor, false, l->turn->user, context->now);
	room_turn_end(context, l->turn, row->reason);
}

static void stop_jobs(const struct look *l)
{
	struct room_context *context = l->context;
	struct room_effect *e = room_emit(context, ROOM_DO_TOOL_CANCEL);

	e->user = room_followup_jobs(context->followup, l->turn->user) ? l->turn->user : 0;
	e->text = room_reason_name(ROOM_REASON_CANCELLED);
}

/* Cancels a turn with words of this speaker. What others said in it goes on in another turn, unless
 * an answer to both is heard already. */
static void cancel_words(struct room_context *context, struct room_turn *t, uint64_t user)
{
	bool shared = room_segment_of_others(t, user) && !t->first_audio_at;
	struct room_turn *rest = shared ? room_turn_copy(context, t) : NULL;
	bool deferred = t->phase == ROOM_PHASE_DEFERRED;

	room_turn_cancel(context, t, ROOM_REASON_CANCELLED);
	if (!rest)
		return;
	room_segment_drop(rest, user);
	room_turn_reassign(rest);
	room_turn_decide(rest, ROOM_RULE_CANCEL_INTENT, true, t->id, 0);
	rest->deferred_at = t->deferred_at;
	if (deferred)
		room_turn_defer(context, rest);
	else
		room_turn_enqueue(context, rest);
}

/* "Never mind" cancels what the speaker has under way and is no question itself. Jobs run in the
 * background: a stop that ends an answer ends them only if it says so. */
static void cancel_speakers_work(struct look *l)
{
	struct room_context *context = l->context;
	bool jobs = count_jobs(l);
	struct room_turn *d = room_turn_deferred_of(context, l->turn->user),
			 *q = room_turn_queued(context);
	struct room_turn *a = room_turn_on_floor(context);
	bool turns = (d && d != l->turn) || (q && room_segment_of(q, l->turn->user)) ||
		     (a && (a->user == l->turn->user || may_stop_others(l)));

	if (jobs && (!turns || !is_stop_request(l)))
		stop_jobs(l);
	if (d && d != l->turn)
		cancel_words(context, d, l->turn->user);
	if (q && room_segment_of(q, l->turn->user))
		cancel_words(context, q, l->turn->user);
	if (a && may_stop_others(l))
		room_turn_cancel(context, a, ROOM_REASON_CANCELLED);
	else if (a && a->user == l->turn->user)
		cancel_words(context, a, l->turn->user);
	if (has_open_choice(l))
		emit_choice(context, l->turn->user, "");
	room_turn_end(context, l->turn, ROOM_REASON_CANCELLED);
}

static void apply_rule(struct look *l, const struct row *row)
{
	struct room_context *context = l->context;

	switch (row->verdict) {
	case ALLOW:
		admit_turn(l, row->rule);
		break;
	case DENY:
		deny_turn(l, row);
		break;
	case DEFER:
		emit_record(context, ROOM_DO_DEFER, l->turn, row->rule);
		room_turn_defer(context, l->turn);
		break;
	case MERGE_QUEUED:
		room_turn_merge(context, room_turn_queued(context), l->turn, row->rule);
		break;
	case MERGE_DEFERRED:
		room_turn_merge(context, room_turn_deferred_of(context, l->turn->user), l->turn,
				row->rule);
		break;
	case SUPERSEDE:
		room_turn_supersede(context, l->turn, room_supersede_stage(context, l->turn->user));
		admit_turn(l, row->rule);
		break;
	case CANCEL:
		cancel_speakers_work(l);
		break;
	case CONTROL:
		room_music_command(context->music, context, l->turn->user, find_music_control(l));
		room_turn_end(context, l->turn, ROOM_REASON_MUSIC_CONTROL);
		break;
	case CHOOSE:
		emit_choice(context, l->turn->user,
			    room_choice_option(
				    context->choice,
				    room_choice_match(context->choice, l->turn->transcript)));
		room_turn_end(context, l->turn, ROOM_REASON_CHOSEN);
		break;
	case JUDGE:
		room_classifier_ask(context, l->turn);
		break;
	case AWAIT:
		room_overlap_await(context, l->turn);
		break;
	}
}

static struct look examine_turn(struct room_context *context, struct room_turn *turn)
{
	struct look l = {.context = context,
			 .turn = turn,
			 .address = room_saying_address(context, turn->transcript, turn->language),
			 .tool_owner = room_followup_tool_owner(context->followup, context->now)};

	if (turn->arrival || turn->remark)
		return l;
	turn->named = turn->named || l.address == ROOM_ADDRESS_ADDRESSED;
	l.floor = room_floor_judge(context->floor, context->settings, turn->user,
				   turn->named ? ROOM_ADDRESS_ADDRESSED : l.address,
				   turn->transcript[0], context->now);
	return l;
}

void room_turn_admit_unclear(struct room_context *context, struct room_turn *turn)
{
	struct look l = examine_turn(context, turn);

	if (!turn->transcript[0])
		room_segment_add(turn, turn->user, turn->name, turn->chunk[0].utterance,
				 "(could not be understood)");
	room_turn_decide(turn, ROOM_RULE_UNCLEAR_HANDOFF, true,
			 room_followup_interruption(context->followup), 0);
	admit_turn(&l, ROOM_RULE_UNCLEAR_HANDOFF);
}

void room_turn_admit_classified(struct room_context *context, struct room_turn *turn, bool meant)
{
	struct look l = examine_turn(context, turn);

	/* The bot may have begun to speak in the meantime. */
	if (meant && room_turn_on_floor(context))
		room_turn_defer(context, turn);
	else if (meant)
		admit_turn(&l, ROOM_RULE_CLASSIFIER);
	else
		deny_turn(&l, &rows[sizeof rows / sizeof rows[0] - 1]);
}

void room_turn_admit(struct room_context *context, struct room_turn *turn)
{
	struct look l = examine_turn(context, turn);

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct fits f = rows[i].fits(&l);

		/* What the classifier says is recorded when it has said it. */
		if (f.concerns && rows[i].verdict != JUDGE)
			room_turn_decide(turn, rows[i].rule, f.yes, f.value, f.limit);
		if (f.concerns && f.yes) {
			apply_rule(&l, &rows[i]);
			return;
		}
	}
}
