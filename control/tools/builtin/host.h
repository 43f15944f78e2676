/* The built-in tools' interface to the room that they work in, and the sink of their outputs.
 * The room's agent fills it. */
#ifndef CONTROL_TOOLS_BUILTIN_HOST_H
#define CONTROL_TOOLS_BUILTIN_HOST_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include "proto/base/cursor.h"

struct env;
struct http;
struct settings;
struct time_window;

/* A search of the channel's timeline. */
struct tool_said {
	uint32_t turn;
	const char *speaker, *query;	/* may be "" */
	uint64_t since_ms;		/* since 1970: nothing from before */
	const struct time_window *when; /* that the query names; NULL: none. Borrowed */
	unsigned most;
};

enum tool_memory_op { TOOL_MEMORY_WRITE, TOOL_MEMORY_FIND, TOOL_MEMORY_FORGET };

/* A request to the fact store. The caller owns every pointer; the host copies what it keeps. */
struct tool_memory {
	enum tool_memory_op op;
	uint32_t turn;
	uint64_t user;	       /* the speaker */
	uint64_t owner;	       /* the namespace's user; 0: the server's namespace */
	bool any;	       /* search both the server's and the owner's */
	const char *request;   /* JSON, as the functions of control/store/store.h want it */
	const json_t *skipped; /* write: items that the guard refused */
	unsigned most;
};

enum tool_music_op {
	TOOL_MUSIC_SEARCH, /* query, most */
	TOOL_MUSIC_PLAY,   /* query or selection or url, or place in the queue */
	TOOL_MUSIC_ADD,	   /* query or selection or tracks; place */
	TOOL_MUSIC_PAUSE,
	TOOL_MUSIC_RESUME,
	TOOL_MUSIC_SKIP,
	TOOL_MUSIC_STOP,
	TOOL_MUSIC_STATUS,
	TOOL_MUSIC_CHANGE,  /* changes */
	TOOL_MUSIC_HANDOFF, /* mode */
};

/* A request about music. The caller owns every pointer; texts may be NULL or "". */
struct tool_music {
	enum tool_music_op op;
	uint64_t user; /* the speaker, whose rights count */
	uint32_t turn;
	const char *query, *selection, *url, *platform, *mode;
	const json_t *tracks;  /* strings: selections or words */
	const json_t *changes; /* the arguments of music_change */
	int place;	       /* -1: not told; 0: the present track */
	unsigned most;
};

enum tool_screen_op {
	TOOL_SCREEN_WATCH,   /* target */
	TOOL_SCREEN_UNWATCH, /* target */
	TOOL_SCREEN_LIST,
	TOOL_SCREEN_SEE,
	TOOL_SCREEN_SHOW, /* url: a video of our own */
	TOOL_SCREEN_SHOW_END,
	TOOL_SCREEN_VISUALIZE, /* mode: of the music */
};

/* A request about shared screens. Borrowed. */
struct tool_screen {
	enum tool_screen_op op;
	uint64_t user; /* the speaker */
	uint32_t turn;
	bool shared;	      /* others spoke in the turn, too */
	bool all;	      /* of UNWATCH: everybody's */
	const char *target;   /* a name; "": the speaker's, or all of them if they show none */
	const char *question; /* of SEE; "": none */
	const char *url;      /* of SHOW */
	bool sound;	      /* of SHOW: with its sound */
	const char *mode;     /* of VISUALIZE; "": as the settings have it */
};

/* A picture that was shown earlier, or that an address leads to. Borrowed; texts may be "". */
struct tool_look {
	uint64_t user; /* the speaker */
	uint32_t turn;
	const char *query;    /* words of its name, or of the name of who showed it */
	const char *question; /* what is to be found out */
	const char *url;
};

/* Something that a running call is paid for. */
struct tool_cost {
	const char *service; /* borrowed */
	uint64_t nano; /* billionths of a dollar; 0: one request, whose price the settings know */
	bool counted;  /* it is in the ledger already */
};

