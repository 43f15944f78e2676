/* The state of the shell of text chat; for control/text_session alone.
 *
 * text_session.c   events of the gateway, the steps of the cores
 * servers.c        the servers that have a core
 * asking.c         answers and decisions of models
 * prompt.c         how messages and their authors stand in what a model is told
 * question.c       questions of commands
 * quoting.c        what messages reply to
 * recall.c         what the memory has about a question
 * taking.c         what a restart is to know of messages
 * catching_up.c    what was missed, and what is owed after a restart, from the channels' history
 * showing.c        what people attach, for models
 * lookup.c         the tool that looks at an earlier picture
 * keeping.c        which messages the store may keep
 * telling.c        what a model was told, for people who want to look at it
 * ended.c          why messages ended
 * quiet.c          calls that nobody waits for
 * sending.c        messages and the typing indicator
 * reacting.c       reactions: an answer that is one, one beside an answer, and signs
 * working.c        the message that tells of a tool at work, which the answer replaces
 * tools.c          the tools of a channel, calls and what comes of them
 * tool_host.c      what tools can do in a channel
 * workers.c        tasks of a channel for workers
 * agreeing.c       questions for a yes, and who may say it */
#ifndef CONTROL_TEXT_SESSION_INSIDE_H
#define CONTROL_TEXT_SESSION_INSIDE_H

#include "control/text/event.h"
#include "control/text/incoming.h"
#include "control/text/missed.h"
#include "control/text/split.h"
#include "control/tools/arguments_mac.h"
#include "control/tools/builtin/server_zone.h"
#include "control/tools/policy.h"
#include "control/tools/read_back.h"
#include "control/text_session/text_session.h"

struct rest_call;
struct engine_ask;
struct engine_message;
struct roles_event;
struct roles;
struct store_document;
struct text_chat;
struct text_guild;
struct text_notice;
struct text_recall;
struct text_seat;
struct text_show;
struct viewer;

enum {
	TEXT_COMMAND_QUESTIONS = 8, /* of a server at a time */
	TEXT_DECISIONS = 8,	    /* of a server at a time; others count as undecided */
	TEXT_ASKS = 16,		    /* the same of answers; others wait */
	TEXT_PARTS = 5,		    /* messages of an answer; longer ones are sent as a file */
	TEXT_ANSWER_BYTES = 64 << 10,
	TEXT_ATTACHED = 32, /* of a server: messages with files, where these are known */
	TEXT_QUOTED = 32,   /* people whom an answer that is kept may quote from the memory */
	TEXT_QUOTES = 16,   /* of a server: messages that others reply to */
	TEXT_ANSWERS = 64,  /* of a server: the last answers that were asked for */
	TEXT_WORKED = 16,   /* of a server: messages that an answer may take the place of */
	TEXT_NOTED = 64,    /* of a server: public answers to commands */
	TEXT_KEPT = 256,    /* of a server: messages of the last answers that were kept */
	TEXT_MEMBERS = 64,  /* of a server, whose rank is known */
	TEXT_ASKED_BYTES = 2 * TOOL_QUESTION_MAX, /* of a question, as people see it */
	TEXT_YES_GRACE_S = 30, /* the core ends a question, not the run of the tools */
	TEXT_SEATS = 64,       /* channels whose tools are kept, of all servers */
	TEXT_TAINTED = 4096,
	TEXT_CALLS = 4096, /* numbers for each ms since 1970: a double holds them exactly */
	/* Messages of which it is known why they ended: of a server, those for the bot, and other
	 * talk; and those of servers that found no place. */
	TEXT_ENDED = 128,
	TEXT_ENDED_TALK = 64,
	TEXT_ENDED_OUT = 64,
	TEXT_GAPS = 6, /* between messages, that a model is told */
	TEXT_TOLD = TEXT_HISTORY + TEXT_GAPS,
	TEXT_TIMES = 32,    /* of a server: answers whose times are known */
	TEXT_PLACES = 4096, /* channels whose history is to be read */
	TEXT_PLACES_OF_GUILD = 64,
	TEXT_IDLE_S = 3600, /* a server that is unused for so long may give way to another one */
	TEXT_FULL_S = 3600, /* in which the log tells once that no place is free */
	TEXT_POSTS_KNOWN = 256, /* whose first titles are known, of all servers */
	TEXT_THREADS = 256,	/* of a channel that is deleted */
	TEXT_AWAY = 4096,	/* servers of a session that have not come yet */
	TEXT_AHEAD_MS = 60000,	/* Discord's clock may be ahead of ours by so much */
};

