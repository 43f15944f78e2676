#include "tests/talk/talk.h"

#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/http_server.h"
#include "ipc/log.h"
#include "ipc/ws.h"
#include "tests/talk/board.h"
#include "tests/talk/pages.h"
#include "tests/talk/person.h"
#include "tests/talk/stream.h"
#include "tests/talk/wire.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	MESSAGE_MAX = 16 << 10,
	HEARD_MAX = 16 << 10,
	WAITING_MAX = 256 << 10, /* bytes queued for a tab; audio beyond them is dropped */
	HOST_SIZE = 256,
	URL_SIZE = 256,
	POLICY_VIOLATION = 1008,
	TRY_LATER = 1013,
};

struct tab {
	struct talk *talk;
	struct ws *ws; /* NULL: free */
	struct person *person;
};

struct talk {
	struct talk_conf conf;
	struct http *http;
	struct pages *pages;
	struct stream *stream;
	struct board *board;
	struct http_server *server;
	struct ws_server *sockets; /* gets its connections from server */
	struct tab tabs[TALK_TABS];
};

/* ---- to the page ---- */

static void send_json(struct tab *tab, const json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (text)
		ws_send(tab->ws, true, text, strlen(text));
	free(text);
}

static void trouble(struct tab *tab, const char *text)
{
	json_t *o = json_pack("{s:s,s:s}", "is", "trouble", "text", text);

	send_json(tab, o);
	json_decref(o);
}

static const struct person *person_of(const struct talk *t, uint64_t user)
{
	for (unsigned i = 0; i < TALK_TABS; i++)
		if (t->tabs[i].person && person_user(t->tabs[i].person) == user)
			return t->tabs[i].person;
	return NULL;
}

static json_t *id_json(uint64_t id)
{
	char text[24];

	snprintf(text, sizeof text, "%" PRIu64, id);
	return json_string(text);
}

static json_t *other_json(const struct talk *t, uint64_t user, bool speaking)
{
	const struct person *p = person_of(t, user);
	bool bot = user == t->conf.bot;

	return json_pack("{s:o,s:s,s:b,s:b,s:b}", "user", id_json(user), "name",
			 p     ? person_name(p)
			 : bot ? "Parley"
			       : "somebody",
			 "bot", bot, "speaking", speaking, "muted", p && person_muted(p));
}

static json_t *people_json(const struct tab *tab)
{
	json_t *list = json_array();
	uint64_t user;
	bool speaking;

	for (unsigned i = 0; person_other(tab->person, i, &user, &speaking); i++)
		json_array_append_new(list, other_json(tab->talk, user, speaking));
	return list;
}

static void send_room(struct tab *tab)
{
	static const char *const phases[] = {"joining", "up", "failed"};
	const struct person *p = tab->person;
	json_t *o;

	if (!p)
		o = json_pack("{s:s,s:s}", "is", "room", "phase", "out");
	else
		o = json_pack("{s:s,s:s,s:o,s:s,s:b,s:b,s:s,s:s,s:o}", "is", "room", "phase",
			      phases[person_phase(p)], "you", id_json(person_user(p)), "name",
			      person_name(p), "muted", person_muted(p), "speaking",
			      person_speaking(p), "code", person_code(p), "trouble",
			      person_trouble(p), "people", people_json(tab));
	send_json(tab, o);
	json_decref(o);
}

/* Sends the state to all tabs, because one tab's change may affect the others. */
static void send_rooms(struct talk *t)
{
	for (unsigned i = 0; i < TALK_TABS; i++)
		if (t->tabs[i].ws)
			send_room(&t->tabs[i]);
}

static void on_changed(void *arg)
{
	const struct tab *tab = arg;

	send_rooms(tab->talk);
}

static void on_heard(uint64_t user, const uint8_t *pcm, size_t n, void *arg)
{
	struct tab *tab = arg;
	uint8_t buf[WIRE_HEAD + HEARD_MAX];

	if (n > HEARD_MAX || ws_pending(tab->ws) > WAITING_MAX)
		return;
	for (unsigned i = 0; i < WIRE_HEAD; i++)
		buf[i] = (uint8_t)(user >> 8 * i);
	memcpy(buf + WIRE_HEAD, pcm, n);
	ws_send(tab->ws, false, buf, WIRE_HEAD + n);
}

