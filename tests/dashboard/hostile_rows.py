#!/usr/bin/env python3
"""Fills the database of a control that does not run with hostile texts, in each column that holds one: hostile_rows.py DB GUILD CHANNEL,
with the JSON of payloads.mjs on standard input."""
import json, sqlite3, sys, time

texts = json.load(sys.stdin)
p, names = texts["payloads"], texts["names"]
guild, channel = int(sys.argv[2]), int(sys.argv[3])
now = int(time.time() * 1000)
start = now - 600000
db = sqlite3.connect(sys.argv[1])
db.create_function("terms_index", 1, lambda text: text)
db.execute("INSERT INTO sessions VALUES(?,?,?,?,?)", (guild, start, channel, now - 1000, p[7]))
for i in range(50):
    at = now - 1000 * (60 - i)
    seq = db.execute(
        "INSERT INTO turns(guild, session, channel, turn, user, name, reason, at_ms, first_audio_ms, lasted_ms, said, why)"
        " VALUES(?,?,?,?,501,?,'answered',?,700,4000,?,?)",
        (guild, start, channel, i + 1, p[(i + 100) % 200], at, p[i + 150], json.dumps([[p[i], True, 1, 2]]))).lastrowid
    db.execute("INSERT INTO utterances(guild, session, utterance, user, name, text, started_ms, ended_ms, source, channel, consent)"
               " VALUES(?,?,?,501,?,?,?,?,'realtime-transcription',?,1)", (guild, start, i + 1, p[i + 50], p[i], at - 4000, at - 1000, channel))
    db.execute("INSERT INTO segments(turn_seq, n, user, name, utterance, text, at_ms) VALUES(?,0,501,?,?,?,?)", (seq, p[i + 50], i + 1, p[i], at))
    db.execute("INSERT INTO tool_calls(guild, session, call, channel, turn, user, tool, tainted, state, at_ms, lasted_ms, summary)"
               " VALUES(?,?,?,?,?,501,?,0,?,?,20,?)", (guild, start, i + 1, channel, i + 1, p[i + 50], "ok" if i % 2 else p[i], at, p[i + 150]))
    db.execute("INSERT INTO facts(guild, owner, said_by, name, type, tags, text, written_ms, valid_from_ms) VALUES(?,0,501,?,?,?,?,?,?)",
               (guild, p[i + 100], p[i], json.dumps([p[i + 150]]), p[i + 50], at, at))
    db.execute("INSERT INTO costs(at_ms, guild, session, channel, turn, provider, model, role, units, nano, priced) VALUES(?,?,?,?,?,?,?,?,'{}',1000,1)",
               (at, guild, start, channel, i + 1, p[i + 100], p[i + 150], p[i]))
    db.execute("INSERT INTO events(at_ms, type, guild, user, document) VALUES(?,?,?,501,?)",
               (at, "failover" if i % 2 else "fault", guild, json.dumps({"event": "fault", "fault": p[i + 50], "from": p[i + 100], "to": p[i + 150], "role": p[i], "there": True, "count": 1})))
db.commit()
