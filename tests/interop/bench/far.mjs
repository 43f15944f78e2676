// A client of @discordjs/voice in a call of the far end of build/bench/pace --far.
const FIRST_CHANNEL = 4000000000; // far_end_guild(0): the DAVE group of a call has the id of its channel

// Returns the connection of a call once it is ready. V: the module. The far end's address is in ENDPOINT.
export async function connect(V, call) {
  const id = String(call + 1);
  const channel = String(FIRST_CHANNEL + call);
  const adapterCreator = (methods) => ({
    sendPayload() {
      setImmediate(() => {
        methods.onVoiceStateUpdate({ guild_id: id, channel_id: channel, user_id: '900', session_id: 'session', self_deaf: true, self_mute: false,
          deaf: false, mute: false, self_video: false, suppress: false, request_to_speak_timestamp: null });
        methods.onVoiceServerUpdate({ guild_id: id, token: `token-of-call-${call}`, endpoint: process.env.ENDPOINT });
      });
      return true;
    },
    destroy() {},
  });
  const conn = V.joinVoiceChannel({ guildId: id, channelId: channel, selfDeaf: true, selfMute: false, daveEncryption: true, adapterCreator });
  conn.on('error', (e) => { console.error(e); process.exit(1); });
  await V.entersState(conn, V.VoiceConnectionStatus.Ready, 20000);
  return conn;
}
