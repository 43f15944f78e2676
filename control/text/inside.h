/* The state of text chat, shared by its machines; for control/text alone.
 *
 * text_chat.c   the door, the channels, the table of machines
 * lines.c       the messages of a channel that the model is told; the recent window
 * names.c       whether a text has the bot's name, and addresses it
 * admission.c   refusals, signal, attention, the rules of admission; the unclear calls by name
 * triggers.c    messages on their way to their reason; edits and deletions
 * cancel.c      an author cancels
 * agreement.c   questions for a yes to a call of a tool
 * jobs.c        calls that go on after their answers, and their results
 * initiative.c  the bot writes of its own accord
 * reply.c       one answer: asked, sent
 * reaction.c    the emoji that a model puts on the message that it answers
 * queue.c       bursts, whose turn it is, limits, the start of the next answer
 * spending.c    how often models are asked, and people are shown that the bot fails
 * typing.c      when people see the bot typing */
#ifndef CONTROL_TEXT_INSIDE_H
#define CONTROL_TEXT_INSIDE_H

#include "control/room/floor/address.h"
#include "control/text/text_chat.h"

enum text_state { TEXT_FREE, TEXT_CLASSIFYING, TEXT_QUEUED, TEXT_ASKED, TEXT_SENDING, TEXT_ENDED };

struct text_live {
	struct text_trigger t;
	enum text_state state;
	uint64_t asked_at;  /* of CLASSIFYING, ns */
	uint32_t questions; /* texts of this message that were put to a model before and are not so
			     * any more; a decision names it */
};

struct text_result {
	uint64_t user, request; /* request: the message that asked for the call; 0: not known */
	uint32_t reply;		/* that tells it; 0: none yet */
	char *text;		/* owned */
	bool strangers;
};

enum text_reply_state {
	TEXT_REPLY_NONE,
	TEXT_REPLY_ASKED,
	TEXT_REPLY_RETRY,
	TEXT_REPLY_SENDING,
	TEXT_REPLY_REACTING
};

struct text_reply {
	enum text_reply_state state;
	uint32_t id;
	bool required;
	enum text_kind kind;
	struct text_result result; /* of RESULT; its text is owned */
	bool untold; /* of SENDING: it may repeat somebody who was forgotten: no line */
	bool acted;  /* a call of a tool changed something: nothing is asked again */
	unsigned tries, again, asks;
	bool shown;		  /* people see the bot typing for it */
	uint64_t since, retry_at; /* ns */
	uint64_t reply_to;	  /* of SENDING, or of WORKING: the message; 0: none */
	uint64_t withdraw_at;	  /* of SENDING and REACTING, ns */
	bool skipped;		  /* the model has left a required answer out once */
	/* reaction.c: the model may put one; Discord did not take one that was the whole answer, so
	 * words are asked for. */
	bool reacts, unreacted;
	uint64_t on, on_user; /* of SENDING: the message that gets one, too; its author; 0: none */
	char emoji[TEXT_EMOJI];
	unsigned tools, workings; /* that work for it now; how often that was told */
	uint64_t working_at;	  /* when it is told next, ns */
	const struct text_trigger *asked[TEXT_BURST];
	unsigned n_asked, n_told;
	struct text_line told[TEXT_HISTORY];
};

/* The messages of an answer whose model made a call, any of which may have asked for it. */
struct text_request {
	uint64_t message[TEXT_BURST];
	unsigned n; /* 0: they are not known */
};

struct text_agreement {
	uint64_t message, user, until; /* user 0: a free place */
	struct text_request request;
};

struct text_jobs {
	uint64_t user;
	struct text_request request; /* of the last one */
	unsigned n;		     /* 0: a free place */
};