struct text_working;

enum text_job_state {
	TEXT_JOB_RECALLS,
	TEXT_JOB_LOOKS,
	TEXT_JOB_WAITS,
	TEXT_JOB_ASKED,
	TEXT_JOB_SENDING
};

#define TEXT_QUESTION UINT32_C(0x80000000) /* bit of their replies, which no core has */
/* One answer: from the core's ASK, or a question, to its end. */
struct text_job {
	struct text_job *next;
	struct text_guild *g;
	enum text_job_state state;
	uint32_t reply;
	uint64_t channel, first; /* first: the message that it answers, of several the first */
	struct engine_ask *ask;	 /* owned */
	struct roles *roles;	 /* of ASKED: who answers */
	uint64_t user;		 /* who asked; 0: nobody */
	char *words;		 /* what they asked; NULL: nothing */
	/* Of the model's present pass: */
	struct text_seat *seat;		    /* NULL: it made no call */
	unsigned calls, at_work, wants_yes; /* calls made, that run, and that need a yes */
	bool passed, follow;	      /* the model has ended; it goes on with what they returned */
	char *lead;		      /* words of the passes before; NULL: none */
	char *question;		      /* asks for a yes to a call; NULL: none does */
	uint64_t asked_at, passed_at; /* ns; when the first pass was over */
	uint32_t tokens;
	bool keep; /* what is told and said may be kept */
	enum text_kind kind;
	/* What stands in the prompt: text of strangers as the output of a tool, messages of other
	 * bots and webhooks, words of other people. */
	bool strangers, machines, others;
	struct text_recall *recall; /* of RECALLS */
	struct text_show *show;	    /* what is attached; NULL: nothing */
	char *memory;		    /* the slice for it; NULL: none */
	char *answer;		    /* so far */
	size_t n;
	/* of a question (text_session_ask): */
	text_outcome_h *answerh; /* NULL: of a message */
	void *arg;
	uint64_t until;		    /* ns */
	struct text_question asked; /* texts owned */
	unsigned again;		    /* so often it was asked again */
	uint32_t forgets;	    /* those of the server that it knows of */
	/* of SENDING: */
	char emoji[TEXT_EMOJI];	 /* on reply_to: the whole answer; "": it is words */
	uint64_t reply_to, sent; /* sent: the first message of the answer; 0: none yet */
	char *text, *head;	 /* the whole answer; its first message */
	uint64_t replaces;	 /* the message that this part takes the place of; 0: none */
	bool asking;		 /* this part is the question */
	uint64_t asks;		 /* the message of the question; 0: it was not sent */
	char *shown;		 /* what stands there, as Discord told */
	char *content;		 /* of this part */
	struct split split;
	unsigned part;
	bool as_file;
	bool keeping;	      /* the store is to know of it first */
	bool bare;	      /* without what needs further permissions: a reply, a file */
	bool afresh;	      /* the message whose place it took is gone, or cannot be edited */
	uint64_t leaves;      /* that message, which is still there; 0: none */
	bool awaits;	      /* text_sending_resume */
	bool partial;	      /* Discord did not take the rest */
	enum text_reason why; /* it did not take it; NONE: another one */
};

/* Who somebody is in the server, by their last message. */
struct text_member {
	uint64_t user;
	char name[INCOMING_NAME];
	uint64_t told;	/* the newest message by which the rank is known */
	unsigned order; /* n_members when they wrote last */
	enum tool_rank rank;
	json_t *roles; /* as Discord told; NULL: none; owned */
};

/* A question for a yes, as it was sent. */
struct text_asked_yes {
	struct text_asked_yes *next;
	uint64_t message, channel, user, at; /* at: ns */
	uint32_t reply;
	char text[TEXT_ASKED_BYTES];
};

/* How long the passes of a model took. */
struct text_times {
	uint32_t reply, llm1_ms, followup_ms; /* the times plus one; 0: not known */
};

struct text_decision {
	uint32_t id; /* 0: free */
	const struct roles *roles;
	uint64_t channel, message;
	uint32_t n; /* of the CLASSIFY */
};

/* What a message replies to, which may be older than what the core knows of the channel. */
struct text_quote {
	uint64_t reply, message, user; /* reply: the message that quotes it; 0: free */
	uint64_t channel;	       /* of both */
	unsigned order;		       /* n_quotes when it was kept */
	bool kept;		       /* its author was to be remembered when it was written */
	bool strangers;		       /* the text ends with text of strangers */
	char name[INCOMING_NAME], text[INCOMING_QUOTE];
};

