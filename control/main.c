/* The program control: reads its command line and environment, then runs the loop. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>
#include <jansson.h>

#include "control/again/again.h"
#include "control/check.h"
#include "control/control.h"
#include "control/costs.h"
#include "control/configure/environment.h"
#include "control/mcp_login.h"
#include "control/health.h"
#include "control/help.h"
#include "control/play.h"
#include "control/replay.h"
#include "control/settings/profile.h"
#include "control/settings/provider_record.h"
#include "control/settings/settings.h"
#include "control/show.h"
#include "control/sign_in_link.h"
#include "control/state.h"
#include "control/store/incident.h"
#include "control/store_commands.h"
#include "control/ledger/ledger.h"
#include "control/told.h"
#include "control/why.h"
#include "control/words/words.h"
#include "ipc/env.h"
#include "ipc/http.h"
#include "ipc/journal.h"
#include "ipc/journal_play.h"
#include "ipc/json_wipe.h"
#include "ipc/log.h"
#include "ipc/spawn.h"
#include "proto/base/time.h"
#include "proto/discord.h"

enum { SOCKS_MAX = 32, USAGE = 2, OTHER_CONTROL = 4, SIGNALS = 5, SUSPEND_MS = 200 };

struct options {
	struct control_conf conf;
	const char *socks[SOCKS_MAX + 1];
	unsigned n_socks;
	char state_dir[512];
	const char *given_state_dir;
	const char *config;
	const char *journal, *shapes, *replay, *print, *backup, *erase, *login, *scope, *export,
		*export_memory, *import_memory, *role, *audit_head, *incident, *show, *forget;
	struct why_query why;
	bool asks_why, costs, asks_context, audit_check, audit_export;
	struct why_query context;
	enum log_level level;
	unsigned n_given; /* options besides --log */
	bool again, check, settings, health, counters, no_subscribers, sign_in;
};

static int usage(const char *what, const char *value)
{
	fprintf(stderr, "control: %s%s%s\nTry 'control --help'.\n", what, value ? ": " : "",
		value ? value : "");
	return USAGE;
}

static uint64_t wall_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return ms_of_timespec(&now);
}

/* One option. Its function returns -1 to continue, else the exit status; field is the field of
 * struct options that takes the value, and fault says what is wrong with a value. */
struct control_option {
	const char *name;
	int argument; /* no_argument, required_argument or optional_argument */
	int (*take)(const struct control_option *this, struct options *o, const char *value);
	size_t field;
	const char *fault;
};

static void *find_field(const struct control_option *this, struct options *o)
{
	return (char *)o + this->field;
}

static int take_text(const struct control_option *this, struct options *o, const char *value)
{
	*(const char **)find_field(this, o) = value;
	return value && !strncmp(value, "--", 2) ? usage("the value is missing before", value) : -1;
}

static int take_flag(const struct control_option *this, struct options *o, const char *value)
{
	(void)value;
	*(bool *)find_field(this, o) = true;
	return -1;
}

static int take_id(const struct control_option *this, struct options *o, const char *value)
{
	return discord_snowflake(value, find_field(this, o)) ? -1 : usage(this->fault, value);
}

static int take_socket(const struct control_option *this, struct options *o, const char *value)
{
	if (o->n_socks == SOCKS_MAX)
		return usage(this->fault, NULL);
	o->socks[o->n_socks++] = value;
	return -1;
}

static int take_program(const struct control_option *this, struct options *o, const char *value)
{
	return take_text(this, o, value ? value : "mediad");
}

static int take_level(const struct control_option *this, struct options *o, const char *value)
{
	return log_level_parse(value, &o->level) ? -1 : usage(this->fault, value);
}

static int take_turn(const struct control_option *this, struct options *o, const char *value)
{
	o->asks_why = true;
	return !value || why_parse_turn(&o->why, value) ? -1 : usage(this->fault, value);
}