static void send_board(struct tab *tab)
{
	json_t *o = json_pack("{s:s,s:O}", "is", "chat", "list", board_list(tab->talk->board));

	send_json(tab, o);
	json_decref(o);
}

static void on_board(void *arg)
{
	struct talk *t = arg;

	for (unsigned i = 0; i < TALK_TABS; i++)
		if (t->tabs[i].ws)
			send_board(&t->tabs[i]);
}

static void on_event(const char *data, size_t n, void *arg)
{
	struct talk *t = arg;
	json_t *o = wire_turn(data, n, t->conf.channel);

	for (unsigned i = 0; o && i < TALK_TABS; i++)
		if (t->tabs[i].person)
			send_json(&t->tabs[i], o);
	json_decref(o);
}

/* ---- from the page ---- */

static bool taken(const struct talk *t, const char *name)
{
	for (unsigned i = 0; i < TALK_TABS; i++)
		if (t->tabs[i].person && strcmp(person_name(t->tabs[i].person), name) == 0)
			return true;
	return strcmp(name, "Parley") == 0;
}

/* Two tabs are two members, so they need two names. */
static void choose_name(const struct talk *t, const char *wish, char *buf, size_t size)
{
	if (!wish[0])
		wish = "Guest";
	snprintf(buf, size, "%s", wish);
	for (unsigned i = 2; taken(t, buf); i++)
		snprintf(buf, size, "%s %u", wish, i);
}

static void join(struct tab *tab, const struct wire_order *order)
{
	const struct talk_conf *c = &tab->talk->conf;
	char name[WIRE_NAME_SIZE + 8];
	struct person_conf pc = {
		.env = c->env,
		.http = tab->talk->http,
		.api = c->api,
		.ca_file = c->ca_file,
		.mediad = c->mediad,
		.run_dir = c->run_dir,
		.guild = c->guild,
		.channel = c->channel,
		.name = name,
		.rate = order->rate,
		.changedh = on_changed,
		.heardh = on_heard,
		.arg = tab,
	};
	int err;

	if (tab->person && person_phase(tab->person) != PERSON_FAILED)
		return;
	tab->person = person_free(tab->person);
	choose_name(tab->talk, order->name, name, sizeof name);
	err = person_alloc(&tab->person, &pc);
	if (err == EINVAL)
		trouble(tab, "Your microphone's sample rate cannot be used.");
	else if (err)
		trouble(tab, "There is not enough memory to join.");
	else if (order->on)
		person_mute(tab->person, true);
	send_room(tab);
}

static void leave(struct tab *tab)
{
	tab->person = person_free(tab->person);
	send_rooms(tab->talk);
}

static void on_text(struct tab *tab, const uint8_t *p, size_t n)
{
	struct wire_order order;

	if (wire_order(p, n, &order)) {
		ws_close(tab->ws, POLICY_VIOLATION, "not understood");
		return;
	}
	switch (order.what) {
	case WIRE_JOIN:
		join(tab, &order);
		break;
	case WIRE_MUTE:
		if (tab->person)
			person_mute(tab->person, order.on);
		break;
	case WIRE_LEAVE:
		leave(tab);
		break;
	}
}

static void on_ws(struct ws *ws, enum ws_event ev, uint16_t code, const uint8_t *data, size_t len,
		  void *arg)
{
	struct tab *tab = arg;

	(void)code;
	switch (ev) {
	case WS_OPEN:
		break;
	case WS_TEXT:
		on_text(tab, data, len);
		break;
	case WS_BINARY:
		if (tab->person)
			person_speak(tab->person, data, len);
		break;
	case WS_CLOSED:
		tab->person = person_free(tab->person);
		tab->ws = ws_free(ws);
		send_rooms(tab->talk);
		break;
	}
}

static void refuse(struct ws *ws, uint16_t code, const char *why)
{
	ws_close(ws, code, why);
	ws_free(ws);
}