/* The files of a message. */
struct text_attached {
	uint64_t message, channel, user, at;
	unsigned order; /* n_attached when they were kept */
	char name[INCOMING_NAME];
	struct attached_list *files; /* owned; NULL: free */
};

/* An answer that was asked for. */
struct text_answer {
	uint64_t first, user; /* the message that it answers, of several the first; its author */
	uint32_t reply;
	bool keep;    /* the store may keep it */
	bool untold;  /* begun before somebody was forgotten: it becomes no line */
	bool repeats; /* it may repeat words of others than the author, or of strangers */
	uint64_t told[TEXT_QUOTED]; /* people whose words and facts the memory told its model */
	unsigned n_told;
};

/* A message that told of a tool at work, and the message whose answer takes its place. */
struct text_worked {
	uint64_t message, first;
};

/* A message that holds the answer to a command and its question, which is another line. */
struct text_noted {
	uint64_t message, question;
};

/* A message that ended, without its words. */
struct text_ended {
	uint64_t guild, channel, message, user; /* message 0: free */
	enum text_signal signal;
	enum text_attention attention;
	enum text_admission admission; /* COUNT: it was not judged */
	enum text_reason reason;
};

/* A server, or (id 0) the direct messages. */
struct text_guild {
	struct text_session *ts;
	uint64_t id;
	uint64_t due;	  /* ns: text_deadline of the core */
	uint64_t numbers; /* to which those of its answers are added in the costs, as of calls */
	struct text_job *jobs;	    /* the oldest first */
	struct roles *retired;	    /* of older settings, as long as their answers go on; or NULL */
	uint64_t used_at, asked_at; /* ns; when a model was asked for an answer, 0: never */
	const struct settings *settings;
	struct server_zone zone;
	struct text_chat *core;
	struct roles *roles; /* NULL until a model is asked */
	bool stale;	     /* the roles are of older settings */
	bool handling;	     /* an event of roles, which must not go meanwhile */
	struct text_decision decision[TEXT_DECISIONS];
	uint32_t next_decision;
	struct text_quote quote[TEXT_QUOTES];
	unsigned n_quotes; /* ever */
	struct text_attached attached[TEXT_ATTACHED];
	unsigned n_attached;   /* ever */
	struct viewer *viewer; /* NULL until a file is looked at */
	struct text_answer answer[TEXT_ANSWERS];
	uint64_t kept[TEXT_KEPT];
	unsigned n_answers, n_kept; /* ever */
	struct text_worked worked[TEXT_WORKED];
	unsigned n_worked; /* ever */
	struct text_noted noted[TEXT_NOTED];
	unsigned n_noted;     /* ever */
	uint32_t n_questions; /* ever */
	uint32_t forgets;     /* so many people were forgotten */
	struct text_seat *seats;
	struct text_working *workings;
	struct text_member member[TEXT_MEMBERS];
	unsigned n_members; /* so often somebody was seen */
	struct text_asked_yes *asked;
	struct text_times times[TEXT_TIMES];
	struct text_ended ended[TEXT_ENDED], ended_talk[TEXT_ENDED_TALK];
	unsigned n_ended, n_ended_talk; /* ever */
};

/* An event that waits until the step under way is over. */
struct text_pending {
	struct text_pending *next;
	struct text_guild *g;
	struct text_event ev; /* its text and name follow */
};

/* A channel whose history is to be read. */
struct text_place {
	uint64_t guild, channel;
	uint64_t since; /* messages before this id are left alone */
	bool owed;	/* messages there wait for answers that a control before owed */
	unsigned turn;	/* so many channels of its server were to be read before it */
	unsigned tries;
	uint64_t at; /* ns: not before; 0: as soon as it has its turn */
};

/* A server that Discord has named and not described yet. */
struct text_away {
	uint64_t guild, since; /* messages before this id are left alone */
};

struct text_catching_up {
	struct text_place place[TEXT_PLACES]; /* a request for the first is under way */
	unsigned n;
	bool asking;
	unsigned limit;		 /* most messages of the page under way */
	bool whole;		 /* the history that is read has nothing older than the list */
	json_t *list;		 /* what was read of it, newest first; NULL: nothing; owned */
	struct missed_page page; /* what it says */
	struct text_away *away;
	unsigned n_away;
	struct tmr *tmr;   /* until the first is requested again */
	uint64_t since;	   /* the same of the session */
	uint64_t fresh_at; /* ns: when a new session began; 0: none did */
	uint64_t newest;   /* id of a message that Discord told of */
};

