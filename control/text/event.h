/* The events and effects of text chat: the input and output of its core.
 *
 * Ownership: texts in an event are borrowed for the step. Those in effects live until the next
 * step, and a SEND's as long as the event's. */
#ifndef CONTROL_TEXT_EVENT_H
#define CONTROL_TEXT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "control/text/emoji.h"
#include "control/text/text.def"

enum {
	TEXT_HISTORY = 35,     /* messages of a channel that the model is told */
	TEXT_QUEUE = 60,       /* messages of a channel that wait for an answer */
	TEXT_QUEUE_DIRECT = 8, /* the same of somebody's direct messages */
	TEXT_TRIGGERS = 512,   /* the same of all channels */
	TEXT_SHARE = 4,	       /* one author has at most this part of the places and of the hour */
	TEXT_CHANNELS = 512,   /* the one unused for the longest time gives way */
	TEXT_BURST = 20,       /* messages that one answer may have */
	TEXT_ADDRESSED = 62,   /* the confidence from which a message counts as addressed */
	TEXT_NAME = 64,
	TEXT_ACTIONS = 2816, /* effects of a step: all triggers end, and the channels act */
};

#define TEXT_ENUM_(NAME, ...) TEXT_##NAME,
enum text_event_type { TEXT_EVENTS(TEXT_ENUM_) };
#undef TEXT_ENUM_
#define TEXT_ENUM_(NAME, ...) TEXT_DO_##NAME,
enum text_effect_type { TEXT_EFFECTS(TEXT_ENUM_) };
#undef TEXT_ENUM_
#define TEXT_ENUM_(NAME, ...) TEXT_SIGNAL_##NAME,
enum text_signal { TEXT_SIGNALS(TEXT_ENUM_) };
#undef TEXT_ENUM_
#define TEXT_ENUM_(NAME, ...) TEXT_ADMISSION_##NAME,
enum text_admission { TEXT_ADMISSIONS(TEXT_ENUM_) TEXT_ADMISSION_COUNT };
#undef TEXT_ENUM_
#define TEXT_ENUM_(NAME, ...) TEXT_ATTENTION_##NAME,
enum text_attention { TEXT_ATTENTIONS(TEXT_ENUM_) };
#undef TEXT_ENUM_
#define TEXT_ENUM_(NAME, ...) TEXT_KIND_##NAME,
enum text_kind { TEXT_KINDS(TEXT_ENUM_) };
#undef TEXT_ENUM_
#define TEXT_ENUM_(NAME, ...) TEXT_REASON_##NAME,
enum text_reason { TEXT_REASONS(TEXT_ENUM_) TEXT_REASON_COUNT };
#undef TEXT_ENUM_
#define TEXT_ENUM_(NAME, ...) TEXT_HOLD_##NAME,
enum text_hold { TEXT_HOLDS(TEXT_ENUM_) };
#undef TEXT_ENUM_

struct text_event {
	enum text_event_type type;
	uint64_t guild; /* 0: direct messages */
	uint64_t channel, message, user;
	uint64_t parent;   /* of a message in a thread: the thread's channel or forum; else 0, or
			    * READING_UNKNOWN */
	uint64_t category; /* of the channel or the parent; 0: none */
	const char *name, *text;
	const char
		*said; /* the part of the text that is its author's own (own_words.h); NULL: all */
	uint64_t age;  /* ns: how long ago it was written, if that is not now */
	uint64_t replies_to; /* the message that it replies to; 0: none */
	bool self, bot;	     /* its author: this bot, or another one */
	bool to_bot;	     /* mentions the bot, or replies to one of its messages */
	bool to_others;	     /* mentions other people, or replies to one */
	bool refused;	     /* its author does not want to be read */
	bool barred;	     /* the bot may not write there */
	bool unreactive;     /* the bot may not put a reaction there */
	bool blind;	     /* Discord keeps from the bot what does not mention it there */
	bool decide;	     /* put before the model whatever the rules of admission say */
	bool late;	  /* it was written while the bot was away: only an address is answered */
	bool kept;	  /* its author was to be remembered when it was written */
	bool noted;	  /* a line of the conversation that needs no answer here */
	bool yes;	  /* of CLASSIFIED, FAILED, TOOLS and AGREED */
	bool strangers;	  /* of RESULT, and of SENT: it may repeat words of others; of MESSAGE and
			   * EDITED: it ends with text of strangers */
	size_t own;	  /* of the last two: bytes of it before that */
	bool partial;	  /* of SENT: Discord did not take the rest of the answer */
	uint64_t answers; /* of a noted one of the bot: the user whom it answers */
	uint64_t asker;	  /* of SENT: a question for this user's yes is its end; 0: none is */
	uint64_t asks;	  /* of SENT: the message that is this question */
	bool unsure;	  /* of EDITED: it is a reply, and Discord does not tell to whom */
	enum text_reason why;	/* of NOT_SENT; of FAILED: nobody was asked, and this is the end */
	char emoji[TEXT_EMOJI]; /* of ANSWERED; "": none */
	uint32_t reply, n, rnd;
};