struct tool_host {
	struct env *env;
	struct http *http;
	const struct settings *settings;
	/* The one output of a call: JSON, or any text; with ok false why it failed. Copied. */
	void (*outputh)(uint32_t id, bool ok, struct slice text, void *arg);
	/* A running call, or one that gets its output now, cost this. May be NULL. */
	void (*costh)(uint32_t id, const struct tool_cost *cost, void *arg);
	/* Progress of a running call: one plain line, untrusted. May be NULL. */
	void (*progressh)(uint32_t id, const char *text, void *arg);
	/* Those of the voice session are NULL in text chat, whose models have none of these tools.
	 *
	 * {"people":[…],"minutes":N}: the voice channel. The caller owns it; NULL without memory.
	 */
	json_t *(*statush)(void *arg);
	/* Writes the text into the room's text channel. An errno. */
	int (*writeh)(const char *text, void *arg);
	/* A search of this turn found the page: its link is written into the text channel once the
	 * answer was heard. title: untrusted; url: http or https, without a blank or an angle
	 * bracket. */
	void (*linkh)(uint32_t turn, const char *title, const char *url, void *arg);
	/* Plays the soundboard sound; the output comes from builtin's owner by outputh. An errno:
	 * it does not. */
	int (*soundh)(uint32_t id, const char *name, void *arg);
	/* Leaves the voice channel once this turn is over. EPERM: others listen to music there,
	 * from which this user may not take the bot away. */
	int (*leaveh)(uint32_t turn, uint64_t user, void *arg);
	/* Goes to the server's voice channel of this name once this turn is over. ENOENT: there is
	 * none, or not exactly one. EPERM: this user may not move members there. */
	int (*joinh)(uint32_t turn, uint64_t user, const char *name, void *arg);
	/* Looks for what was said; the output comes by outputh. An errno: it does not. NULL:
	 * nothing of the channel is kept. */
	int (*searchh)(uint32_t id, const struct tool_said *what, void *arg);
	/* True if anything can be remembered here at all. May be NULL: nothing can. */
	bool (*rememberh)(void *arg);
	/* The server of this room. */
	uint64_t (*guildh)(void *arg);
	/* Writes, finds or deletes facts; the output comes by outputh. An errno: it does not;
	 * EACCES: the speaker has not agreed to be remembered. */
	int (*memoryh)(uint32_t id, const struct tool_memory *what, void *arg);
	/* So many facts were to be written, and memoryh was asked for none of them, or refused
	 * them: the guard, the namespace or missing consent stands against it. May be NULL. */
	void (*unwrittenh)(unsigned facts, void *arg);
	/* Finds, plays and controls music; the output comes by outputh. An errno: it does not.
	 * NULL: there is no music. */
	int (*musich)(uint32_t id, const struct tool_music *what, void *arg);
	/* The call gets no output any more. May be NULL. */
	void (*music_cancelh)(uint32_t id, void *arg);
	/* Shared screens; the output comes by outputh. An errno: it does not. NULL: there are none.
	 */
	int (*screenh)(uint32_t id, const struct tool_screen *what, void *arg);
	/* Looks at a picture; the output comes by outputh. An errno: it does not. NULL: nothing can
	 * be looked at. */
	int (*lookh)(uint32_t id, const struct tool_look *what, void *arg);
	/* The call gets no output any more. May be NULL. */
	void (*look_cancelh)(uint32_t id, void *arg);
	/* True if a person wrote this address, whole, in the channel. May be NULL: nobody did. */
	bool (*writtenh)(const char *url, void *arg);
	/* Everybody reads the outputs' answers: nothing private is read or written. */
	bool open;
	bool music_search; /* there are tracks to search for */
	bool music_plays;  /* music can be played */
	bool music_web;	   /* from addresses of the web, too */
	bool video_shows;  /* videos can be shown */
	void *arg;
};

#endif