/* The first message of a post, and a mark of the title that it was created with. */
struct text_post {
	uint64_t message, title; /* message 0: free */
};

/* A channel whose seat gave way after text of strangers was read in it. */
struct text_tainted {
	uint64_t channel, at; /* at: ns */
};

struct text_session {
	struct text_session_conf conf;
	uint64_t self;
	char name[TEXT_NAME];
	struct tmr *tmr;
	struct text_guild *guild[TEXT_GUILDS];
	uint64_t guild_id[TEXT_GUILDS]; /* beside it, for a search through all of them */
	unsigned n_guilds;
	uint64_t full_at; /* ns: when the log told that no place is free; 0: never */
	unsigned n_seats; /* of all servers */
	struct text_tainted tainted[TEXT_TAINTED];
	unsigned n_tainted;
	uint64_t taint_lost_at; /* ns: the newest that had no place among them; 0: none */
	uint64_t last_start;	/* of a seat, ms since 1970 */
	bool stepping, stopped, keyed;
	uint8_t arguments_key[ARGUMENTS_KEY]; /* made when the first arguments are told */
	struct text_pending *first, **last;
	struct text_effects effects;
	struct incoming in;
	uint64_t began_ms;    /* since 1970 */
	uint64_t changed_ms;  /* the last change of settings; 0: none since then */
	bool away;	      /* what Discord tells may have been written some time ago */
	unsigned memory_held; /* by so many */
	struct text_ended ended_out[TEXT_ENDED_OUT];
	unsigned n_ended_out; /* ever */
	struct text_post post[TEXT_POSTS_KNOWN];
	unsigned n_posts; /* ever */
	struct taken_table *taken;
	struct text_notice *notices; /* that wait until the store knows why they are sent */
	struct text_catching_up up;
};

/* ---- servers.c ---- */
/* NULL: the server has no core. */
struct text_guild *text_guild_find(const struct text_session *ts, uint64_t id);
/* The same, or a new one. addressed: for somebody who addresses the bot, to whom more servers give
 * way. NULL without memory, if all places are in use, or (of a new one) after text_session_stop. */
struct text_guild *text_guild_open(struct text_session *ts, uint64_t id, bool addressed);
struct text_guild *text_guild_free(struct text_guild *g);
/* Tells the core in which category channels are: d is a channel, or (list) a server with its
 * channels. */
void text_session_place(struct text_session *ts, const json_t *d, bool list);

/* As text_guild_open, for what addresses the bot. */
struct text_guild *text_session_open(struct text_session *ts, uint64_t id);

/* ---- text_session.c ---- */
/* Gives the core an event, now or after the step under way. Texts are borrowed. */
void text_session_feed(struct text_guild *g, const struct text_event *ev);

/* Reads a message of Discord into ts->in. created: it was written just now. As incoming_read. */
int text_session_read(struct text_session *ts, const json_t *d, bool created);
/* taken_mark() of the title that this post was created with; 0: it is not known. */
uint64_t text_session_first_title(const struct text_session *ts, uint64_t post);
/* The channel or forum of a thread, as threadh of the conf. title: may not be NULL. */
uint64_t text_session_parent(const struct text_session *ts, uint64_t guild, uint64_t channel,
			     const char **title);
/* The same by settings that the caller has borrowed. */
uint64_t text_session_parent_by(const struct text_session *ts, const struct settings *s,
				uint64_t guild, uint64_t channel, const char **title);
uint64_t text_session_category(const struct text_session *ts, uint64_t guild, uint64_t channel);
/* How a message came. */
enum text_came {
	TEXT_CAME_NOW,
	TEXT_CAME_OWED,	  /* from the history; a control before this one took it */
	TEXT_CAME_MISSED, /* from the history; nobody took it */
};
/* How long ago (ns) this message was written, by its id. */
uint64_t text_session_age(const struct text_session *ts, uint64_t message);
/* True if the message in ts->in was one of those that the bot read when it was written. */
bool text_session_was_read(const struct text_session *ts);
/* Gives the message in ts->in to its core. False: the settings do not have it read. */
bool text_session_take(struct text_session *ts, const json_t *d, enum text_came came);
/* The same of a message from which a thread was started: it is a line there, and no address. */
void text_session_note_starter(struct text_session *ts);
/* Tells the log, the bus and the store why a message ended. */
void text_session_record(struct text_guild *g, const struct text_trigger *t);
/* True if this user does not want to be read there. */
bool text_session_refused(const struct text_guild *g, uint64_t user);
/* True if the user was not to be read when they wrote this message, or was erased since. */
bool text_session_unread(const struct text_guild *g, uint64_t user, uint64_t message);
/* True if models may be told now what this person said before: they are to be remembered, and were
 * not forgotten a moment ago. */
