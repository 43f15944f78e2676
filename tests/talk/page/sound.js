// The tab's audio: the microphone in, the other members' audio out.
const RATE = 48000; // samples a second, received

// A microphone that calls `onframe(ArrayBuffer)` every 20 ms and `onlevel(0…1)`. Throws a sentence for the user.
export class Mic {
  static async open(onframe, onlevel) {
    if (!navigator.mediaDevices?.getUserMedia) throw new Error('This browser gives no page a microphone.');
    const mic = new Mic();
    try {
      mic.stream = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 },
      });
    } catch (e) {
      throw new Error(sentence(e));
    }
    try {
      mic.context = new AudioContext();
      if (mic.context.sampleRate > RATE) {
        await mic.context.close();
        mic.context = new AudioContext({ sampleRate: RATE });
      }
      mic.rate = mic.context.sampleRate;
      await mic.context.audioWorklet.addModule('mic.js');
      const node = new AudioWorkletNode(mic.context, 'mic', { numberOfOutputs: 0, channelCount: 1, channelCountMode: 'explicit' });
      node.port.onmessage = ({ data }) => {
        onlevel(loudness(new Int16Array(data)));
        onframe(data);
      };
      mic.context.createMediaStreamSource(mic.stream).connect(node);
      await mic.context.resume();
    } catch (e) {
      mic.close();
      throw e;
    }
    return mic;
  }

  // Stops the tracks, so that the browser's recording sign disappears as well.
  mute(on) {
    for (const track of this.stream.getTracks()) track.enabled = !on;
  }

  close() {
    for (const track of this.stream.getTracks()) track.stop();
    this.context?.close();
  }
}

export class Player {
  static async open() {
    const player = new Player();
    player.voices = new Map();
    player.context = new AudioContext({ sampleRate: RATE, latencyHint: 'interactive' });
    await player.context.audioWorklet.addModule('voice.js');
    await player.context.resume();
    return player;
  }

  hear(user, pcm) {
    let voice = this.voices.get(user);
    if (!voice) {
      voice = new AudioWorkletNode(this.context, 'voice', { numberOfInputs: 0, outputChannelCount: [1] });
      voice.connect(this.context.destination);
      this.voices.set(user, voice);
    }
    voice.port.postMessage(pcm, [pcm]);
  }

  // Removes the voices of members who left.
  keep(users) {
    for (const [user, voice] of this.voices) {
      if (users.has(user)) continue;
      voice.disconnect();
      this.voices.delete(user);
    }
  }

  close() {
    this.context.close();
  }
}

// -60 dB … 0 dB as 0 … 1.
function loudness(frame) {
  let sum = 0;
  for (const v of frame) sum += v * v;
  const db = 10 * Math.log10(sum / frame.length / (32768 * 32768) + 1e-9);
  return Math.max(0, Math.min(1, 1 + db / 60));
}

function sentence(e) {
  switch (e.name) {
    case 'NotAllowedError':
      return 'The browser was not allowed to use the microphone. Allow it for this page (the sign beside the address), then press Join again.';
    case 'NotFoundError':
      return 'There is no microphone on this machine.';
    case 'NotReadableError':
      return 'The microphone cannot be opened; another program may be using it.';
    default:
      return `The microphone cannot be used (${e.name}).`;
  }
}
