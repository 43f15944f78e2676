/* Text chat: decides which written messages the bot answers, when, and how; a pure core.
 *
 * text_step() is the only entrance. It takes one event and the time and returns effects; it
 * performs nothing itself. Every message ends in exactly one named reason, told by a RECORD. What
 * comes back of an effect carries the number of its reply; of a reply that is over it is dropped.
 *
 *   message --> refusals --> yes to a question --> cancellation --> signal --> history
 *           --> admission --> queue --> refusals and admission again --> model --> dispatch
 *
 * The states of a message, with the input that ends each:
 *
 *   CLASSIFYING  its name-calling is unclear, and a model is asked
 *                CLASSIFIED, or TEXT_CLASSIFY_S passed: QUEUED or ended
 *   QUEUED       admitted
 *                its burst is whole, nothing is under way in the channel and the limits allow a
 *                message: ASKED with the others of its burst; refused meanwhile: ended
 *   ASKED        a model is asked
 *                ANSWERED with words: SENDING; ANSWERED with [SKIP] or nothing, three FAILED, or
 *                text_answer_s passed: ended; EDITED: a new reply, twice at most; ANSWERED with a
 *                reaction alone: still ASKED until REACTED (ended) or NOT_SENT (a new reply if the
 *                answer is required, else ended)
 *   SENDING      SENT or NOT_SENT: ended
 *
 * A message that is refused or not admitted has none of them. DELETED or a cancellation by the
 * author ends it in any state but SENDING.
 *
 * A burst is what one author writes within text_coalesce_s of the first message, up to
 * text_coalesce_most; it gets one answer. Behind a message that addresses the bot all that its
 * author writes in the window belongs to it. A message of the burst that must be answered makes the
 * answer required. What addresses the bot comes before other talk; of the authors who wait, the one
 * whose last answer is the longest ago is next.
 *
 * After a step the caller performs the effects in their order and delivers TEXT_TIMER at
 * text_deadline(). Results come back as later events, never inside the step. */
#ifndef CONTROL_TEXT_TEXT_CHAT_H
#define CONTROL_TEXT_TEXT_CHAT_H

#include "control/text/event.h"

struct settings;
struct text_chat;

enum {
	TEXT_CLASSIFY_S = 5,
	TEXT_GRACE_MS = 250,  /* a message may arrive later than it was written */
	TEXT_BLIND_S = 1,     /* the longest window where Discord keeps what follows from the bot */
	TEXT_RETRY_MS = 2500, /* times the number of tries */
	TEXT_TRIES = 3,
	TEXT_ASKED_AGAIN = 2, /* for edits of one reply's messages */
	TEXT_WAIT_S = 900,    /* the longest that a message may wait */
	TEXT_AMBIENT_S = 60,  /* the same of what does not address the bot */
	TEXT_SENDING_S = 60, /* the longest that Discord may take for an answer; then, and after: */
	TEXT_SENDING_AGAIN_S = 10,
	TEXT_WARN_S = 60,	/* in which an author sees one warning sign in a channel */
	TEXT_ACKNOWLEDGE_S = 5, /* in which they are told once that something has stopped */
	TEXT_SIGNS = 64,	/* of these two at a time */
	TEXT_FORGET_S = 60,	/* in which somebody who was forgotten is not asked for again */
	TEXT_FORGOTTEN = 64,	/* people of whom that is known */
	TEXT_AUTHORS = 64,	/* people whose asks are counted */
	TEXT_TYPING_S = 8,	/* Discord shows typing for ten seconds, or until a message */
	TEXT_POSTED_S = 1,	/* a message of the bot is there */
	TEXT_WORKING_S = 4,	/* a tool that takes longer is announced, and again: */
	TEXT_WORKING_AGAIN_S = 20,
	TEXT_WORKINGS = 4,     /* times in all */
	TEXT_YES_S = 300,      /* in which a question for a yes may be answered */
	TEXT_AGREEMENTS = 4,   /* of a channel that wait for a yes; the oldest gives way */
	TEXT_JOBS = 16,	       /* people of a channel for whom calls go on: as many as calls do */
	TEXT_RESULTS = 4,      /* of a channel that wait to be told; the oldest gives way */
	TEXT_WINDOW = 5,       /* most messages in which one of the bot counts as recent */
	TEXT_SENDS = 500,      /* of an hour that are counted */
	TEXT_SERVED = 64,      /* of a channel, by which is known whose turn it is */
	TEXT_SEEN = 128,       /* messages of a channel that are known to have been taken */
	TEXT_SHORT = 30,       /* characters of a short answer */
	TEXT_QUIET_S = 600,    /* without a message, before the bot writes of its own accord */
	TEXT_STALE_S = 3600,   /* after that, it has nothing to fit in with any more */
	TEXT_OWN = 8,	       /* of a channel: ends in one step of what is no message */
	TEXT_REACTIONS = 1024, /* of a server in an hour, so that all of them are counted */
	TEXT_POSTS = 24,       /* such messages of a channel that are counted */
};