bool text_session_may_recall(const struct text_guild *g, uint64_t user);
/* True if the object of the store, a fact or one that it ended, may be told in this channel: it was
 * told there, or where everybody may follow. */
bool text_session_may_tell(const struct text_guild *g, uint64_t channel, const json_t *fact);
/* The same of a line of the store (store_find_said): of an answer everybody counts whom it answers,
 * and whose words stood in its prompt. */
bool text_session_may_tell_line(const struct text_guild *g, const json_t *line);
/* Tells the bus why a message or question ended. */
void text_session_publish(struct text_guild *g, const struct text_trigger *t);
/* Ends what a control before this one owes to somebody who does not want to be read any more. guild
 * 0: in all. */
void text_session_end_owed(struct text_session *ts, uint64_t guild, uint64_t user);
/* Sets the timer for what has to be done next. */
void text_session_arm(struct text_session *ts);

/* ---- question.c ---- */
/* The question of this job is answered, or will not be. The job is gone then. */
void text_question_end(struct text_job *job, enum text_reason reason);
/* Ends those of this user, who does not want to be read any more; user 0: nobody's. Others, which
 * may have been told of who is forgotten, are asked again; to be called after the core's step. */
void text_questions_forget(struct text_guild *g, uint64_t user);
void text_question_free(struct text_question *q);
/* The line that is the question of a command whose answer this message is; 0: it is of none. */
uint64_t text_question_line(const struct text_guild *g, uint64_t message);
/* Ends those whose time is over. */
void text_questions_expire(struct text_guild *g, uint64_t now);
uint64_t text_questions_deadline(const struct text_guild *g);

/* ---- asking.c ---- */
/* A job at the end of the list. NULL without memory. */
struct text_job *text_job_add(struct text_guild *g, uint32_t reply, uint64_t channel);
void text_asking_begin(struct text_guild *g, const struct text_effect *e);
void text_asking_classify(struct text_guild *g, const struct text_effect *e);
/* Nothing of this reply is wanted any more, unless it is being sent. */
void text_asking_end(struct text_guild *g, uint32_t reply);
struct text_job *text_asking_find(const struct text_guild *g, uint32_t reply);
/* The job has what the memory has, or has nothing of it. */
void text_asking_recalled(struct text_job *job);
void text_job_remove(struct text_job *job);
/* The present pass of the model is over, and so are its calls. */
void text_asking_passed(struct text_job *job);
/* True if the model was told words of others than who asked. */
bool text_asking_repeats(const struct text_job *job);
/* Frees the roles of older settings once nobody waits for them; not from inside their handler. */
void text_asking_retire(struct text_guild *g);
/* True if text_asking_retire has something to free. */
bool text_asking_may_retire(const struct text_guild *g);
/* True if a model is asked something now. */
bool text_asking_is_busy(const struct text_guild *g);

/* ---- prompt.c ---- */
/* Writes the prompt for these messages, or for this result (job->ask, job->words), and notes whose
 * words stand in it. ENOMEM. */
int text_prompt_answer(struct text_job *job, const struct text_effect *e);
/* The same for a question of a command. ENOMEM. */
int text_prompt_question(struct text_job *job, const struct text_question *q);
/* "[name]: text". Further lines of the text are indented, so that they are no further messages.
 * NULL without memory; the caller frees it. */
char *text_prompt_label(const char *name, const char *text);
/* The text alone, likewise. */
char *text_prompt_lines(const char *text);
/* NULL without memory; the caller frees it. */
char *text_prompt_decision(const struct text_guild *g, const char *message);

/* ---- quoting.c ---- */
/* True if models may not be told this message of the user from before: they refused, or may be
 * repeated by the bot. asker: who replies to it. */
bool text_quoting_bars(const struct text_guild *g, uint64_t user, uint64_t message, uint64_t asker);
/* Keeps what the message replies to. What messages that wait for an answer reply to stays, before
 * what others do. */