struct text_channel {
	uint64_t id, guild, used_at;
	uint64_t parent;		     /* of a thread; else 0 */
	uint64_t category;		     /* of it, or of the parent; 0: none */
	struct text_line line[TEXT_HISTORY]; /* oldest first; texts and names owned */
	unsigned n_lines;
	struct text_live *queue[TEXT_QUEUE]; /* in the order in which they came */
	unsigned n_queue;
	struct text_reply reply;
	struct text_agreement agreement[TEXT_AGREEMENTS];
	struct text_jobs jobs[TEXT_JOBS];
	struct text_result result[TEXT_RESULTS]; /* the oldest first */
	unsigned n_results;
	uint64_t newest;   /* message of anybody that people see there, read or not */
	uint64_t asked_in; /* the step of its last ASK, whose lists are of that one */
	uint64_t sent_at[TEXT_SENDS], sends; /* the last ones; how many ever */
	uint64_t quiet_from; /* ns: the last message of somebody, not considered yet; 0: none */
	uint64_t post[TEXT_POSTS]; /* ns and a week, the oldest first: of its own accord */
	unsigned n_posts;
	struct text_trigger own[TEXT_OWN]; /* of the last RECORDs of what is no message */
	unsigned n_own;			   /* ever */
	uint64_t late_since; /* ns: the first of the last hour's answers to missed messages */
	unsigned late;	     /* such answers since then */
	/* What each of the last answers was for. */
	struct {
		uint32_t reply;
		struct text_request request;
	} answered[TEXT_JOBS];
	unsigned n_answered;	      /* ever */
	uint64_t sent_to[TEXT_SENDS]; /* to whom */
	uint64_t served[TEXT_SERVED]; /* for whom the last answers were begun */
	unsigned n_served;	      /* ever */
	/* Who wrote last there, and who last before that user. */
	struct {
		uint64_t user, at; /* at: ns */
	} wrote[2];
	uint64_t asks_until, decisions_until, stops_until; /* spending.c, ns */
	uint64_t typing_until; /* ns: people see the bot typing until then, or a bit longer */
	uint64_t seen[TEXT_SEEN];
	unsigned n_seen;
};

/* What somebody has asked models for (spending.c), ns. */
struct text_author {
	uint64_t user, asks_until, decisions_until;
};

/* A sign that somebody saw, or a word that something has stopped. */
struct text_signed {
	enum text_effect_type type;
	uint64_t channel, user, until;
};

struct text_forgotten {
	uint64_t user, until;
	bool everywhere; /* also answers that may have been told of them from elsewhere */
};

struct text_known_names {
	/* From which they were made. */
	char bot_name[TEXT_NAME], aliases[512], nickname[TEXT_NAME];
	char mentioned[TEXT_NAME]; /* what a mention of the bot is read as */
	struct room_names exact, alias, all;
};

struct text_chat {
	const struct settings *settings;
	char name[TEXT_NAME], nickname[TEXT_NAME]; /* on Discord, and in this server */
	struct text_known_names names;
	uint64_t now, steps;
	uint32_t rnd;
	bool drawn; /* this step brought rnd */
	struct text_effects *effects;
	struct text_effect lost;
	char *cut; /* the words of this step's SEND, if more was written; owned */
	bool over;
	uint32_t next_reply;
	unsigned n_channels;
	struct text_channel *channel[TEXT_CHANNELS];
	/* Beside it, for a search through all of them: */
	uint64_t channel_id[TEXT_CHANNELS], due[TEXT_CHANNELS];
	struct text_live pool[TEXT_TRIGGERS];
	uint64_t holder[TEXT_TRIGGERS]; /* authors of the pool's; 0: free */
	struct text_author author[TEXT_AUTHORS];
	struct text_signed sign[TEXT_SIGNS];
	struct {
		uint64_t channel, at; /* ns */
	} reacted[TEXT_REACTIONS];    /* the last reactions */
	unsigned n_reacted;	      /* ever */
	struct text_forgotten forgotten[TEXT_FORGOTTEN];
	unsigned n_forgotten; /* ever */
	uint16_t free[TEXT_TRIGGERS], ended[TEXT_TRIGGERS];
	unsigned n_free, n_ended;
	struct text_trigger refused; /* of this step's RECORD; without its text */
	uint64_t count[TEXT_REASON_COUNT];
};

/* ---- text_chat.c ---- */
struct text_effect *text_emit(struct text_chat *chat, enum text_effect_type type,
			      const struct text_channel *ch);
/* The channel's state; NULL: none is known. */
struct text_channel *text_channel_find(struct text_chat *chat, uint64_t id);
/* The same, or a new one; NULL: ENOMEM, or all are in use. */
struct text_channel *text_channel_open(struct text_chat *chat, uint64_t id, uint64_t guild);

