#include "tests/standins/services.h"

#define SERVICES(...)                                                                              \
	(const struct si_service *const[])                                                         \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

const struct si_provider si_providers[] = {
	{"openai", "Realtime (GA, the former beta form, transcription sessions)",
	 SERVICES(&si_openai_realtime)},
	{"xai", "Grok Voice Agent", SERVICES(&si_xai_realtime)},
	{"gemini", "Gemini Live", SERVICES(&si_gemini_live)},
	{"elevenlabs", "text to speech by socket and request, Scribe by socket and file",
	 SERVICES(&si_eleven_speech, &si_eleven_scribe, &si_eleven_files)},
	{NULL, NULL, NULL},
};