void text_quoting_keep(struct text_guild *g, const struct incoming *in);
/* How much messages that reply to this one want what is known about it. */
enum text_want text_quoting_wants(const struct text_guild *g, uint64_t message);
/* The message is gone, or (0) all of the user's and of the bot, which may repeat them. */
void text_quoting_drop(struct text_guild *g, uint64_t message, uint64_t user);
void text_quoting_edit(struct text_guild *g, const struct incoming *in);

/* ---- recall.c ---- */
/* Looks for what the memory has for the answer. False: there is nothing to look for. Otherwise
 * text_asking_recalled follows, not from inside. */
bool text_recall_begin(struct text_job *job, const struct text_effect *e);
void text_recall_end(struct text_job *job);

/* True if the provider of answers that serves now is sent images. */
bool text_asking_sees(struct text_guild *g);
/* What is attached has been looked at, as far as it could be. */
void text_asking_shown(struct text_job *job);
/* Something that belongs to no answer cost this; whether anything may. */
void text_asking_spend(struct text_guild *g, const struct roles_event *ev);
bool text_asking_may_spend(struct text_guild *g);

/* ---- showing.c ---- */
/* A message that may be read has these files; the message that it replies to; an edit. */
void text_showing_keep(struct text_guild *g, const struct incoming *in);
void text_showing_quoted(struct text_guild *g, const struct incoming *in);
void text_showing_edited(struct text_guild *g, const struct incoming *in);
/* A message is gone, or has its files no more, in whatever server. */
void text_showing_gone(struct text_session *ts, uint64_t guild, uint64_t channel, uint64_t message);
/* The message is gone, or (0) all of the user's. */
void text_showing_drop(struct text_guild *g, uint64_t message, uint64_t user);
/* The channel is gone, with its attachments. */
void text_showing_drop_channel(struct text_guild *g, uint64_t channel);
/* Likewise; other people's questions go on without these files. To be called after the step that
 * ends the question of the message itself: otherwise the model would still be asked it. */
void text_showing_stop_looking(struct text_guild *g, uint64_t message, uint64_t user);
/* Likewise, without the files that an edit took away. */
void text_showing_stop_gone(struct text_guild *g);
void text_showing_clear(struct text_guild *g);
/* Finds what this question's model is to be shown. */
void text_showing_collect(struct text_job *job, const struct text_effect *e);
/* Looks at it. False: there is nothing, or nothing to wait for; otherwise text_asking_shown
 * follows, not from inside. */
bool text_showing_begin(struct text_job *job);
/* What was seen, and the images that go with it (ENGINE_IMAGES_MAX). Shared screens stay out: who
 * reads a voice channel's chat need not be in the call. NULL: nothing. The caller frees it. */
char *text_showing_text(struct text_job *job, struct engine_image *images, size_t *n_images);
void text_showing_free(struct text_show *show);
/* The server's; NULL without memory, or where nothing is looked at. */
struct viewer *text_showing_viewer(struct text_guild *g);

/* ---- keeping.c ---- */
/* True if this user is to be remembered, and was when they wrote something so long ago (ns). */
bool text_keeping_may(const struct text_guild *g, uint64_t user, uint64_t age);
/* A message that may be read, written so long ago (ns). The store learns of it if it may be kept.
 */
void text_keeping_written(struct text_guild *g, const struct incoming *in, uint64_t age);
/* An edit of what the settings would not have read, as in a channel that was blocked since, takes
 * its words and files away: nothing is left that was read of it before. */
void text_keeping_close(const struct text_session *ts, struct incoming *edited);
/* g: NULL if the server is not open. */
void text_keeping_edited(struct text_session *ts, struct text_guild *g, const struct incoming *in);
/* message 0: the channel is gone. */
void text_keeping_deleted(struct text_session *ts, uint64_t guild, uint64_t channel,
			  uint64_t message);
/* A model is about to be asked, for this user; first: names the answer's nonce. True if what it is
 * told and writes may be kept. */
bool text_keeping_asked(struct text_guild *g, const struct text_effect *e, uint64_t first,
			uint64_t user);
/* The model of this answer is told words or facts of this person from the memory. An answer that
 * was told those of too many people is not kept. */
void text_keeping_told(struct text_guild *g, uint32_t reply, uint64_t user);
/* True if this also holds for what tools return for the answer, after it, too. False for answers
 * that nobody knows any more. */
bool text_keeping_of(const struct text_guild *g, uint32_t reply);
/* The answer to this message is sent now. repeats: it may repeat words of others than who asked, or
 * of strangers. */