/* What a message begins with that tells of a tool at work: small print of Discord, an hourglass. */
#define TEXT_WORKING_MARK "-# \xe2\x8f\xb3 "

/* settings are borrowed for its life and may change between two steps. name: the bot's on Discord.
 * ENOMEM, EINVAL. Caller owns *out. */
int text_chat_alloc(struct text_chat **out, const struct settings *settings, const char *name);
struct text_chat *text_chat_free(struct text_chat *chat);

/* Processes one event at `now` (ns, never decreasing). effects->n is set anew. */
void text_step(struct text_chat *chat, const struct text_event *event, uint64_t now,
	       struct text_effects *effects);
/* When it needs a TEXT_TIMER at the latest; UINT64_MAX for never. */
uint64_t text_deadline(const struct text_chat *chat);

/* True if the settings keep the bot out of this channel. parent: of a thread the channel in which
 * it was started, of a post its forum, whose settings hold for it; READING_UNKNOWN (reading.h) if
 * it may be a thread; else 0. category: of the channel or the parent; 0: none. */
bool text_channel_is_blocked(const struct settings *settings, uint64_t guild, uint64_t channel,
			     uint64_t parent, uint64_t category);
/* Why these settings refuse to have this message read, whatever was written before; NONE: they do
 * not. */
enum text_reason text_refusal(const struct settings *settings, const struct text_event *message);
/* True if the settings have nothing of this author read, also where another reason comes first: of
 * a bot. */
bool text_author_is_blocked(const struct settings *settings, const struct text_event *message);
/* The same of a user. guild 0: of direct messages. */
bool text_user_is_blocked(const struct settings *settings, uint64_t guild, uint64_t user);
/* What is known of the channel's conversation, oldest first, after lines that are too old at `now`
 * (ns), or of people who are blocked by now, were dropped. Borrowed until the next step or call. */
size_t text_chat_lines(struct text_chat *chat, uint64_t channel, uint64_t now,
		       const struct text_line **out);
/* True if the message was taken, as one of the last TEXT_SEEN of its channel. */
bool text_chat_knows(struct text_chat *chat, uint64_t channel, uint64_t message);
/* How much a message that has not ended wants what is known about it. */
enum text_want {
	TEXT_WANT_NONE,	    /* it is none, or has ended */
	TEXT_WANT_AMBIENT,  /* other talk, which may be answered */
	TEXT_WANT_ADDRESSED /* it is held for one to the bot, or a model decides that */
};
enum text_want text_chat_wants(struct text_chat *chat, uint64_t channel, uint64_t message);
/* The message, if it has not ended, and what it waits for as of the last step; NULL: it is none of
 * those. Borrowed until the next step. */
const struct text_trigger *text_chat_waits(struct text_chat *chat, uint64_t message,
					   enum text_hold *hold);
/* This user's newest message that addresses the bot, or may do so, and has not ended; 0: none. */
uint64_t text_chat_last_waiting(const struct text_chat *chat, uint64_t user);
/* True if messages of this user have not ended, or calls of tools go on for them. */
bool text_chat_serves(const struct text_chat *chat, uint64_t user);
/* True if this user was forgotten within TEXT_FORGET_S. Prompts get nothing about them from the
 * memory then, because another forgetting within that time restarts no answer. */
bool text_forgot_lately(const struct text_chat *chat, uint64_t user);
/* True if an answer or a message of its own is under way in the channel. */
bool text_is_answering(struct text_chat *chat, uint64_t channel);
/* Messages that have not ended. */
size_t text_waiting(const struct text_chat *chat);
/* Messages that ended for this reason, since text_chat_alloc. */
uint64_t text_count(const struct text_chat *chat, enum text_reason reason);

/* True if one of the bot's names stands in the text, as its name or not. */
bool text_chat_has_name(struct text_chat *chat, const char *text);
/* True if a warning sign may be put for this user in the channel, which counts as one then (one for
 * each TEXT_WARN_S). now: ns. For messages that no step ends. */
bool text_chat_warns(struct text_chat *chat, uint64_t channel, uint64_t user, uint64_t now);
/* The bot's display name in this server, beside its other names; "": none. Copied. */
void text_chat_set_nickname(struct text_chat *chat, const char *name);

enum text_words { TEXT_WORDS_SAID, TEXT_WORDS_SKIP, TEXT_WORDS_NONE };
/* Reads what a model wrote. *text and *length: the words of its answer, within the text given; a
 * label with the bot's name before them is no part of it. SKIP: it begins with "[SKIP]", however
 * that is written ("(skip)", "[SKIP: why]", "[NO REPLY]"), or, where none is required, ends with
 * it, or is the word alone; where an answer is required, it is what stands beside it. */
enum text_words text_answer_read(const struct settings *s, const char *name, bool required,
				 const char **text, size_t *length);

#endif