static int take_context(const struct control_option *this, struct options *o, const char *value)
{
	o->asks_context = true;
	return !value || why_parse_turn(&o->context, value) ? -1 : usage(this->fault, value);
}

static int take_since(const struct control_option *this, struct options *o, const char *value)
{
	return why_parse_since(&o->why, value, wall_ms()) ? -1 : usage(this->fault, value);
}

static int take_sign_in(const struct control_option *this, struct options *o, const char *value)
{
	o->sign_in = true;
	return take_text(this, o, value);
}

static int take_audit(const struct control_option *this, struct options *o, const char *value)
{
	o->audit_check = true;
	return take_text(this, o, value);
}

static int print_help(const struct control_option *this, struct options *o, const char *value)
{
	(void)this;
	(void)o;
	(void)value;
	fputs(control_help, stdout);
	return 0;
}

static int print_version(const struct control_option *this, struct options *o, const char *value)
{
	(void)this;
	(void)o;
	(void)value;
	puts("control (Parley) " PARLEY_VERSION);
	return 0;
}

#define FIELD(name) offsetof(struct options, name)
static const struct control_option options[] = {
	{"media-sock", required_argument, take_socket, 0, "too many --media-sock"},
	{"spawn-mediad", optional_argument, take_program, FIELD(conf.spawn), NULL},
	{"guild", required_argument, take_id, FIELD(conf.guild), "not a server id"},
	{"channel", required_argument, take_id, FIELD(conf.channel), "not a channel id"},
	{"config", required_argument, take_text, FIELD(config), NULL},
	{"settings", no_argument, take_flag, FIELD(settings), NULL},
	{"state-dir", required_argument, take_text, FIELD(given_state_dir), NULL},
	{"ca", required_argument, take_text, FIELD(conf.ca_file), NULL},
	{"journal", required_argument, take_text, FIELD(journal), NULL},
	{"journal-shape", required_argument, take_text, FIELD(shapes), NULL},
	{"journal-print", required_argument, take_text, FIELD(print), NULL},
	{"replay", required_argument, take_text, FIELD(replay), NULL},
	{"log", required_argument, take_level, 0, "not a log level"},
	{"no-subscribers", no_argument, take_flag, FIELD(no_subscribers), NULL},
	{"again", no_argument, take_flag, FIELD(again), NULL},
	{"check", no_argument, take_flag, FIELD(check), NULL},
	{"health", no_argument, take_flag, FIELD(health), NULL},
	{"why", optional_argument, take_turn, 0,
	 "not the number of a turn, the id of a message, or last"},
	{"costs", no_argument, take_flag, FIELD(costs), NULL},
	{"context", optional_argument, take_context, 0,
	 "not the number of a turn, the id of a message, or last"},
	{"counters", no_argument, take_flag, FIELD(counters), NULL},
	{"turn", required_argument, take_turn, 0, "not the number of a turn, or last"},
	{"user", required_argument, take_id, FIELD(why.user), "not a user id"},
	{"since", required_argument, take_since, 0, "not a time such as 30m, 2h or 3d"},
	{"backup", required_argument, take_text, FIELD(backup), NULL},
	{"mcp-login", required_argument, take_text, FIELD(login), NULL},
	{"scope", required_argument, take_text, FIELD(scope), NULL},
	{"export-memory", required_argument, take_text, FIELD(export_memory), NULL},
	{"import-memory", required_argument, take_text, FIELD(import_memory), NULL},
	{"export", required_argument, take_text, FIELD(export), NULL},
	{"erase", required_argument, take_text, FIELD(erase), NULL},
	{"forget-encrypted", required_argument, take_text, FIELD(forget), NULL},
	{"audit-check", optional_argument, take_audit, FIELD(audit_head), NULL},
	{"audit-export", no_argument, take_flag, FIELD(audit_export), NULL},
	{"incident", required_argument, take_text, FIELD(incident), NULL},
	{"show", required_argument, take_text, FIELD(show), NULL},
	{"sign-in", optional_argument, take_sign_in, FIELD(role), NULL},
	{"help", no_argument, print_help, 0, NULL},
	{"version", no_argument, print_version, 0, NULL},
};
#undef FIELD
enum { OPTIONS = sizeof options / sizeof options[0], OPTION_FIRST = 256 };