void text_keeping_sends(struct text_guild *g, uint64_t first, bool repeats);
/* Somebody does not want to be read any more: no answer that was begun before is kept, and one that
 * has been sent, or is being sent, is not told to models. */
void text_keeping_forget(struct text_guild *g);
/* True if this message of the bot is of such an answer. */
bool text_keeping_is_untold(const struct text_guild *g, const struct incoming *in);
/* ---- ended.c ---- */
/* Tells the bus why a message ended, or one that no server has a place for. */
void text_ended_publish(struct text_session *ts, const struct text_trigger *t,
			const struct text_times *times);
/* g: NULL where the server has no place. */
void text_ended_note(struct text_session *ts, struct text_guild *g, const struct text_trigger *t);
/* Those of this user; guild 0: in every server. */
void text_ended_forget(struct text_session *ts, uint64_t guild, uint64_t user);

/* ---- taking.c ---- */
/* An answer to the message is owed from now on. */
void text_taking_waits(struct text_guild *g, const struct text_effect *e);
/* The answer is about to be sent. True: text_sending_kept follows once the store knows it, not from
 * inside; false: nobody keeps it. mark: of its first message, or of the reaction that it is. */
bool text_taking_sending(struct text_job *job, const struct text_effect *e, uint64_t mark);
void text_taking_ended(struct text_guild *g, const struct text_trigger *t);
/* Tells a new core what controls before this one wrote of their own accord. */
void text_taking_tell_posts(struct text_guild *g);
/* A restart goes on with this message, which has not ended. */
bool text_taking_goes_on(const struct text_guild *g, uint64_t message);

/* The bot's name there, as Discord tells it now. */
void text_session_take_nickname(struct text_guild *g);

/* ---- catching_up.c ---- */
/* The settings of a server, 0: everybody's, which are released again by text_session_return unless
 * its core reads them. */
const struct settings *text_session_borrow(const struct text_session *ts, uint64_t guild);
void text_session_return(const struct text_session *ts, uint64_t guild);
int text_catching_up_init(struct text_session *ts);
void text_catching_up_end(struct text_session *ts);

/* ---- telling.c ---- */
/* The model is asked this: keeps it if the settings want it. */
void text_telling_keep(const struct text_job *job, const struct engine_ask *ask);

/* ---- reacting.c ---- */
/* Puts a reaction that nobody waits for. */
void text_reacting_put(struct text_session *ts, uint64_t guild, uint64_t channel, uint64_t message,
		       const char *emoji);
void text_reacting_begin(struct text_guild *g, const struct text_effect *e);
/* The store knows of the job's reaction, or nobody keeps it. */
void text_reacting_request(struct text_job *job);
/* Takes back what Discord has not got yet; the core is told then, unless it abandoned the reply. */
void text_reacting_withdraw(struct text_job *job);
void text_reacting_abandon(struct text_guild *g, uint32_t reply);
/* Takes the directives out of the answer, and out of the words of the passes before. */
void text_reacting_read(struct text_job *job, char emoji[TEXT_EMOJI]);

/* ---- quiet.c ---- */
/* What Discord was asked for; a line of the log if it did not do it. */
struct text_done {
	const char *event, *what; /* the line's name */
	uint64_t guild, channel;
};
void text_quiet_told(const struct text_done *done, int err, int status, const json_t *body);
/* Makes a call that nobody waits for. what: a constant, for the log. */
void text_quiet_request(struct text_session *ts, const struct rest_call *call, const char *what,
			uint64_t guild, uint64_t channel);

/* ---- sending.c ---- */
/* What the job is to send is in the store, or nobody keeps it. */
void text_sending_kept(struct text_job *job);
/* Tells the core that nothing of the answer could be sent. */
void text_sending_not_sent(struct text_guild *g, const struct text_effect *e);
void text_sending_begin(struct text_guild *g, const struct text_effect *e);
/* Goes on with an answer that waited for text_working_take. */
void text_sending_resume(struct text_guild *g, uint64_t channel);
/* Nothing is requested where the bot may not write any more. */
void text_sending_typing(struct text_guild *g, uint64_t channel);
/* Takes back what Discord has not got of an answer. */
void text_sending_withdraw(struct text_guild *g, const struct text_effect *e);
/* Tells somebody that what they stopped has stopped: by a message, or else by a reaction. */
void text_sending_acknowledge(struct text_session *ts, const struct text_effect *e);
void text_sending_free_notices(struct text_session *ts);
/* Tells somebody that their message gets no answer, or not the whole of one: by a reaction, or by a
 * message if AutoMod refused it. */