/* ---- lines.c ---- */
/* Bytes of the text that are its author's. */
size_t text_event_own(const struct text_event *ev);
/* False: no memory, or the message is known. */
bool text_line_add(const struct text_chat *chat, struct text_channel *ch,
		   const struct text_event *ev, bool bot, uint64_t answers);
/* Its message has this text now; "": it has none, or may not be read any more. */
void text_line_edit(struct text_channel *ch, const struct text_event *ev);
void text_line_delete(struct text_channel *ch, uint64_t message);
/* Drops their lines, and the bot's, which may repeat them: if it answered them, had lines of
 * theirs, or may quote them from elsewhere (quoted). */
void text_lines_forget(struct text_channel *ch, uint64_t user, bool quoted);
/* Drops those that are older than the words that the store keeps. */
void text_lines_expire(const struct text_chat *chat, struct text_channel *ch);
void text_lines_clear(struct text_channel *ch);
/* Why the bot attends to a message that is not in the lines yet. */
enum text_attention text_lines_attend(const struct text_chat *chat, const struct text_channel *ch,
				      const struct text_event *ev, enum text_signal signal);

/* ---- names.c ---- */
/* The part of the message's text that is its author's own. */
const char *text_names_said(const struct text_event *ev);
/* How far the text calls the bot by its name: NAME_EXACT, NAME_ALIAS or LLM_DECIDES. *occurs: the
 * name is in it at least. */
enum text_signal text_names_signal(struct text_chat *chat, const char *text, bool *occurs);
/* True if the text is nothing but a request to stop. */
bool text_names_stops(struct text_chat *chat, const char *text);

/* ---- admission.c ---- */
void text_admission_on_event(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev);
void text_admission_tick(struct text_chat *chat, struct text_channel *ch);
uint64_t text_admission_deadline(const struct text_chat *chat, const struct text_channel *ch);
/* A message for which no channel has a place, or which needs none. */
void text_admission_take(struct text_chat *chat, const struct text_event *ev);
/* From now on the message is owed an answer. For a missed message, called when the model is asked.
 */
void text_admission_owe(struct text_chat *chat, const struct text_channel *ch,
			const struct text_live *l);
/* Why nothing is done for this user there any more; NONE: it may be. */
enum text_reason text_admission_gate(const struct text_chat *chat, const struct text_channel *ch,
				     uint64_t user);
/* Asks the rules again. False: the trigger is ended. */
bool text_admission_again(struct text_chat *chat, struct text_channel *ch, struct text_live *l);
/* The signal of an edited text. */
void text_admission_edited(struct text_chat *chat, struct text_channel *ch, struct text_live *l,
			   const struct text_event *ev);

/* ---- triggers.c ---- */
void text_triggers_on_event(struct text_chat *chat, struct text_channel *ch,
			    const struct text_event *ev);
/* Ends a trigger; its reply is abandoned if it was the last one. */
void text_trigger_end(struct text_chat *chat, struct text_channel *ch, struct text_live *l,
		      enum text_reason reason);
/* Ends all that this user (0: everybody) wrote and that is not being sent; its answer is stopped
 * before anything is reported. */
void text_triggers_end(struct text_chat *chat, struct text_channel *ch, uint64_t user,
		       enum text_reason reason);
/* True if its text is held for one to the bot. */
bool text_trigger_addresses(const struct text_trigger *t);
/* True if it is other talk, to which nobody waits for an answer. */
bool text_trigger_is_ambient(const struct text_trigger *t);
/* A RECORD of a message that never waited. */
void text_trigger_refuse(struct text_chat *chat, const struct text_event *ev,
			 const struct text_trigger *judged, enum text_reason reason);
/* NULL: no place or no memory, and *why. What is not ambient takes the place of what is. */
struct text_live *text_trigger_add(struct text_chat *chat, struct text_channel *ch,
				   const struct text_event *ev, bool ambient,
				   enum text_reason *why);
/* Tells why it ended. It stays as it is until the next step. */
void text_trigger_record(struct text_chat *chat, const struct text_trigger *t);
/* Those that ended in the last step go. */
void text_triggers_free_ended(struct text_chat *chat);
struct text_live *text_trigger_find(const struct text_channel *ch, uint64_t message);
/* Ends all that is under way in this channel and its threads, 0: in all; nothing of them is known
 * any more. */