static void on_accept(struct ws *ws, const char *path, void *arg)
{
	struct talk *t = arg;
	unsigned i = 0;

	(void)path;
	while (i < TALK_TABS && t->tabs[i].ws)
		i++;
	if (i == TALK_TABS) {
		refuse(ws, TRY_LATER, "as many tabs are open as there are places");
		return;
	}
	t->tabs[i] = (struct tab){.talk = t, .ws = ws};
	ws_set_handler(ws, on_ws, &t->tabs[i]);
	send_board(&t->tabs[i]);
	send_room(&t->tabs[i]);
}

static bool host_is_ours(struct http_text host, void *arg)
{
	char text[HOST_SIZE];

	snprintf(text, sizeof text, "%.*s", (int)host.n, host.p);
	return wire_host(text, talk_port(arg));
}

static void on_upgrade(int fd, const char *head, size_t n, void *arg)
{
	struct talk *t = arg;

	ws_server_adopt(t->sockets, fd, head, n);
}

/* A page of another site could open a WebSocket here; the origin shows it. */
static void upgrade(struct talk *t, struct http_exchange *x, const struct http_head *head)
{
	char origin[HOST_SIZE];

	http_head_copy(head, "origin", origin, sizeof origin);
	if (strcmp(head->path, "/room") == 0 && wire_origin(origin, talk_port(t))) {
		http_upgrade(x, on_upgrade, t);
		return;
	}
	log_warn("refused", "origin=\"%s\"", origin);
	http_reply(x, 403, NULL, NULL, 0);
}

static void on_request(struct http_exchange *x, const struct http_head *head, void *arg)
{
	struct talk *t = arg;

	if (head->websocket)
		upgrade(t, x, head);
	else if (head->method == HTTP_GET || head->method == HTTP_HEAD)
		pages_serve(t->pages, head->path, x);
	else
		http_reply(x, 405, NULL, NULL, 0);
}

/* ---- coming and going ---- */

static int serve(struct talk *t)
{
	const struct ws_listen_conf wc = {.max_message = MESSAGE_MAX};
	struct http_server_conf hc = {
		.port = t->conf.port, .hosth = host_is_ours, .h = on_request, .arg = t};
	int err = ws_listen(&t->sockets, t->conf.ws, &wc, on_accept, t);

	if (!err)
		err = http_server_alloc(&t->server, t->conf.env, &hc);
	/* The default port is taken: uses any free one. */
	if (err && hc.port) {
		hc.port = 0;
		err = http_server_alloc(&t->server, t->conf.env, &hc);
	}
	if (!err)
		pages_port(t->pages, talk_port(t), t->conf.control);
	return err;
}

static int read_events(struct talk *t)
{
	const struct talk_conf *c = &t->conf;
	char url[URL_SIZE];

	snprintf(url, sizeof url,
		 "%s/api/events?type=turn_admitted,turn_speaking,turn&guild=%" PRIu64, c->control,
		 c->guild);
	return stream_alloc(&t->stream, c->env, t->http, url, c->token, on_event, t);
}

int talk_alloc(struct talk **out, const struct talk_conf *conf, const char **why)
{
	struct talk *t = calloc(1, sizeof *t);
	int err = ENOMEM;

	*why = "there is not enough memory";
	if (!t)
		return ENOMEM;
	t->conf = *conf;
	err = http_alloc(&t->http, conf->env, NULL, "parley-talk");
	if (!err)
		err = board_alloc(&t->board, conf->env, t->http, conf->api, conf->channel, on_board,
				  t);
	if (!err) {
		*why = "the page's files cannot be read";
		err = pages_alloc(&t->pages, conf->page_dir);
	}
	if (!err) {
		*why = "the event stream of control cannot be read";
		err = read_events(t);
	}
	if (!err) {
		*why = "it cannot listen on 127.0.0.1";
		err = serve(t);
	}
	if (err)
		talk_free(t);
	else
		*out = t;
	return err;
}

struct talk *talk_free(struct talk *t)
{
	if (!t)
		return NULL;
	http_server_free(t->server);
	ws_server_free(t->sockets);
	for (unsigned i = 0; i < TALK_TABS; i++) {
		person_free(t->tabs[i].person);
		ws_free(t->tabs[i].ws);
	}
	stream_free(t->stream);
	board_free(t->board);
	pages_free(t->pages);
	http_free(t->http);
	free(t);
	return NULL;
}

uint16_t talk_port(const struct talk *t)
{
	return http_server_port(t->server);
}