void text_sending_warn(struct text_session *ts, const struct text_effect *e);

/* ---- working.c ---- */
/* Tells in one message that a tool works, the n-th time. */
void text_working_tell(struct text_guild *g, const struct text_effect *e);
/* The message that the answer of this channel takes the place of; 0: none. *later: the answer has
 * to wait for it, and text_sending_resume follows. */
uint64_t text_working_take(struct text_guild *g, uint64_t channel, bool *later);
/* The channel's is not wanted any more. */
void text_working_drop(struct text_guild *g, uint64_t channel);
/* Deletes a message of the bot. */
void text_working_delete(struct text_guild *g, uint64_t channel, uint64_t id);
/* The first message of the answer that this message announces; 0: it announces none. */
uint64_t text_working_of(const struct text_guild *g, uint64_t channel, uint64_t message);
/* A message of a control that ended tells of work for `owed`, which is still to be answered: the
 * answer takes its place, or it is deleted once `owed` has ended. */
void text_working_find_left(struct text_guild *g, uint64_t channel, uint64_t id, uint64_t owed);
/* Call it when these messages are put to a model. If an earlier control left a "working" message
 * for one of them, the answer takes its place. */
void text_working_claim(struct text_guild *g, const struct text_effect *e);
/* Drops those of answers that are over. */
void text_working_sweep(struct text_guild *g);
/* True if the text is one of them. */
bool text_working_is(const char *content);
void text_working_free(struct text_guild *g);

/* ---- tools.c ---- */
/* Adds the channel's tools to the ask. list: TOOLS_MAX. */
void text_tools_offer(struct text_job *job, struct engine_ask *ask, struct engine_tool *list);
/* TOOL_CALL, TOOL_REVOKED of an answer. */
void text_tools_event(struct text_job *job, const struct roles_event *ev);
/* Goes on with the outputs of the calls. False: there are none. */
bool text_tools_go_on(struct text_job *job);
/* The answer is over; shown: its question for a yes, as people see it; NULL: they see none. */
void text_tools_over(struct text_job *job, const char *shown);
/* The user agreed to the call of the reply, or to none. True if the call is made. */
bool text_tools_words(struct text_guild *g, uint64_t channel, uint32_t reply, uint64_t user,
		      bool yes);
void text_tools_stop(struct text_guild *g, uint64_t channel, uint64_t user);
bool text_tools_busy(const struct text_guild *g);
/* True if text of strangers was read there. */
bool text_tools_tainted(const struct text_guild *g, uint64_t channel);
/* The settings are others. */
void text_tools_settings(const struct text_guild *g);
/* Ends this user's calls; what tasks of workers are about is not told any more. */
void text_tools_forget(const struct text_guild *g, uint64_t user);
void text_tools_free(struct text_guild *g);

/* ---- agreeing.c ---- */
/* Who somebody is who wrote the message, or (0) used a button or a command. name: NULL leaves the
 * one that is known; member: NULL where it is not told, as in the history. */
void text_member_keep(struct text_guild *g, uint64_t user, uint64_t message, const char *name,
		      const json_t *member);
void text_member_forget(struct text_guild *g, uint64_t user);
/* "": not known. Borrowed. */
const char *text_member_name(const struct text_guild *g, uint64_t user);
enum { TEXT_CALLED = INCOMING_NAME + 8 };
/* The name of this user in prompts, of whom the store has one: the present one if it is known, and
 * never the present name of somebody else, nor one of the bot. Returns to. */
const char *text_member_called(const struct text_guild *g, uint64_t user, const char *stored,
			       char to[TEXT_CALLED]);
/* The member whom models know by this name now, in any case; 0: nobody. */
uint64_t text_member_of(const struct text_guild *g, const char *name);
/* True if the bot has this name there. */
bool text_member_is_bot(const struct text_guild *g, const char *name);
/* Their rank for this tool. */
enum tool_rank text_member_rank(const struct text_guild *g, uint64_t user, const char *tool);
/* The answer of the job was sent as far as it could be. True if people see its question, to which
 * they may agree from now on. */
bool text_agreeing_sent(struct text_job *job);
/* True if a question waits in the channel. */
bool text_agreeing_waits(const struct text_guild *g, uint64_t channel);
void text_agreeing_free(struct text_guild *g);
/* The buttons of a question; NULL without memory, or where there are none. */
json_t *text_agreeing_buttons(const struct text_job *job);
void text_agreeing_end(struct text_guild *g, const struct text_effect *e);

#endif