void text_triggers_gone(struct text_chat *chat, uint64_t channel);
/* Ends all that this user wrote, where the user may not be read any more. */
void text_triggers_forget(struct text_chat *chat, const struct text_event *ev);

/* ---- cancel.c ---- */
void text_cancel_on_event(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev);
/* Tells the author of the event, once in a while, that what they stopped has stopped. */
void text_cancel_acknowledge(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev);
/* True: the message asked to stop an answer, and has ended. */
bool text_cancel_by_words(struct text_chat *chat, struct text_channel *ch,
			  const struct text_event *ev);

/* ---- agreement.c ---- */
void text_agreement_on_event(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev);
void text_agreement_tick(struct text_chat *chat, struct text_channel *ch);
uint64_t text_agreement_deadline(const struct text_chat *chat, const struct text_channel *ch);
/* The answer that was sent asks this user for a yes. Deleting a message of the request is a no. */
void text_agreement_asked(struct text_chat *chat, struct text_channel *ch, uint64_t message,
			  uint64_t user, const struct text_request *request);
/* True: the message is a yes, and has ended. */
bool text_agreement_by_words(struct text_chat *chat, struct text_channel *ch,
			     const struct text_event *ev);
/* No call of the channel is wanted any more. */
void text_agreement_withdraw_all(struct text_chat *chat, struct text_channel *ch);
/* The user's call is not wanted any more; user 0: nobody's. True if one waited. */
bool text_agreement_withdraw(struct text_chat *chat, struct text_channel *ch, uint64_t user);

/* ---- jobs.c ---- */
void text_jobs_on_event(struct text_chat *chat, struct text_channel *ch,
			const struct text_event *ev);
/* True if calls go on for the user, which are stopped. */
bool text_jobs_stop(struct text_chat *chat, struct text_channel *ch, uint64_t user);
/* All of the channel's are stopped, and no result is told any more. */
void text_jobs_end(struct text_chat *chat, struct text_channel *ch);
bool text_jobs_has(const struct text_channel *ch, uint64_t user);
/* This answer to these messages was sent. */
void text_jobs_answered(struct text_channel *ch, uint32_t reply,
			const struct text_request *request);
bool text_request_has(const struct text_request *request, uint64_t message);
/* Tells how a result ended, and the message that asked for it if nothing comes of it. */
void text_result_record(struct text_chat *chat, struct text_channel *ch,
			const struct text_result *result, enum text_reason reason);
/* Drops the results for the user, 0: for all. */
void text_jobs_forget(struct text_channel *ch, uint64_t user);

/* ---- reply.c ---- */
void text_reply_on_event(struct text_chat *chat, struct text_channel *ch,
			 const struct text_event *ev);
void text_reply_tick(struct text_chat *chat, struct text_channel *ch);
uint64_t text_reply_deadline(const struct text_chat *chat, const struct text_channel *ch);
/* Begins an answer to the triggers that are ASKED, and have no reply. */
void text_reply_begin(struct text_chat *chat, struct text_channel *ch);
/* Asks for a message of its own. */
void text_reply_initiate(struct text_chat *chat, struct text_channel *ch);
/* Begins to tell a result; its text is stolen. */
void text_reply_tell(struct text_chat *chat, struct text_channel *ch,
		     const struct text_result *result);
/* True if a result is being told to the user, who may stop that. */
bool text_reply_tells(const struct text_channel *ch, uint64_t user);
/* Nothing of it is wanted any more. */
void text_reply_abandon(struct text_chat *chat, struct text_channel *ch);
/* The model may have been told of this user, who is forgotten, if the lines have them or (quoted)
 * anything may: it is asked again, and an answer that is being sent becomes no line. */
void text_reply_forget(struct text_chat *chat, struct text_channel *ch, uint64_t user, bool quoted);
/* Abandons an answer to what does not address the bot, for one to what does, unless a call of a
 * tool has changed something for it. */
void text_reply_overtake(struct text_chat *chat, struct text_channel *ch);
/* The same question with other words. */
void text_reply_ask_again(struct text_chat *chat, struct text_channel *ch);

