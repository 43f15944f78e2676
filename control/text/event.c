#include "control/text/event.h"

#define NAME_(NAME, name, ...) #name,
static const char *const events[] = {TEXT_EVENTS(NAME_)};
static const char *const effects[] = {TEXT_EFFECTS(NAME_)};
static const char *const signals[] = {TEXT_SIGNALS(NAME_)};
static const char *const admissions[] = {TEXT_ADMISSIONS(NAME_) "none"};
static const char *const attentions[] = {TEXT_ATTENTIONS(NAME_)};
static const char *const kinds[] = {TEXT_KINDS(NAME_)};
static const char *const reasons[] = {TEXT_REASONS(NAME_)};
#undef NAME_

const char *text_event_name(enum text_event_type type)
{
	return events[type];
}

const char *text_effect_name(enum text_effect_type type)
{
	return effects[type];
}

const char *text_signal_name(enum text_signal signal)
{
	return signals[signal];
}

unsigned text_signal_confidence(enum text_signal signal)
{
#define CONFIDENCE_(NAME, name, confidence, forced, text) confidence,
	static const unsigned char confidences[] = {TEXT_SIGNALS(CONFIDENCE_)};
#undef CONFIDENCE_

	return confidences[signal];
}

bool text_signal_forces(enum text_signal signal)
{
#define FORCED_(NAME, name, confidence, forced, text) forced,
	static const bool forces[] = {TEXT_SIGNALS(FORCED_)};
#undef FORCED_

	return forces[signal];
}

const char *text_admission_name(enum text_admission admission)
{
	return admissions[admission];
}

bool text_admission_admits(enum text_admission admission)
{
#define ADMITTED_(NAME, name, admitted, text) admitted,
	static const bool admits[] = {TEXT_ADMISSIONS(ADMITTED_) false};
#undef ADMITTED_

	return admits[admission];
}

const char *text_attention_name(enum text_attention attention)
{
	return attentions[attention];
}

const char *text_kind_name(enum text_kind kind)
{
	return kinds[kind];
}

const char *text_reason_name(enum text_reason reason)
{
	return reasons[reason];
}

bool text_reason_signs(enum text_reason reason)
{
#define SIGN_(NAME, name, sign, text) sign,
	static const bool signs[] = {TEXT_REASONS(SIGN_)};
#undef SIGN_

	return signs[reason];
}

const char *text_reason_text(enum text_reason reason)
{
#define TEXT_(NAME, name, sign, text) text,
	static const char *const texts[] = {TEXT_REASONS(TEXT_)};
#undef TEXT_

	return texts[reason];
}

const char *text_signal_text(enum text_signal signal)
{
#define TEXT_(NAME, name, confidence, forced, text) text,
	static const char *const texts[] = {TEXT_SIGNALS(TEXT_)};
#undef TEXT_

	return texts[signal];
}

const char *text_attention_text(enum text_attention attention)
{
#define TEXT_(NAME, name, active, text) text,
	static const char *const texts[] = {TEXT_ATTENTIONS(TEXT_)};
#undef TEXT_

	return texts[attention];
}

const char *text_admission_text(enum text_admission admission)
{
#define TEXT_(NAME, name, admitted, text) text,
	static const char *const texts[] = {TEXT_ADMISSIONS(TEXT_) ""};
#undef TEXT_

	return texts[admission];
}

const char *text_hold_text(enum text_hold hold)
{
#define TEXT_(NAME, text) text,
	static const char *const texts[] = {TEXT_HOLDS(TEXT_)};
#undef TEXT_

	return texts[hold];
}

const char *text_reason_help(enum text_reason reason)
{
#define HELP_(REASON, text) [TEXT_REASON_##REASON] = text,
	static const char *const helps[TEXT_REASON_COUNT] = {TEXT_HELPS(HELP_)};
#undef HELP_

	return helps[reason] ? helps[reason] : "";
}