/* Returns -1 to continue, else the exit status. */
static int parse_each_option(struct options *o, int argc, char **argv)
{
	struct option longs[OPTIONS + 1] = {0};
	int opt, status = -1;

	for (int i = 0; i < OPTIONS; i++)
		longs[i] = (struct option){options[i].name, options[i].argument, NULL,
					   OPTION_FIRST + i};
	while (status < 0 && (opt = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (opt < OPTION_FIRST) { /* getopt has said why */
			fputs("Try 'control --help'.\n", stderr);
			return USAGE;
		}
		status = options[opt - OPTION_FIRST].take(&options[opt - OPTION_FIRST], o, optarg);
		o->n_given += options[opt - OPTION_FIRST].take != take_level;
	}
	return status;
}

static bool reads_store(const struct options *o)
{
	return o->asks_why || o->costs || o->asks_context || o->backup || o->erase || o->export ||
	       o->export_memory || o->import_memory || o->audit_check || o->audit_export ||
	       o->incident || o->forget;
}

/* The words after --why stand alone: control --why 12. */
static int parse_rest(struct options *o, int argc, char **argv)
{
	if (o->asks_why && optind < argc && !o->why.one && argc - optind == 1 &&
	    why_parse_turn(&o->why, argv[optind]))
		optind++;
	if (o->asks_why && !o->conf.guild && !o->conf.channel && !o->why.user && !o->why.since_ms)
		o->why.one = true;
	if (o->asks_why && optind + 1 == argc)
		return usage("not the number of a turn, the id of a message, or last",
			     argv[optind]);
	if (!o->asks_why && (o->why.user || (o->why.since_ms && !o->costs && !o->incident)))
		return usage("--user and --since need --why", NULL);
	return optind < argc ? usage("not an option", argv[optind]) : -1;
}

/* No mediad is there, and none can be at this path. */
static int parse_show(struct options *o)
{
	if (o->n_given > 1)
		return usage("--show takes no other option but --log", NULL);
	o->socks[o->n_socks++] = "/dev/null/mediad";
	o->conf.socks = o->socks;
	o->conf.shown = true;
	return -1;
}

static int parse_options(struct options *o, int argc, char **argv)
{
	int status;

	o->level = LOG_INFO_;
	status = parse_each_option(o, argc, argv);
	if (status < 0)
		status = parse_rest(o, argc, argv);
	if (status >= 0)
		return status;
	if (o->show)
		return parse_show(o);
	if (o->again)
		return argc == 2 ? -1 : usage("--again stands alone", NULL);
	if (o->settings)
		return argc == 2 ? -1 : usage("--settings stands alone", NULL);
	if (o->replay || o->print)
		return !o->replay + !o->print + !o->n_socks + !o->conf.spawn == 3
			       ? -1
			       : usage("--replay and --journal-print stand alone", NULL);
	if (o->journal && o->shapes)
		return usage("give --journal or --journal-shape, not both", NULL);
	if (o->n_socks && o->conf.spawn)
		return usage("give --media-sock or --spawn-mediad, not both", NULL);
	if (!o->n_socks && !o->conf.spawn &&
	    (o->check || o->health || o->counters || o->login || o->sign_in || reads_store(o)))
		o->conf.spawn = "mediad";
	if (!o->n_socks && !o->conf.spawn)
		return usage("give --media-sock PATH or --spawn-mediad", NULL);
	if (!o->conf.guild != !o->conf.channel && !reads_store(o))
		return usage("--guild and --channel belong together", NULL);
	if (o->n_socks)
		o->conf.socks = o->socks;
	if (state_dir(o->given_state_dir, o->state_dir, sizeof o->state_dir) == 0)
		o->conf.state_dir = o->state_dir;
	return -1;
}

/* A running control and its journal. */
struct run {
	struct env *env;
	struct journal *journal;
	struct control *control;
	uint32_t source;
	struct event *sig[SIGNALS];
	const struct options *o;
	struct settings *read;	      /* as last read from the file */
	const struct settings *whole; /* the same, for control */
};

static void on_new_fault(const char *text, void *arg)
{
	(void)arg;
	log_warn("settings_fault", "text=\"%s\"", text);
}

struct changes {
	struct env *env;
	json_t *all;
	int err;
};

/* Registers a new key as a secret, so that neither journal nor log holds it. */
static void add_change(const char *name, const char *value, bool secret, void *arg)
{
	struct changes *c = arg;

	if (secret && *value) {
		log_secret(value);
		if (!c->err)
			c->err = env_secret(c->env, value);
	}
	json_object_set_new(c->all, name, json_string(value));
}

/* Reads the settings file again. A file with faults changes nothing. */
static void reload_settings(struct run *r)
{
	struct settings *fresh = NULL;
	int err = environment_settings(&fresh, r->o->config, on_new_fault, NULL);
	struct changes changes = {.env = r->env, .all = json_object()};
	char *text = NULL;

	if (!err) {
		settings_changes(r->read, fresh, add_change, &changes);
		text = json_dumps(changes.all, JSON_COMPACT);
		err = text ? changes.err : ENOMEM;
	}
	if (err) {
		log_warn("settings_kept", "text=\"The settings stay as they were: %s.\"",
			 err == EINVAL ? "the file cannot be used" : strerror(err));
	} else {
		log_info("settings_read", "changed=%zu", json_object_size(changes.all));
		settings_free(r->read);
		r->read = fresh;
		r->whole = fresh;
		fresh = NULL;
		env_deliver(r->env, r->source, CONTROL_IN_SETTINGS, text, strlen(text));
	}
	if (text)
		explicit_bzero(text, strlen(text));
	free(text);
	json_decref(changes.all);
	settings_free(fresh);
}

static void stop_process(evutil_socket_t fd, short what, void *arg)
{
	(void)fd, (void)what, (void)arg;
	raise(SIGSTOP);
	log_info("continued", "after=suspension");
}

/* Stops as SIGTSTP wants it, after a moment in which the aborts reach the providers. */
static void suspend(struct run *r)
{
	static const struct timeval moment = {.tv_usec = SUSPEND_MS * 1000};

	env_deliver(r->env, r->source, CONTROL_IN_SUSPEND, NULL, 0);
	if (event_base_once(env_base(r->env), -1, EV_TIMEOUT, stop_process, NULL, &moment))
		raise(SIGSTOP);
}

static void on_signal(evutil_socket_t sig, short what, void *arg)
{
	struct run *r = arg;

	(void)what;
	log_info("signal", "number=%d", (int)sig);
	/* What is shown has no settings file; its terminal was closed. */
	if (sig == SIGHUP && !r->o->show)
		reload_settings(r);
	else if (sig == SIGTSTP)
		suspend(r);
	else if (sig == SIGUSR1)
		env_deliver(r->env, r->source, CONTROL_IN_ERASE, NULL, 0);
	else
		env_deliver(r->env, r->source, CONTROL_IN_STOP, NULL, 0);
}

/* Prints a sentence for the operator; returns 1, the exit status. */
static int print_error(const struct words *w)
{
	fprintf(stderr, "control: %s\n", w->text);
	return 1;
}

static int cannot_start(int err)
{
	struct words w = {0};

	words_cannot_start(&w, strerror(err));
	return print_error(&w);
}

static int cannot_record(const char *path, int err)
{
	struct words w = {0};
	char text[512];

	snprintf(text, sizeof text, "%s: %s", path, strerror(err));
	words_cannot_start(&w, text);
	return print_error(&w);
}

/* Reports at once the faults that would otherwise show only later and that waiting cannot mend. */
static bool can_start(const struct settings *settings, const struct control_conf *conf)
{
	struct words w = {0};
	char text[512];

	if (!settings->discord_token[0] && settings_gateway(settings) != SETTINGS_GATEWAY_NONE) {
		environment_secret_fault("DISCORD_TOKEN", settings_token_file(settings), text,
					 sizeof text);
		words_no_token(&w, text);
	} else if (conf->ca_file && access(conf->ca_file, R_OK)) {
		words_no_authority(&w, conf->ca_file, strerror(errno));
	} else if (conf->spawn && spawn_find(conf->spawn, text, sizeof text)) {
		words_no_program(&w, conf->spawn);
	} else if (settings_needs_embedded(settings) && spawn_find("offlined", text, sizeof text)) {
		words_no_brain(&w, SETTINGS_KEY_NAME);
	} else {
		return true;
	}
	print_error(&w);
	return false;
}

static int start_journal(struct run *r, const struct settings *settings, const struct options *o)
{
	char *meta = NULL;
	int err;

	if (!o->journal && !o->shapes)
		return 0;
	err = control_meta(&meta, settings, &o->conf, o->shapes != NULL);
	if (!err && o->shapes)
		err = journal_create_shapes(&r->journal, o->shapes, 1, meta);
	else if (!err)
		err = journal_create(&r->journal, o->journal, 1, meta);
	free(meta);
	return err;
}

static int start_control(struct run *r, struct settings *settings, const struct options *o)
{
	static const int signals[SIGNALS] = {SIGTERM, SIGINT, SIGHUP, SIGTSTP, SIGUSR1};
	struct control_conf conf = o->conf;
	struct env_conf ec = {.loop = true};
	int err = start_journal(r, settings, o);

	ec.journal = r->journal;
	conf.recorded = r->journal != NULL;
	conf.whole = r->journal ? &r->whole : NULL;
	r->o = o;
	if (!err)
		err = settings_alloc(&r->read);
	if (!err)
		*r->read = *settings;
	if (!err)
		err = env_alloc(&r->env, &ec);
	if (!err && r->journal)
		err = control_secrets(r->env, settings, o->conf.web_token);
	if (!err)
		err = control_make(&r->control, &r->source, r->env, settings, &conf);
	for (unsigned i = 0; i < SIGNALS && !err; i++) {
		r->sig[i] = evsignal_new(env_base(r->env), signals[i], on_signal, r);
		if (!r->sig[i] || event_add(r->sig[i], NULL))
			err = ENOMEM;
	}
	if (!err && o->show) {
		show_hold_signals(false);
		sign_in_link_run(stdout, settings, conf.state_dir, NULL,
				 control_web_port(r->control), wall_ms());
		fflush(stdout);
	}
	return err;
}

/* Teardown is not part of the recorded session. */
static void end_control(struct run *r)
{
	for (unsigned i = 0; i < SIGNALS; i++)
		if (r->sig[i])
			event_free(r->sig[i]);
	settings_free(r->read);
	control_free(r->control);
	env_free(r->env);
	journal_free(r->journal);
}

/* Without a listening address no token is made. */
static int read_web_token(const struct settings *settings, struct control_conf *conf,
			  char token[STATE_TOKEN_MAX])
{
	int err;

	if (!*settings->web_listen)
		return 0;
	err = conf->state_dir ? state_web_token(conf->state_dir, token, STATE_TOKEN_MAX) : ENOENT;
	if (err) {
		fprintf(stderr,
			"control: the token of the HTTP API (web-token in the state directory) "
			"cannot be used: %s\n",
			state_web_token_fault(err));
		return err;
	}
	log_secret(token);
	conf->web_token = token;
	return 0;
}

/* Locks and reads the state directory. Returns -1 to continue, else the exit status. A directory
 * that cannot be made is as good as none. One that a control has used and that cannot be locked may
 * be in use now, and holds settings that must not be passed over. */
static int read_state(struct control_conf *conf, struct state_kept *kept, int *lock)
{
	const char *dir = conf->state_dir;
	struct words w = {0};
	int err = state_dir_make(dir);

	if (!err)
		err = state_lock(dir, lock);
	if (!err) {
		state_read(dir, kept);
		if (conf->shown)
			state_kept_forget_sessions(kept);
		return -1;
	}
	if (err == EBUSY) {
		words_state_in_use(&w, dir);
		print_error(&w);
		return OTHER_CONTROL;
	}
	if (state_is_used(dir)) {
		words_state_not_locked(&w, dir, strerror(err));
		return print_error(&w);
	}
	log_warn("state_not_kept", "dir=%s error=\"%s\"", dir, strerror(err));
	conf->state_dir = NULL;
	return -1;
}

static int run_control(struct settings *settings, const struct options *given)
{
	struct words incomplete = {0};
	struct state_kept kept = {0};
	char token[STATE_TOKEN_MAX];
	struct options o = *given;
	struct run r = {0};
	int status = -1, lock = -1, err;

	if (!can_start(settings, &o.conf))
		return 1;
	if (o.conf.state_dir && state_is_incident(o.conf.state_dir)) {
		fprintf(stderr,
			"control: %s is an incident that was made to be looked at: control "
			"--show %s\n",
			o.conf.state_dir, o.conf.state_dir);
		return USAGE;
	}
	if (o.conf.state_dir)
		status = read_state(&o.conf, &kept, &lock);
	if (status >= 0)
		return status;
	status = 0;
	o.conf.kept = &kept;
	err = log_start_writer(NULL);
	if (!err)
		err = read_web_token(settings, &o.conf, token);
	if (!err)
		err = start_control(&r, settings, &o);
	if (err && (o.journal || o.shapes) && !r.journal) {
		status = cannot_record(o.journal ? o.journal : o.shapes, err);
	} else if (err) {
		status = cannot_start(err);
	} else {
		env_deliver(r.env, r.source, CONTROL_IN_START, NULL, 0);
		env_run(r.env);
		env_finish(r.env);
		if (r.journal)
			journal_print_sums(&r.env, 1);
	}
	if (r.control && control_failure(r.control)->n) {
		status = print_error(control_failure(r.control));
		if (control_replaced(r.control))
			status = OTHER_CONTROL;
	}
	if (r.journal && journal_broken(r.journal)) {
		words_journal_incomplete(&incomplete);
		status = print_error(&incomplete);
	}
	if (o.show)
		show_hold_signals(true);
	end_control(&r);
	explicit_bzero(token, sizeof token);
	state_kept_clear(&kept);
	if (lock >= 0)
		close(lock);
	log_stop_writer();
	return status;
}

static int check_installation(struct settings *settings, const struct options *o, unsigned faults)
{
	struct env_conf ec = {.loop = true};
	struct env *env = NULL;
	unsigned warnings = 0;
	int status, err = environment_replaced(o->config, check_replaced, &warnings);

	if (!err)
		err = env_alloc(&env, &ec);
	if (err)
		return cannot_start(err);
	status = check_run(env, settings, &o->conf, faults, warnings);
	env_free(env);
	return status;
}

struct faults {
	bool check; /* print the fault as a finding of --check, not as an error */
	unsigned n;
};

static void on_fault(const char *text, void *arg)
{
	struct faults *f = arg;

	f->n++;
	if (f->check)
		check_fault(text);
	else
		fprintf(stderr, "control: %s\n", text);
}

static int run_shown(struct options *o)
{
	struct settings *settings = NULL;
	struct show shown;
	int err, status;

	show_hold_signals(true);
	err = show_open(&shown, o->show, &settings);
	if (err) {
		fprintf(stderr, "control: %s cannot be shown: %s\n", o->show,
			err == EINVAL ? "PARLEY_WEB_LISTEN is no address" : strerror(err));
		return 1;
	}
	o->conf.state_dir = shown.dir;
	status = run_control(settings, o);
	o->conf.state_dir = NULL;
	settings_free(settings);
	show_close(&shown);
	return status;
}

static int print_settings(void)
{
	char *page = NULL;
	int err = settings_doc(&page);

	if (err)
		fprintf(stderr, "control: %s\n", strerror(err));
	else
		fputs(page, stdout);
	free(page);
	return err ? 1 : 0;
}

static int run_store_command(struct options *o)
{
	if (!o->conf.state_dir)
		return usage("there is no state directory: give --state-dir", NULL);
	if (o->backup)
		return store_command_backup(o->state_dir, o->backup);
	if (o->erase)
		return store_command_erase(o->state_dir, o->erase, o->config);
	if (o->forget)
		return store_command_forget_encrypted(o->state_dir, o->forget);
	if (o->export_memory)
		return store_command_export_memory(o->state_dir, o->export_memory);
	if (o->import_memory)
		return store_command_import_memory(o->state_dir, o->import_memory);
	if (o->incident)
		return store_command_incident(&(struct incident){.dir = o->state_dir,
								 .to = o->incident,
								 .since_ms = o->why.since_ms,
								 .guild = o->conf.guild});
	if (o->audit_check)
		return store_command_audit_check(o->state_dir, o->audit_head);
	if (o->audit_export)
		return store_command_audit_export(o->state_dir);
	if (o->export)
		return store_command_export(o->state_dir, o->export);
	o->context.state_dir = o->state_dir;
	o->context.guild = o->conf.guild;
	if (o->asks_context)
		return told_run(stdout, &o->context);
	if (o->costs)
		return costs_run(stdout, o->state_dir, o->conf.guild,
				 o->why.since_ms ? o->why.since_ms : ledger_day_ms(wall_ms()));
	o->why.state_dir = o->state_dir;
	o->why.guild = o->conf.guild;
	o->why.channel = o->conf.channel;
	return why_run(&o->why);
}

int main(int argc, char **argv)
{
	struct options o = {0};
	struct rlimit no_core = {0, 0};
	struct settings *settings = NULL;
	struct faults faults = {0};
	int status = parse_options(&o, argc, argv), err;

	if (status >= 0)
		return status;
	if (o.settings)
		return print_settings();
	setrlimit(RLIMIT_CORE, &no_core); /* a core would hold the token */
	if (o.again)
		return again_main();
	signal(SIGPIPE, SIG_IGN);
	json_wipe_on_free();
	/* --check prints findings; log lines would only interrupt them. */
	o.conf.log_level = o.check && o.level == LOG_INFO_ ? LOG_FATAL_ : o.level;
	log_init("control", o.conf.log_level);
	if (o.print)
		return journal_print_file(o.print);
	if (o.replay && play_is_folder(o.replay))
		return play_run(o.replay);
	if (o.replay)
		return journal_exit(o.replay, control_replay(o.replay, o.shapes, o.no_subscribers));
	if (o.health)
		return health_check(o.conf.state_dir);
	if (o.counters)
		return health_print_counters(o.conf.state_dir);
	if (reads_store(&o))
		return run_store_command(&o);
	if (o.show)
		return run_shown(&o);
	o.conf.run_dir = getenv("XDG_RUNTIME_DIR");
	faults.check = o.check;
	err = environment_settings(&settings, o.config, on_fault, &faults);
	if (!settings)
		return cannot_start(err);
	if (!http_wipe_on_free())
		status = cannot_start(ENOMEM);
	else if (o.sign_in)
		status = sign_in_link_run(stdout, settings, o.conf.state_dir, o.role, 0, wall_ms());
	else if (o.login)
		status = mcp_login_run(settings, &o.conf, o.login, o.scope);
	else if (o.check)
		status = check_installation(settings, &o, faults.n);
	else
		status = err ? USAGE : run_control(settings, &o);
	settings_free(settings);
	return status;
}