/* ---- reaction.c ---- */
/* True if the model that is asked about the messages of the answer may put a reaction. */
bool text_reaction_allowed(const struct text_chat *chat, const struct text_channel *ch);
/* The emoji is the whole answer. */
void text_reaction_answer(struct text_chat *chat, struct text_channel *ch, const char *emoji);
/* The emoji goes with the answer that is about to be sent. Before its messages become SENDING. */
void text_reaction_keep(struct text_channel *ch, const char *emoji);
/* That answer was sent. */
void text_reaction_follow(struct text_chat *chat, struct text_channel *ch);
void text_reaction_on_event(struct text_chat *chat, struct text_channel *ch,
			    const struct text_event *ev);
/* Nothing is put on messages of this user any more. */
void text_reaction_forget(struct text_channel *ch, uint64_t user);

/* ---- initiative.c ---- */
void text_initiative_on_event(struct text_chat *chat, struct text_channel *ch,
			      const struct text_event *ev);
void text_initiative_tick(struct text_chat *chat, struct text_channel *ch);
uint64_t text_initiative_deadline(const struct text_chat *chat, const struct text_channel *ch);
/* Somebody wrote. */
void text_initiative_heard(struct text_chat *chat, struct text_channel *ch);
/* The same of what the bot does not read: it is not quiet, but nothing to fit in with either. */
void text_initiative_unread(struct text_chat *chat, struct text_channel *ch);
/* A message of its own accord is about to be sent: it counts. */
void text_initiative_sending(struct text_chat *chat, struct text_channel *ch);
/* Tells how it ended. */
void text_initiative_record(struct text_chat *chat, struct text_channel *ch,
			    enum text_reason reason);
/* True if those of the channel still count. */
bool text_initiative_counts(const struct text_chat *chat, const struct text_channel *ch);

/* ---- spending.c ---- */
/* From when on a model may be asked for this user (0: for nobody) in the channel; ambient: about
 * what does not address the bot, which leaves a share to what does. */
uint64_t text_spending_at(const struct text_chat *chat, const struct text_channel *ch,
			  uint64_t user, bool ambient);
/* The same of an author's row; NULL: they have asked for nothing. */
uint64_t text_spending_of(const struct text_chat *chat, const struct text_channel *ch,
			  const struct text_author *a, bool ambient);
/* Counts a request to a model for an answer to this user; it counts even if no answer is sent. */
void text_spending_ask(struct text_chat *chat, struct text_channel *ch, uint64_t user);
/* False: no model may be asked whether this user's message is for the bot. */
bool text_spending_decide(struct text_chat *chat, struct text_channel *ch, uint64_t user);
/* False: the channel has had its reactions of an hour. */
bool text_spending_reacts(const struct text_chat *chat, const struct text_channel *ch);
/* Counts a reaction. */
void text_spending_react(struct text_chat *chat, const struct text_channel *ch);
/* False: as many messages as text_per_hour allows have said here that something has stopped. */
bool text_spending_tells(const struct text_chat *chat, struct text_channel *ch);
/* False: this user had a WARN or an ACKNOWLEDGE here lately. */
bool text_spending_sign(struct text_chat *chat, enum text_effect_type type, uint64_t channel,
			uint64_t user);

/* ---- typing.c ---- */
void text_typing_tick(struct text_chat *chat, struct text_channel *ch);
uint64_t text_typing_deadline(const struct text_chat *chat, const struct text_channel *ch);
/* A message of the bot is there in so many ns: Discord shows it typing no more. */
void text_typing_posted(const struct text_chat *chat, struct text_channel *ch, uint64_t in);

/* ---- queue.c ---- */
/* When the limits allow an answer to this user (0: to nobody) in the channel; ambient: to what does
 * not address the bot. */
uint64_t text_queue_allowed_at(const struct text_chat *chat, const struct text_channel *ch,
			       uint64_t user, bool ambient);
/* This user writes there. */
void text_queue_note(const struct text_chat *chat, struct text_channel *ch, uint64_t user);
/* True if a message that this user writes now belongs to a burst of theirs that waits, in which
 * another one addresses the bot. */
bool text_queue_joins(const struct text_chat *chat, const struct text_channel *ch, uint64_t user);
void text_queue_tick(struct text_chat *chat, struct text_channel *ch);
/* What a message that is QUEUED waits for: of several things the one that takes the longest. */
enum text_hold text_queue_hold(const struct text_chat *chat, const struct text_channel *ch,
			       const struct text_live *l);
uint64_t text_queue_deadline(const struct text_chat *chat, const struct text_channel *ch);

#endif