/* One message of a channel. */
struct text_line {
	uint64_t message, user;
	uint64_t answers; /* of the bot: the user whom it answers; 0: nobody known */
	uint64_t at;	  /* ns: when it was written */
	bool kept;	  /* its author was to be remembered then */
	bool bot;	  /* this one */
	bool machine;	  /* another bot, or a webhook */
	bool others;	  /* of the bot: it may repeat words of others than whom it answers */
	bool strangers;	  /* the text ends with text of strangers */
	size_t own;	  /* bytes of the text before that */
	const char *name, *text;
};

/* A message on its way to its reason. */
struct text_trigger {
	uint64_t guild, channel, message, user;
	uint64_t at; /* ns: when it came */
	char name[TEXT_NAME];
	char *text;
	bool to_bot, to_others, decide, late;
	bool strangers;	 /* the text ends with text of strangers */
	size_t own;	 /* bytes of the text before that */
	bool goes_on;	 /* it belongs to a burst in which another message addresses the bot */
	bool unreactive; /* the bot may not put a reaction there */
	bool blind;	 /* Discord keeps from the bot what does not mention it there */
	unsigned draw;	 /* of a hundred, for a reaction of the bot's own accord */
	char emoji[TEXT_EMOJI]; /* that the bot put on it; "": none */
	bool kept;		/* its author was to be remembered when it was written */
	enum text_signal signal;
	enum text_attention attention;
	enum text_admission admission; /* COUNT: none was asked */
	enum text_reason reason;
	uint32_t reply; /* that answers it; 0: none was begun */
};

struct text_effect {
	enum text_effect_type type;
	uint64_t guild, channel, message, user;
	uint32_t reply, n;
	enum text_kind kind; /* of an ASK, a SEND and a REACT */
	bool required;	     /* of an ASK: the model must answer */
	bool yes;	     /* of an AGREE */
	bool late;	/* of a WAITS: among those that were missed, of which some are answered */
	bool reacts;	/* of an ASK: the model may put a reaction */
	bool sign;	/* of an ACKNOWLEDGE: by a sign, not in words */
	bool again;	/* of an ASK: the answer was asked for before */
	bool strangers; /* of an ASK: text holds text of strangers */
	const char *text;
	/* of an ASK: the conversation without the triggers, oldest first, and the triggers; of a
	 * SEND and of a REACT that is the whole answer: the triggers */
	const struct text_line *history;
	const struct text_trigger *const *triggers;
	size_t n_history, n_triggers;
	size_t n_since; /* of an ASK: the last ones of the history are newer than the first trigger
			 */
	const struct text_trigger *record;
};

struct text_effects {
	size_t n;
	struct text_effect v[TEXT_ACTIONS];
};

const char *text_event_name(enum text_event_type type);
const char *text_effect_name(enum text_effect_type type);
const char *text_signal_name(enum text_signal signal);
unsigned text_signal_confidence(enum text_signal signal);
/* True if the signal leaves the model no choice. */
bool text_signal_forces(enum text_signal signal);
/* "none" for COUNT. */
const char *text_admission_name(enum text_admission admission);
bool text_admission_admits(enum text_admission admission);
const char *text_attention_name(enum text_attention attention);
const char *text_kind_name(enum text_kind kind);
const char *text_reason_name(enum text_reason reason);
/* True if the author of a message that had to be answered sees a sign. */
bool text_reason_signs(enum text_reason reason);
/* What they mean, as clauses for people; "" for COUNT. */
const char *text_reason_text(enum text_reason reason);
const char *text_signal_text(enum text_signal signal);
const char *text_attention_text(enum text_attention attention);
const char *text_admission_text(enum text_admission admission);
/* What helps against it, likewise; "": nothing known. */
const char *text_reason_help(enum text_reason reason);
const char *text_hold_text(enum text_hold hold);

#endif
