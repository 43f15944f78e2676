/* The services of the stand-ins, each in a file of its own. */
#ifndef STANDINS_SERVICES_H
#define STANDINS_SERVICES_H

#include "tests/standins/standin.h"

extern const struct si_service si_openai_realtime; /* openai.c: GA, beta form, transcription */
extern const struct si_service si_xai_realtime;	   /* openai.c */
extern const struct si_service si_xai_stt;	   /* xai_stt.c: transcription */
extern const struct si_service si_openai_files;	   /* openai_files.c: speech, transcription */
extern const struct si_service si_chat;		   /* chat.c: completions, models, slots */
extern const struct si_service si_responses;	   /* responses.c */
extern const struct si_service si_messages;	   /* anthropic.c */
extern const struct si_service si_vllm_realtime;   /* vllm.c: transcription */
extern const struct si_service si_gemini_live;	   /* gemini.c */
extern const struct si_service si_eleven_speech;   /* eleven_speech.c: stream-input, multi-stream */
extern const struct si_service si_eleven_scribe;   /* eleven_scribe.c: transcription of sound */
extern const struct si_service si_eleven_files;	   /* eleven_files.c: requests */
extern const struct si_service si_searxng;	   /* searxng.c: web search */

#endif
